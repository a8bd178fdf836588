#define _GNU_SOURCE
#include "SystemDescriptors.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

void csl_close_in_children(int number) {
    int flags = fcntl(number, F_GETFD);
    if (flags >= 0) fcntl(number, F_SETFD, flags | FD_CLOEXEC);
}

void csl_record_open_descriptors(csl_open_descriptors *open) {
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

void csl_close_new_in_children(const csl_open_descriptors *before) {
    for (int index = 0; index < before->count; index++) {
        int number = before->first + index;
        struct stat kind;
        if (before->are_open[index] || fstat(number, &kind) != 0) continue;
        // An event has no file type.
        if (S_ISFIFO(kind.st_mode) || (kind.st_mode & S_IFMT) == 0 || is_unnamed_socket(number)) csl_close_in_children(number);
    }
}
