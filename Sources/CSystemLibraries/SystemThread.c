#define _GNU_SOURCE
#include "SystemCurl.h"
#include "SystemSignals.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct thread_start {
    char name[16];
    void (*run)(void *);
    void *context;
};

static void *run_thread(void *argument) {
    struct thread_start start = *(struct thread_start *)argument;
    free(argument);
#if defined(__APPLE__)
    pthread_setname_np(start.name);
#else
    pthread_setname_np(pthread_self(), start.name);
#endif
    start.run(start.context);
    return NULL;
}

bool csl_thread_start(const char *name, void (*run)(void *), void *context) {
    struct thread_start *start = calloc(1, sizeof *start);
    if (!start) return false;
    strncpy(start->name, name, sizeof start->name - 1);
    start->run = run;
    start->context = context;
    // Signals belong to the program. A thread inherits the mask of its creator.
    sigset_t others = csl_signals_to_block(), before;
    pthread_sigmask(SIG_SETMASK, &others, &before);
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool started = pthread_create(&thread, &attributes, run_thread, start) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started) free(start);
    return started;
}
