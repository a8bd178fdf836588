#ifndef CSYSTEMLIBRARIES_SYSTEMTEXT_H
#define CSYSTEMLIBRARIES_SYSTEMTEXT_H

#include "DecodingStep.h"

/// A converter from one charset to another, based on the C library's iconv(3). Only one thread at a time may use it.
typedef struct csl_text_converter csl_text_converter;

/// A converter, or `NULL` if the C library lacks one of the charsets, and on Apple's systems, where Foundation converts.
csl_text_converter *csl_text_open(const char *to, const char *from);

/// Converts as far as the room allows. Without an input (`NULL`) it writes the end of the text. Returns CSL_DECODING_CORRUPT if the next
/// input isn't valid in its charset, or missing in the other one.
enum csl_decoding csl_text_step(csl_text_converter *converter, csl_decoding_bytes *bytes);

/// Frees a converter.
void csl_text_close(csl_text_converter *converter);

#endif
