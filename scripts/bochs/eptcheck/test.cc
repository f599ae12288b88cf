// The drop rules of ept_tlb.h and npt_tlb.h, one after the other. Prints TAP.
#include "ept_tlb.h"
#include "npt_tlb.h"
#include <cstdio>

static const uint64_t EPTP = 0x1000, OTHER = 0x2000, GPA = 0x5000, PAGE = 0x80000, NEW = 0x90000;
static const unsigned R = 1, W = 2, RW = 3;
static unsigned number, failures;

static void check(bool ok, const char *name)
{
  printf("%sok %u - %s\n", ok ? "" : "not ", ++number, name);
  failures += !ok;
}

// A use that finds GPA at hpa with these rights; hpa 0: not present. How many
// translations were stale.
template <typename Any> static size_t use(Any &tlb, uint64_t hpa, unsigned wanted = R, unsigned allowed = RW, uint64_t root = EPTP,
                  uint64_t gpa = GPA, unsigned level = 0, WalkEnd end = WALK_VIOLATION)
{
  bool covered;
  Walk walk = {gpa, hpa, level, wanted, allowed, hpa ? WALK_OK : end};

  return tlb.use(root, walk, 1, &covered).size();
}

// A processor that has used PAGE as ASID 1, and runs that again by a VMRUN with
// this TLB_CONTROL, after one with another ASID.
static NptTlb npt(unsigned tlb_control)
{
  NptTlb tlb;

  tlb.vmrun(1, TLB_CONTROL_NOTHING);
  use(tlb, PAGE);
  tlb.vmrun(2, TLB_CONTROL_NOTHING);
  use(tlb, PAGE);
  tlb.vmrun(1, tlb_control);
  return tlb;
}

static bool never(uint64_t, uint64_t, uint64_t) { return false; }
static bool always(uint64_t, uint64_t, uint64_t) { return true; }

