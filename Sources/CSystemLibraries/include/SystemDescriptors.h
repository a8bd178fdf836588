#ifndef CSYSTEMLIBRARIES_SYSTEMDESCRIPTORS_H
#define CSYSTEMLIBRARIES_SYSTEMDESCRIPTORS_H

#include <stdbool.h>

// Descriptors that a library opens without FD_CLOEXEC are found and marked right after that. A child that another thread starts in between
// still inherits them.

/// The numbers in use, from the lowest free one on.
typedef struct csl_open_descriptors {
    int first;
    int count;
    bool are_open[4096];
} csl_open_descriptors;

void csl_record_open_descriptors(csl_open_descriptors *open);

/// Marks the pipes, the events and the unnamed local sockets opened since. Descriptors of these kinds that another thread opened at the
/// same time may be marked as well: descriptors of libraries should have this mark anyway.
void csl_close_new_in_children(const csl_open_descriptors *before);

/// Marks one descriptor.
void csl_close_in_children(int number);

#endif
