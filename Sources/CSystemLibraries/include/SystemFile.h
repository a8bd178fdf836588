#ifndef CSYSTEMLIBRARIES_SYSTEMFILE_H
#define CSYSTEMLIBRARIES_SYSTEMFILE_H

#include <stdbool.h>
#include <stdint.h>

// What stat() tells, as far as the package asks: the members of its structure belong to a module that changes, as timespec's do.

typedef struct csl_file_status {
    int64_t size;
    bool is_regular;
    bool is_folder;
    bool is_link;
    /// Whether it belongs to the process's user, and nobody else may read or write it by its mode.
    bool is_private;
    bool is_pipe;
    bool is_socket;
    uint32_t owner;
    /// Permissions, with the bits for set-user-id, set-group-id and sticky.
    uint32_t mode;
} csl_file_status;

/// fstat(): 0, or -1 with errno set.
int csl_status_of_file(int file, csl_file_status *status);

/// stat(), or lstat() where links aren't followed: 0, or -1 with errno set.
int csl_status_at_path(const char *path, bool follows_links, csl_file_status *status);

// A folder's names, one by one. In Swift an entry would be copied as a whole, with what lies behind its name: the memory may end there.

/// opendir(): NULL with errno set where it fails.
void *csl_folder_open(const char *path);

/// The next name, which lasts until the next call; NULL with errno 0 at the end, and with another where reading fails.
const char *csl_folder_next(void *folder);

/// closedir().
void csl_folder_close(void *folder);

#endif