int main()
{
  printf("1..33\n");
  { EptTlb t; check(!use(t, PAGE), "a first use is not stale"); }
  { EptTlb t; use(t, PAGE); check(!use(t, PAGE), "a use that the tables agree with is not stale"); }
  { EptTlb t; use(t, PAGE); check(use(t, NEW) == 1, "a use of another page than was cached is stale"); }
  { EptTlb t; use(t, PAGE); check(use(t, 0) == 1, "a use of an address that is mapped no more is stale"); }
  { EptTlb t; use(t, PAGE); use(t, NEW); check(use(t, NEW) == 1, "a stale use leaves what is cached"); }
  { EptTlb t; use(t, PAGE); use(t, 0); check(!use(t, NEW), "an EPT violation drops what is cached for its address"); }
  { EptTlb t; use(t, PAGE); use(t, 0, R, RW, EPTP, GPA + 0x1000); check(use(t, NEW) == 1, "an EPT violation drops nothing of other addresses"); }
  { EptTlb t; use(t, PAGE); use(t, 0, R, RW, OTHER); check(use(t, NEW) == 1, "an EPT violation drops nothing of other EPTPs"); }
  { EptTlb t; use(t, PAGE); use(t, 0, R, RW, EPTP, GPA, 0, WALK_MISCONFIG); check(use(t, NEW) == 1, "an EPT misconfiguration drops nothing"); }
  { EptTlb t; use(t, PAGE); t.invept(EPTP | 0x5e); check(!use(t, NEW), "INVEPT single-context drops those of its EPTP, whatever bits 11:0 are"); }
  { EptTlb t; use(t, PAGE); t.invept(OTHER); check(use(t, NEW) == 1, "INVEPT single-context drops none of other EPTPs"); }
  { EptTlb t; use(t, PAGE); use(t, PAGE, R, RW, OTHER); t.invept_all(); check(!use(t, NEW) && !use(t, NEW, R, RW, OTHER), "INVEPT all-context drops all"); }
  { EptTlb t; use(t, PAGE, R, R); check(!use(t, NEW, W), "a write does not use what is cached without that right"); }
  { EptTlb t; use(t, PAGE, W, RW); use(t, PAGE, R, R); check(use(t, 0, W) == 1, "a right that was cached stays so when the tables take it away"); }
  { EptTlb t; use(t, 0x200000, R, RW, EPTP, 0x400000, 1); check(use(t, NEW, R, RW, EPTP, 0x403000) == 1 && !use(t, 0x204000, R, RW, EPTP, 0x404000),
      "what was used of a large page is cached as the whole of it"); }
  { EptTlb t; use(t, 0x200000, R, RW, EPTP, 0x400000, 1); use(t, 0, R, RW, EPTP, 0x403000); check(!use(t, NEW, R, RW, EPTP, 0x405000),
      "an EPT violation drops the large page its address was in"); }
  {
    EptTlb t;
    bool covered;

    use(t, PAGE);
    check(t.release(PAGE >> 12, 7, never) == 1 && t.use(EPTP, {GPA, NEW, 0, R, RW, WALK_OK}, 9, &covered)[0].released == 7,
          "a use after release tells when that was");
  }
  { EptTlb t; use(t, PAGE); check(!t.release(PAGE >> 12, 7, always) && !t.release(NEW >> 12, 7, never), "nothing is released that is mapped still, or was not cached"); }
  {
    EptTlb t;
    bool covered, released = false;

    use(t, 0x200000, R, RW, EPTP, 0x400000, 1);
    t.release(0x203, 7, never);
    use(t, 0x204000, R, RW, EPTP, 0x404000);
    for (const Cached &c : t.use(EPTP, {0x403000, NEW, 0, R, RW, WALK_OK}, 9, &covered)) released |= c.released == 7;
    check(released, "so does one of a page that was released out of a large one");
  }
  { EptTlb t; use(t, PAGE); t.invept(EPTP); check(!t.release(PAGE >> 12, 7, never), "nothing is released that was flushed before"); }
  { EptTlb t; use(t, PAGE); t.reset(); check(!t.size(), "a reset drops all"); }

  { NptTlb t = npt(TLB_CONTROL_NOTHING); check(use(t, NEW) == 1, "VMRUN with TLB_CONTROL 0 drops nothing of its ASID"); }
  { NptTlb t = npt(TLB_CONTROL_ASID); check(!use(t, NEW), "VMRUN with TLB_CONTROL 3 drops what is of its ASID"); }
  { NptTlb t = npt(TLB_CONTROL_ASID); t.vmrun(2, 0); check(use(t, NEW) == 1, "VMRUN with TLB_CONTROL 3 drops nothing of other ASIDs"); }
  { NptTlb t = npt(TLB_CONTROL_ALL); t.vmrun(2, 0); check(!use(t, NEW), "VMRUN with TLB_CONTROL 1 drops what is of any ASID"); }
  { NptTlb t = npt(TLB_CONTROL_NOT_GLOBAL); check(use(t, NEW) == 1, "VMRUN with TLB_CONTROL 7 leaves what the guest may have as global"); }
  { NptTlb t = npt(5); check(use(t, NEW) == 1, "VMRUN with a TLB_CONTROL that is reserved drops nothing"); }
  { NptTlb t = npt(TLB_CONTROL_NOTHING); t.vmrun(3, 0); check(!use(t, NEW), "an ASID does not use what another has"); }
  { NptTlb t = npt(TLB_CONTROL_NOTHING); check(use(t, NEW, R, RW, OTHER) == 1, "an ASID uses what it has from other tables"); }
  { NptTlb t = npt(TLB_CONTROL_NOTHING); use(t, 0); check(use(t, NEW) == 1, "a nested page fault drops nothing"); }
  { NptTlb t = npt(TLB_CONTROL_NOTHING); check(t.vmrun(3, 0) && !t.vmrun(3, 0) && !t.vmrun(1, 0) && t.vmrun(1, TLB_CONTROL_ASID),
      "VMRUN tells whether its ASID had nothing"); }
  {
    NptTlb t = npt(TLB_CONTROL_NOTHING);

    use(t, PAGE, R, RW, OTHER);
    check(t.release(PAGE >> 12, 7, [](uint64_t root, uint64_t, uint64_t) { return root == OTHER; }) == 1,
          "what is released is looked up in the tables that it is from");
  }
  { NptTlb t = npt(TLB_CONTROL_NOTHING); t.reset(); check(!t.size(), "a reset drops all of it"); }
  return failures ? 1 : 0;
}
