#ifndef CSYSTEMLIBRARIES_SYSTEMNETLINK_H
#define CSYSTEMLIBRARIES_SYSTEMNETLINK_H

#include <stdbool.h>
#include <stdint.h>

// Linux reports its links, addresses and routes over a netlink socket (rtnetlink(7)). Swift can't use the structures of the kernel's
// headers. On other systems, the functions fail with ENOSYS.

/// Opens a socket that receives all changes of links, addresses and routes from now on. It never blocks.
///
/// Returns its descriptor, or a negative error number. `buffer` is the size of its receive buffer in bytes; 0 for the system's.
int csl_netlink_open(int buffer);

/// Asks for all objects of a type, such as RTM_GETLINK. The answers have the number. Returns 0 or an error number.
int csl_netlink_dump(int socket, uint16_t type, uint32_t number);

/// Receives the next messages of the kernel. Returns the number of bytes; 0 if nothing waits; a negative error number otherwise: ENOBUFS if
/// messages were lost, EMSGSIZE if they don't fit into the buffer.
int64_t csl_netlink_receive(int socket, void *bytes, int64_t count);

#endif
