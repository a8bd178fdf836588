#define _GNU_SOURCE
#include "SystemCurl.h"

#include "DynamicLibrary.h"
#include "SystemCurlDriver.h"
#include "SystemCurlExit.h"
#include "SystemDescriptors.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

// The parts of libcurl's types that are read here, declared independently.

struct version_information {
    int age;
    const char *version;
    unsigned int version_number;
    const char *host;
    int features;
    const char *tls_version;
    long tls_version_number;
    const char *libz_version;
    const char *const *protocols;
    const char *ares;
    int ares_number;
    const char *libidn;
    int iconv_version_number;
    const char *libssh_version;
    unsigned int brotli_version_number;
    const char *brotli_version;
    unsigned int nghttp2_version_number;
    const char *nghttp2_version;
    const char *quic_version;
    const char *cainfo;
    const char *capath;
};

struct message {
    int kind;
    csl_easy *easy;
    union {
        void *whatever;
        int result;
    } data;
};

struct wait_descriptor;

struct blob {
    void *data;
    size_t length;
    unsigned int flags;
};

struct tls_session {
    int backend;
    void *internals;
};

struct csl_socket_address {
    int family;
    int type;
    int protocol;
    unsigned int address_length;
    struct sockaddr address;
};

enum {
    global_all = 3, version_now = 9, message_done = 1, blob_copies = 1, backend_openssl = 1, received_shutdown = 2,
    age_with_authorities = 6, oldest = 0x074400, share_what = 1, share_connections = 5
};

// The library functions in use, each declared once: result, name, parameters. A test compares these lines with the real headers, with the
// headers' types in place of these.

typedef int csl_code_type, csl_multi_code_type, csl_share_code_type, csl_version_type;
typedef int csl_option_type, csl_multi_option_type, csl_share_option_type, csl_information_type;
typedef void csl_openssl_connection, csl_openssl_chain, csl_openssl_stack, csl_openssl_certificate;
typedef void csl_openssl_context, csl_openssl_verification, csl_openssl_names;

#define CURL_FUNCTIONS(function) \
    function(csl_code_type, global_init, (long)) \
    function(struct version_information *, version_info, (csl_version_type)) \
    function(csl_easy *, easy_init, (void)) \
    function(void, easy_cleanup, (csl_easy *)) \
    function(void, easy_reset, (csl_easy *)) \
    function(csl_code_type, easy_setopt, (csl_easy *, csl_option_type, ...)) \
    function(csl_code_type, easy_getinfo, (csl_easy *, csl_information_type, ...)) \
    function(csl_code_type, easy_pause, (csl_easy *, int)) \
    function(csl_code_type, easy_send, (csl_easy *, const void *, size_t, size_t *)) \
    function(csl_code_type, easy_recv, (csl_easy *, void *, size_t, size_t *)) \
    function(const char *, easy_strerror, (csl_code_type)) \
    function(csl_multi *, multi_init, (void)) \
    function(csl_multi_code_type, multi_cleanup, (csl_multi *)) \
    function(csl_multi_code_type, multi_setopt, (csl_multi *, csl_multi_option_type, ...)) \
    function(csl_multi_code_type, multi_add_handle, (csl_multi *, csl_easy *)) \
    function(csl_multi_code_type, multi_remove_handle, (csl_multi *, csl_easy *)) \
    function(csl_multi_code_type, multi_perform, (csl_multi *, int *)) \
    function(csl_multi_code_type, multi_socket_action, (csl_multi *, int, int, int *)) \
    function(csl_multi_code_type, multi_poll, (csl_multi *, struct wait_descriptor *, unsigned int, int, int *)) \
    function(csl_multi_code_type, multi_wakeup, (csl_multi *)) \
    function(struct message *, multi_info_read, (csl_multi *, int *)) \
    function(const char *, multi_strerror, (csl_multi_code_type)) \
    function(csl_share *, share_init, (void)) \
    function(csl_share_code_type, share_setopt, (csl_share *, csl_share_option_type, ...)) \
    function(csl_share_code_type, share_cleanup, (csl_share *))

