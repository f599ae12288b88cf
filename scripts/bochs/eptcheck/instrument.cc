// eptcheck: is a guest-physical address ever used that the processor may have
// cached a translation of which the EPT tables, or SVM's nested page tables, do
// not hold any more?
//
// Bochs empties its own TLB at each VM entry and exit, and so hides an INVEPT
// or a change of ASID that a VMM forgot. This watches every walk of those tables,
// and keeps beside Bochs' TLB what the processor may have cached (ept_tlb.h,
// npt_tlb.h). It is passive: the guest runs on what the tables say.
//
// Environment, read once:
//   EPTCHECK=FILE              on; one JSON object a line goes there
//   EPTCHECK_IGNORE_INVEPT=1   take no notice of INVEPT, or of ASIDs and
//                              TLB_CONTROL: has to report, or the checker is
//                              worth nothing
//
// A VMM under test tells by a write of a host frame number to port 0x1e9 that a
// page which it had unmapped from a guest has just been given back to its owner.
// A stale use up to then is counted; one of it after then is what must never be.
// The mark names no guest: a page that two are just unmapping is taken to be
// given back by both. At a mark Bochs' own TLBs of processors which are in a
// guest are emptied, so that the next use of anything is a walk, and is seen.
#include "bochs.h"
#include "cpu/cpu.h"
#include "memory/memory-bochs.h"
#include "pc_system.h"

#include <map>
#include <set>
#include <stdio.h>
#include <stdlib.h>

#include "ept_tlb.h"
#include "npt_tlb.h"

bool eptcheck_on;

static const Bit16u RELEASE_PORT = 0x1e9;
static const unsigned REPORTS = 500; // at most; the rest is counted

static struct {
  FILE *out;
  bool ignore_invept;
  Bit64u walks, rewalks, stale, stale_released, marks, marks_cached, invept[2], reported;
  Bit64u asids, tlb_control[256];  // ASIDs taken by a VMRUN with nothing cached, VMRUNs by TLB_CONTROL
  Bit64u large, ad;            // walks that ended in a large page, or on an EPTP with A/D bits
  std::map<unsigned, Bit64u> exits;
  std::set<Bit64u> tables;     // where they begin
  EptTlb ept[BX_MAX_SMP_THREADS_SUPPORTED];
  NptTlb npt[BX_MAX_SMP_THREADS_SUPPORTED];
} check;

typedef unsigned long long ull;

static Bit64u now(void) { return bx_pc_system.time_usec(); }

static void summarise(void)
{
  const char *separator = "";

  fprintf(check.out, "{\"event\":\"summary\",\"us\":%llu,\"ignore_invept\":%s,\"walks\":%llu,\"rewalks\":%llu,\"stale\":%llu,"
          "\"stale_after_release\":%llu,\"releases\":%llu,\"released_while_cached\":%llu,\"invept_single\":%llu,\"invept_all\":%llu,"
          "\"asids\":%llu,\"flush_asid\":%llu,\"flush_all\":%llu,\"large_pages\":%llu,\"ad_bits\":%llu,\"tables\":%llu,\"exits\":{",
          (ull)now(), check.ignore_invept ? "true" : "false", (ull)check.walks, (ull)check.rewalks, (ull)check.stale,
          (ull)check.stale_released, (ull)check.marks, (ull)check.marks_cached, (ull)check.invept[0], (ull)check.invept[1],
          (ull)check.asids, (ull)check.tlb_control[TLB_CONTROL_ASID], (ull)check.tlb_control[TLB_CONTROL_ALL], (ull)check.large, (ull)check.ad, (ull)check.tables.size());
  for (auto &exit : check.exits) {
    fprintf(check.out, "%s\"%u\":%llu", separator, exit.first, (ull)exit.second);
    separator = ",";
  }
  fprintf(check.out, "}}\n");
  fclose(check.out);
}

void bx_instr_init_env(void)
{
  const char *name = getenv("EPTCHECK");

  if (!name || !*name) return;
  check.out = fopen(name, "w");
  if (!check.out) {
    fprintf(stderr, "eptcheck: cannot write %s\n", name);
    exit(2);
  }
  setvbuf(check.out, NULL, _IOLBF, 0);
  check.ignore_invept = getenv("EPTCHECK_IGNORE_INVEPT") != NULL;
  eptcheck_on = true;
  atexit(summarise); // Bochs ends in more ways than by bx_instr_exit_env()
}

// Do tables map this address to this frame? Leaves no marks, as a walk would.
// `present`: the bits one of which a present entry has.
static bool maps(Bit64u root, Bit64u gpa, Bit64u frame, unsigned present)
{
  for (int level = 3; level >= 0; level--) {
    Bit64u entry = 0, size = BX_CONST64(4096) << 9 * level;

    if (!BX_MEM(0)->dbg_fetch_mem(BX_CPU(0), root + ((gpa >> (12 + 9 * level)) & 0x1ff) * 8, 8, (Bit8u *)&entry)) return false;
    if (!(entry & present)) return false;
    root = entry & BX_CONST64(0x000ffffffffff000);
    if (level && !(entry & 0x80)) continue;
    return ((root & ~(size - 1)) + (gpa & (size - 1))) >> 12 == frame;
  }
  return false;
}

