#define _GNU_SOURCE
#include "SystemCurlDriver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "SystemCurlGuard.h"
#include "SystemDescriptors.h"

#if defined(__linux__)

#include <sys/epoll.h>
#include <sys/eventfd.h>

// libcurl reports the sockets that it waits for, and epoll watches them. Unlike with curl_multi_poll, the waiting thread is outside
// libcurl, so another thread can start a transfer and send its request without waking it.

/// The state of a socket, stored by its number.
struct watched {
    /// The events that libcurl waits for, and those registered with the system: socket_input, socket_output.
    unsigned char wanted, registered;
    /// Whether its closing is reported. If so, it stays registered between two transfers, which saves two system calls each time.
    bool is_reported;
};

struct csl_driver {
    csl_multi *multi;
    csl_guard *guard;
    pthread_mutex_t ownership;
    int queue, waker;
    struct watched *sockets;
    size_t count;
    csl_sockets known;
    /// The events of the last wait, for the waiting thread only.
    struct epoll_event events[64];
    int pending;
    /// When libcurl wants to be called, 0 for at once, and when the current wait ends: nanoseconds, or `never`.
    int64_t timer, wait_end;
};

static const int64_t never = INT64_MAX;

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct watched *find(csl_driver *driver, int socket) {
    if (socket < 0) return NULL;
    if ((size_t)socket >= driver->count) {
        size_t count = 64;
        while (count <= (size_t)socket) count *= 2;
        struct watched *more = realloc(driver->sockets, count * sizeof *more);
        if (!more) return NULL;
        memset(more + driver->count, 0, (count - driver->count) * sizeof *more);
        driver->sockets = more;
        driver->count = count;
    }
    return driver->sockets + socket;
}

static void watch(csl_driver *driver, int socket, struct watched *entry, unsigned char wanted) {
    if (entry->registered == wanted) return;
    struct epoll_event event = {0};
    event.data.fd = socket;
    if (wanted & socket_input) event.events |= EPOLLIN;
    if (wanted & socket_output) event.events |= EPOLLOUT;
    int change = wanted == 0 ? EPOLL_CTL_DEL : entry->registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    // The socket's number may have been reused without notice.
    bool is_done = epoll_ctl(driver->queue, change, socket, &event) == 0 || wanted == 0
        || epoll_ctl(driver->queue, change == EPOLL_CTL_ADD ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event) == 0;
    // If the system has no room for it, the next use of the socket tries again.
    entry->registered = is_done ? wanted : 0;
}

static int socket_changed(csl_easy *easy, int socket, int what, void *user, void *socket_user) {
    (void)easy;
    (void)socket_user;
    csl_driver *driver = user;
    struct watched *entry = find(driver, socket);
    if (!entry) return -1;
    // A socket whose opening wasn't reported is the resolver's, which creates a socket pair for each lookup to wake this loop. A child that
    // starts during the lookup may inherit the other end, whose number libcurl doesn't report (curl's issue 13618).
    if (!entry->is_reported && entry->registered == 0 && what != socket_nothing) csl_close_in_children(socket);
    entry->wanted = what == socket_nothing ? 0 : (unsigned char)(what & (socket_input | socket_output));
    csl_sockets_set_busy(&driver->known, socket, entry->wanted != 0);
    if (entry->wanted != 0 || !entry->is_reported) watch(driver, socket, entry, entry->wanted);
    return 0;
}

static int timer_changed(csl_multi *multi, long milliseconds, void *user) {
    (void)multi;
    csl_driver *driver = user;
    driver->timer = milliseconds < 0 ? never : milliseconds == 0 ? 0 : nanoseconds() + (int64_t)milliseconds * 1000000;
    return 0;
}

csl_driver *csl_driver_new(csl_multi *multi) {
    csl_driver *driver = calloc(1, sizeof *driver);
    if (!driver) return NULL;
    driver->queue = epoll_create1(EPOLL_CLOEXEC);
    driver->waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = driver->waker}};
    if (driver->queue < 0 || driver->waker < 0 || epoll_ctl(driver->queue, EPOLL_CTL_ADD, driver->waker, &event) != 0) {
        if (driver->queue >= 0) close(driver->queue);
        if (driver->waker >= 0) close(driver->waker);
        free(driver);
        return NULL;
    }
    pthread_mutex_init(&driver->ownership, NULL);
    driver->multi = multi;
    driver->guard = csl_guard_new();
    driver->timer = driver->wait_end = never;
    csl_multi_set_functions(multi, socket_changed, timer_changed, driver);
    return driver;
}

void csl_driver_free(csl_driver *driver) {
    csl_guard_free(driver->guard);
    close(driver->queue);
    close(driver->waker);
    pthread_mutex_destroy(&driver->ownership);
    free(driver->sockets);
    csl_sockets_free(&driver->known);
    free(driver);
}