// OpenSSL's functions, looked up in libcurl's own dependencies, so that they belong to the library that libcurl uses.
#define OPENSSL_FUNCTIONS(function) \
    function(csl_openssl_chain *, SSL_get0_verified_chain, (const csl_openssl_connection *)) \
    function(int, OPENSSL_sk_num, (const csl_openssl_stack *)) \
    function(void *, OPENSSL_sk_value, (const csl_openssl_stack *, int)) \
    function(int, i2d_X509, (const csl_openssl_certificate *, unsigned char **)) \
    function(const char *, SSL_get_version, (const csl_openssl_connection *)) \
    function(int, SSL_get_shutdown, (const csl_openssl_connection *)) \
    function(csl_openssl_context *, SSL_get_SSL_CTX, (const csl_openssl_connection *)) \
    function(int, SSL_CTX_get_verify_mode, (const csl_openssl_context *)) \
    function(void, SSL_CTX_set_verify, (csl_openssl_context *, int, int (*)(int, csl_openssl_verification *))) \
    function(void, SSL_CTX_set_keylog_callback, (csl_openssl_context *, void (*)(const csl_openssl_connection *, const char *))) \
    function(int, SSL_CTX_set_ex_data, (csl_openssl_context *, int, void *)) \
    function(void *, SSL_CTX_get_ex_data, (const csl_openssl_context *, int)) \
    function(int, X509_STORE_CTX_get_error_depth, (const csl_openssl_verification *)) \
    function(csl_openssl_certificate *, X509_STORE_CTX_get_current_cert, (const csl_openssl_verification *)) \
    function(void, X509_STORE_CTX_set_error, (csl_openssl_verification *, int)) \
    function(void *, X509_get_ext_d2i, (const csl_openssl_certificate *, int, int *, int *)) \
    function(void, GENERAL_NAMES_free, (csl_openssl_names *))

#define FIELD(result, name, parameters) result (*name) parameters;
static struct { CURL_FUNCTIONS(FIELD) } curl;
static struct { OPENSSL_FUNCTIONS(FIELD) } openssl;
#undef FIELD

static pthread_once_t opened = PTHREAD_ONCE_INIT;
static const char *failure = "libcurl was not opened";
static struct version_information *about;

static bool find_curl(void *library) {
#define FIND(result, name, parameters) && csl_library_find(library, "curl_" #name, &curl.name)
    return true CURL_FUNCTIONS(FIND);
#undef FIND
}

static void find_openssl(void *library) {
#define FIND(result, name, parameters) && csl_library_find(library, #name, &openssl.name)
    bool all = true OPENSSL_FUNCTIONS(FIND);
#undef FIND
    if (!all) memset(&openssl, 0, sizeof openssl);
}

// During initialisation, libcurl reads SSLKEYLOGFILE, creates a file of that name, and writes the keys of all connections to it. Here keys
// are written only if a transport requests it; see csl_easy_log_keys.
//
// The variable isn't removed from the environment during that time: that would move its other entries, which other threads may be reading.
// Instead its entry points to an empty value, and afterwards to the old one again, so other threads see one of the two.
#if defined(__APPLE__)
static int initialise(void) { return curl.global_init(global_all); }
#else
extern char **environ;

static int initialise(void) {
    static char empty[] = "SSLKEYLOGFILE=";
    char *kept = NULL;
    for (char **entry = environ; entry && *entry && !kept; entry++) {
        if (strncmp(*entry, empty, sizeof empty - 1) != 0) continue;
        kept = *entry;
        __atomic_store_n(entry, empty, __ATOMIC_RELAXED);
    }
    int result = curl.global_init(global_all);
    for (char **entry = environ; kept && entry && *entry; entry++) {
        if (*entry == empty) __atomic_store_n(entry, kept, __ATOMIC_RELAXED);
    }
    return result;
}
#endif

static void open_library(void) {
#if defined(__APPLE__)
    static const char *const names[] = {"libcurl.4.dylib", "/usr/lib/libcurl.4.dylib"};
#else
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
#endif
    void *library = csl_library_open(names, sizeof names / sizeof *names);
    if (!library) {
        // The system's reason distinguishes a missing library from one that can't be loaded.
        const char *reason = dlerror();
        static char text[400];
        snprintf(
            text, sizeof text, "libcurl.so.4 can't be opened (%s): install the package libcurl4 or libcurl",
            reason ? reason : "no reason given");
        failure = text;
        return;
    }
    if (!find_curl(library)) {
        failure = "libcurl is older than 7.68, whose functions are needed: install a newer one";
        return;
    }
    if (initialise() != 0) {
        failure = "libcurl can't be initialised";
        return;
    }
    about = curl.version_info(version_now);
    if (!about || about->version_number < oldest) {
        failure = "libcurl is older than 7.68, whose functions are needed: install a newer one";
        return;
    }
    if (about->tls_version && strstr(about->tls_version, "OpenSSL/")) find_openssl(library);
    // After curl_global_init: exit handlers run in reverse order, so this one runs before those of the TLS library.
    csl_curl_register_exit_handler();
    failure = NULL;
}

