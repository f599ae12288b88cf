// The rules of SVM's nested paging. Sections are those of AMD's manual, volume 2.
// What is cached is tagged with the ASID alone (15.16): a VMRUN with another
// nested CR3 and the same ASID uses it. What a processor keeps may be the
// guest-physical translation or one of a linear address derived from it, and
// the manual does not tell which of the two an event drops. So all is kept here
// that may be left in either.
//
// - VMRUN with TLB_CONTROL 1: that of all ASIDs goes (15.16)          vmrun()
// - VMRUN with TLB_CONTROL 3: that of the guest's ASID                vmrun()
// - power-up or reset: all                                            reset()
// Nothing goes by
// - TLB_CONTROL 7, which leaves what the guest has as global pages;
// - INVLPGA, or a guest's INVLPG: one linear address, but others may lead to the
//   same page;
// - a move to CR3, or to CR0 or CR4 that flushes: the host's are of ASID 0, the
//   guest's of its linear addresses (15.16);
// - a nested page fault: it drops what its own address would use, but others may
//   lead to the same page;
// - VMEXIT, CLGI, STGI, and EFER.SVME.
#ifndef NPT_TLB_H
#define NPT_TLB_H

#include "tlb.h"

enum { TLB_CONTROL_NOTHING = 0, TLB_CONTROL_ALL = 1, TLB_CONTROL_ASID = 3, TLB_CONTROL_NOT_GLOBAL = 7 };

class NptTlb : public Tlb {
public:
  // Whether the ASID is one that had nothing cached.
  bool vmrun(uint64_t asid, unsigned tlb_control)
  {
    if (tlb_control == TLB_CONTROL_ALL) reset();
    if (tlb_control == TLB_CONTROL_ASID) drop(asid);
    current = asid;
    return begin(asid);
  }

  std::vector<Cached> use(uint64_t ncr3, const Walk &walk, uint64_t now, bool *covered)
  {
    return Tlb::use(current, ncr3 & 0x000ffffffffff000ull, walk, now, covered);
  }

private:
  uint64_t current = 0;
};

#endif
