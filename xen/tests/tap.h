/* KTAP: one line of result for each test, the plan before all of them. */
#ifndef TAP_H
#define TAP_H

#include "kernel.h"

/* What a test cannot do without; it is skipped where that is missing. */
#define NEED_VCPUS(n)   (n)
#define NEED_EDU        0x10
#define NEED_DOM0       0x20

struct test {
    const char *name;
    void (*fn)(unsigned int arg);
    unsigned int need;
    unsigned int arg;
};

void tap_run(const struct test *tests, unsigned int nr);
/* Each check that fails is a line of its own, and fails the test. */
void tap_fail(const char *fmt, ...) format(1, 2);
bool tap_failed(void);
void tap_skip(const char *reason);
/* After the test that is running, no other makes sense. */
void tap_bail(const char *reason);

#define CHECK(cond, fmt, ...) ({                        \
    bool good_ = (cond);                                \
    if ( !good_ )                                       \
        tap_fail("# " fmt, ##__VA_ARGS__);              \
    good_; })

#endif