bool csl_curl_open(void) {
    pthread_once(&opened, open_library);
    return failure == NULL;
}

const char *csl_curl_failure(void) {
    csl_curl_open();
    return failure;
}

csl_curl_about csl_curl_describe(void) {
    csl_curl_about result = {0};
    if (!csl_curl_open()) return result;
    result.version = about->version_number;
    result.version_text = about->version;
    result.tls = about->tls_version;
    result.features = (uint32_t)about->features;
    if (about->age >= age_with_authorities) {
        result.authorities_file = about->cainfo;
        result.authorities_folder = about->capath;
    }
    result.reads_chains = openssl.SSL_get0_verified_chain != NULL;
    return result;
}

// Transfers

csl_easy *csl_easy_new(void) { return curl.easy_init(); }
void csl_easy_free(csl_easy *easy) { curl.easy_cleanup(easy); }
void csl_easy_reset(csl_easy *easy) { curl.easy_reset(easy); }
int csl_easy_set_long(csl_easy *easy, long option, long value) { return curl.easy_setopt(easy, (int)option, value); }
int csl_easy_set_size(csl_easy *easy, long option, int64_t value) { return curl.easy_setopt(easy, (int)option, value); }
int csl_easy_set_pointer(csl_easy *easy, long option, const void *value) { return curl.easy_setopt(easy, (int)option, value); }
int csl_easy_set_text(csl_easy *easy, long option, const char *value) { return curl.easy_setopt(easy, (int)option, value); }

int csl_easy_set_blob(csl_easy *easy, long option, const void *bytes, size_t length) {
    struct blob blob = {(void *)bytes, length, blob_copies};
    return curl.easy_setopt(easy, (int)option, &blob);
}

int csl_easy_pause(csl_easy *easy, int mask) { return curl.easy_pause(easy, mask); }

int csl_easy_send(csl_easy *easy, const void *bytes, size_t length, size_t *count) {
    *count = 0;
    return curl.easy_send(easy, bytes, length, count);
}

int csl_easy_receive(csl_easy *easy, void *bytes, size_t length, size_t *count) {
    *count = 0;
    return curl.easy_recv(easy, bytes, length, count);
}

int csl_easy_socket(csl_easy *easy) {
    int value = -1;
    return curl.easy_getinfo(easy, CSL_INFO_ACTIVE_SOCKET, &value) == 0 ? value : -1;
}

const char *csl_easy_error_text(int code) { return curl.easy_strerror(code); }

long csl_easy_get_long(csl_easy *easy, long information) {
    long value = 0;
    return curl.easy_getinfo(easy, (int)information, &value) == 0 ? value : 0;
}

int64_t csl_easy_get_size(csl_easy *easy, long information) {
    int64_t value = 0;
    return curl.easy_getinfo(easy, (int)information, &value) == 0 ? value : 0;
}

const char *csl_easy_get_text(csl_easy *easy, long information) {
    char *value = NULL;
    return curl.easy_getinfo(easy, (int)information, &value) == 0 ? value : NULL;
}

void *csl_easy_get_pointer(csl_easy *easy, long information) {
    void *value = NULL;
    return curl.easy_getinfo(easy, (int)information, &value) == 0 ? value : NULL;
}

int csl_socket_open(const csl_socket_address *address, csl_driver *driver, const void *owner) {
#if defined(SOCK_CLOEXEC)
    int result = socket(address->family, address->type | SOCK_CLOEXEC, address->protocol);
#else
    int result = socket(address->family, address->type, address->protocol);
    if (result >= 0) fcntl(result, F_SETFD, FD_CLOEXEC);
#endif
    if (result < 0) return -errno;
    csl_driver_opened(driver, result, owner);
    return result;
}

static int close_socket(void *user, int socket) {
    csl_driver_closes(user, socket);
    return close(socket);
}

