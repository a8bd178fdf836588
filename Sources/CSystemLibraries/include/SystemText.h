#ifndef CSYSTEMLIBRARIES_SYSTEMTEXT_H
#define CSYSTEMLIBRARIES_SYSTEMTEXT_H

#include "DecodingStep.h"

/// A converter from one charset to another, by the C library's iconv(3). One thread at a time may use it.
typedef struct csl_text_converter csl_text_converter;

/// A converter, or `NULL` where the C library lacks one of the charsets, and on Apple's systems, where Foundation converts.
csl_text_converter *csl_text_open(const char *to, const char *from);

/// Converts what there is room for. Without an input (`NULL`) it writes what ends the text.
/// CSL_DECODING_CORRUPT: what comes next in the input is none of its charset, or the other charset doesn't have it.
enum csl_decoding csl_text_step(csl_text_converter *converter, csl_decoding_bytes *bytes);

/// Gives a converter back.
void csl_text_close(csl_text_converter *converter);

#endif
