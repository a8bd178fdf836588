#ifndef CSYSTEMLIBRARIES_SYSTEMCURLDRIVER_H
#define CSYSTEMLIBRARIES_SYSTEMCURLDRIVER_H

#include "SystemCurl.h"

// The interface between libcurl and a driver.

/// libcurl's CURL_SOCKET_TIMEOUT, and the events to watch at a socket (CURL_POLL_…) or that have happened there (CURL_CSELECT_…).
enum { no_socket = -1, socket_input = 1, socket_output = 2, socket_nothing = 4 };

typedef int (*csl_socket_function)(csl_easy *easy, int socket, int what, void *user, void *socket_user);
typedef int (*csl_timer_function)(csl_multi *multi, long milliseconds, void *user);

/// Sets the functions that receive the sockets to watch and the time of the next call.
void csl_multi_set_functions(csl_multi *multi, csl_socket_function socket, csl_timer_function timer, void *user);
/// Reports an event at a socket to libcurl.
void csl_multi_socket_action(csl_multi *multi, int socket, int happened);

/// Registers a socket of one of the driver's transfers, whose user is `owner`.
void csl_driver_opened(csl_driver *driver, int socket, const void *owner);
/// Removes a socket that is about to be closed.
void csl_driver_closes(csl_driver *driver, int socket);

/// The sockets known to a driver; all zero at first.
typedef struct csl_sockets {
    struct csl_known_socket *known;
    size_t count;
} csl_sockets;

/// Registers a socket made for `owner`.
void csl_sockets_open(csl_sockets *sockets, int socket, const void *owner);
void csl_sockets_close(csl_sockets *sockets, int socket);
/// Sets whether libcurl waits for an event at a socket.
void csl_sockets_set_busy(csl_sockets *sockets, int socket, bool is_busy);
/// See csl_driver_note.
void csl_sockets_note(csl_sockets *sockets, const void *owner, int port, bool is_serial);
/// See csl_driver_is_stale.
bool csl_sockets_are_stale(const csl_sockets *sockets, int port);
void csl_sockets_free(csl_sockets *sockets);

#endif
