#include "SystemZlib.h"

#include "DynamicLibrary.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// zlib's public stream, declared independently: its layout is the library's stable binary interface since version 1.0.
struct zlib_stream {
    const uint8_t *next_in;
    unsigned int available_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned int available_out;
    unsigned long total_out;
    const char *message;
    void *state;
    void *(*allocate)(void *, unsigned int, unsigned int);
    void (*release)(void *, void *);
    void *user;
    int data_type;
    unsigned long check;
    unsigned long reserved;
};

enum { zlib_ok = 0, zlib_stream_end = 1, zlib_memory_error = -4, zlib_buffer_error = -5 };
enum { zlib_no_flush = 0, zlib_sync_flush = 2, zlib_finish = 4, zlib_method_deflated = 8 };
enum { window_bits_of_gzip = 15 + 16, window_bits_of_zlib = 15, window_bits_of_raw = -15, usual_memory_level = 8, usual_strategy = 0 };

typedef const char *(*version_function)(void);
typedef int (*init_function)(struct zlib_stream *, int, int, int, int, int, const char *, int);
typedef int (*deflate_function)(struct zlib_stream *, int);
typedef int (*end_function)(struct zlib_stream *);
typedef int (*inflate_init_function)(struct zlib_stream *, int, const char *, int);
typedef int (*reset_function)(struct zlib_stream *, int);

static struct {
    version_function version;
    init_function init;
    deflate_function deflate;
    end_function end;
    inflate_init_function inflate_init;
    reset_function inflate_reset;
    deflate_function inflate;
    end_function inflate_end;
    bool available;
    bool inflates;
} zlib;

static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void open_library(void) {
#if defined(__APPLE__)
    static const char *const names[] = {"libz.1.dylib", "/usr/lib/libz.1.dylib"};
#else
    static const char *const names[] = {"libz.so.1", "libz.so"};
#endif
    void *library = csl_library_open(names, sizeof names / sizeof *names);
    if (!library) return;
    if (!csl_library_find(library, "zlibVersion", &zlib.version)) return;
    zlib.available = csl_library_find(library, "deflateInit2_", &zlib.init) && csl_library_find(library, "deflate", &zlib.deflate)
        && csl_library_find(library, "deflateEnd", &zlib.end);
    zlib.inflates = csl_library_find(library, "inflateInit2_", &zlib.inflate_init)
        && csl_library_find(library, "inflateReset2", &zlib.inflate_reset)
        && csl_library_find(library, "inflate", &zlib.inflate) && csl_library_find(library, "inflateEnd", &zlib.inflate_end);
}

bool csl_zlib_is_available(void) {
    pthread_once(&opened, open_library);
    return zlib.available;
}

// Compression

struct csl_deflater {
    struct zlib_stream stream;
};

csl_deflater *csl_deflater_new(enum csl_inflater_kind kind, int level) {
    if (!csl_zlib_is_available() || level < 1 || level > 9) return NULL;
    csl_deflater *deflater = calloc(1, sizeof *deflater);
    if (!deflater) return NULL;
    int bits = kind == CSL_INFLATER_GZIP ? window_bits_of_gzip : window_bits_of_zlib;
    if (zlib.init(
            &deflater->stream, level, zlib_method_deflated, bits, usual_memory_level, usual_strategy, zlib.version(),
            (int)sizeof deflater->stream)
        != zlib_ok) {
        free(deflater);
        return NULL;
    }
    return deflater;
}

void csl_deflater_free(csl_deflater *deflater) {
    if (!deflater) return;
    zlib.end(&deflater->stream);
    free(deflater);
}

enum csl_encoding csl_deflater_step(csl_deflater *deflater, csl_decoding_bytes *bytes, bool is_last) {
    struct zlib_stream *stream = &deflater->stream;
    for (;;) {
        // The library counts in unsigned int, so larger buffers are processed in slices.
        unsigned int slice = bytes->input_count > UINT_MAX / 2 ? UINT_MAX / 2 : (unsigned int)bytes->input_count;
        unsigned int room = bytes->output_room > UINT_MAX / 2 ? UINT_MAX / 2 : (unsigned int)bytes->output_room;
        stream->next_in = bytes->input;
        stream->available_in = slice;
        stream->next_out = bytes->output;
        stream->available_out = room;
        int status = zlib.deflate(stream, is_last && slice == bytes->input_count ? zlib_finish : zlib_no_flush);
        unsigned int taken = slice - stream->available_in, given = room - stream->available_out;
        bytes->input += taken;
        bytes->input_count -= taken;
        bytes->output += given;
        bytes->output_room -= given;
        if (status == zlib_stream_end) return CSL_ENCODING_FINISHED;
        if (status != zlib_ok && status != zlib_buffer_error) return CSL_ENCODING_FAILED;
        if (bytes->output_room == 0) return CSL_ENCODING_OUTPUT_FULL;
        if (bytes->input_count == 0 && !is_last) return CSL_ENCODING_NEEDS_INPUT;
        // Only a slice was consumed; without progress the loop wouldn't end.
        if (taken == 0 && given == 0) return CSL_ENCODING_FAILED;
    }
}

