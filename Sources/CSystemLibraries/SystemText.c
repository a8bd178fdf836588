#include "SystemText.h"

#ifdef __APPLE__

csl_text_converter *csl_text_open(const char *to, const char *from) {
    (void)to, (void)from;
    return NULL;
}

enum csl_decoding csl_text_step(csl_text_converter *converter, csl_decoding_bytes *bytes) {
    (void)converter, (void)bytes;
    return CSL_DECODING_CORRUPT;
}

void csl_text_close(csl_text_converter *converter) { (void)converter; }

#else

#include <errno.h>
#include <iconv.h>

csl_text_converter *csl_text_open(const char *to, const char *from) {
    iconv_t converter = iconv_open(to, from);
    return converter == (iconv_t)-1 ? NULL : (csl_text_converter *)converter;
}

enum csl_decoding csl_text_step(csl_text_converter *converter, csl_decoding_bytes *bytes) {
    char *input = (char *)bytes->input;
    char *output = (char *)bytes->output;
    size_t replaced =
        iconv((iconv_t)converter, input ? &input : NULL, input ? &bytes->input_count : NULL, &output, &bytes->output_room);
    bytes->input = (const uint8_t *)input;
    bytes->output = (uint8_t *)output;
    if (replaced == (size_t)-1) return errno == E2BIG ? CSL_DECODING_OUTPUT_FULL : CSL_DECODING_CORRUPT;
    // Some C libraries replace a character that a charset lacks, and count it.
    return replaced == 0 ? CSL_DECODING_NEEDS_INPUT : CSL_DECODING_CORRUPT;
}

void csl_text_close(csl_text_converter *converter) { iconv_close((iconv_t)converter); }

#endif
