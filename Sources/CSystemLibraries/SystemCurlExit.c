#define _GNU_SOURCE
#include "SystemCurlExit.h"

#include "SystemCurl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

// How many threads are inside of libcurl, how deep this one is, and whether the process exits. A lock for readers and writers would do, but
// the system's prefers readers: many loops keep a thread that exits waiting for longer than it may.
static atomic_int inside;
static _Thread_local int depth;
static atomic_bool is_exiting;
// Set before is_exiting.
static pthread_t exiting;

// From here no transfer goes on: who is inside leaves, and nobody gets in any more. The wait is bounded, since a process must end.
static void stop_at_exit(void) {
    enum { milliseconds = 5000 };
    exiting = pthread_self();
    atomic_store(&is_exiting, true);
    // The thread that exits may be inside itself.
    int own = depth > 0 ? 1 : 0;
    for (int tenth = 0; tenth < milliseconds * 10 && atomic_load(&inside) > own; tenth++) usleep(100);
}

void csl_curl_heed_exit(void) { atexit(stop_at_exit); }

bool csl_curl_enter(void) {
    if (depth++ > 0) return true;
    // Counted before it is asked: either the thread that exits sees this one, or this one sees that the process exits.
    atomic_fetch_add(&inside, 1);
    if (!atomic_load(&is_exiting)) return true;
    atomic_fetch_sub(&inside, 1);
    depth--;
    if (pthread_equal(pthread_self(), exiting)) return false;
    for (;;) pause();
}

void csl_curl_leave(void) {
    if (--depth == 0) atomic_fetch_sub(&inside, 1);
}
