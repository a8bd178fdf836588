// Compares our own declarations of OpenSSL's functions with the real header: compiled, never run, by CurlDeclarationTests where openssl/ssl.h is
// installed.

#include "../../Sources/CSystemLibraries/SystemCurl.c"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

_Static_assert(CSL_VERIFIED_WITHOUT_NAMES == X509_V_ERR_APPLICATION_VERIFICATION, "The number of a verification's result");
_Static_assert(NID_subject_alt_name == 85 && GEN_DNS == 2 && GEN_IPADD == 7, "The numbers in names_hosts");
_Static_assert(offsetof(GENERAL_NAME, type) == 0, "A name's kind");

#define csl_openssl_connection SSL
#define csl_openssl_chain STACK_OF(X509)
#define csl_openssl_stack OPENSSL_STACK
#define csl_openssl_certificate X509
#define csl_openssl_context SSL_CTX
#define csl_openssl_verification X509_STORE_CTX
#define csl_openssl_names GENERAL_NAMES
#define CHECK(result, name, parameters) result (*check_##name) parameters = name;
OPENSSL_FUNCTIONS(CHECK)
_Static_assert(received_shutdown == SSL_RECEIVED_SHUTDOWN, "the bit of SSL_get_shutdown");
