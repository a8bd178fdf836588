#define _GNU_SOURCE
#include "Meter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

static atomic_bool holds;
static atomic_int held;

void meter_hold_sync(bool value) { atomic_store(&holds, value); }
int meter_held_syncs(void) { return atomic_load(&held); }

#if defined(__linux__)

// In place of the C library's.
int fsync(int file) {
    if (atomic_load(&holds)) {
        atomic_fetch_add(&held, 1);
        while (atomic_load(&holds)) usleep(1000);
        atomic_fetch_sub(&held, 1);
    }
    return (int)syscall(SYS_fsync, file);
}

#endif

#if defined(__GLIBC__)

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static __thread int64_t count;

int64_t meter_allocations(void) { return count; }

// In place of the C library's, which do the work.

void *malloc(size_t size) {
    count++;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count++;
    return __libc_calloc(number, size);
}

void *realloc(void *bytes, size_t size) {
    count++;
    return __libc_realloc(bytes, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    count++;
    void *bytes = __libc_memalign(alignment, size);
    if (!bytes) return ENOMEM;
    *result = bytes;
    return 0;
}

#else

int64_t meter_allocations(void) { return -1; }

#endif
