#ifndef CSYSTEMLIBRARIES_SYSTEMCURL_H
#define CSYSTEMLIBRARIES_SYSTEMCURL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "SystemCurlConstants.h"

// libcurl, opened at run time. All functions except csl_curl_open and csl_curl_failure require that csl_curl_open has returned true.

/// One transfer: libcurl's CURL.
typedef struct csl_easy csl_easy;
/// A set of transfers: libcurl's CURLM.
typedef struct csl_multi csl_multi;

/// Connections that only some transfers of a set share: libcurl's CURLSH. Transfers use it through CSL_OPTION_SHARE.
typedef struct csl_share csl_share;

/// The address of a connection: libcurl's curl_sockaddr.
typedef struct csl_socket_address csl_socket_address;

/// The event loop of a set of transfers.
typedef struct csl_driver csl_driver;

/// One line of a header list: libcurl's curl_slist.
typedef struct csl_line {
    char *text;
    struct csl_line *next;
} csl_line;

/// A description of libcurl and its build.
typedef struct csl_curl_about {
    /// The version as 0xXXYYZZ.
    uint32_t version;
    /// The version as text, such as "7.88.1".
    const char *version_text;
    /// The TLS library and its version, such as "OpenSSL/3.0.19"; NULL without TLS.
    const char *tls;
    /// The features, a set of CSL_FEATURE bits.
    uint32_t features;
    /// The file and the folder of the system's certificate authorities; NULL if libcurl doesn't know them.
    const char *authorities_file;
    const char *authorities_folder;
    /// Whether the verified chain of certificates can be read.
    bool reads_chains;
} csl_curl_about;

/// Opens and initialises the library, once. Any thread may call it.
bool csl_curl_open(void);
/// The reason why the library can't be used; NULL if it can.
const char *csl_curl_failure(void);
/// A description of the opened library.
csl_curl_about csl_curl_describe(void);

// Transfers. Only the set's owner may call these functions.

csl_easy *csl_easy_new(void);
void csl_easy_free(csl_easy *easy);
void csl_easy_reset(csl_easy *easy);
int csl_easy_set_long(csl_easy *easy, long option, long value);
int csl_easy_set_size(csl_easy *easy, long option, int64_t value);
int csl_easy_set_pointer(csl_easy *easy, long option, const void *value);
int csl_easy_set_text(csl_easy *easy, long option, const char *value);
/// Sets bytes, which libcurl copies.
int csl_easy_set_blob(csl_easy *easy, long option, const void *bytes, size_t length);
int csl_easy_pause(csl_easy *easy, int mask);
/// Writes to a transfer's own connection (CSL_OPTION_CONNECT_ONLY) and sets `count` to the number of bytes sent. After CSL_RESULT_AGAIN,
/// wait for the socket and call it again with the same bytes.
int csl_easy_send(csl_easy *easy, const void *bytes, size_t length, size_t *count);
/// Reads from that connection. No bytes, with CSL_RESULT_OK, mean that the other side has closed it.
int csl_easy_receive(csl_easy *easy, void *bytes, size_t length, size_t *count);
/// The socket of that connection, for waiting; -1 if there is none.
int csl_easy_socket(csl_easy *easy);
const char *csl_easy_error_text(int code);

long csl_easy_get_long(csl_easy *easy, long information);
int64_t csl_easy_get_size(csl_easy *easy, long information);
const char *csl_easy_get_text(csl_easy *easy, long information);
void *csl_easy_get_pointer(csl_easy *easy, long information);

/// Functions that libcurl calls during a transfer, on the thread that runs it. `user` is the value passed to csl_easy_set_callbacks.
typedef struct csl_easy_callbacks {
    size_t (*header)(char *bytes, size_t size, size_t count, void *user);
    size_t (*body)(char *bytes, size_t size, size_t count, void *user);
    size_t (*upload)(char *bytes, size_t size, size_t count, void *user);
    /// The connection is established, and the request is about to be sent: 0 to continue, 1 to refuse. Called from libcurl 7.80 on.
    int (*ready)(void *user, char *remote, char *local, int remote_port, int local_port);
    /// A connection is about to be made: returns its socket, from csl_socket_open, or -1 to refuse.
    int (*connect)(void *user, int purpose, csl_socket_address *address);
    /// libcurl has read, or has nothing more to read: 0 to continue. Called only if CSL_OPTION_NO_PROGRESS is 0.
    int (*progress)(void *user, int64_t wanted, int64_t received, int64_t to_send, int64_t sent);
} csl_easy_callbacks;

/// Sets the callbacks of a transfer, their `user`, and the driver that is notified before a socket is closed, which may be NULL.
void csl_easy_set_callbacks(csl_easy *easy, csl_easy_callbacks callbacks, void *user, csl_driver *driver);
/// Writes the keys of the connections that a transfer makes to an open file, in the NSS format (SSLKEYLOGFILE); NULL for none. `file` must
/// stay valid as long as there are such connections. Returns CSL_RESULT_NOT_BUILT_IN without OpenSSL.
int csl_easy_log_keys(csl_easy *easy, const int *file);
/// Opens a socket that child processes don't inherit, and registers it with `driver`, which may be NULL, for `owner`. Returns the negated
/// system error if it fails.
int csl_socket_open(const csl_socket_address *address, csl_driver *driver, const void *owner);
/// The `user` that csl_easy_set_callbacks got for this transfer.
void *csl_easy_user(csl_easy *easy);

