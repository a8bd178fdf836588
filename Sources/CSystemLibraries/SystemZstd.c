#include "SystemZstd.h"

#include "DynamicLibrary.h"

#include <pthread.h>

// libzstd's types, declared independently.

struct zstd_input {
    const void *start;
    size_t size;
    size_t position;
};

struct zstd_output {
    void *start;
    size_t size;
    size_t position;
};

enum { zstd_window_log_parameter = 100, zstd_window_too_large = 16, zstd_no_memory = 64 };
enum { zstd_level_of_encoder = 100, zstd_window_log_of_encoder = 101, zstd_checksum_of_encoder = 201 };
enum { zstd_continue = 0, zstd_end = 2 };

static struct {
    csl_zstd_decoder *(*create)(void);
    size_t (*destroy)(csl_zstd_decoder *);
    size_t (*set_parameter)(csl_zstd_decoder *, int, int);
    size_t (*step)(csl_zstd_decoder *, struct zstd_output *, struct zstd_input *);
    unsigned int (*is_error)(size_t);
    int (*error_code)(size_t);
    bool available;
    csl_zstd_encoder *(*create_encoder)(void);
    size_t (*destroy_encoder)(csl_zstd_encoder *);
    size_t (*set_encoder_parameter)(csl_zstd_encoder *, int, int);
    size_t (*encode)(csl_zstd_encoder *, struct zstd_output *, struct zstd_input *, int);
    bool encodes;
} zstd;

static pthread_once_t opened = PTHREAD_ONCE_INIT;

// Parameters require 1.4, which merged streams and contexts.
static void open_library(void) {
#if defined(__APPLE__)
    static const char *const names[] = {"libzstd.1.dylib", "/opt/homebrew/lib/libzstd.1.dylib"};
#else
    static const char *const names[] = {"libzstd.so.1"};
#endif
    void *library = csl_library_open(names, sizeof names / sizeof *names);
    if (!library) return;
    zstd.available = csl_library_find(library, "ZSTD_createDStream", &zstd.create)
        && csl_library_find(library, "ZSTD_freeDStream", &zstd.destroy)
        && csl_library_find(library, "ZSTD_DCtx_setParameter", &zstd.set_parameter)
        && csl_library_find(library, "ZSTD_decompressStream", &zstd.step) && csl_library_find(library, "ZSTD_isError", &zstd.is_error)
        && csl_library_find(library, "ZSTD_getErrorCode", &zstd.error_code);
    zstd.encodes = csl_library_find(library, "ZSTD_createCCtx", &zstd.create_encoder)
        && csl_library_find(library, "ZSTD_freeCCtx", &zstd.destroy_encoder)
        && csl_library_find(library, "ZSTD_CCtx_setParameter", &zstd.set_encoder_parameter)
        && csl_library_find(library, "ZSTD_compressStream2", &zstd.encode) && csl_library_find(library, "ZSTD_isError", &zstd.is_error);
}

bool csl_zstd_is_available(void) {
    pthread_once(&opened, open_library);
    return zstd.available;
}

csl_zstd_decoder *csl_zstd_decoder_new(int window_log) {
    if (!csl_zstd_is_available()) return NULL;
    csl_zstd_decoder *decoder = zstd.create();
    if (!decoder) return NULL;
    if (zstd.is_error(zstd.set_parameter(decoder, zstd_window_log_parameter, window_log))) {
        zstd.destroy(decoder);
        return NULL;
    }
    return decoder;
}

void csl_zstd_decoder_free(csl_zstd_decoder *decoder) {
    if (decoder) zstd.destroy(decoder);
}

enum csl_decoding csl_zstd_decoder_step(csl_zstd_decoder *decoder, csl_decoding_bytes *bytes) {
    struct zstd_input input = {bytes->input, bytes->input_count, 0};
    struct zstd_output output = {bytes->output, bytes->output_room, 0};
    size_t result = zstd.step(decoder, &output, &input);
    bytes->input += input.position;
    bytes->input_count -= input.position;
    bytes->output += output.position;
    bytes->output_room -= output.position;
    if (zstd.is_error(result)) {
        switch (zstd.error_code(result)) {
        case zstd_window_too_large:
            return CSL_DECODING_TOO_LARGE;
        case zstd_no_memory:
            return CSL_DECODING_NO_MEMORY;
        default:
            return CSL_DECODING_CORRUPT;
        }
    }
    if (result == 0) return CSL_DECODING_FINISHED;
    return bytes->output_room == 0 ? CSL_DECODING_OUTPUT_FULL : CSL_DECODING_NEEDS_INPUT;
}

// Compression

bool csl_zstd_encoder_is_available(void) {
    pthread_once(&opened, open_library);
    return zstd.encodes;
}

csl_zstd_encoder *csl_zstd_encoder_new(int level, int window_log) {
    if (!csl_zstd_encoder_is_available() || level < 1 || level > 19) return NULL;
    csl_zstd_encoder *encoder = zstd.create_encoder();
    if (!encoder) return NULL;
    if (zstd.is_error(zstd.set_encoder_parameter(encoder, zstd_level_of_encoder, level))
        || zstd.is_error(zstd.set_encoder_parameter(encoder, zstd_window_log_of_encoder, window_log))
        || zstd.is_error(zstd.set_encoder_parameter(encoder, zstd_checksum_of_encoder, 1))) {
        zstd.destroy_encoder(encoder);
        return NULL;
    }
    return encoder;
}

void csl_zstd_encoder_free(csl_zstd_encoder *encoder) {
    if (encoder) zstd.destroy_encoder(encoder);
}

enum csl_encoding csl_zstd_encoder_step(csl_zstd_encoder *encoder, csl_decoding_bytes *bytes, bool is_last) {
    for (;;) {
        struct zstd_input input = {bytes->input, bytes->input_count, 0};
        struct zstd_output output = {bytes->output, bytes->output_room, 0};
        size_t rest = zstd.encode(encoder, &output, &input, is_last ? zstd_end : zstd_continue);
        bytes->input += input.position;
        bytes->input_count -= input.position;
        bytes->output += output.position;
        bytes->output_room -= output.position;
        if (zstd.is_error(rest)) return CSL_ENCODING_FAILED;
        if (is_last && rest == 0 && bytes->input_count == 0) return CSL_ENCODING_FINISHED;
        if (bytes->output_room == 0) return CSL_ENCODING_OUTPUT_FULL;
        if (bytes->input_count == 0 && !is_last) return CSL_ENCODING_NEEDS_INPUT;
        // Without progress the loop wouldn't end.
        if (input.position == 0 && output.position == 0) return CSL_ENCODING_FAILED;
    }
}
