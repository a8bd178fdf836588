#include "DynamicLibrary.h"

#include <dlfcn.h>
#include <string.h>

void *csl_library_open(const char *const *names, size_t count) {
    void *library = NULL;
    for (size_t index = 0; index < count && !library; index++) library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
    return library;
}

bool csl_library_find(void *library, const char *name, void *target) {
    void *symbol = dlsym(library, name);
    if (!symbol) return false;
    // memcpy instead of a cast: ISO C has no conversion from an object pointer to a function pointer.
    memcpy(target, &symbol, sizeof symbol);
    return true;
}
