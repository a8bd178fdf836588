#ifndef CSYSTEMLIBRARIES_SYSTEMZSTD_H
#define CSYSTEMLIBRARIES_SYSTEMZSTD_H

#include <stdbool.h>

#include "DecodingStep.h"
#include "EncodingStep.h"

// The decoder and the encoder of Zstandard (RFC 8878): libzstd, opened at run time.

/// A series of frames that is being decoded.
typedef struct csl_zstd_decoder csl_zstd_decoder;

/// Whether the library is available. The first call opens it; any thread may call it at any time.
bool csl_zstd_is_available(void);

/// A decoder with windows of at most 2 to the power of `window_log` bytes; NULL if the library is missing or memory is exhausted.
csl_zstd_decoder *csl_zstd_decoder_new(int window_log);
void csl_zstd_decoder_free(csl_zstd_decoder *decoder);

/// Decodes as far as input and room allow. It ends at the end of a frame: further input begins the next one. Must not be called again
/// after an error.
enum csl_decoding csl_zstd_decoder_step(csl_zstd_decoder *decoder, csl_decoding_bytes *bytes);

/// A frame that is being encoded.
typedef struct csl_zstd_encoder csl_zstd_encoder;

/// Whether the library can encode. The first call opens it; any thread may call it at any time.
bool csl_zstd_encoder_is_available(void);

/// An encoder for one frame with a checksum, with a level of 1 (fast) to 19 (small) and windows of at most 2 to the power of `window_log`
/// bytes; NULL if the library is missing or memory is exhausted.
csl_zstd_encoder *csl_zstd_encoder_new(int level, int window_log);
void csl_zstd_encoder_free(csl_zstd_encoder *encoder);

/// Encodes as far as input and room allow.
///
/// - is_last: whether the input ends with these bytes. Then it must be called with the rest of them until the frame has ended.
enum csl_encoding csl_zstd_encoder_step(csl_zstd_encoder *encoder, csl_decoding_bytes *bytes, bool is_last);

#endif
