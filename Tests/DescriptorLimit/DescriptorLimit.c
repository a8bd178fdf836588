#include "DescriptorLimit.h"

#include <sys/resource.h>

// All tests run side by side, most with a server of their own: that is some 1,800 descriptors, and shells give 1,024 (Linux) or 256 (macOS)
// where nobody asks for more. There is no place in Swift that is reached before the first test.
__attribute__((constructor)) static void raise_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    // macOS takes no more, whatever it says itself; and some programs go through all that they may have, which would take them long.
    rlim_t most = limit.rlim_max < 10240 ? limit.rlim_max : 10240;
    if (limit.rlim_cur >= most) return;
    limit.rlim_cur = most;
    setrlimit(RLIMIT_NOFILE, &limit);
}
