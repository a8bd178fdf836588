#ifndef CSYSTEMLIBRARIES_SYSTEMBROTLI_H
#define CSYSTEMLIBRARIES_SYSTEMBROTLI_H

#include <stdbool.h>

#include "DecodingStep.h"

// The decoder of brotli (RFC 7932): libbrotlidec, opened at run time.

/// One stream that is being decoded.
typedef struct csl_brotli_decoder csl_brotli_decoder;

/// Whether the library could be opened. The first call opens it; any thread may ask at any time.
bool csl_brotli_is_available(void);

/// A decoder for one stream; NULL when the library isn't there, or no memory.
csl_brotli_decoder *csl_brotli_decoder_new(void);
void csl_brotli_decoder_free(csl_brotli_decoder *decoder);

/// Decodes as far as input and room reach. Not to be called again after an error or the end.
enum csl_decoding csl_brotli_decoder_step(csl_brotli_decoder *decoder, csl_decoding_bytes *bytes);

#endif
