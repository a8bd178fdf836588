#define _GNU_SOURCE
#include "SystemDescriptors.h"

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/// Queries sockets only, which never blocks: for a file, the file system would have to answer.
static bool is_unnamed_socket(int number) {
    struct sockaddr_un name;
    socklen_t length = sizeof name;
    if (getsockname(number, (struct sockaddr *)&name, &length) != 0 || name.sun_family != AF_UNIX) return false;
#if defined(__APPLE__)
    // On Apple's systems, an unnamed socket has an empty name.
    if (length > offsetof(struct sockaddr_un, sun_path)) return name.sun_path[0] == 0;
#endif
    return length <= offsetof(struct sockaddr_un, sun_path);
}

static void mark(int number) {
    int flags = fcntl(number, F_GETFD);
    if (flags >= 0) fcntl(number, F_SETFD, flags | FD_CLOEXEC);
}

void csl_note_open_descriptors(csl_open_descriptors *open) {
    // New descriptors have the lowest free numbers, but other threads may open some at the same time.
    enum { most = sizeof open->are_open / sizeof *open->are_open, most_free = 32 };
    open->first = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (open->first >= 0) close(open->first);
    else open->first = STDERR_FILENO + 1;
    open->count = 0;
    for (int free = 0; open->count < most && free < most_free; open->count++) {
        open->are_open[open->count] = fcntl(open->first + open->count, F_GETFD) >= 0;
        if (!open->are_open[open->count]) free++;
    }
}

void csl_keep_new_descriptors(const csl_open_descriptors *before) {
    for (int index = 0; index < before->count; index++) {
        int number = before->first + index;
        struct stat kind;
        if (before->are_open[index] || fstat(number, &kind) != 0) continue;
        // An event has no file type.
        if (S_ISFIFO(kind.st_mode) || (kind.st_mode & S_IFMT) == 0 || is_unnamed_socket(number)) mark(number);
    }
}

#if defined(__linux__)

/// A token sent through a pair to recognise the other end: no other code sends this.
struct token {
    uint64_t name, socket, moment;
};

static bool has_other_end(int socket) {
    struct pollfd asked = {.fd = socket, .events = 0};
    return poll(&asked, 1, 0) <= 0 || !(asked.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/// Takes nothing, and looks only if exactly as many bytes wait as were sent. Elsewhere even a look would disturb the owner, since it takes
/// a pending error.
static bool is_other_end(int number, const struct token *token) {
    struct token found;
    int type, waiting;
    socklen_t length = sizeof type;
    return is_unnamed_socket(number) && getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM
        && ioctl(number, FIONREAD, &waiting) == 0 && waiting == sizeof found
        && recv(number, &found, sizeof found, MSG_PEEK | MSG_DONTWAIT) == sizeof found && memcmp(&found, token, sizeof found) == 0;
}

bool csl_keep_socket_pair(int socket) {
    // The numbers of the two ends aren't adjacent, as other threads open and close descriptors, nor are their inode numbers, which each
    // processor takes by the thousand. Only the data at the other end identifies it.
    enum { most = 1 << 16, numbers_between = 64 };
    struct stat one;
    if (!is_unnamed_socket(socket) || fstat(socket, &one) != 0) return false;
    mark(socket);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct token token = {UINT64_C(0x70616972206f6620), one.st_ino, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec};
    if (send(socket, &token, sizeof token, MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof token) return false;
    // Usually the next number.
    for (int distance = 1; distance <= most; distance++) {
        for (int side = 0; side < 2; side++) {
            int number = side == 0 ? socket + distance : socket - distance;
            if (number < 0 || !is_other_end(number, &token)) continue;
            // It is still the same descriptor, as the caller guarantees.
            mark(number);
            recv(number, &token, sizeof token, MSG_DONTWAIT);
            return true;
        }
        if (distance % numbers_between == 0 && !has_other_end(socket)) return false;
    }
    return false;
}

#endif
