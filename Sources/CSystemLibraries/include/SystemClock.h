#ifndef CSYSTEMLIBRARIES_SYSTEMCLOCK_H
#define CSYSTEMLIBRARIES_SYSTEMCLOCK_H

#include <stdint.h>

// The system's clocks as plain numbers of nanoseconds. Swift can call clock_gettime() itself, but to which module the members of timespec
// belong depends on which one was loaded first: whether a file that imports the C library may use them changes with its neighbours.

/// Since 1970-01-01T00:00:00Z, by the wall; 0 before that.
int64_t csl_wall_nanoseconds(void);

/// Since some moment; it never goes back. While the machine sleeps it stands still on Linux, and counts on on Apple's systems.
int64_t csl_uptime_nanoseconds(void);

/// Since some moment; it never goes back, and counts on while the machine sleeps.
int64_t csl_continuous_nanoseconds(void);

/// Whether the clock on the wall is kept right by a source outside (NTP or the like): 1 if it is, 0 if it isn't, -1 where the system doesn't
/// say.
int csl_wall_is_synchronized(void);

#endif
