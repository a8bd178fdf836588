#ifndef CSYSTEMLIBRARIES_SYSTEMCURL_H
#define CSYSTEMLIBRARIES_SYSTEMCURL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "SystemCurlConstants.h"

// libcurl, opened at run time. Everything here but csl_curl_open and csl_curl_failure needs that csl_curl_open has said yes.

/// One transfer: libcurl's CURL.
typedef struct csl_easy csl_easy;
/// A set of transfers: libcurl's CURLM.
typedef struct csl_multi csl_multi;

/// Connections that some of a set's transfers share among themselves only: libcurl's CURLSH. They get it by CSL_OPTION_SHARE.
typedef struct csl_share csl_share;

/// Where a connection goes: libcurl's curl_sockaddr.
typedef struct csl_socket_address csl_socket_address;

/// What lets a set of transfers work.
typedef struct csl_driver csl_driver;

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

// Transfers. All of these are called by the one who has the turn of the transfer's set.

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

/// What libcurl calls while a transfer runs, on the thread that lets it work. `user` is what csl_easy_set_callbacks got.
typedef struct csl_easy_callbacks {
    size_t (*header)(char *bytes, size_t size, size_t count, void *user);
    size_t (*body)(char *bytes, size_t size, size_t count, void *user);
    size_t (*upload)(char *bytes, size_t size, size_t count, void *user);
    /// The connection stands, and the request is about to be sent: 0 to go on, 1 to refuse. Called from libcurl 7.80 on.
    int (*ready)(void *user, char *remote, char *local, int remote_port, int local_port);
    /// A connection is about to be made: its socket, by csl_socket_open, or -1 to refuse.
    int (*connect)(void *user, int purpose, csl_socket_address *address);
    /// libcurl has read, or has nothing more to read: 0 to go on. Called only where CSL_OPTION_NO_PROGRESS is 0.
    int (*progress)(void *user, int64_t wanted, int64_t received, int64_t to_send, int64_t sent);
} csl_easy_callbacks;

/// Sets the callbacks of a transfer, what they get, and who is told of a socket before it is closed: `driver` may be NULL.
void csl_easy_set_callbacks(csl_easy *easy, csl_easy_callbacks callbacks, void *user, csl_driver *driver);
/// Writes the keys of the connections that a transfer makes to an open file, in the format of NSS (SSLKEYLOGFILE); NULL for none. The number must
/// stay where it is as long as there are such connections. CSL_RESULT_NOT_BUILT_IN without OpenSSL.
int csl_easy_log_keys(csl_easy *easy, const int *file);
/// A socket that child processes don't inherit, and that `driver`, which may be NULL, knows as that of `owner`. The system's error, negated, when
/// it gives none.
int csl_socket_open(const csl_socket_address *address, csl_driver *driver, const void *owner);
/// What csl_easy_set_callbacks got for this transfer.
void *csl_easy_user(csl_easy *easy);

// The certificates of a transfer's connection, as the TLS library verified them, the server's first. Only while the connection is the
// transfer's, as in the callback `ready`.

/// The number of certificates; -1 when they can't be read.
int csl_easy_chain_count(csl_easy *easy);
/// The bytes (DER) of a certificate: free them with csl_free. NULL when there are none.
uint8_t *csl_easy_chain_certificate(csl_easy *easy, int index, size_t *length);
/// The version of TLS, such as "TLSv1.3"; NULL when unknown.
const char *csl_easy_tls_version(csl_easy *easy);
/// Whether the other side has announced the end of the connection by TLS's close_notify; true where that can't be known.
bool csl_easy_has_close_notify(csl_easy *easy);
void csl_free(void *bytes);

// Sets of transfers.

csl_multi *csl_multi_new(void);
void csl_multi_free(csl_multi *multi);
int csl_multi_set_long(csl_multi *multi, long option, long value);
int csl_multi_add(csl_multi *multi, csl_easy *easy);
int csl_multi_remove(csl_multi *multi, csl_easy *easy);
int csl_multi_perform(csl_multi *multi, int *running);
/// NULL when there is no memory.
csl_share *csl_share_new(void);
/// Closes the connections, which no transfer has any more.
void csl_share_free(csl_share *share);
/// Waits for something to do, at most so many milliseconds.
int csl_multi_poll(csl_multi *multi, int milliseconds);
/// Ends the wait of csl_multi_poll, or the next one. Any thread may call it.
void csl_multi_wakeup(csl_multi *multi);
/// The next transfer that has ended, and its result; NULL when there is none.
csl_easy *csl_multi_next_done(csl_multi *multi, int *result);
const char *csl_multi_error_text(int code);

