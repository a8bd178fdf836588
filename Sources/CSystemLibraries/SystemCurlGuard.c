#define _GNU_SOURCE
#include "SystemCurlGuard.h"

#if defined(__linux__)

#include "SystemCurl.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

// The interval between two looks of the guards' thread, and the number of looks without a call after which it sleeps until the next call.
enum { tick_milliseconds = 50, most_idle_ticks = 40 };
// A call of libcurl returns after it has filled a transfer's buffer of 60 kB 100 times. A call that reads more is caught in a loop, even on
// a slow machine.
static const int64_t most_bytes = 8 * 1024 * 1024;
// A call is also caught in a loop if it still reads after this many looks, at least this many bytes between two of them. (The end of a
// connection may count as one byte.)
enum { most_ticks = 40, least_bytes = 16 };
// The time for which a disconnected connection is remembered.
static const int64_t memory_nanoseconds = INT64_C(10000000000);

struct watched {
    int socket;
    /// The bytes read from it at the first and at the last look during a call; -1 if the system doesn't report them.
    int64_t first, last;
};

struct cut {
    int local_port, remote_port;
    int64_t moment;
};

struct csl_guard {
    /// Counts the starts and ends of calls: odd during a call.
    uint64_t calls;
    int socket;
    // The lock guards everything below.
    struct watched *watched;
    size_t count, room;
    /// The call in progress at the last look, and the number of looks that have found it.
    uint64_t seen;
    int looks;
    struct cut cuts[32];
    unsigned next_cut;
    csl_guard *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;
static csl_guard *guards;
static bool is_started;
/// Whether the thread must be woken or started before it can look.
static uint32_t is_asleep = 1;

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/// Returns the number of bytes read from a socket so far; -1 if the system doesn't report it.
static int64_t taken(int socket) {
    struct tcp_info information;
    socklen_t length = sizeof information;
    int waiting = 0;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &information, &length) != 0) return -1;
    if (length < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof information.tcpi_bytes_received) return -1;
    if (ioctl(socket, FIONREAD, &waiting) != 0) return -1;
    return (int64_t)information.tcpi_bytes_received - waiting;
}

static int port(int socket, int (*name)(int, struct sockaddr *, socklen_t *)) {
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    if (name(socket, (struct sockaddr *)&address, &length) != 0) return 0;
    if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return 0;
}

static void cut(csl_guard *guard, int socket) {
    guard->cuts[guard->next_cut++ % (sizeof guard->cuts / sizeof *guard->cuts)] =
        (struct cut){port(socket, getsockname), port(socket, getpeername), nanoseconds()};
    // Unlike a shutdown, this also drops the bytes that wait to be read.
    struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
    if (connect(socket, &nowhere, sizeof nowhere) != 0) shutdown(socket, SHUT_RDWR);
}

/// Examines a call that has been in progress for some time.
static void look_into(csl_guard *guard) {
    int acting = __atomic_load_n(&guard->socket, __ATOMIC_RELAXED);
    for (size_t index = 0; index < guard->count; index++) {
        struct watched *entry = guard->watched + index;
        int64_t now = taken(entry->socket), before = entry->last;
        entry->last = now;
        if (guard->looks == 1) {
            entry->first = now;
            continue;
        }
        bool is_long = guard->looks > most_ticks, is_read = before >= 0 && now - before > least_bytes;
        int waiting = 0;
        // The socket doesn't use TCP, such as a local one.
        if (now < 0) is_read = entry->socket == acting && ioctl(entry->socket, FIONREAD, &waiting) == 0 && waiting > 0;
        if (is_read && (is_long || (entry->first >= 0 && now - entry->first > most_bytes))) {
            cut(guard, entry->socket);
            entry->first = entry->last = -1;
        }
    }
}

/// - Returns: whether there were calls since the last look.
static bool look(csl_guard *guard) {
    uint64_t calls = __atomic_load_n(&guard->calls, __ATOMIC_ACQUIRE);
    if (calls != guard->seen) {
        guard->seen = calls;
        guard->looks = 0;
        return true;
    }
    if (calls % 2 == 0) return false;
    guard->looks++;
    look_into(guard);
    return true;
}

