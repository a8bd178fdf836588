#ifndef CSYSTEMLIBRARIES_SYSTEMBROTLI_H
#define CSYSTEMLIBRARIES_SYSTEMBROTLI_H

#include <stdbool.h>

#include "DecodingStep.h"
#include "EncodingStep.h"

// The decoder and the encoder of brotli (RFC 7932): libbrotlidec and libbrotlienc, opened at run time.

/// A stream that is being decoded.
typedef struct csl_brotli_decoder csl_brotli_decoder;

/// Whether the library is available. The first call opens it; any thread may call it at any time.
bool csl_brotli_is_available(void);

/// A decoder for one stream; NULL if the library is missing or memory is exhausted.
csl_brotli_decoder *csl_brotli_decoder_new(void);
void csl_brotli_decoder_free(csl_brotli_decoder *decoder);

/// Decodes as far as input and room allow. Must not be called again after an error or the end.
enum csl_decoding csl_brotli_decoder_step(csl_brotli_decoder *decoder, csl_decoding_bytes *bytes);

/// A stream that is being encoded.
typedef struct csl_brotli_encoder csl_brotli_encoder;

/// Whether the encoder's library is available. The first call opens it; any thread may call it at any time.
bool csl_brotli_encoder_is_available(void);

/// An encoder for one stream, with a quality of 0 (fast) to 11 (small); NULL if the library is missing or memory is exhausted.
csl_brotli_encoder *csl_brotli_encoder_new(int quality);
void csl_brotli_encoder_free(csl_brotli_encoder *encoder);

/// Encodes as far as input and room allow.
///
/// - is_last: whether the input ends with these bytes. Then it must be called with the rest of them until the stream has ended.
enum csl_encoding csl_brotli_encoder_step(csl_brotli_encoder *encoder, csl_decoding_bytes *bytes, bool is_last);

#endif
