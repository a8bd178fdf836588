#ifndef CSYSTEMLIBRARIES_SYSTEMCURLGUARD_H
#define CSYSTEMLIBRARIES_SYSTEMCURLGUARD_H

#include <stdbool.h>
#include <stdint.h>

// A guard ends calls of libcurl that don't return. libcurl 7.88 reads from an HTTP/2 connection until a stream gets something: a server that
// sends frames without content, one after the other, keeps it in that loop. OpenSSL reads on for as long as records without data come, and
// libcurl's reading of a proxy's answer to CONNECT has no bound either. Nothing of ours is called in these loops, so another thread has to
// look: it finds the socket that is being read, and disconnects it.

/// What is known of one thread's calls of libcurl.
typedef struct csl_guard csl_guard;

/// NULL when there is no memory. All functions take that for a guard that does nothing.
csl_guard *csl_guard_new(void);
void csl_guard_free(csl_guard *guard);

/// A socket was made, or is about to be closed.
void csl_guard_opened(csl_guard *guard, int socket);
void csl_guard_closes(csl_guard *guard, int socket);

/// A call of libcurl begins that may read from sockets, from this one most likely (or -1), and ends.
void csl_guard_enter(csl_guard *guard, int socket);
void csl_guard_leave(csl_guard *guard);

/// Whether a connection with these ports was disconnected, not long ago.
bool csl_guard_has_cut(csl_guard *guard, int local_port, int remote_port);

#endif
