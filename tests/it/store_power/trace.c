/* Records what the process that loads this library does to the files of a folder: creations, writes,
 * truncations, syncs, deletions and renames, in the order in which they happened.
 *
 * PLANWRIGHT_TRACED is the folder, PLANWRIGHT_TRACE the file with the records. A record is an
 * operation (one byte), the lengths of path and data and an offset (8 bytes each), path and data. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* Held while an operation is performed and recorded: the order of the records is that of the
 * operations. */
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static size_t folder_length;
static int trace = -1;

static void __attribute__((constructor)) begin(void) {
    const char *file = getenv("PLANWRIGHT_TRACE");
    folder = getenv("PLANWRIGHT_TRACED");
    if (!folder || !file) return;
    folder_length = strlen(folder);
    trace = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (trace < 0) abort();
}

/* The path below the folder, "" for the folder itself; NULL if it is elsewhere. What is in the
 * index of the WAL does not outlive the process. */
static const char *below(const char *path) {
    if (trace < 0 || !path || strncmp(path, folder, folder_length) != 0) return NULL;
    path += folder_length;
    if (*path == '/') path++;
    else if (*path != '\0') return NULL;
    size_t length = strlen(path);
    if (length >= 4 && strcmp(path + length - 4, "-shm") == 0) return NULL;
    return path;
}

static const char *path_of(int file, char *buffer) {
    if (trace < 0) return NULL;
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    int saved = errno;
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, buffer, PATH_MAX - 1);
    errno = saved;
    if (length < 0) return NULL;
    buffer[length] = '\0';
    return below(buffer);
}

static void record(char operation, const char *path, uint64_t offset, const void *data, uint64_t length) {
    uint64_t numbers[3] = {strlen(path), length, offset};
    struct iovec parts[4] = {
        {&operation, 1},
        {numbers, sizeof numbers},
        {(void *)path, numbers[0]},
        {(void *)data, length},
    };
    ssize_t wanted = (ssize_t)(1 + sizeof numbers + numbers[0] + length);
    int saved = errno;
    if (syscall(SYS_writev, trace, parts, 4) != wanted) abort();
    errno = saved;
}

static int open_at(int directory, const char *path, int flags, mode_t mode) {
    /* Every path that matters is absolute. */
    const char *name = below(path);
    if (!name) return (int)syscall(SYS_openat, directory, path, flags, mode);
    pthread_mutex_lock(&order);
    int existed = syscall(SYS_faccessat, directory, path, F_OK) == 0;
    int file = (int)syscall(SYS_openat, directory, path, flags, mode);
    if (file >= 0 && !existed) record('c', name, 0, "", 0);
    if (file >= 0 && existed && (flags & O_TRUNC)) record('t', name, 0, "", 0);
    pthread_mutex_unlock(&order);
    return file;
}

#define MODE(flags, last)                                  \
    mode_t mode = 0;                                       \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                 \
        va_list more;                                      \
        va_start(more, last);                              \
        mode = va_arg(more, mode_t);                       \
        va_end(more);                                      \
    }

