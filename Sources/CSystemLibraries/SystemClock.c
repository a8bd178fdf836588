#include "SystemClock.h"

#include <sys/timex.h>
#include <time.h>

static int64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) != 0 || now.tv_sec < 0) return 0;
    // A clock that is set beyond 2262 wraps around to negative values, which its readers handle.
    return (int64_t)((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
}

int64_t csl_wall_nanoseconds(void) { return nanoseconds(CLOCK_REALTIME); }

int64_t csl_uptime_nanoseconds(void) { return nanoseconds(CLOCK_MONOTONIC); }

int64_t csl_continuous_nanoseconds(void) {
#ifdef __APPLE__
    // The clock that ContinuousClock reads. The other one is slowed down and sped up, so the two would drift apart.
    return nanoseconds(CLOCK_MONOTONIC_RAW);
#else
    return nanoseconds(CLOCK_BOOTTIME);
#endif
}

int csl_wall_is_synchronized(void) {
    // Without a mode the call only queries, which needs no privilege; a sandbox may still refuse it.
    struct timex clock = {.modes = 0};
#ifdef __APPLE__
    int state = ntp_adjtime(&clock);
#else
    int state = adjtimex(&clock);
#endif
    if (state < 0) return -1;
    return state != TIME_ERROR && !(clock.status & STA_UNSYNC);
}
