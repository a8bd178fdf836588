#ifndef CSYSTEMLIBRARIES_DYNAMICLIBRARY_H
#define CSYSTEMLIBRARIES_DYNAMICLIBRARY_H

#include <stdbool.h>
#include <stddef.h>

// How the libraries of the system are opened: for the sources of this target only.

/// Opens the first of these libraries that is there; NULL when none is.
void *csl_library_open(const char *const *names, size_t count);

/// Finds a function and writes its address to the function pointer at `target`, which stays as it is where there is none.
bool csl_library_find(void *library, const char *name, void *target);

#endif
