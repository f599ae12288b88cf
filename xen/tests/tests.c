#include "tests.h"

static const struct test tests[] = {
    { "leak-before", test_leak_before },
    { "count-1", test_count, 0, 1 },
    { "count-2", test_count, 0, 2 },
    { "count-31", test_count, 0, 31 },
    { "count-32", test_count, 0, 32 },
    { "count-33", test_count, 0, 33 },
    { "count-255", test_count, 0, 255 },
    { "count-256", test_count, 0, 256 },
    { "count-257", test_count, 0, 257 },
    { "count-512", test_count, 0, 512 },
    { "count-4096", test_count, 0, 4096 },
    { "mixed", test_mixed },
    { "replace", test_replace },
    { "fault-in-array", test_fault },
    { "fault-in-status", test_status_fault },
    { "interrupted", test_interrupted, NEED_VCPUS(2) },
    { "tlb-readonly", test_tlb_readonly, 0 },
    { "tlb-read-of-readonly", test_tlb_read, NEED_VCPUS(2), READONLY },
    { "tlb-read-of-writable", test_tlb_read, NEED_VCPUS(2), WRITABLE },
    { "tlb-write", test_tlb_write, NEED_VCPUS(2) },
    { "tlb-remap", test_tlb_remap, NEED_VCPUS(2) },
    { "tlb-regrant", test_tlb_regrant, NEED_VCPUS(2) },
    { "tlb-before-release", test_tlb_before_release, NEED_VCPUS(2) },
    { "tlb-before-status", test_tlb_before_status, NEED_VCPUS(2) },
    { "tlb-before-release-rival", test_tlb_before_release_rival,
      NEED_VCPUS(3) },
    { "tlb-fault", test_tlb_fault, NEED_VCPUS(2) },
    { "race", test_race, NEED_VCPUS(2) },
    { "iotlb-readonly", test_iotlb_readonly, NEED_EDU },
    { "iotlb-1", test_iotlb, NEED_EDU, 1 },
    { "iotlb-32", test_iotlb, NEED_EDU, 32 },
    { "iotlb-33", test_iotlb, NEED_EDU, 33 },
    { "iotlb-512", test_iotlb, NEED_EDU, 512 },
    { "iotlb-32-empty", test_iotlb_empty, NEED_EDU, 32 },
    { "iotlb-moved", test_iotlb_moved, NEED_EDU },
    { "leak", test_leak },
    { "flush-fails", test_flush_fails, NEED_DOM0 },
    { "owner-gone", test_owner_gone, NEED_DOM0 },
};

void tests_run(void)
{
    tap_run(tests, ARRAY_SIZE(tests));
}
