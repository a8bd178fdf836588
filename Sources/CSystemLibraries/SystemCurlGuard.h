#ifndef CSYSTEMLIBRARIES_SYSTEMCURLGUARD_H
#define CSYSTEMLIBRARIES_SYSTEMCURLGUARD_H

#include <stdbool.h>
#include <stdint.h>

// A guard ends calls of libcurl that don't return. libcurl 7.88 reads from an HTTP/2 connection until a stream receives something: a server
// that sends one empty frame after the other keeps it in that loop. OpenSSL reads on while records without data arrive, and libcurl reads a
// proxy's answer to CONNECT without a limit. These loops invoke no callback, so another thread must look: it finds the socket that is being
// read, and disconnects it.

/// The state of one thread's calls of libcurl.
typedef struct csl_guard csl_guard;

/// Returns NULL if memory is exhausted. All functions accept NULL as a guard that does nothing.
csl_guard *csl_guard_new(void);
void csl_guard_free(csl_guard *guard);

/// Registers a socket that was opened, or removes one that is about to be closed.
void csl_guard_opened(csl_guard *guard, int socket);
void csl_guard_closes(csl_guard *guard, int socket);

/// Notes the start and the end of a call of libcurl that may read from sockets, most likely from this one (or -1).
void csl_guard_enter(csl_guard *guard, int socket);
void csl_guard_leave(csl_guard *guard);

/// Whether a connection with these ports was recently disconnected.
bool csl_guard_has_disconnected(csl_guard *guard, int local_port, int remote_port);

#endif
