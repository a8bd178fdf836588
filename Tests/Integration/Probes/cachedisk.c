// Replaces the calls that change files below a folder; `Tests/Integration/cache-sweep` preloads it. It ends the process at the N-th call, in
// any thread, or lets the N-th call fail.
//
//   DISK_BELOW  the folder, as the program names it; calls elsewhere aren't counted
//   KILL_AT     N, from 1
//   KILL_HOW    before the call, after it, or within: a write that has written half of its bytes
//   FAIL_AT     N, from 1: this call fails with the error FAIL_ERROR
//   FAIL_FROM   N, from 1: this call and all later ones of its kind fail
//   NOTE_CALLS  a file that gets a line for each call, with its name

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_long calls;
static _Atomic(const char *) failing;

static void end(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static int is_below(const char *path) {
    const char *folder = getenv("DISK_BELOW");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_file_below(int file) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static long number_of(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

enum fate { GOES_ON, FAILS, ENDS };

// Counts a call, and returns its fate. Ends the process if it must end before the call.
static enum fate fate_of(const char *name) {
    long number = atomic_fetch_add(&calls, 1) + 1;
    const char *path = getenv("NOTE_CALLS"), *how = getenv("KILL_HOW");
    if (path) {
        int file = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        char line[64];
        int length = snprintf(line, sizeof line, "%s\n", name);
        ssize_t ignored = REAL(write)(file, line, (size_t)length);
        (void)ignored;
        close(file);
    }
    if (number == number_of("KILL_AT")) {
        if (how && strcmp(how, "before") == 0) end();
        return ENDS;
    }
    if (number == number_of("FAIL_FROM")) failing = name;
    if (number == number_of("FAIL_AT") || (failing && strcmp(failing, name) == 0)) {
        errno = (int)number_of("FAIL_ERROR");
        return FAILS;
    }
    return GOES_ON;
}

#define CALL(name, isCounted, ...) \
    if (!(isCounted)) return REAL(name)(__VA_ARGS__); \
    enum fate fate = fate_of(#name); \
    if (fate == FAILS) return -1; \
    __typeof__(REAL(name)(__VA_ARGS__)) result = REAL(name)(__VA_ARGS__); \
    if (fate == ENDS) end(); \
    return result;

ssize_t write(int file, const void *bytes, size_t count) {
    if (!is_file_below(file)) return REAL(write)(file, bytes, count);
    enum fate fate = fate_of("write");
    if (fate == FAILS) return -1;
    const char *how = getenv("KILL_HOW");
    if (fate == ENDS && how && strcmp(how, "within") == 0) count = (count + 1) / 2;
    ssize_t result = REAL(write)(file, bytes, count);
    if (fate == ENDS) end();
    return result;
}

int rename(const char *from, const char *to) { CALL(rename, is_below(to), from, to) }
int unlink(const char *path) { CALL(unlink, is_below(path), path) }
int mkdir(const char *path, mode_t mode) { CALL(mkdir, is_below(path), path, mode) }
int fsync(int file) { CALL(fsync, is_file_below(file), file) }

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
    va_end(rest);
    CALL(open, is_below(path) && flags & O_CREAT, path, flags, mode)
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
    va_end(rest);
    CALL(open64, is_below(path) && flags & O_CREAT, path, flags, mode)
}