// The certificates of a transfer's connection, as verified by the TLS library, beginning with the server's. Available only while the
// transfer has the connection, as in the callback `ready`.

/// The number of certificates; -1 if they can't be read.
int csl_easy_chain_count(csl_easy *easy);
/// The bytes (DER) of a certificate, to be freed with csl_free; NULL if there are none.
uint8_t *csl_easy_chain_certificate(csl_easy *easy, int index, size_t *length);
/// The version of TLS, such as "TLSv1.3"; NULL if unknown.
const char *csl_easy_tls_version(csl_easy *easy);
/// Whether the other side has announced the end of the connection with TLS's close_notify; true if that is unknown.
bool csl_easy_has_close_notify(csl_easy *easy);
void csl_free(void *bytes);

// Sets of transfers.

csl_multi *csl_multi_new(void);
void csl_multi_free(csl_multi *multi);
int csl_multi_set_long(csl_multi *multi, long option, long value);
int csl_multi_add(csl_multi *multi, csl_easy *easy);
int csl_multi_remove(csl_multi *multi, csl_easy *easy);
int csl_multi_perform(csl_multi *multi, int *running);
/// Returns NULL if memory is exhausted.
csl_share *csl_share_new(void);
/// Closes the connections. No transfer may use them any more.
void csl_share_free(csl_share *share);
/// Waits for events, this number of milliseconds at most.
int csl_multi_poll(csl_multi *multi, int milliseconds);
/// Ends the current or the next wait of csl_multi_poll. Any thread may call it.
void csl_multi_wakeup(csl_multi *multi);
/// The next completed transfer and its result; NULL if there is none.
csl_easy *csl_multi_next_done(csl_multi *multi, int *result);
const char *csl_multi_error_text(int code);

// Drivers: one thread waits for the sockets of a set, and works; other threads may work while it waits, if the system supports that
// (Linux). Only one thread at a time owns the driver, and only the owner may call the functions above and below.

/// A driver for a set without transfers; NULL if there is no memory or no descriptor.
csl_driver *csl_driver_new(csl_multi *multi);
/// Frees the driver, after its set and all transfers.
void csl_driver_free(csl_driver *driver);
/// Waits for ownership.
void csl_driver_acquire(csl_driver *driver);
/// Acquires ownership if it is free. It never is if the waiting thread is inside libcurl.
bool csl_driver_try_acquire(csl_driver *driver);
/// Releases ownership.
void csl_driver_release(csl_driver *driver);
/// Releases ownership, waits for events, this number of milliseconds at most, and acquires it again. Only one thread may call it.
void csl_driver_wait(csl_driver *driver, int milliseconds);
/// Lets libcurl work, including the events of the wait if called by the thread that has waited.
void csl_driver_work(csl_driver *driver, bool has_waited);
/// Whether libcurl wants to be called before the current wait ends.
bool csl_driver_waits_too_long(csl_driver *driver);
/// Whether a connection of the driver with these ports was recently disconnected because a call of libcurl didn't return from reading it. A
/// local port of 0 matches a connection with unknown ports, such as one to a Unix-domain socket.
bool csl_driver_has_disconnected(csl_driver *driver, int local_port, int remote_port);
/// Ends the current or the next wait. Any thread may call it, without ownership.
void csl_driver_wake(csl_driver *driver);

/// Notes the first response over the connection made for `owner`, which has this local port: over HTTP/1 (`is_serial`), or over a version
/// in which the server may send at any time.
void csl_driver_note(csl_driver *driver, const void *owner, int port, bool is_serial);
/// Whether the idle HTTP/1 connection with this local port has something to read or has ended. If the port is unknown, 0 or less, whether
/// any such connection has.
bool csl_driver_is_stale(const csl_driver *driver, int port);

// Work between these two calls never overlaps the process's exit: a TLS library that is unloaded during a transfer crashes. Every thread
// calls the functions above between them, except csl_multi_poll, csl_multi_wakeup and the drivers' functions other than csl_driver_work.

/// Doesn't return if the process exits, except on the exiting thread: in exit handlers registered before libcurl was opened here, it
/// returns false. Then neither another call nor csl_curl_leave may follow.
bool csl_curl_enter(void);
void csl_curl_leave(void);

/// Needed around calls of libcurl on threads that csl_thread_start didn't start: a broken connection then raises no SIGPIPE, and threads
/// that libcurl starts receive no signals.
typedef struct csl_signal_guard {
    /// The thread's signal mask.
    sigset_t before;
    /// Whether a SIGPIPE that is pending at the end comes from libcurl.
    bool takes_pipe;
} csl_signal_guard;

void csl_signal_guard_begin(csl_signal_guard *guard);
void csl_signal_guard_end(const csl_signal_guard *guard);

/// Starts a detached thread with a name of at most 15 bytes and all signals blocked. Returns whether it was started.
bool csl_thread_start(const char *name, void (*run)(void *), void *context);

#endif
