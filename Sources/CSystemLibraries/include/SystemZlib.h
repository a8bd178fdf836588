#ifndef CSYSTEMLIBRARIES_SYSTEMZLIB_H
#define CSYSTEMLIBRARIES_SYSTEMZLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "DecodingStep.h"
#include "EncodingStep.h"

/// The result of a compression.
enum csl_zlib_result {
    /// The output is complete.
    CSL_ZLIB_DONE = 0,
    /// The library is missing or lacks a function.
    CSL_ZLIB_MISSING = 1,
    /// The output doesn't fit into the given space.
    CSL_ZLIB_NO_SPACE = 2,
    /// The library failed: no memory, or a level outside of 1 to 9.
    CSL_ZLIB_FAILED = 3,
};

/// Whether zlib is available. The first call opens it; any thread may call it at any time.
bool csl_zlib_is_available(void);

/// Compresses bytes into one gzip member (RFC 1952) without a name or a time, so that equal input gives equal output.
///
/// - level: 1 (fast) to 9 (small).
/// - written: the number of output bytes, set if the result is CSL_ZLIB_DONE.
enum csl_zlib_result csl_zlib_gzip(
    const uint8_t *input, size_t length, int level, uint8_t *output, size_t capacity, size_t *written);

/// A stream that is being decompressed.
typedef struct csl_inflater csl_inflater;

/// The format of a stream.
enum csl_inflater_kind {
    /// A member of a gzip file (RFC 1952).
    CSL_INFLATER_GZIP = 0,
    /// The zlib format (RFC 1950) or a raw stream (RFC 1951), distinguished by the first two bytes.
    CSL_INFLATER_DEFLATE = 1,
};

/// Whether zlib is available for decompression. The first call opens it; any thread may call it at any time.
bool csl_inflater_is_available(void);

/// A decoder for one stream; NULL if the library is missing or memory is exhausted.
csl_inflater *csl_inflater_new(enum csl_inflater_kind kind);
void csl_inflater_free(csl_inflater *inflater);

/// Prepares the decoder for another stream, such as the next member of a gzip file. Returns whether it succeeded.
bool csl_inflater_reset(csl_inflater *inflater);

/// Whether the stream is raw, and so has no checksum.
bool csl_inflater_is_raw(const csl_inflater *inflater);

/// Decompresses as far as input and room allow. After an error or the end, the decoder must be reset before the next call.
enum csl_decoding csl_inflater_step(csl_inflater *inflater, csl_decoding_bytes *bytes);

/// A stream that is being compressed.
typedef struct csl_deflater csl_deflater;

/// An encoder for one stream, gzip (without a name or a time) or zlib, so that equal input gives equal output; NULL if the library is
/// missing, memory is exhausted, or the level isn't one of 1 (fast) to 9 (small).
csl_deflater *csl_deflater_new(enum csl_inflater_kind kind, int level);
void csl_deflater_free(csl_deflater *deflater);

/// Compresses as far as input and room allow.
///
/// - is_last: whether the input ends with these bytes. Then it must be called with the rest of them until the stream has ended.
enum csl_encoding csl_deflater_step(csl_deflater *deflater, csl_decoding_bytes *bytes, bool is_last);

#endif
