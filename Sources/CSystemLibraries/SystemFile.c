#define _GNU_SOURCE
#include "SystemFile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

static int told(int result, const struct stat *found, csl_file_status *status) {
    if (result != 0) return result;
    status->size = found->st_size;
    status->is_regular = S_ISREG(found->st_mode);
    status->is_folder = S_ISDIR(found->st_mode);
    status->is_link = S_ISLNK(found->st_mode);
    status->is_private = found->st_uid == geteuid() && (found->st_mode & (S_IRWXG | S_IRWXO)) == 0;
    status->is_pipe = S_ISFIFO(found->st_mode);
    status->is_socket = S_ISSOCK(found->st_mode);
    status->owner = found->st_uid;
    status->mode = found->st_mode & 07777;
    status->node = (uint64_t)found->st_ino;
#ifdef __APPLE__
    status->modified = (int64_t)found->st_mtimespec.tv_sec * 1000000000 + found->st_mtimespec.tv_nsec;
#else
    status->modified = (int64_t)found->st_mtim.tv_sec * 1000000000 + found->st_mtim.tv_nsec;
#endif
    return 0;
}

int csl_status_of_file(int file, csl_file_status *status) {
    struct stat found;
    return told(fstat(file, &found), &found, status);
}

int csl_status_at_path(const char *path, bool follows_links, csl_file_status *status) {
    struct stat found;
    return told(follows_links ? stat(path, &found) : lstat(path, &found), &found, status);
}

void *csl_folder_open(const char *path) { return opendir(path); }

const char *csl_folder_next(void *folder) {
    errno = 0;
    const struct dirent *entry = readdir(folder);
    return entry ? entry->d_name : NULL;
}

int csl_folder_status(void *folder, const char *name, csl_file_status *status) {
    struct stat found;
    return told(fstatat(dirfd(folder), name, &found, AT_SYMLINK_NOFOLLOW), &found, status);
}

void csl_folder_close(void *folder) { closedir(folder); }