/// Returns whether the subject alternative names of a certificate contain a name or an address. If they contain neither, libcurl uses its
/// common name, which has no meaning since RFC 9525.
static bool names_hosts(const csl_openssl_certificate *certificate) {
    enum { subject_alternative_name = 85, name = 2, address = 7 };
    csl_openssl_names *names = openssl.X509_get_ext_d2i(certificate, subject_alternative_name, NULL, NULL);
    if (!names) return false;
    bool found = false;
    for (int index = 0; index < openssl.OPENSSL_sk_num(names) && !found; index++) {
        // Each is a structure that begins with its kind.
        const int *kind = openssl.OPENSSL_sk_value(names, index);
        found = kind && (*kind == name || *kind == address);
    }
    openssl.GENERAL_NAMES_free(names);
    return found;
}

static int verify(int is_good, csl_openssl_verification *verification) {
    if (!is_good || openssl.X509_STORE_CTX_get_error_depth(verification) > 0) return is_good;
    const csl_openssl_certificate *certificate = openssl.X509_STORE_CTX_get_current_cert(verification);
    if (certificate && names_hosts(certificate)) return is_good;
    openssl.X509_STORE_CTX_set_error(verification, CSL_VERIFIED_WITHOUT_NAMES);
    return 0;
}

static void log_key(const csl_openssl_connection *connection, const char *line) {
    const int *file = openssl.SSL_CTX_get_ex_data(openssl.SSL_get_SSL_CTX(connection), 0);
    if (!file) return;
    struct iovec parts[] = {{(void *)line, strlen(line)}, {"\n", 1}};
    ssize_t ignored = writev(*file, parts, 2);
    (void)ignored;
}

/// Called before a secure connection to a server or a proxy is made.
static int prepare_tls(csl_easy *easy, void *context, void *file) {
    const struct tls_session *session = csl_easy_get_pointer(easy, CSL_INFO_TLS_POINTER);
    if (!session || session->backend != backend_openssl) return CSL_RESULT_OK;
    openssl.SSL_CTX_set_verify(context, openssl.SSL_CTX_get_verify_mode(context), verify);
    // Other code in the process may have initialised libcurl earlier, with SSLKEYLOGFILE.
    openssl.SSL_CTX_set_ex_data(context, 0, file);
    openssl.SSL_CTX_set_keylog_callback(context, file ? log_key : NULL);
    return CSL_RESULT_OK;
}

void csl_easy_set_callbacks(csl_easy *easy, csl_easy_callbacks callbacks, void *user, csl_driver *driver) {
    curl.easy_setopt(easy, CSL_OPTION_HEADER_FUNCTION, callbacks.header);
    curl.easy_setopt(easy, CSL_OPTION_WRITE_FUNCTION, callbacks.body);
    curl.easy_setopt(easy, CSL_OPTION_READ_FUNCTION, callbacks.upload);
    curl.easy_setopt(easy, CSL_OPTION_READY_FUNCTION, callbacks.ready);
    curl.easy_setopt(easy, CSL_OPTION_OPEN_SOCKET_FUNCTION, callbacks.connect);
    curl.easy_setopt(easy, CSL_OPTION_PROGRESS_FUNCTION, callbacks.progress);
    curl.easy_setopt(easy, CSL_OPTION_HEADER_DATA, user);
    curl.easy_setopt(easy, CSL_OPTION_WRITE_DATA, user);
    curl.easy_setopt(easy, CSL_OPTION_READ_DATA, user);
    curl.easy_setopt(easy, CSL_OPTION_READY_DATA, user);
    curl.easy_setopt(easy, CSL_OPTION_OPEN_SOCKET_DATA, user);
    curl.easy_setopt(easy, CSL_OPTION_PROGRESS_DATA, user);
    curl.easy_setopt(easy, CSL_OPTION_PRIVATE, user);
    // A connection outlives the transfer that made it.
    curl.easy_setopt(easy, CSL_OPTION_CLOSE_SOCKET_FUNCTION, close_socket);
    curl.easy_setopt(easy, CSL_OPTION_CLOSE_SOCKET_DATA, driver);
    if (openssl.SSL_CTX_set_verify) curl.easy_setopt(easy, CSL_OPTION_TLS_CONTEXT_FUNCTION, prepare_tls);
}

int csl_easy_log_keys(csl_easy *easy, const int *file) {
    return openssl.SSL_CTX_set_verify ? curl.easy_setopt(easy, CSL_OPTION_TLS_CONTEXT_DATA, file) : CSL_RESULT_NOT_BUILT_IN;
}

