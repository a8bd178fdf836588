#ifndef CSYSTEMLIBRARIES_SYSTEMCURL_H
#define CSYSTEMLIBRARIES_SYSTEMCURL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "SystemCurlConstants.h"

// libcurl, opened at run time. Everything here but csl_curl_open and csl_curl_failure needs that csl_curl_open has said yes.

/// One transfer: libcurl's CURL.
typedef struct csl_easy csl_easy;
/// A set of transfers: libcurl's CURLM.
typedef struct csl_multi csl_multi;

/// One line of a header list: libcurl's curl_slist.
typedef struct csl_line {
    char *text;
    struct csl_line *next;
} csl_line;

/// What libcurl is, and what it was built with.
typedef struct csl_curl_about {
    /// The version as 0xXXYYZZ.
    uint32_t version;
    /// The version as text, such as "7.88.1".
    const char *version_text;
    /// The TLS library and its version, such as "OpenSSL/3.0.19"; NULL without TLS.
    const char *tls;
    /// The features, a set of CSL_FEATURE bits.
    uint32_t features;
    /// The file and the folder of the system's certificate authorities; NULL where libcurl doesn't know.
    const char *authorities_file;
    const char *authorities_folder;
    /// Whether the verified chain of certificates can be read.
    bool reads_chains;
} csl_curl_about;

/// Opens the library and initialises it: once, whoever asks; any thread may.
bool csl_curl_open(void);
/// Why the library can't be used; NULL when it can.
const char *csl_curl_failure(void);
/// What was opened.
csl_curl_about csl_curl_describe(void);

// Transfers. All of these are called on the thread that owns the transfer's set.

csl_easy *csl_easy_new(void);
void csl_easy_free(csl_easy *easy);
void csl_easy_reset(csl_easy *easy);
int csl_easy_set_long(csl_easy *easy, long option, long value);
int csl_easy_set_size(csl_easy *easy, long option, int64_t value);
int csl_easy_set_pointer(csl_easy *easy, long option, const void *value);
int csl_easy_set_text(csl_easy *easy, long option, const char *value);
/// Sets bytes; libcurl copies them.
int csl_easy_set_blob(csl_easy *easy, long option, const void *bytes, size_t length);
int csl_easy_pause(csl_easy *easy, int mask);
/// Writes to a transfer's own connection (CSL_OPTION_CONNECT_ONLY): what went out is in `count`. CSL_RESULT_AGAIN asks to wait for the socket
/// and to come again with the same bytes.
int csl_easy_send(csl_easy *easy, const void *bytes, size_t length, size_t *count);
/// Reads from it; nothing, with CSL_RESULT_OK, is the other side's end.
int csl_easy_receive(csl_easy *easy, void *bytes, size_t length, size_t *count);
/// Its socket, for waiting; -1 when there is none.
int csl_easy_socket(csl_easy *easy);
const char *csl_easy_error_text(int code);

long csl_easy_get_long(csl_easy *easy, long information);
int64_t csl_easy_get_size(csl_easy *easy, long information);
const char *csl_easy_get_text(csl_easy *easy, long information);
void *csl_easy_get_pointer(csl_easy *easy, long information);

/// What libcurl calls while a transfer runs, on the owner's thread. `user` is what csl_easy_set_user got.
typedef struct csl_easy_callbacks {
    size_t (*header)(char *bytes, size_t size, size_t count, void *user);
    size_t (*body)(char *bytes, size_t size, size_t count, void *user);
    size_t (*upload)(char *bytes, size_t size, size_t count, void *user);
    /// The connection stands, and the request is about to be sent: 0 to go on, 1 to refuse. Called from libcurl 7.80 on.
    int (*ready)(void *user, char *remote, char *local, int remote_port, int local_port);
} csl_easy_callbacks;

/// Sets the callbacks of a transfer, and that its sockets aren't inherited by child processes.
void csl_easy_set_callbacks(csl_easy *easy, csl_easy_callbacks callbacks);
/// Sets what the callbacks get.
void csl_easy_set_user(csl_easy *easy, void *user);
/// What csl_easy_set_user got for this transfer.
void *csl_easy_user(csl_easy *easy);

// The certificates of a transfer's connection, as the TLS library verified them, the server's first. Only while the connection is the
// transfer's, as in the callback `ready`.

/// The number of certificates; -1 when they can't be read.
int csl_easy_chain_count(csl_easy *easy);
/// The bytes (DER) of a certificate: free them with csl_free. NULL when there are none.
uint8_t *csl_easy_chain_certificate(csl_easy *easy, int index, size_t *length);
/// The version of TLS, such as "TLSv1.3"; NULL when unknown.
const char *csl_easy_tls_version(csl_easy *easy);
void csl_free(void *bytes);

// Sets of transfers.

csl_multi *csl_multi_new(void);
void csl_multi_free(csl_multi *multi);
int csl_multi_set_long(csl_multi *multi, long option, long value);
int csl_multi_add(csl_multi *multi, csl_easy *easy);
int csl_multi_remove(csl_multi *multi, csl_easy *easy);
int csl_multi_perform(csl_multi *multi, int *running);
/// What wakes a set that waits: a descriptor of the system's cheapest kind, or -1 where libcurl's own way, a pair of sockets, has to do.
int csl_waker_new(void);
void csl_waker_free(int waker);
/// Waits for something to do, at most so many milliseconds.
int csl_multi_poll(csl_multi *multi, int waker, int milliseconds);
/// Ends the wait of csl_multi_poll, or the next one. Any thread may call it.
void csl_multi_wakeup(csl_multi *multi, int waker);
/// The next transfer that has ended, and its result; NULL when there is none.
csl_easy *csl_multi_next_done(csl_multi *multi, int *result);
const char *csl_multi_error_text(int code);

// Work between these two is never under way while the process exits: a TLS library that is taken down under a running transfer crashes.
// Every thread that calls the functions above does it between them, all but csl_multi_poll and csl_multi_wakeup.

void csl_curl_enter(void);
void csl_curl_leave(void);

/// What a thread that isn't csl_thread_start's needs around calls that write to a connection: a broken one raises no SIGPIPE.
typedef struct csl_pipe_guard {
    /// Whether the signal wasn't blocked before.
    bool blocks;
    /// Whether the signal was there before.
    bool was_pending;
} csl_pipe_guard;

csl_pipe_guard csl_pipe_guard_begin(void);
void csl_pipe_guard_end(csl_pipe_guard guard);

/// Starts a detached thread with a name of at most 15 bytes, all signals blocked. Whether it could be started.
bool csl_thread_start(const char *name, void (*run)(void *), void *context);

#endif