// Drivers: one thread waits for the sockets of a set, and works; others may work while it waits, where the system can do that (Linux).
// Only one at a time has the turn, and only who has it calls the functions above and those below.

/// How lingering has ended: waiting for a moment without falling asleep.
typedef enum csl_lingering {
    /// A socket has something: the next csl_driver_work takes it.
    CSL_LINGERING_BROUGHT,
    /// Nothing has come in time.
    CSL_LINGERING_FAILED,
    /// Somebody or a timer of libcurl's has ended it, or there was nothing to wait for.
    CSL_LINGERING_ENDED,
} csl_lingering;

/// A driver for a set that has no transfers yet; NULL when there is no memory, or no descriptor.
csl_driver *csl_driver_new(csl_multi *multi);
/// Frees it, after its set and all transfers.
void csl_driver_free(csl_driver *driver);
/// Waits for the turn.
void csl_driver_take(csl_driver *driver);
/// Takes the turn if nobody has it; never where the thread that waits is inside of libcurl.
bool csl_driver_try(csl_driver *driver);
/// Gives the turn back.
void csl_driver_leave(csl_driver *driver);
/// Gives the turn back, waits for something to do, at most so many milliseconds, and takes it again. One thread only. It lingers for the first
/// `awake` nanoseconds: how that has ended.
csl_lingering csl_driver_wait(csl_driver *driver, int milliseconds, int64_t awake);
/// Lets libcurl do what it can: also with what the wait has brought, for the thread that has waited.
void csl_driver_work(csl_driver *driver, bool has_waited);
/// Whether libcurl wants to be called before the wait that is under way ends by itself.
bool csl_driver_is_late(csl_driver *driver);
/// Whether a connection of the driver's with these ports was disconnected, not long ago, since a call of libcurl didn't return from reading it.
/// A local port of 0 asks for a connection whose ports aren't known, such as one to a Unix-domain socket.
bool csl_driver_has_cut(csl_driver *driver, int local_port, int remote_port);
/// Ends the wait, or the next one. Any thread may call it, without the turn.
void csl_driver_wake(csl_driver *driver);

/// The first answer over the connection that was made for `owner` has come, which has that local port: by HTTP/1 (`is_serial`), or by a version
/// in which the server may send something at any time.
void csl_driver_note(csl_driver *driver, const void *owner, int port, bool is_serial);
/// Whether the idle connection of HTTP/1 with that local port has something to read or has ended. Where the port isn't known, 0 or less: whether
/// any of them has.
bool csl_driver_is_stale(const csl_driver *driver, int port);

// Who has taken the turn by csl_driver_try, where there were no transfers, may linger for the answer by itself.

/// From now on the first socket that libcurl wants to read isn't watched for the thread that waits.
void csl_driver_defer(csl_driver *driver);
/// Waits for something at that socket: so many nanoseconds at most, all of its stretches together.
csl_lingering csl_driver_linger(csl_driver *driver, int64_t longest);
/// Ends the lingering at once. Any thread may call it, without the turn.
void csl_driver_interrupt(csl_driver *driver);
/// All sockets are watched again.
void csl_driver_settle(csl_driver *driver);

// Work between these two is never under way while the process exits: a TLS library that is taken down under a running transfer crashes.
// Every thread that calls the functions above does it between them, all but csl_multi_poll,
// csl_multi_wakeup and the drivers' own but csl_driver_work.

/// Doesn't come back where the process exits; but on the thread that exits it says no, in exit handlers that are older than libcurl is here:
/// then no call may follow, nor csl_curl_leave.
bool csl_curl_enter(void);
void csl_curl_leave(void);

/// What a thread that isn't csl_thread_start's needs around calls of libcurl: a broken connection raises no SIGPIPE there, and a thread that
/// libcurl starts meanwhile takes no signals.
typedef struct csl_signal_guard {
    /// The thread's mask.
    sigset_t before;
    /// Whether a SIGPIPE that waits at the end is libcurl's.
    bool takes_pipe;
} csl_signal_guard;

void csl_signal_guard_begin(csl_signal_guard *guard);
void csl_signal_guard_end(const csl_signal_guard *guard);

/// Starts a detached thread with a name of at most 15 bytes, all signals blocked. Whether it could be started.
bool csl_thread_start(const char *name, void (*run)(void *), void *context);

#endif
