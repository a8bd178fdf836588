#include "SystemZlib.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

// zlib's public stream, spelled by us: its layout has been the library's stable binary interface since version 1.0.
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

enum { zlib_ok = 0, zlib_stream_end = 1, zlib_finish = 4, zlib_no_flush = 0, zlib_method_deflated = 8 };
enum { window_bits_of_gzip = 15 + 16, usual_memory_level = 8, usual_strategy = 0 };

typedef const char *(*version_function)(void);
typedef int (*init_function)(struct zlib_stream *, int, int, int, int, int, const char *, int);
typedef int (*deflate_function)(struct zlib_stream *, int);
typedef int (*end_function)(struct zlib_stream *);

static struct {
    version_function version;
    init_function init;
    deflate_function deflate;
    end_function end;
    bool available;
} zlib;

static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void open_library(void) {
#if defined(__APPLE__)
    static const char *const names[] = {"libz.1.dylib", "/usr/lib/libz.1.dylib"};
#else
    static const char *const names[] = {"libz.so.1", "libz.so"};
#endif
    void *library = NULL;
    for (size_t index = 0; index < sizeof names / sizeof *names && !library; index++) {
        library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) return;
    // memcpy instead of a cast: ISO C knows no conversion from an object's pointer to a function's.
    void *symbol = dlsym(library, "zlibVersion");
    memcpy(&zlib.version, &symbol, sizeof symbol);
    symbol = dlsym(library, "deflateInit2_");
    memcpy(&zlib.init, &symbol, sizeof symbol);
    symbol = dlsym(library, "deflate");
    memcpy(&zlib.deflate, &symbol, sizeof symbol);
    symbol = dlsym(library, "deflateEnd");
    memcpy(&zlib.end, &symbol, sizeof symbol);
    zlib.available = zlib.version && zlib.init && zlib.deflate && zlib.end;
}

bool csl_zlib_is_available(void) {
    pthread_once(&opened, open_library);
    return zlib.available;
}

enum csl_zlib_result csl_zlib_gzip(
    const uint8_t *input, size_t length, int level, uint8_t *output, size_t capacity, size_t *written) {
    if (!csl_zlib_is_available()) return CSL_ZLIB_MISSING;
    if (level < 1 || level > 9) return CSL_ZLIB_FAILED;

    struct zlib_stream stream;
    memset(&stream, 0, sizeof stream);
    int status = zlib.init(
        &stream, level, zlib_method_deflated, window_bits_of_gzip, usual_memory_level, usual_strategy, zlib.version(),
        (int)sizeof stream);
    if (status != zlib_ok) return CSL_ZLIB_FAILED;

    size_t taken = 0, given = 0;
    enum csl_zlib_result result = CSL_ZLIB_FAILED;
    for (;;) {
        // The library counts in unsigned int; larger buffers go through in slices.
        size_t left = length - taken, space = capacity - given;
        unsigned int slice = left > UINT_MAX / 2 ? UINT_MAX / 2 : (unsigned int)left;
        unsigned int room = space > UINT_MAX / 2 ? UINT_MAX / 2 : (unsigned int)space;
        if (room == 0) {
            result = CSL_ZLIB_NO_SPACE;
            break;
        }
        stream.next_in = input + taken;
        stream.available_in = slice;
        stream.next_out = output + given;
        stream.available_out = room;
        status = zlib.deflate(&stream, slice == left ? zlib_finish : zlib_no_flush);
        taken += slice - stream.available_in;
        given += room - stream.available_out;
        if (status == zlib_stream_end) {
            *written = given;
            result = CSL_ZLIB_DONE;
            break;
        }
        if (status != zlib_ok) {
            // A full output buffer shows as "no progress" while there is still something to do.
            result = given == capacity ? CSL_ZLIB_NO_SPACE : CSL_ZLIB_FAILED;
            break;
        }
    }
    zlib.end(&stream);
    return result;
}