int open(const char *path, int flags, ...) {
    MODE(flags, flags)
    return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE(flags, flags)
    return open_at(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
int openat(int directory, const char *path, int flags, ...) {
    MODE(flags, flags)
    return open_at(directory, path, flags, mode);
}
int openat64(int directory, const char *path, int flags, ...) {
    MODE(flags, flags)
    return open_at(directory, path, flags | O_LARGEFILE, mode);
}

ssize_t write(int file, const void *data, size_t size) {
    char buffer[PATH_MAX];
    const char *path = path_of(file, buffer);
    if (!path) return syscall(SYS_write, file, data, size);
    pthread_mutex_lock(&order);
    off_t offset = lseek(file, 0, SEEK_CUR);
    ssize_t written = syscall(SYS_write, file, data, size);
    if (written > 0) record('w', path, (uint64_t)offset, data, (uint64_t)written);
    pthread_mutex_unlock(&order);
    return written;
}

static ssize_t write_at(int file, const void *data, size_t size, off_t offset) {
    char buffer[PATH_MAX];
    const char *path = path_of(file, buffer);
    if (!path) return syscall(SYS_pwrite64, file, data, size, offset);
    pthread_mutex_lock(&order);
    ssize_t written = syscall(SYS_pwrite64, file, data, size, offset);
    if (written > 0) record('w', path, (uint64_t)offset, data, (uint64_t)written);
    pthread_mutex_unlock(&order);
    return written;
}
ssize_t pwrite(int file, const void *data, size_t size, off_t offset) { return write_at(file, data, size, offset); }
ssize_t pwrite64(int file, const void *data, size_t size, off64_t offset) { return write_at(file, data, size, offset); }

static int truncate_to(int file, off_t length) {
    char buffer[PATH_MAX];
    const char *path = path_of(file, buffer);
    if (!path) return (int)syscall(SYS_ftruncate, file, length);
    pthread_mutex_lock(&order);
    int result = (int)syscall(SYS_ftruncate, file, length);
    if (result == 0) record('t', path, (uint64_t)length, "", 0);
    pthread_mutex_unlock(&order);
    return result;
}
int ftruncate(int file, off_t length) { return truncate_to(file, length); }
int ftruncate64(int file, off64_t length) { return truncate_to(file, length); }

static int sync_with(long number, int file) {
    char buffer[PATH_MAX];
    const char *path = path_of(file, buffer);
    if (!path) return (int)syscall(number, file);
    pthread_mutex_lock(&order);
    int result = (int)syscall(number, file);
    if (result == 0) record('s', path, 0, "", 0);
    pthread_mutex_unlock(&order);
    return result;
}
int fsync(int file) { return sync_with(SYS_fsync, file); }
int fdatasync(int file) { return sync_with(SYS_fdatasync, file); }

static int unlink_at(int directory, const char *path, int flags) {
    const char *name = below(path);
    if (!name) return (int)syscall(SYS_unlinkat, directory, path, flags);
    pthread_mutex_lock(&order);
    int result = (int)syscall(SYS_unlinkat, directory, path, flags);
    if (result == 0) record('u', name, 0, "", 0);
    pthread_mutex_unlock(&order);
    return result;
}
int unlink(const char *path) { return unlink_at(AT_FDCWD, path, 0); }
int unlinkat(int directory, const char *path, int flags) { return unlink_at(directory, path, flags); }

int rename(const char *from, const char *to) {
    const char *old = below(from), *new = below(to);
    if (!old && !new) return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    /* In or out of the folder would be a creation or a deletion; nothing does that. */
    if (!old || !new) abort();
    pthread_mutex_lock(&order);
    int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (result == 0) record('r', old, 0, new, strlen(new));
    pthread_mutex_unlock(&order);
    return result;
}

/* Other ways to write are not recorded. None of them is used; should that change, the process ends
 * here. */
static void refuse(int file) {
    char buffer[PATH_MAX];
    if (path_of(file, buffer)) abort();
}
ssize_t writev(int file, const struct iovec *parts, int count) {
    refuse(file);
    return syscall(SYS_writev, file, parts, count);
}
ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset) {
    refuse(file);
    return syscall(SYS_pwritev, file, parts, count, offset, 0);
}
int posix_fallocate(int file, off_t offset, off_t length) {
    refuse(file);
    return syscall(SYS_fallocate, file, 0, offset, length) == 0 ? 0 : errno;
}
static void *map(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    if (file >= 0 && (flags & MAP_SHARED) && (protection & PROT_WRITE)) refuse(file);
    return (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
}
void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    return map(address, length, protection, flags, file, offset);
}
void *mmap64(void *address, size_t length, int protection, int flags, int file, off64_t offset) {
    return map(address, length, protection, flags, file, offset);
}
