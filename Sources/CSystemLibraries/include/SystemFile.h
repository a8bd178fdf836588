#ifndef CSYSTEMLIBRARIES_SYSTEMFILE_H
#define CSYSTEMLIBRARIES_SYSTEMFILE_H

#include <stdbool.h>
#include <stdint.h>

// The results of stat() that the package needs. Swift can't use its structure, since the module of its members varies, as with timespec.

typedef struct csl_file_status {
    int64_t size;
    bool is_regular;
    bool is_folder;
    bool is_link;
    /// Whether it belongs to the process's user, and its mode denies access to all others.
    bool is_private;
    bool is_pipe;
    bool is_socket;
    uint32_t owner;
    /// Permissions, with the bits for set-user-id, set-group-id and sticky.
    uint32_t mode;
    /// The time of the last change of its content, in nanoseconds since 1970.
    int64_t modified;
    /// The inode's number, which differs between a file and its replacement.
    uint64_t node;
} csl_file_status;

/// fstat(): 0, or -1 with errno set.
int csl_status_of_file(int file, csl_file_status *status);

/// stat(), or lstat() if links aren't followed: 0, or -1 with errno set.
int csl_status_at_path(const char *path, bool follows_links, csl_file_status *status);

// The names in a folder, one by one. Swift would copy a whole entry with the bytes after its name, where the memory may end.

/// opendir(): NULL with errno set if it fails.
void *csl_folder_open(const char *path);

/// The next name, valid until the next call; NULL with errno 0 at the end, and with another errno if reading fails.
const char *csl_folder_next(void *folder);

/// fstatat() of a name in the folder, without following links: 0, or -1 with errno set. Faster than with a path.
int csl_folder_status(void *folder, const char *name, csl_file_status *status);

/// closedir().
void csl_folder_close(void *folder);

#endif
