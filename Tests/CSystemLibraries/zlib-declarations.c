// Compares our own declarations of zlib with the real header: compiled, never run, by CodingDeclarationTests where zlib.h is installed.

#include "../../Sources/CSystemLibraries/SystemZlib.c"

#include <stddef.h>

// The header declares functions of the names that our table has, too: ours are behind us now.
#include <zlib.h>

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #ours " isn't " #theirs)
#define SAME_MEMBER(ours, theirs)                                                     \
    SAME(offsetof(struct zlib_stream, ours), offsetof(struct z_stream_s, theirs));     \
    SAME(sizeof(((struct zlib_stream *)0)->ours), sizeof(((struct z_stream_s *)0)->theirs))

SAME(zlib_ok, Z_OK);
SAME(zlib_stream_end, Z_STREAM_END);
SAME(zlib_memory_error, Z_MEM_ERROR);
SAME(zlib_buffer_error, Z_BUF_ERROR);
SAME(zlib_no_flush, Z_NO_FLUSH);
SAME(zlib_sync_flush, Z_SYNC_FLUSH);
SAME(zlib_finish, Z_FINISH);
SAME(zlib_method_deflated, Z_DEFLATED);
SAME(usual_strategy, Z_DEFAULT_STRATEGY);
SAME(window_bits_of_zlib, MAX_WBITS);

SAME(sizeof(struct zlib_stream), sizeof(struct z_stream_s));
SAME_MEMBER(next_in, next_in);
SAME_MEMBER(available_in, avail_in);
SAME_MEMBER(total_in, total_in);
SAME_MEMBER(next_out, next_out);
SAME_MEMBER(available_out, avail_out);
SAME_MEMBER(total_out, total_out);
SAME_MEMBER(message, msg);
SAME_MEMBER(state, state);
SAME_MEMBER(allocate, zalloc);
SAME_MEMBER(release, zfree);
SAME_MEMBER(user, opaque);
SAME_MEMBER(data_type, data_type);
SAME_MEMBER(check, adler);
SAME_MEMBER(reserved, reserved);

// Functions: each has the parameters that it is called with.
version_function check_version = zlibVersion;
int (*check_init)(z_streamp, int, int, int, int, int, const char *, int) = deflateInit2_;
int (*check_deflate)(z_streamp, int) = deflate;
int (*check_end)(z_streamp) = deflateEnd;
int (*check_inflate_init)(z_streamp, int, const char *, int) = inflateInit2_;
int (*check_inflate_reset)(z_streamp, int) = inflateReset2;
int (*check_inflate)(z_streamp, int) = inflate;
int (*check_inflate_end)(z_streamp) = inflateEnd;
