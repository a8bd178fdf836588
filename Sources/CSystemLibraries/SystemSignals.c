#define _GNU_SOURCE
#include "SystemSignals.h"

#include "SystemCurl.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

sigset_t csl_signals_to_block(void) {
    sigset_t signals;
    sigfillset(&signals);
    const int faults[] = {SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV, SIGSYS};
    for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) sigdelset(&signals, faults[index]);
    return signals;
}

// A broken pipe is a result of the call that meets it. libcurl before 7.87 lets OpenSSL write to the socket directly, which raises the
// signal; on Apple's systems a socket option prevents that.

static bool pipe_signal_is_pending(void) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

void csl_signal_guard_begin(csl_signal_guard *guard) {
    sigset_t others = csl_signals_to_block();
    if (pthread_sigmask(SIG_BLOCK, &others, &guard->before) != 0) sigfillset(&guard->before);
    // A signal that wasn't blocked can't be pending.
    guard->takes_pipe = sigismember(&guard->before, SIGPIPE) == 0 || !pipe_signal_is_pending();
}

void csl_signal_guard_end(const csl_signal_guard *guard) {
#if !defined(__APPLE__)
    if (guard->takes_pipe && pipe_signal_is_pending()) {
        sigset_t pipe;
        struct timespec now = {0, 0};
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        sigtimedwait(&pipe, NULL, &now);
    }
#endif
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}
