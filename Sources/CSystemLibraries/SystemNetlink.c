#define _GNU_SOURCE
#include "SystemNetlink.h"

#include <errno.h>

#if defined(__linux__)
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int csl_netlink_open(int buffer) {
    int number = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (number < 0) return -errno;
    if (buffer > 0) setsockopt(number, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    struct sockaddr_nl name;
    memset(&name, 0, sizeof name);
    name.nl_family = AF_NETLINK;
    name.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
    if (bind(number, (struct sockaddr *)&name, sizeof name) != 0) {
        int error = errno;
        close(number);
        return -error;
    }
    return number;
}

int csl_netlink_dump(int socket, uint16_t type, uint32_t number) {
    // Older kernels read a whole ifinfomsg for links, whatever the length says.
    struct {
        struct nlmsghdr header;
        struct ifinfomsg body;
    } request;
    memset(&request, 0, sizeof request);
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = type;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.header.nlmsg_seq = number;
    request.body.ifi_family = AF_UNSPEC;
    struct sockaddr_nl kernel;
    memset(&kernel, 0, sizeof kernel);
    kernel.nl_family = AF_NETLINK;
    for (;;) {
        if (sendto(socket, &request, sizeof request, 0, (struct sockaddr *)&kernel, sizeof kernel) >= 0) return 0;
        if (errno != EINTR) return errno;
    }
}

int64_t csl_netlink_receive(int socket, void *bytes, int64_t count) {
    for (;;) {
        struct sockaddr_nl sender;
        socklen_t length = sizeof sender;
        memset(&sender, 0, sizeof sender);
        ssize_t received = recvfrom(socket, bytes, (size_t)count, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&sender, &length);
        if (received < 0) {
            if (errno == EINTR) continue;
            return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
        }
        // Other processes can send to the socket too.
        if (length < sizeof sender || sender.nl_pid != 0) continue;
        if (received == 0) continue;
        return received > count ? -EMSGSIZE : received;
    }
}
#else
int csl_netlink_open(int buffer) {
    (void)buffer;
    return -ENOSYS;
}

int csl_netlink_dump(int socket, uint16_t type, uint32_t number) {
    (void)socket;
    (void)type;
    (void)number;
    return ENOSYS;
}

int64_t csl_netlink_receive(int socket, void *bytes, int64_t count) {
    (void)socket;
    (void)bytes;
    (void)count;
    return -ENOSYS;
}
#endif
