#ifndef CSYSTEMLIBRARIES_SYSTEMBROTLI_H
#define CSYSTEMLIBRARIES_SYSTEMBROTLI_H

#include <stdbool.h>

#include "DecodingStep.h"

// The decoder of brotli (RFC 7932): libbrotlidec, opened at run time.

/// A stream that is being decoded.
typedef struct csl_brotli_decoder csl_brotli_decoder;

/// Whether the library is available. The first call opens it; any thread may call it at any time.
bool csl_brotli_is_available(void);

/// A decoder for one stream; NULL if the library is missing or memory is exhausted.
csl_brotli_decoder *csl_brotli_decoder_new(void);
void csl_brotli_decoder_free(csl_brotli_decoder *decoder);

/// Decodes as far as input and room allow. Must not be called again after an error or the end.
enum csl_decoding csl_brotli_decoder_step(csl_brotli_decoder *decoder, csl_decoding_bytes *bytes);

#endif
