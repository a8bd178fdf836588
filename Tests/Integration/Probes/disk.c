// Replaces the calls that change files; `Tests/Integration/sweep` preloads it. It ends the process at the N-th call, in any thread, whereas
// strace counts by thread. It can also make the opening of a spool's files fail for a while.
//
//   KILL_AT     N, from 1
//   KILL_HOW    before the call, after it, or within: a pwrite that has written half of its bytes
//   KILL_COUNT  a file that gets a line for each call, with its name
//   CLOCK_STEP  the seconds by which the wall clock steps 1.5 s after the start. libfaketime alone isn't enough: it also moves
//               CLOCK_BOOTTIME, which doesn't control the system's timers.
//   FAIL_OPEN   the error of the 5th to the 25th open below a folder `spool`
//   FAIL_SYNC   N: every N-th fsync fails with EIO, so that a run must truncate its files
//   FAIL_NOTE   a file that gets a line for each call that fails because of these two
//   HOLD_SYNC   no fsync returns while this file exists; also for `Tests/Integration/stress shipping`

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_long calls;

static void end(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

// Adds a line to a file, if a path is given.
static void note(const char *path, const char *line) {
    if (!path) return;
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ssize_t ignored = write(file, line, strlen(line));
    (void)ignored;
    close(file);
}

// Returns whether this is the chosen call. Ends the process if it must end before the call.
static int is_last(const char *name) {
    long number = atomic_fetch_add(&calls, 1) + 1;
    const char *at = getenv("KILL_AT"), *how = getenv("KILL_HOW");
    note(getenv("KILL_COUNT"), name);
    if (!at || number != atol(at)) return 0;
    if (how && strcmp(how, "before") == 0) end();
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static ssize_t write_at(ssize_t (*real)(int, const void *, size_t, off_t), int file, const void *bytes, size_t count, off_t offset) {
    int last = is_last("pwrite\n");
    const char *how = getenv("KILL_HOW");
    if (last && how && strcmp(how, "within") == 0) count = (count + 1) / 2;
    ssize_t result = real(file, bytes, count, offset);
    if (last) end();
    return result;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) { return write_at(REAL(pwrite), file, bytes, count, offset); }
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) { return write_at(REAL(pwrite), file, bytes, count, offset); }

static void hold(void) {
    const char *path = getenv("HOLD_SYNC");
    while (path && access(path, F_OK) == 0) usleep(2000);
}

static int sync_file(int file) {
    static atomic_long syncs;
    const char *each = getenv("FAIL_SYNC");
    if (!each || (atomic_fetch_add(&syncs, 1) + 1) % atol(each) != 0) return REAL(fsync)(file);
    note(getenv("FAIL_NOTE"), "fsync\n");
    errno = EIO;
    return -1;
}

int fsync(int file) {
    hold();
    int last = is_last("fsync\n"), result = sync_file(file);
    if (last) end();
    return result;
}

int rename(const char *from, const char *to) {
    int last = is_last("rename\n"), result = REAL(rename)(from, to);
    if (last) end();
    return result;
}

int unlink(const char *path) {
    int last = is_last("unlink\n"), result = REAL(unlink)(path);
    if (last) end();
    return result;
}

static int open_file(int (*real)(const char *, int, ...), const char *path, int flags, int mode) {
    static atomic_long opens;
    const char *error = getenv("FAIL_OPEN");
    if (error && strstr(path, "/spool/")) {
        long number = atomic_fetch_add(&opens, 1) + 1;
        if (number >= 5 && number <= 25) {
            note(getenv("FAIL_NOTE"), "open\n");
            errno = atoi(error);
            return -1;
        }
    }
    return real(path, flags, mode);
}

static struct timespec start;

__attribute__((constructor)) static void note_start(void) { syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &start); }

static time_t clock_step(void) {
    const char *text = getenv("CLOCK_STEP");
    struct timespec now;
    if (!text || syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) != 0) return 0;
    long passed = (now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000;
    return passed < 1500 ? 0 : (time_t)atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += clock_step();
    return result;
}

int gettimeofday(struct timeval *time, void *zone) {
    int result = (int)syscall(SYS_gettimeofday, time, zone);
    if (result == 0) time->tv_sec += clock_step();
    return result;
}

#define MODE(flags) \
    int mode = 0; \
    if ((flags) & O_CREAT) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, int); \
        va_end(rest); \
    }

int open(const char *path, int flags, ...) {
    MODE(flags)
    return open_file(REAL(open), path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags)
    return open_file(REAL(open64), path, flags, mode);
}

int ftruncate(int file, off_t length) {
    int last = is_last("ftruncate\n"), result = REAL(ftruncate)(file, length);
    if (last) end();
    return result;
}

int ftruncate64(int file, off64_t length) {
    int last = is_last("ftruncate\n"), result = REAL(ftruncate)(file, length);
    if (last) end();
    return result;
}
