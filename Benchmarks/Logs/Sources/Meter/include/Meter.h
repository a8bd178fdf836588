#ifndef METER_H
#define METER_H

#include <stdbool.h>
#include <stdint.h>

// Stands between the program and the C library: counts allocations, and holds up fsync.

/// The allocations that this thread has made so far; -1 where they aren't counted, which is all but glibc.
int64_t meter_allocations(void);
/// Whether fsync returns no more until it may again. Calls that wait go on then.
void meter_hold_sync(bool holds);
/// How many calls of fsync wait.
int meter_held_syncs(void);

#endif
