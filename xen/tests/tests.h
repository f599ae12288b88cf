/* The tests, file by file, and the order in which main.c's run has them. */
#ifndef TESTS_H
#define TESTS_H

#include "grant.h"

/* Mappings are one of these two, for GNTTABOP_map_grant_ref. */
#define READONLY        GNTMAP_readonly
#define WRITABLE        0

void tests_run(void);
void bench(void);

/* tests-tlb.c */
void test_tlb_read(unsigned int flags);
void test_tlb_write(unsigned int unused);
void test_tlb_remap(unsigned int unused);
void test_tlb_regrant(unsigned int unused);
void test_tlb_before_release(unsigned int unused);
void test_tlb_before_status(unsigned int unused);
void test_tlb_before_release_rival(unsigned int unused);
void test_tlb_fault(unsigned int unused);
void test_tlb_readonly(unsigned int unused);

/* tests-iotlb.c */
void test_iotlb(unsigned int nr);
void test_iotlb_empty(unsigned int nr);
void test_iotlb_readonly(unsigned int unused);
void test_iotlb_moved(unsigned int unused);

/* tests-batch.c */
void test_count(unsigned int nr);
void test_mixed(unsigned int unused);
void test_replace(unsigned int unused);
void test_fault(unsigned int unused);
void test_status_fault(unsigned int unused);
void test_interrupted(unsigned int unused);

/* tests-inject.c */
void test_flush_fails(unsigned int unused);

/* tests-race.c */
void test_race(unsigned int unused);

/* tests-leak.c */
void test_leak_before(unsigned int unused);
void test_leak(unsigned int unused);
void test_owner_gone(unsigned int unused);

#endif
