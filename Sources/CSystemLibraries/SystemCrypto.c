#include "SystemCrypto.h"

#include "DynamicLibrary.h"

#include <pthread.h>

// libcrypto's types, declared independently.

typedef struct crypto_key crypto_key;
typedef struct crypto_context crypto_context;

enum { crypto_ed25519 = 1087 };

static struct {
    crypto_key *(*new_public_key)(int type, void *engine, const unsigned char *bytes, size_t length);
    void (*free_key)(crypto_key *);
    crypto_context *(*new_context)(void);
    void (*free_context)(crypto_context *);
    int (*begin)(crypto_context *, void **key_context, const void *digest, void *engine, crypto_key *);
    int (*verify)(crypto_context *, const unsigned char *signature, size_t, const unsigned char *message, size_t);
    void (*clear_errors)(void);
    bool available;
} crypto;

static pthread_once_t opened = PTHREAD_ONCE_INIT;

// Ed25519 requires 1.1.1. Apple platforms have CryptoKit instead, and end processes that open their libcrypto.
static void open_library(void) {
#if !defined(__APPLE__)
    static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.1.1"};
    void *library = csl_library_open(names, sizeof names / sizeof *names);
    if (!library) return;
    crypto.available = csl_library_find(library, "EVP_PKEY_new_raw_public_key", &crypto.new_public_key)
        && csl_library_find(library, "EVP_PKEY_free", &crypto.free_key)
        && csl_library_find(library, "EVP_MD_CTX_new", &crypto.new_context)
        && csl_library_find(library, "EVP_MD_CTX_free", &crypto.free_context)
        && csl_library_find(library, "EVP_DigestVerifyInit", &crypto.begin)
        && csl_library_find(library, "EVP_DigestVerify", &crypto.verify)
        && csl_library_find(library, "ERR_clear_error", &crypto.clear_errors);
#endif
}

bool csl_ed25519_is_available(void) {
    pthread_once(&opened, open_library);
    return crypto.available;
}

enum csl_signature csl_ed25519_verify(
    const unsigned char key[32], const unsigned char *signature, size_t signature_length, const unsigned char *message,
    size_t message_length) {
    if (!csl_ed25519_is_available()) return csl_signature_unavailable;
    if (signature_length != 64) return csl_signature_invalid;
    enum csl_signature result = csl_signature_failed;
    crypto_key *public_key = crypto.new_public_key(crypto_ed25519, NULL, key, 32);
    crypto_context *context = crypto.new_context();
    if (public_key && context && crypto.begin(context, NULL, NULL, NULL, public_key) == 1)
        result = crypto.verify(context, signature, signature_length, message, message_length) == 1 ? csl_signature_valid
                                                                                                  : csl_signature_invalid;
    if (context) crypto.free_context(context);
    if (public_key) crypto.free_key(public_key);
    // The thread's queue of errors belongs to other users of the library, such as libcurl.
    crypto.clear_errors();
    return result;
}