void csl_driver_acquire(csl_driver *driver) { pthread_mutex_lock(&driver->ownership); }
void csl_driver_release(csl_driver *driver) { pthread_mutex_unlock(&driver->ownership); }
bool csl_driver_try_acquire(csl_driver *driver) { return pthread_mutex_trylock(&driver->ownership) == 0; }

/// Asks for events, and waits this number of milliseconds at most.
static int ask(csl_driver *driver, int milliseconds) {
    int count = epoll_wait(driver->queue, driver->events, sizeof driver->events / sizeof *driver->events, milliseconds);
    return count < 0 ? 0 : count;
}

void csl_driver_wait(csl_driver *driver, int milliseconds) {
    // Events of the last wait are left.
    if (driver->pending > 0) return;
    int64_t now = nanoseconds(), end = now + (int64_t)milliseconds * 1000000;
    if (driver->timer < end) end = driver->timer < now ? now : driver->timer;
    driver->wait_end = end;
    pthread_mutex_unlock(&driver->ownership);
    // Rounded up: a wait that ends too early would be repeated at once.
    int count = ask(driver, (int)((end - now + 999999) / 1000000));
    pthread_mutex_lock(&driver->ownership);
    driver->pending = count;
}

/// Reports an event at a socket to libcurl, under the guard's supervision.
static void act(csl_driver *driver, int socket, int happened) {
    csl_guard_enter(driver->guard, socket);
    csl_multi_socket_action(driver->multi, socket, happened);
    csl_guard_leave(driver->guard);
}

void csl_driver_work(csl_driver *driver, bool has_waited) {
    enum { rounds = 4 };
    // After this time, a round handles no further socket: commands and deadlines come first, then the remaining sockets.
    const int64_t longest = 20000000, begun = nanoseconds();
    int happened = 0;
    if (has_waited) {
        happened = driver->pending;
        // A round that follows another one without a wait, since commands keep arriving: socket events must not wait for a pause.
        if (happened == 0) happened = ask(driver, 0);
    }
    int index = 0, left = 0;
    for (; index < happened; index++) {
        if (index > 0 && nanoseconds() - begun > longest) break;
        int socket = driver->events[index].data.fd;
        unsigned events = driver->events[index].events;
        if (socket == driver->waker) {
            // Reading resets the event, no matter how many wakes there were.
            uint64_t count;
            ssize_t ignored = read(driver->waker, &count, sizeof count);
            (void)ignored;
            continue;
        }
        struct watched *entry = find(driver, socket);
        if (!entry) continue;
        unsigned char now = 0;
        if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) now |= socket_input;
        if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) now |= socket_output;
        // An idle connection that the server has closed, or a transfer that waits for its reader, would be reported repeatedly.
        if (entry->wanted != entry->registered) watch(driver, socket, entry, entry->wanted);
        if (entry->wanted & now) act(driver, socket, entry->wanted & now);
    }
    for (; index < happened; index++, left++) driver->events[left] = driver->events[index];
    if (has_waited) driver->pending = left;
    for (int round = 0; round < rounds && driver->timer != never && (driver->timer == 0 || driver->timer <= nanoseconds()); round++) {
        // libcurl sets the timer again.
        driver->timer = never;
        act(driver, no_socket, 0);
        if (nanoseconds() - begun > longest) break;
    }
}

bool csl_driver_has_disconnected(csl_driver *driver, int local_port, int remote_port) {
    return csl_guard_has_disconnected(driver->guard, local_port, remote_port);
}

bool csl_driver_waits_too_long(csl_driver *driver) { return driver->timer < driver->wait_end; }

void csl_driver_wake(csl_driver *driver) {
    // Writing fails only if the event's counter is full, after some 10^19 wakes.
    uint64_t one = 1;
    ssize_t ignored = write(driver->waker, &one, sizeof one);
    (void)ignored;
}

void csl_driver_opened(csl_driver *driver, int socket, const void *owner) {
    if (!driver) return;
    csl_sockets_open(&driver->known, socket, owner);
    struct watched *entry = find(driver, socket);
    if (!entry) return;
    *entry = (struct watched){0, 0, true};
    csl_guard_opened(driver->guard, socket);
}

void csl_driver_closes(csl_driver *driver, int socket) {
    if (!driver) return;
    csl_sockets_close(&driver->known, socket);
    struct watched *entry = find(driver, socket);
    if (!entry) return;
    csl_guard_closes(driver->guard, socket);
    // Not left to the system: a forked child may still have the socket open, and the system would continue to report its events.
    watch(driver, socket, entry, 0);
    *entry = (struct watched){0, 0, false};
}

void csl_driver_note(csl_driver *driver, const void *owner, int port, bool is_serial) {
    csl_sockets_note(&driver->known, owner, port, is_serial);
}

bool csl_driver_is_stale(const csl_driver *driver, int port) { return csl_sockets_are_stale(&driver->known, port); }

#endif