static void report(unsigned cpu, Bit64u root, const Walk &walk, const Cached &cached)
{
  static const char *const ends[] = {"mapped", "violation", "misconfiguration"};
  Bit64u time = now();

  if (check.reported++ >= REPORTS) return;
  fprintf(check.out, "{\"event\":\"stale\",\"us\":%llu,\"cpu\":%u,\"root\":\"%#llx\",\"gpa\":\"%#llx\",\"wanted\":%u,"
          "\"cached\":{\"frame\":\"%#llx\",\"rights\":%u,\"level\":%u},\"now\":{\"is\":\"%s\",\"frame\":\"%#llx\",\"rights\":%u},"
          "\"agreed_us_ago\":%llu,",
          (ull)time, cpu, (ull)root, (ull)walk.gpa, walk.wanted, (ull)cached.frame(walk.gpa), cached.rights, cached.level,
          ends[walk.end], walk.end == WALK_OK ? (ull)walk.hpa >> 12 : 0, walk.end == WALK_OK ? walk.allowed : 0,
          (ull)(time - cached.agreed));
  if (cached.released) fprintf(check.out, "\"released_us_ago\":%llu}\n", (ull)(time - cached.released));
  else fprintf(check.out, "\"released_us_ago\":null}\n");
}

static void walked(unsigned cpu, Bit64u root, const Walk &walk, bool covered, const std::vector<Cached> &stale)
{
  bool released = false;

  check.walks++;
  check.rewalks += covered;
  check.large += walk.level != 0;
  check.tables.insert(root >> 12);
  if (stale.empty()) return;
  for (const Cached &cached : stale) {
    released |= cached.released != 0;
    report(cpu, root, walk, cached);
  }
  check.stale++;
  check.stale_released += released;
}

void bx_instr_ept_walk(unsigned cpu, Bit64u eptp, bx_phy_address gpa, bx_phy_address hpa, unsigned level,
                       unsigned wanted, unsigned allowed, unsigned vmexit)
{
  Walk walk = {gpa, hpa, level, wanted, allowed & 0x407,
               !vmexit ? WALK_OK : vmexit == VMX_VMEXIT_EPT_VIOLATION ? WALK_VIOLATION : WALK_MISCONFIG};
  bool covered;
  std::vector<Cached> stale = check.ept[cpu].use(eptp, walk, now(), &covered);

  check.ad += (eptp & 0x40) != 0;
  walked(cpu, eptp, walk, covered, stale);
}

void bx_instr_npt_walk(unsigned cpu, Bit64u ncr3, bx_phy_address gpa, bx_phy_address hpa, unsigned level,
                       unsigned wanted, unsigned allowed, bool fault)
{
  Walk walk = {gpa, hpa, level, wanted, allowed, fault ? WALK_VIOLATION : WALK_OK};
  bool covered;

  // an ASID for each table, which it keeps
  if (check.ignore_invept) check.npt[cpu].vmrun(ncr3 >> 12, TLB_CONTROL_NOTHING);
  std::vector<Cached> stale = check.npt[cpu].use(ncr3, walk, now(), &covered);

  walked(cpu, ncr3, walk, covered, stale);
}

void bx_instr_vmrun(unsigned cpu, unsigned asid, unsigned tlb_control)
{
  check.tlb_control[tlb_control]++;
  if (!check.ignore_invept) check.asids += check.npt[cpu].vmrun(asid, tlb_control);
}

void bx_instr_invept_desc(unsigned cpu, unsigned type, Bit64u eptp)
{
  bool all = type == BX_INVEPT_INVVPID_ALL_CONTEXT_INVALIDATION;

  check.invept[all]++;
  if (check.ignore_invept) return;
  if (all) check.ept[cpu].invept_all();
  else check.ept[cpu].invept(eptp);
}

void bx_instr_vmexit(unsigned cpu, Bit32u reason, Bit64u qualification) { check.exits[reason & 0xffff]++; }

void bx_instr_reset(unsigned cpu, unsigned type)
{
  if (type != BX_RESET_HARDWARE) return;
  check.ept[cpu].reset();
  check.npt[cpu].reset();
}

void bx_instr_outp(Bit16u addr, unsigned len, unsigned val)
{
  unsigned cached = 0;

  if (addr != RELEASE_PORT) return;
  check.marks++;
  for (unsigned cpu = 0; cpu < BX_SMP_PROCESSORS; cpu++) {
    cached += check.ept[cpu].release(val, now(), [](Bit64u root, Bit64u gpa, Bit64u frame) { return maps(root, gpa, frame, 7); });
    cached += check.npt[cpu].release(val, now(), [](Bit64u root, Bit64u gpa, Bit64u frame) { return maps(root, gpa, frame, 1); });
    if (BX_CPU(cpu)->in_vmx_guest || BX_CPU(cpu)->in_svm_guest) BX_CPU(cpu)->TLB_flush();
  }
  check.marks_cached += cached != 0;
}
