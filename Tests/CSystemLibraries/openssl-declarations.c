// Compares our own declarations of OpenSSL's functions with the real header: compiled, never run, by CurlDeclarationTests where openssl/ssl.h is
// installed.

#include "../../Sources/CSystemLibraries/SystemCurl.c"

#include <openssl/ssl.h>

#define csl_openssl_connection SSL
#define csl_openssl_chain STACK_OF(X509)
#define csl_openssl_stack OPENSSL_STACK
#define csl_openssl_certificate X509
#define CHECK(result, name, parameters) result (*check_##name) parameters = name;
OPENSSL_FUNCTIONS(CHECK)
_Static_assert(received_shutdown == SSL_RECEIVED_SHUTDOWN, "the bit of SSL_get_shutdown");