void *csl_easy_user(csl_easy *easy) { return csl_easy_get_pointer(easy, CSL_INFO_PRIVATE); }

static const void *tls_connection(csl_easy *easy) {
    if (!openssl.SSL_get0_verified_chain) return NULL;
    const struct tls_session *session = csl_easy_get_pointer(easy, CSL_INFO_TLS_POINTER);
    return session && session->backend == backend_openssl ? session->internals : NULL;
}

static const void *verified_chain(csl_easy *easy) {
    const void *connection = tls_connection(easy);
    return connection ? openssl.SSL_get0_verified_chain(connection) : NULL;
}

int csl_easy_chain_count(csl_easy *easy) {
    const void *chain = verified_chain(easy);
    return chain ? openssl.OPENSSL_sk_num(chain) : -1;
}

uint8_t *csl_easy_chain_certificate(csl_easy *easy, int index, size_t *length) {
    const void *chain = verified_chain(easy);
    const void *certificate = chain ? openssl.OPENSSL_sk_value(chain, index) : NULL;
    int count = certificate ? openssl.i2d_X509(certificate, NULL) : 0;
    uint8_t *bytes = count > 0 ? malloc((size_t)count) : NULL;
    if (!bytes) return NULL;
    // The function advances the pointer.
    unsigned char *end = bytes;
    *length = (size_t)openssl.i2d_X509(certificate, &end);
    return bytes;
}

const char *csl_easy_tls_version(csl_easy *easy) {
    const void *connection = tls_connection(easy);
    return connection ? openssl.SSL_get_version(connection) : NULL;
}

bool csl_easy_has_close_notify(csl_easy *easy) {
    const void *connection = tls_connection(easy);
    return !connection || openssl.SSL_get_shutdown(connection) & received_shutdown;
}

void csl_free(void *bytes) { free(bytes); }

// Sets of transfers

csl_multi *csl_multi_new(void) {
    // libcurl creates a pair of descriptors to wake itself.
    csl_open_descriptors before;
    csl_record_open_descriptors(&before);
    csl_multi *multi = curl.multi_init();
    if (multi) csl_close_new_in_children(&before);
    return multi;
}

void csl_multi_free(csl_multi *multi) { curl.multi_cleanup(multi); }
int csl_multi_set_long(csl_multi *multi, long option, long value) { return curl.multi_setopt(multi, (int)option, value); }
int csl_multi_add(csl_multi *multi, csl_easy *easy) { return curl.multi_add_handle(multi, easy); }
int csl_multi_remove(csl_multi *multi, csl_easy *easy) { return curl.multi_remove_handle(multi, easy); }
int csl_multi_perform(csl_multi *multi, int *running) { return curl.multi_perform(multi, running); }

csl_share *csl_share_new(void) {
    csl_share *share = curl.share_init();
    if (!share || curl.share_setopt(share, share_what, share_connections) == 0) return share;
    curl.share_cleanup(share);
    return NULL;
}

void csl_share_free(csl_share *share) { curl.share_cleanup(share); }

int csl_multi_poll(csl_multi *multi, int milliseconds) { return curl.multi_poll(multi, NULL, 0, milliseconds, NULL); }
void csl_multi_wakeup(csl_multi *multi) { curl.multi_wakeup(multi); }

void csl_multi_set_functions(csl_multi *multi, csl_socket_function socket, csl_timer_function timer, void *user) {
    curl.multi_setopt(multi, CSL_MULTI_SOCKET_FUNCTION, socket);
    curl.multi_setopt(multi, CSL_MULTI_SOCKET_DATA, user);
    curl.multi_setopt(multi, CSL_MULTI_TIMER_FUNCTION, timer);
    curl.multi_setopt(multi, CSL_MULTI_TIMER_DATA, user);
}

void csl_multi_socket_action(csl_multi *multi, int socket, int happened) {
    int running;
    curl.multi_socket_action(multi, socket, happened, &running);
}

const char *csl_multi_error_text(int code) { return curl.multi_strerror(code); }

csl_easy *csl_multi_next_done(csl_multi *multi, int *result) {
    int left;
    struct message *message;
    while ((message = curl.multi_info_read(multi, &left))) {
        if (message->kind != message_done) continue;
        *result = message->data.result;
        return message->easy;
    }
    return NULL;
}
