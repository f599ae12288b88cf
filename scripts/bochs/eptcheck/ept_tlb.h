// The rules of EPT. Sections are those of Intel's manual, volume 3C, of 2016 to
// 2022 ("VMX support for address translation", later chapters 29 and 30 with the
// same titles). Only guest-physical mappings are kept (28.3.1). Combined mappings
// are derived from them, and no event invalidates more guest-physical mappings
// than combined ones of the same address: what is not found here is in neither.
//
// 28.3.3.1, Operations that Invalidate Cached Mappings:
// - INVEPT: those of one EPTP's bits 51:12, or all                  invept()
// - an EPT violation: those that would be used for its address      use()
// - power-up or reset: all                                          reset()
// 28.3.3.2, Operations that Need Not: INVVPID, INVLPG, INVPCID and moves to
// CR3, VMX transitions with or without VPID, VMXON and VMXOFF invalidate no
// guest-physical mapping. An EPT misconfiguration is in neither list, so that
// nothing may be taken to be invalidated by it.
#ifndef EPT_TLB_H
#define EPT_TLB_H

#include "tlb.h"

class EptTlb : public Tlb {
public:
  std::vector<Cached> use(uint64_t eptp, const Walk &walk, uint64_t now, bool *covered)
  {
    std::vector<Cached> stale = Tlb::use(address(eptp), address(eptp), walk, now, covered);

    if (walk.end == WALK_VIOLATION) drop(address(eptp), walk.gpa);
    return stale;
  }

  void invept(uint64_t eptp) { drop(address(eptp)); }
  void invept_all() { reset(); }

private:
  static uint64_t address(uint64_t eptp) { return eptp & 0x000ffffffffff000ull; }
};

#endif
