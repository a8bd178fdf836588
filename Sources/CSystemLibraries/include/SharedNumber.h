#ifndef CSYSTEMLIBRARIES_SHAREDNUMBER_H
#define CSYSTEMLIBRARIES_SHAREDNUMBER_H

#include <stdint.h>

// A number in memory that threads look at while another one changes it: what C11 calls atomic. Swift has such a type of its own only on
// newer systems than the package asks for. On its own it orders nothing: it only says what it is.

static inline uint32_t csl_shared_number(const uint32_t *number) { return __atomic_load_n(number, __ATOMIC_RELAXED); }

static inline void csl_set_shared_number(uint32_t *number, uint32_t value) { __atomic_store_n(number, value, __ATOMIC_RELAXED); }

#endif
