#ifndef CSYSTEMLIBRARIES_SYSTEMCURLDRIVER_H
#define CSYSTEMLIBRARIES_SYSTEMCURLDRIVER_H

#include "SystemCurl.h"

// What a driver needs of libcurl, and it of a driver.

/// libcurl's CURL_SOCKET_TIMEOUT, and what is to be watched of a socket (CURL_POLL_…) or has happened there (CURL_CSELECT_…).
enum { no_socket = -1, socket_input = 1, socket_output = 2, socket_nothing = 4 };

typedef int (*csl_socket_function)(csl_easy *easy, int socket, int what, void *user, void *socket_user);
typedef int (*csl_timer_function)(csl_multi *multi, long milliseconds, void *user);

/// Sets who is told which sockets to watch, and when to come back.
void csl_multi_set_functions(csl_multi *multi, csl_socket_function socket, csl_timer_function timer, void *user);
/// Tells libcurl what has happened at a socket.
void csl_multi_act(csl_multi *multi, int socket, int happened);

/// A socket was made for one of the driver's transfers.
void csl_driver_opened(csl_driver *driver, int socket);
/// It is about to be closed.
void csl_driver_closes(csl_driver *driver, int socket);

#endif
