#ifndef CSYSTEMLIBRARIES_SYSTEMZSTD_H
#define CSYSTEMLIBRARIES_SYSTEMZSTD_H

#include <stdbool.h>

#include "DecodingStep.h"

// The decoder of Zstandard (RFC 8878): libzstd, opened at run time.

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

#endif
