#include "SystemCurlDriver.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

// The state of a driver's sockets, stored by number, so that a connection can be examined before it carries another request. libcurl
// chooses the connection itself, and then reports only the local port.

struct csl_known_socket {
    /// The owner that it was made for, until its first response has arrived.
    const void *owner;
    /// The local port; 0 if there are no ports, as with Unix-domain sockets.
    int port;
    /// Whether its responses use HTTP/1: between two of them the server sends nothing.
    bool is_serial;
    /// Whether libcurl waits for an event there.
    bool is_busy;
};

static struct csl_known_socket *find(csl_sockets *sockets, int socket) {
    return socket >= 0 && (size_t)socket < sockets->count ? sockets->known + socket : NULL;
}

void csl_sockets_open(csl_sockets *sockets, int socket, const void *owner) {
    if (socket < 0) return;
    if ((size_t)socket >= sockets->count) {
        size_t count = 64;
        while (count <= (size_t)socket) count *= 2;
        struct csl_known_socket *more = realloc(sockets->known, count * sizeof *more);
        if (!more) return;
        memset(more + sockets->count, 0, (count - sockets->count) * sizeof *more);
        sockets->known = more;
        sockets->count = count;
    }
    sockets->known[socket] = (struct csl_known_socket){.owner = owner};
}

void csl_sockets_close(csl_sockets *sockets, int socket) {
    struct csl_known_socket *known = find(sockets, socket);
    if (known) *known = (struct csl_known_socket){0};
}

void csl_sockets_set_busy(csl_sockets *sockets, int socket, bool is_busy) {
    struct csl_known_socket *known = find(sockets, socket);
    if (known) known->is_busy = is_busy;
}

void csl_sockets_note(csl_sockets *sockets, const void *owner, int port, bool is_serial) {
    if (!owner) return;
    for (size_t index = 0; index < sockets->count; index++) {
        struct csl_known_socket *known = sockets->known + index;
        if (known->owner != owner) continue;
        *known = (struct csl_known_socket){.port = port, .is_serial = is_serial, .is_busy = known->is_busy};
    }
}

static bool has_something(int socket) {
    struct pollfd looked_at = {.fd = socket, .events = POLLIN};
    int count;
    do count = poll(&looked_at, 1, 0);
    while (count < 0 && errno == EINTR);
    return count != 0;
}

bool csl_sockets_are_stale(const csl_sockets *sockets, int port) {
    for (size_t index = 0; index < sockets->count; index++) {
        const struct csl_known_socket *known = sockets->known + index;
        if (!known->is_serial || (port > 0 ? known->port != port : known->is_busy)) continue;
        if (has_something((int)index)) return true;
    }
    return false;
}

void csl_sockets_free(csl_sockets *sockets) { free(sockets->known); }
