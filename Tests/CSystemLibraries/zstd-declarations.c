// Compares our own declarations of libzstd with the real headers: compiled, never run, by CodingDeclarationTests where zstd.h is
// installed.

#include "../../Sources/CSystemLibraries/SystemZstd.c"

#include <stddef.h>
#include <zstd.h>
#include <zstd_errors.h>

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #ours " isn't " #theirs)

SAME(zstd_window_log_parameter, ZSTD_d_windowLogMax);
SAME(zstd_window_too_large, ZSTD_error_frameParameter_windowTooLarge);
SAME(zstd_no_memory, ZSTD_error_memory_allocation);
SAME(zstd_level_of_encoder, ZSTD_c_compressionLevel);
SAME(zstd_window_log_of_encoder, ZSTD_c_windowLog);
SAME(zstd_checksum_of_encoder, ZSTD_c_checksumFlag);
SAME(zstd_continue, ZSTD_e_continue);
SAME(zstd_end, ZSTD_e_end);
SAME(sizeof(int), sizeof(ZSTD_cParameter));
SAME(sizeof(int), sizeof(ZSTD_EndDirective));
SAME(sizeof(int), sizeof(ZSTD_dParameter));
SAME(sizeof(int), sizeof(ZSTD_ErrorCode));

SAME(sizeof(struct zstd_input), sizeof(ZSTD_inBuffer));
SAME(offsetof(struct zstd_input, start), offsetof(ZSTD_inBuffer, src));
SAME(offsetof(struct zstd_input, size), offsetof(ZSTD_inBuffer, size));
SAME(offsetof(struct zstd_input, position), offsetof(ZSTD_inBuffer, pos));
SAME(sizeof(struct zstd_output), sizeof(ZSTD_outBuffer));
SAME(offsetof(struct zstd_output, start), offsetof(ZSTD_outBuffer, dst));
SAME(offsetof(struct zstd_output, size), offsetof(ZSTD_outBuffer, size));
SAME(offsetof(struct zstd_output, position), offsetof(ZSTD_outBuffer, pos));

// A stream and its context are one: the parameter is set on the one, and the other decodes by it.
ZSTD_DStream *(*check_create)(void) = ZSTD_createDStream;
size_t (*check_destroy)(ZSTD_DStream *) = ZSTD_freeDStream;
size_t (*check_set_parameter)(ZSTD_DStream *, ZSTD_dParameter, int) = ZSTD_DCtx_setParameter;
size_t (*check_step)(ZSTD_DStream *, ZSTD_outBuffer *, ZSTD_inBuffer *) = ZSTD_decompressStream;
unsigned int (*check_is_error)(size_t) = ZSTD_isError;
ZSTD_ErrorCode (*check_error_code)(size_t) = ZSTD_getErrorCode;
ZSTD_CCtx *(*check_create_encoder)(void) = ZSTD_createCCtx;
size_t (*check_destroy_encoder)(ZSTD_CCtx *) = ZSTD_freeCCtx;
size_t (*check_set_encoder_parameter)(ZSTD_CCtx *, ZSTD_cParameter, int) = ZSTD_CCtx_setParameter;
size_t (*check_encode)(ZSTD_CCtx *, ZSTD_outBuffer *, ZSTD_inBuffer *, ZSTD_EndDirective) = ZSTD_compressStream2;
