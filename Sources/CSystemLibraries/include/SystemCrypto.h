#ifndef CSYSTEMLIBRARIES_SYSTEMCRYPTO_H
#define CSYSTEMLIBRARIES_SYSTEMCRYPTO_H

#include <stdbool.h>
#include <stddef.h>

// The verification of Ed25519 signatures (RFC 8032): OpenSSL's libcrypto, opened at run time.

/// Whether a signature is valid, or why that isn't known.
enum csl_signature {
    csl_signature_valid,
    csl_signature_invalid,
    /// The library is missing or too old.
    csl_signature_unavailable,
    /// The public key isn't one, or memory is exhausted.
    csl_signature_failed,
};

/// Whether the library can verify Ed25519 signatures. The first call opens it; any thread may call it at any time.
bool csl_ed25519_is_available(void);

/// Verifies the signature of a message with a public key of 32 bytes. A signature of another length than 64 bytes is invalid.
enum csl_signature csl_ed25519_verify(
    const unsigned char key[32], const unsigned char *signature, size_t signature_length, const unsigned char *message,
    size_t message_length);

#endif