static void watch(void *context) {
    (void)context;
    int idle = 0;
    pthread_mutex_lock(&lock);
    for (;;) {
        bool were_called = false;
        for (csl_guard *guard = guards; guard; guard = guard->next) were_called |= look(guard);
        idle = were_called ? 0 : idle + 1;
        if (idle > most_idle_ticks) {
            __atomic_store_n(&is_asleep, 1, __ATOMIC_SEQ_CST);
            while (__atomic_load_n(&is_asleep, __ATOMIC_RELAXED) != 0) pthread_cond_wait(&wanted, &lock);
            idle = 0;
        }
        pthread_mutex_unlock(&lock);
        struct timespec tick = {0, tick_milliseconds * 1000000L};
        nanosleep(&tick, NULL);
        pthread_mutex_lock(&lock);
    }
}

static void wake(void) {
    pthread_mutex_lock(&lock);
    // If the system provides no thread, everything works without a guard.
    if (!is_started) is_started = csl_thread_start("curl-guard", watch, NULL);
    __atomic_store_n(&is_asleep, 0, __ATOMIC_RELAXED);
    pthread_cond_signal(&wanted);
    pthread_mutex_unlock(&lock);
}

csl_guard *csl_guard_new(void) {
    csl_guard *guard = calloc(1, sizeof *guard);
    if (!guard) return NULL;
    guard->socket = -1;
    pthread_mutex_lock(&lock);
    guard->next = guards;
    guards = guard;
    pthread_mutex_unlock(&lock);
    return guard;
}

void csl_guard_free(csl_guard *guard) {
    if (!guard) return;
    pthread_mutex_lock(&lock);
    csl_guard **place = &guards;
    while (*place != guard) place = &(*place)->next;
    *place = guard->next;
    pthread_mutex_unlock(&lock);
    free(guard->watched);
    free(guard);
}

void csl_guard_opened(csl_guard *guard, int socket) {
    if (!guard) return;
    pthread_mutex_lock(&lock);
    if (guard->count == guard->room) {
        size_t room = guard->room == 0 ? 16 : 2 * guard->room;
        struct watched *more = realloc(guard->watched, room * sizeof *more);
        if (more) {
            guard->watched = more;
            guard->room = room;
        }
    }
    if (guard->count < guard->room) guard->watched[guard->count++] = (struct watched){socket, -1, -1};
    pthread_mutex_unlock(&lock);
}

void csl_guard_closes(csl_guard *guard, int socket) {
    if (!guard) return;
    pthread_mutex_lock(&lock);
    for (size_t index = guard->count; index-- > 0;) {
        if (guard->watched[index].socket == socket) guard->watched[index] = guard->watched[--guard->count];
    }
    pthread_mutex_unlock(&lock);
}

void csl_guard_enter(csl_guard *guard, int socket) {
    if (!guard) return;
    __atomic_store_n(&guard->socket, socket, __ATOMIC_RELAXED);
    __atomic_store_n(&guard->calls, guard->calls + 1, __ATOMIC_RELEASE);
    if (__atomic_load_n(&is_asleep, __ATOMIC_RELAXED) != 0) wake();
}

void csl_guard_leave(csl_guard *guard) {
    if (guard) __atomic_store_n(&guard->calls, guard->calls + 1, __ATOMIC_RELEASE);
}

bool csl_guard_has_disconnected(csl_guard *guard, int local_port, int remote_port) {
    if (!guard) return false;
    bool has_cut = false;
    pthread_mutex_lock(&lock);
    unsigned count = sizeof guard->cuts / sizeof *guard->cuts;
    for (unsigned index = 0; index < count && index < guard->next_cut && !has_cut; index++) {
        const struct cut *cut = guard->cuts + index;
        if (nanoseconds() - cut->moment > memory_nanoseconds) continue;
        // libcurl may not know the ports of a connection that isn't established yet.
        has_cut = local_port > 0 ? cut->local_port == local_port && cut->remote_port == remote_port : cut->local_port == 0;
    }
    pthread_mutex_unlock(&lock);
    return has_cut;
}

#endif
