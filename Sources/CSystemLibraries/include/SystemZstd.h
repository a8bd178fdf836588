#ifndef CSYSTEMLIBRARIES_SYSTEMZSTD_H
#define CSYSTEMLIBRARIES_SYSTEMZSTD_H

#include <stdbool.h>

#include "DecodingStep.h"

// The decoder of Zstandard (RFC 8878): libzstd, opened at run time.

/// A series of frames that is being decoded.
typedef struct csl_zstd_decoder csl_zstd_decoder;

/// Whether the library could be opened. The first call opens it; any thread may ask at any time.
bool csl_zstd_is_available(void);

/// A decoder whose windows take at most 2 to the power of `window_log` bytes; NULL when the library isn't there, or no memory.
csl_zstd_decoder *csl_zstd_decoder_new(int window_log);
void csl_zstd_decoder_free(csl_zstd_decoder *decoder);

/// Decodes as far as input and room reach. The end is that of a frame: with further input the next one begins. Not to be called again
/// after an error.
enum csl_decoding csl_zstd_decoder_step(csl_zstd_decoder *decoder, csl_decoding_bytes *bytes);

#endif
