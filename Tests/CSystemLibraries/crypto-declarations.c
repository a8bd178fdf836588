// Compares our own declarations of libcrypto with the real header: compiled, never run, by CurlDeclarationTests where openssl/evp.h is
// installed.

#include "../../Sources/CSystemLibraries/SystemCrypto.c"

#include <openssl/err.h>
#include <openssl/evp.h>

_Static_assert(crypto_ed25519 == EVP_PKEY_ED25519, "The number of Ed25519");

// The types are opaque, and the functions take pointers to them only.
EVP_PKEY *(*check_new_public_key)(int, ENGINE *, const unsigned char *, size_t) = EVP_PKEY_new_raw_public_key;
void (*check_free_key)(EVP_PKEY *) = EVP_PKEY_free;
EVP_MD_CTX *(*check_new_context)(void) = EVP_MD_CTX_new;
void (*check_free_context)(EVP_MD_CTX *) = EVP_MD_CTX_free;
int (*check_begin)(EVP_MD_CTX *, EVP_PKEY_CTX **, const EVP_MD *, ENGINE *, EVP_PKEY *) = EVP_DigestVerifyInit;
int (*check_verify)(EVP_MD_CTX *, const unsigned char *, size_t, const unsigned char *, size_t) = EVP_DigestVerify;
void (*check_clear_errors)(void) = ERR_clear_error;
