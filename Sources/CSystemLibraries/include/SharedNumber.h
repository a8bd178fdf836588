#ifndef CSYSTEMLIBRARIES_SHAREDNUMBER_H
#define CSYSTEMLIBRARIES_SHAREDNUMBER_H

#include <stdint.h>

// A number that threads read while another one changes it: C11's atomic. Swift has such a type only on newer systems than the package
// requires. It doesn't order other memory accesses.

static inline uint32_t csl_shared_number(const uint32_t *number) { return __atomic_load_n(number, __ATOMIC_RELAXED); }

static inline void csl_set_shared_number(uint32_t *number, uint32_t value) { __atomic_store_n(number, value, __ATOMIC_RELAXED); }

#endif
