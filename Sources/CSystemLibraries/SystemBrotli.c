#include "SystemBrotli.h"

#include "DynamicLibrary.h"

#include <pthread.h>

// The results of the library's step, and the range of errors that mean "no memory".
enum { brotli_error = 0, brotli_success = 1, brotli_needs_input = 2, brotli_needs_output = 3 };
enum { brotli_last_memory_error = -30, brotli_first_memory_error = -21 };

static struct {
    csl_brotli_decoder *(*create)(void *(*)(void *, size_t), void (*)(void *, void *), void *);
    void (*destroy)(csl_brotli_decoder *);
    int (*step)(csl_brotli_decoder *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *);
    int (*has_output)(const csl_brotli_decoder *);
    int (*error_code)(const csl_brotli_decoder *);
    bool available;
} brotli;

static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void open_library(void) {
#if defined(__APPLE__)
    static const char *const names[] = {"libbrotlidec.1.dylib", "/opt/homebrew/lib/libbrotlidec.1.dylib"};
#else
    static const char *const names[] = {"libbrotlidec.so.1"};
#endif
    void *library = csl_library_open(names, sizeof names / sizeof *names);
    if (!library) return;
    brotli.available = csl_library_find(library, "BrotliDecoderCreateInstance", &brotli.create)
        && csl_library_find(library, "BrotliDecoderDestroyInstance", &brotli.destroy)
        && csl_library_find(library, "BrotliDecoderDecompressStream", &brotli.step)
        && csl_library_find(library, "BrotliDecoderHasMoreOutput", &brotli.has_output)
        && csl_library_find(library, "BrotliDecoderGetErrorCode", &brotli.error_code);
}

bool csl_brotli_is_available(void) {
    pthread_once(&opened, open_library);
    return brotli.available;
}

csl_brotli_decoder *csl_brotli_decoder_new(void) {
    return csl_brotli_is_available() ? brotli.create(NULL, NULL, NULL) : NULL;
}

void csl_brotli_decoder_free(csl_brotli_decoder *decoder) {
    if (decoder) brotli.destroy(decoder);
}

enum csl_decoding csl_brotli_decoder_step(csl_brotli_decoder *decoder, csl_decoding_bytes *bytes) {
    int result = brotli.step(decoder, &bytes->input_count, &bytes->input, &bytes->output_room, &bytes->output, NULL);
    switch (result) {
    case brotli_success:
        return CSL_DECODING_FINISHED;
    case brotli_needs_input:
        return brotli.has_output(decoder) ? CSL_DECODING_OUTPUT_FULL : CSL_DECODING_NEEDS_INPUT;
    case brotli_needs_output:
        return CSL_DECODING_OUTPUT_FULL;
    default: {
        int code = brotli.error_code(decoder);
        bool is_memory = code >= brotli_last_memory_error && code <= brotli_first_memory_error;
        return is_memory ? CSL_DECODING_NO_MEMORY : CSL_DECODING_CORRUPT;
    }
    }
}