enum csl_zlib_result csl_zlib_gzip(
    const uint8_t *input, size_t length, int level, uint8_t *output, size_t capacity, size_t *written) {
    if (!csl_zlib_is_available()) return CSL_ZLIB_MISSING;
    csl_deflater *deflater = csl_deflater_new(CSL_INFLATER_GZIP, level);
    if (!deflater) return CSL_ZLIB_FAILED;
    csl_decoding_bytes bytes = {.input = input, .input_count = length, .output = output, .output_room = capacity};
    // zlib rejects a missing output.
    enum csl_encoding status = capacity == 0 ? CSL_ENCODING_OUTPUT_FULL : csl_deflater_step(deflater, &bytes, true);
    csl_deflater_free(deflater);
    switch (status) {
    case CSL_ENCODING_FINISHED:
        *written = capacity - bytes.output_room;
        return CSL_ZLIB_DONE;
    case CSL_ENCODING_OUTPUT_FULL: return CSL_ZLIB_NO_SPACE;
    default: return CSL_ZLIB_FAILED;
    }
}

// Decompression

struct csl_inflater {
    struct zlib_stream stream;
    enum csl_inflater_kind kind;
    bool is_raw;
    // The first two bytes of a deflate stream, held until both have arrived, since they identify the format.
    uint8_t head[2];
    unsigned int head_count;
    unsigned int head_used;
};

bool csl_inflater_is_available(void) {
    pthread_once(&opened, open_library);
    return zlib.inflates;
}

csl_inflater *csl_inflater_new(enum csl_inflater_kind kind) {
    if (!csl_inflater_is_available()) return NULL;
    csl_inflater *inflater = calloc(1, sizeof *inflater);
    if (!inflater) return NULL;
    inflater->kind = kind;
    int bits = kind == CSL_INFLATER_GZIP ? window_bits_of_gzip : window_bits_of_zlib;
    if (zlib.inflate_init(&inflater->stream, bits, zlib.version(), (int)sizeof inflater->stream) != zlib_ok) {
        free(inflater);
        return NULL;
    }
    return inflater;
}

void csl_inflater_free(csl_inflater *inflater) {
    if (!inflater) return;
    zlib.inflate_end(&inflater->stream);
    free(inflater);
}

bool csl_inflater_reset(csl_inflater *inflater) {
    inflater->head_count = inflater->head_used = 0;
    inflater->is_raw = false;
    int bits = inflater->kind == CSL_INFLATER_GZIP ? window_bits_of_gzip : window_bits_of_zlib;
    return zlib.inflate_reset(&inflater->stream, bits) == zlib_ok;
}

bool csl_inflater_is_raw(const csl_inflater *inflater) { return inflater->is_raw; }

// A zlib header (RFC 1950 section 2.2): method 8, a window of at most 32 kB, and a check that makes it a multiple of 31. A raw stream can't
// begin like that: it would be a stored block whose padding isn't zero.
static bool is_zlib_header(const uint8_t *head) {
    return (head[0] & 15) == 8 && head[0] >> 4 <= 7 && (head[0] << 8 | head[1]) % 31 == 0;
}

static enum csl_decoding inflate_some(csl_inflater *inflater, const uint8_t **input, size_t *count, csl_decoding_bytes *bytes) {
    struct zlib_stream *stream = &inflater->stream;
    for (;;) {
        // The library counts in unsigned int, so larger buffers are processed in slices.
        unsigned int slice = *count > UINT_MAX / 2 ? UINT_MAX / 2 : (unsigned int)*count;
        unsigned int room = bytes->output_room > UINT_MAX / 2 ? UINT_MAX / 2 : (unsigned int)bytes->output_room;
        stream->next_in = *input;
        stream->available_in = slice;
        stream->next_out = bytes->output;
        stream->available_out = room;
        int status = zlib.inflate(stream, zlib_sync_flush);
        unsigned int taken = slice - stream->available_in, given = room - stream->available_out;
        *input += taken;
        *count -= taken;
        bytes->output += given;
        bytes->output_room -= given;
        if (status == zlib_stream_end) return CSL_DECODING_FINISHED;
        if (status == zlib_memory_error) return CSL_DECODING_NO_MEMORY;
        if (status != zlib_ok && status != zlib_buffer_error) return CSL_DECODING_CORRUPT;
        if (bytes->output_room == 0) return CSL_DECODING_OUTPUT_FULL;
        if (*count == 0) return CSL_DECODING_NEEDS_INPUT;
        // Only a slice was consumed; without progress the loop wouldn't end.
        if (taken == 0 && given == 0) return CSL_DECODING_CORRUPT;
    }
}

enum csl_decoding csl_inflater_step(csl_inflater *inflater, csl_decoding_bytes *bytes) {
    if (inflater->kind == CSL_INFLATER_DEFLATE && inflater->head_used < 2) {
        if (inflater->head_count < 2) {
            while (inflater->head_count < 2 && bytes->input_count > 0) {
                inflater->head[inflater->head_count++] = *bytes->input++;
                bytes->input_count--;
            }
            if (inflater->head_count < 2) return CSL_DECODING_NEEDS_INPUT;
            inflater->is_raw = !is_zlib_header(inflater->head);
            if (inflater->is_raw && zlib.inflate_reset(&inflater->stream, window_bits_of_raw) != zlib_ok) return CSL_DECODING_NO_MEMORY;
        }
        const uint8_t *head = inflater->head + inflater->head_used;
        size_t count = 2 - inflater->head_used;
        enum csl_decoding result = inflate_some(inflater, &head, &count, bytes);
        inflater->head_used = 2 - (unsigned int)count;
        if (result != CSL_DECODING_NEEDS_INPUT) return result;
    }
    return inflate_some(inflater, &bytes->input, &bytes->input_count, bytes);
}
