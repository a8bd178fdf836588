#ifndef CSYSTEMLIBRARIES_SYSTEMCLOCK_H
#define CSYSTEMLIBRARIES_SYSTEMCLOCK_H

#include <stdint.h>

// The system's clocks as plain numbers of nanoseconds. Swift can call clock_gettime() itself, but the module of timespec's members is the
// one that was loaded first: whether a file that imports the C library may use them depends on other files.

/// The wall clock since 1970-01-01T00:00:00Z; 0 before that.
int64_t csl_wall_nanoseconds(void);

/// The time since some moment; it never decreases. During sleep it stops on Linux, and continues on Apple's systems.
int64_t csl_uptime_nanoseconds(void);

/// The time since some moment; it never decreases, and continues during sleep.
int64_t csl_continuous_nanoseconds(void);

/// Whether an external source (NTP or the like) keeps the wall clock right: 1 if it does, 0 if it doesn't, -1 if the system doesn't report
/// it.
int csl_wall_is_synchronized(void);

#endif
