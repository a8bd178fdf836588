#include "DescriptorLimit.h"

#include <limits.h>
#include <sys/resource.h>

// All tests run side by side, most with a server of their own: that is some 1,800 descriptors, and shells give 1,024 (Linux) or 256 (macOS)
// where nobody asks for more. There is no place in Swift that is reached before the first test.
__attribute__((constructor)) static void raise_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
#if defined(__APPLE__)
    // More is refused, whatever the limit says.
    rlim_t most = limit.rlim_max < OPEN_MAX ? limit.rlim_max : OPEN_MAX;
#else
    rlim_t most = limit.rlim_max;
#endif
    // Some programs go through all that they may have, which would take them long.
    if (most > 10240) most = 10240;
    if (limit.rlim_cur >= most) return;
    limit.rlim_cur = most;
    setrlimit(RLIMIT_NOFILE, &limit);
}
