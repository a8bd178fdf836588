#ifndef CSYSTEMLIBRARIES_DYNAMICLIBRARY_H
#define CSYSTEMLIBRARIES_DYNAMICLIBRARY_H

#include <stdbool.h>
#include <stddef.h>

// Opens the system's libraries, for the sources of this target only.

/// Opens the first of these libraries that exists; NULL if none does.
void *csl_library_open(const char *const *names, size_t count);

/// Finds a function and stores its address in the function pointer at `target`, which is left unchanged if there is none.
bool csl_library_find(void *library, const char *name, void *target);

#endif
