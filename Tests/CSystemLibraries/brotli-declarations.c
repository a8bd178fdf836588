// Compares our own declarations of libbrotlidec and libbrotlienc with the real headers: compiled, never run, by
// CodingDeclarationTests where brotli/decode.h is installed.

#include "../../Sources/CSystemLibraries/SystemBrotli.c"

#include <brotli/decode.h>
#include <brotli/encode.h>

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #ours " isn't " #theirs)

SAME(brotli_error, BROTLI_DECODER_RESULT_ERROR);
SAME(brotli_success, BROTLI_DECODER_RESULT_SUCCESS);
SAME(brotli_needs_input, BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT);
SAME(brotli_needs_output, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT);
SAME(brotli_first_memory_error, BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES);
SAME(brotli_last_memory_error, BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES);
SAME(sizeof(int), sizeof(BrotliDecoderResult));
SAME(sizeof(int), sizeof(BrotliDecoderErrorCode));

// Functions: each has the parameters that it is called with.
BrotliDecoderState *(*check_create)(void *(*)(void *, size_t), void (*)(void *, void *), void *) = BrotliDecoderCreateInstance;
void (*check_destroy)(BrotliDecoderState *) = BrotliDecoderDestroyInstance;
BrotliDecoderResult (*check_step)(BrotliDecoderState *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *) =
    BrotliDecoderDecompressStream;
int (*check_has_output)(const BrotliDecoderState *) = BrotliDecoderHasMoreOutput;
BrotliDecoderErrorCode (*check_error_code)(const BrotliDecoderState *) = BrotliDecoderGetErrorCode;

SAME(brotli_process, BROTLI_OPERATION_PROCESS);
SAME(brotli_finish, BROTLI_OPERATION_FINISH);
SAME(brotli_quality_parameter, BROTLI_PARAM_QUALITY);
SAME(sizeof(int), sizeof(BrotliEncoderOperation));
SAME(sizeof(int), sizeof(BrotliEncoderParameter));

BrotliEncoderState *(*check_encoder_create)(void *(*)(void *, size_t), void (*)(void *, void *), void *) = BrotliEncoderCreateInstance;
void (*check_encoder_destroy)(BrotliEncoderState *) = BrotliEncoderDestroyInstance;
int (*check_encoder_set)(BrotliEncoderState *, BrotliEncoderParameter, uint32_t) = BrotliEncoderSetParameter;
int (*check_encoder_step)(
    BrotliEncoderState *, BrotliEncoderOperation, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *) =
    BrotliEncoderCompressStream;
int (*check_encoder_has_output)(BrotliEncoderState *) = BrotliEncoderHasMoreOutput;
int (*check_encoder_is_finished)(BrotliEncoderState *) = BrotliEncoderIsFinished;
