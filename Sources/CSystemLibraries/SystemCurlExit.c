#define _GNU_SOURCE
#include "SystemCurlExit.h"

#include "SystemCurl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

// The number of threads inside libcurl, the depth of this one, and whether the process exits. The system's reader-writer lock isn't used,
// since it prefers readers: many loops could delay an exiting thread for too long.
static atomic_int inside;
static _Thread_local int depth;
static atomic_bool is_exiting;
// Set before is_exiting.
static pthread_t exiting;

// From here on no transfer continues: threads inside libcurl leave, and no thread enters. The wait is bounded, since a process must end.
static void stop_at_exit(void) {
    enum { milliseconds = 5000 };
    exiting = pthread_self();
    atomic_store(&is_exiting, true);
    // The exiting thread may itself be inside libcurl.
    int own = depth > 0 ? 1 : 0;
    for (int tenth = 0; tenth < milliseconds * 10 && atomic_load(&inside) > own; tenth++) usleep(100);
}

void csl_curl_register_exit_handler(void) { atexit(stop_at_exit); }

bool csl_curl_enter(void) {
    if (depth++ > 0) return true;
    // Counts before it checks: either the exiting thread sees this one, or this one sees that the process exits.
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
