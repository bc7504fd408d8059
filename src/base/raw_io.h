// SPDX-License-Identifier: MIT
// Purpose: system calls that bypass libc, so that the tracer's own I/O is never intercepted and the caller's errno
// never moves. Errors: every function returns the kernel's result; a negative value is -errno. Threads: any;
// async-signal-safe. write_all and fallocate beyond RLIMIT_FSIZE fail without sending the application SIGXFSZ.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

namespace dft::base::raw {

long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0);

int open(const char* path, int flags, int mode);
int close(int fd);
long write(int fd, const void* data, std::size_t size);
long pwrite(int fd, const void* data, std::size_t size, std::uint64_t offset);
long read(int fd, void* data, std::size_t size);
int fstat(int fd, struct ::stat* out);
int stat_at(int dir_fd, const char* path, struct ::stat* out, int flags);
int descriptor_flags(int fd);  // F_GETFD; -EBADF when nothing is open there
int ftruncate(int fd, std::uint64_t size);
int fallocate(int fd, std::uint64_t offset, std::uint64_t size);
std::uint64_t free_bytes(int fd);  // of its file system for this user; the largest number when nobody can say
int unlink(const char* path);
int mkdir(const char* path, int mode);
long readlink(const char* path, char* out, std::size_t size);
long getcwd(char* out, std::size_t size);  // bytes written including the NUL
void* map(std::size_t size, int fd = -1,
          std::uint64_t offset = 0);  // read-write, private without fd, shared with; null if refused
// The same with an address that is a multiple of `alignment` (a power of two, multiple of the page size).
void* map_aligned(std::size_t size, std::size_t alignment, int fd, std::uint64_t offset);
int unmap(void* data, std::size_t size);
int madvise(void* data, std::size_t size, int advice);
int pid();
int tid();
int kill_thread(int pid, int tid, int signal);
int membarrier(int command);
std::uint64_t block_signals();  // returns the previous mask
void restore_signals(std::uint64_t mask);
// futex on a 32-bit word, process-private. Wait returns 0 or -EAGAIN, -EINTR, -ETIMEDOUT.
int futex_wait(const void* word, std::uint32_t expected, std::uint64_t timeout_ns);
int futex_wake(const void* word, int count);
// Whole buffer, restarted after EINTR and short writes. Returns bytes written, or -errno with nothing known beyond
// `*done`.
long write_all(int fd, const char* data, std::size_t size, std::size_t* done);

}  // namespace dft::base::raw
