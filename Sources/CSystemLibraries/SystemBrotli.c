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

// Compression

enum { brotli_process = 0, brotli_finish = 2, brotli_quality_parameter = 1 };

static struct {
    csl_brotli_encoder *(*create)(void *(*)(void *, size_t), void (*)(void *, void *), void *);
    void (*destroy)(csl_brotli_encoder *);
    int (*set_parameter)(csl_brotli_encoder *, int, uint32_t);
    int (*step)(csl_brotli_encoder *, int, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *);
    int (*has_output)(csl_brotli_encoder *);
    int (*is_finished)(csl_brotli_encoder *);
    bool available;
} encoder_library;

static pthread_once_t encoder_opened = PTHREAD_ONCE_INIT;

static void open_encoder_library(void) {
#if defined(__APPLE__)
    static const char *const names[] = {"libbrotlienc.1.dylib", "/opt/homebrew/lib/libbrotlienc.1.dylib"};
#else
    static const char *const names[] = {"libbrotlienc.so.1"};
#endif
    void *library = csl_library_open(names, sizeof names / sizeof *names);
    if (!library) return;
    encoder_library.available = csl_library_find(library, "BrotliEncoderCreateInstance", &encoder_library.create)
        && csl_library_find(library, "BrotliEncoderDestroyInstance", &encoder_library.destroy)
        && csl_library_find(library, "BrotliEncoderSetParameter", &encoder_library.set_parameter)
        && csl_library_find(library, "BrotliEncoderCompressStream", &encoder_library.step)
        && csl_library_find(library, "BrotliEncoderHasMoreOutput", &encoder_library.has_output)
        && csl_library_find(library, "BrotliEncoderIsFinished", &encoder_library.is_finished);
}

bool csl_brotli_encoder_is_available(void) {
    pthread_once(&encoder_opened, open_encoder_library);
    return encoder_library.available;
}

csl_brotli_encoder *csl_brotli_encoder_new(int quality) {
    if (!csl_brotli_encoder_is_available() || quality < 0 || quality > 11) return NULL;
    csl_brotli_encoder *encoder = encoder_library.create(NULL, NULL, NULL);
    if (!encoder) return NULL;
    if (!encoder_library.set_parameter(encoder, brotli_quality_parameter, (uint32_t)quality)) {
        encoder_library.destroy(encoder);
        return NULL;
    }
    return encoder;
}

void csl_brotli_encoder_free(csl_brotli_encoder *encoder) {
    if (encoder) encoder_library.destroy(encoder);
}

enum csl_encoding csl_brotli_encoder_step(csl_brotli_encoder *encoder, csl_decoding_bytes *bytes, bool is_last) {
    for (;;) {
        size_t input = bytes->input_count, room = bytes->output_room;
        int operation = is_last ? brotli_finish : brotli_process;
        if (!encoder_library.step(
                encoder, operation, &bytes->input_count, &bytes->input, &bytes->output_room, &bytes->output, NULL))
            return CSL_ENCODING_FAILED;
        if (encoder_library.is_finished(encoder)) return CSL_ENCODING_FINISHED;
        if (bytes->output_room == 0) return CSL_ENCODING_OUTPUT_FULL;
        if (bytes->input_count == 0 && !is_last && !encoder_library.has_output(encoder)) return CSL_ENCODING_NEEDS_INPUT;
        // Without progress the loop wouldn't end.
        if (input == bytes->input_count && room == bytes->output_room) return CSL_ENCODING_FAILED;
    }
}
