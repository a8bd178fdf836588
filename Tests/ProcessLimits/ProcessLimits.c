#include "ProcessLimits.h"

#include <stdlib.h>
#include <sys/resource.h>

// Sets the limits of the test process before its first test. Swift has no hook that runs so early.

// The tests run in parallel, most with a server, and need about 1,800 descriptors. Shells allow 1,024 (Linux) or 256 (macOS) by default.
static void raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    // macOS accepts no more than this, and some programs visit every descriptor that they may open.
    rlim_t most = limit.rlim_max < 10240 ? limit.rlim_max : 10240;
    if (limit.rlim_cur >= most) return;
    limit.rlim_cur = most;
    setrlimit(RLIMIT_NOFILE, &limit);
}

// By default, Swift Testing starts all tests at once. On a busy machine, a step of one test then waits for minutes behind the first steps of
// all others, and calls reach their deadlines.
static void limit_parallel_tests(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "24", 0);
}

__attribute__((constructor)) static void set_limits(void) {
    raise_descriptor_limit();
    limit_parallel_tests();
}
