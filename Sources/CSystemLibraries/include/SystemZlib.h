#ifndef CSYSTEMLIBRARIES_SYSTEMZLIB_H
#define CSYSTEMLIBRARIES_SYSTEMZLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "DecodingStep.h"

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

/// One stream that is being decompressed.
typedef struct csl_inflater csl_inflater;

/// What a stream is wrapped in.
enum csl_inflater_kind {
    /// A member of a gzip file (RFC 1952).
    CSL_INFLATER_GZIP = 0,
    /// zlib's wrapping (RFC 1950) or none (RFC 1951): the first two bytes tell.
    CSL_INFLATER_DEFLATE = 1,
};

/// Whether zlib could be opened for decompression. The first call opens it; any thread may ask at any time.
bool csl_inflater_is_available(void);

/// A decoder for one stream; NULL when the library isn't there, or no memory.
csl_inflater *csl_inflater_new(enum csl_inflater_kind kind);
void csl_inflater_free(csl_inflater *inflater);

/// Makes the decoder ready for another stream, such as the next member of a gzip file. Whether that went well.
bool csl_inflater_reset(csl_inflater *inflater);

/// Whether the stream turned out to have no wrapping, and so no checksum.
bool csl_inflater_is_raw(const csl_inflater *inflater);

/// Decompresses as far as input and room reach. Not to be called again after an error or the end but for a reset between.
enum csl_decoding csl_inflater_step(csl_inflater *inflater, csl_decoding_bytes *bytes);

#endif
