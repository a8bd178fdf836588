#ifndef CSYSTEMLIBRARIES_SYSTEMZLIB_H
#define CSYSTEMLIBRARIES_SYSTEMZLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What came of a compression.
enum csl_zlib_result {
    /// The output is complete.
    CSL_ZLIB_DONE = 0,
    /// The library isn't there or lacks a function.
    CSL_ZLIB_MISSING = 1,
    /// The output does not fit into the space that was given.
    CSL_ZLIB_NO_SPACE = 2,
    /// The library refused: no memory, or a level outside of 1 to 9.
    CSL_ZLIB_FAILED = 3,
};

/// Whether zlib could be opened. The first call opens it; any thread may ask at any time.
bool csl_zlib_is_available(void);

/// Compresses bytes into one gzip member (RFC 1952) without a name and a time, so that equal input gives equal output.
///
/// - level: 1 (quick) to 9 (small).
/// - written: the bytes of the output, set when the result is CSL_ZLIB_DONE.
enum csl_zlib_result csl_zlib_gzip(
    const uint8_t *input, size_t length, int level, uint8_t *output, size_t capacity, size_t *written);

#endif
