#include "SystemCurlDriver.h"

#include <pthread.h>
#include <stdlib.h>

#if !defined(__linux__)

// libcurl's own polling: the waiting thread is inside libcurl, so no other thread can own the driver.

struct csl_driver {
    csl_multi *multi;
    pthread_mutex_t ownership;
    csl_sockets known;
};

csl_driver *csl_driver_new(csl_multi *multi) {
    csl_driver *driver = calloc(1, sizeof *driver);
    if (!driver) return NULL;
    pthread_mutex_init(&driver->ownership, NULL);
    driver->multi = multi;
    return driver;
}

void csl_driver_free(csl_driver *driver) {
    pthread_mutex_destroy(&driver->ownership);
    csl_sockets_free(&driver->known);
    free(driver);
}

void csl_driver_acquire(csl_driver *driver) { pthread_mutex_lock(&driver->ownership); }
void csl_driver_release(csl_driver *driver) { pthread_mutex_unlock(&driver->ownership); }

bool csl_driver_try_acquire(csl_driver *driver) {
    (void)driver;
    return false;
}

void csl_driver_wait(csl_driver *driver, int milliseconds) { csl_multi_poll(driver->multi, milliseconds); }

void csl_driver_work(csl_driver *driver, bool has_waited) {
    (void)has_waited;
    int running = 0;
    csl_multi_perform(driver->multi, &running);
}

bool csl_driver_waits_too_long(csl_driver *driver) {
    (void)driver;
    return false;
}

bool csl_driver_has_disconnected(csl_driver *driver, int local_port, int remote_port) {
    (void)driver;
    (void)local_port;
    (void)remote_port;
    return false;
}

void csl_driver_wake(csl_driver *driver) { csl_multi_wakeup(driver->multi); }

void csl_driver_opened(csl_driver *driver, int socket, const void *owner) {
    if (driver) csl_sockets_open(&driver->known, socket, owner);
}

void csl_driver_closes(csl_driver *driver, int socket) {
    if (driver) csl_sockets_close(&driver->known, socket);
}

void csl_driver_note(csl_driver *driver, const void *owner, int port, bool is_serial) {
    csl_sockets_note(&driver->known, owner, port, is_serial);
}

bool csl_driver_is_stale(const csl_driver *driver, int port) { return csl_sockets_are_stale(&driver->known, port); }

#endif
