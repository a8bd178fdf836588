#ifndef CSYSTEMLIBRARIES_SYSTEMDESCRIPTORS_H
#define CSYSTEMLIBRARIES_SYSTEMDESCRIPTORS_H

#include <stdbool.h>

// What a library opens without keeping it from child processes: found and marked (FD_CLOEXEC) as soon as it is there. A child that another
// thread starts before that has it all the same.

/// Which numbers were taken, from the lowest one on that was free.
typedef struct csl_open_descriptors {
    int first;
    int count;
    bool are_open[4096];
} csl_open_descriptors;

void csl_note_open_descriptors(csl_open_descriptors *open);

/// Marks the pipes, the events and the unnamed local sockets among what has been opened since. What another thread opened meanwhile may be
/// marked as well, if it is such a descriptor: it is the mark that those of libraries should have anyway.
void csl_keep_new_descriptors(const csl_open_descriptors *before);

#if defined(__linux__)
/// Marks an end of a socketpair(), of streams, and the other end, wherever that is: false where that isn't here (any more). Nobody may read
/// from the other end meanwhile, since something is sent there, and nobody may close it.
bool csl_keep_socket_pair(int socket);
#endif

#endif
