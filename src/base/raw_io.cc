// SPDX-License-Identifier: MIT
#include "base/raw_io.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/write_signals.h"

namespace dft::base::raw {

#if defined(__x86_64__)
long call(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
long call(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
#else
long call(long number, long a, long b, long c, long d, long e, long f) {
  const int saved = errno;
  long result = ::syscall(number, a, b, c, d, e, f);
  if (result == -1) result = -errno;
  errno = saved;
  return result;
}
#endif

namespace {
long address(const void* pointer) { return reinterpret_cast<long>(pointer); }
bool failed(long result) { return result < 0 && result > -4096; }
}  // namespace

int open(const char* path, int flags, int mode) {
  return static_cast<int>(call(SYS_openat, AT_FDCWD, address(path), flags, mode));
}
int close(int fd) { return static_cast<int>(call(SYS_close, fd)); }
long write(int fd, const void* data, std::size_t size) {
  return call(SYS_write, fd, address(data), static_cast<long>(size));
}
long pwrite(int fd, const void* data, std::size_t size, std::uint64_t offset) {
  return call(SYS_pwrite64, fd, address(data), static_cast<long>(size), static_cast<long>(offset));
}
long read(int fd, void* data, std::size_t size) { return call(SYS_read, fd, address(data), static_cast<long>(size)); }

int fstat(int fd, struct ::stat* out) {
#if defined(__x86_64__)
  return static_cast<int>(call(SYS_fstat, fd, address(out)));
#else
  return static_cast<int>(call(SYS_newfstatat, fd, address(""), address(out), AT_EMPTY_PATH));
#endif
}

int stat_at(int dir_fd, const char* path, struct ::stat* out, int flags) {
  return static_cast<int>(call(SYS_newfstatat, dir_fd, address(path), address(out), flags));
}
int descriptor_flags(int fd) { return static_cast<int>(call(SYS_fcntl, fd, F_GETFD)); }

int ftruncate(int fd, std::uint64_t size) { return static_cast<int>(call(SYS_ftruncate, fd, static_cast<long>(size))); }

int fallocate(int fd, std::uint64_t offset, std::uint64_t size) {
  const WriteSignalsHeld signals;
  const long result = call(SYS_fallocate, fd, 0, static_cast<long>(offset), static_cast<long>(size));
  signals.take_back(result);
  return static_cast<int>(result);
}

std::uint64_t free_bytes(int fd) {
  struct ::statfs found;
  if (call(SYS_fstatfs, fd, address(&found)) != 0) return ~std::uint64_t{0};
  return std::uint64_t{found.f_bavail} * static_cast<std::uint64_t>(found.f_bsize);
}

int unlink(const char* path) { return static_cast<int>(call(SYS_unlinkat, AT_FDCWD, address(path), 0)); }
int mkdir(const char* path, int mode) { return static_cast<int>(call(SYS_mkdirat, AT_FDCWD, address(path), mode)); }
long readlink(const char* path, char* out, std::size_t size) {
  return call(SYS_readlinkat, AT_FDCWD, address(path), address(out), static_cast<long>(size));
}
long getcwd(char* out, std::size_t size) { return call(SYS_getcwd, address(out), static_cast<long>(size)); }

namespace {
// ThreadSanitizer must see mappings come and go, or it takes reuse of an address for a race.
#if defined(__SANITIZE_THREAD__)
long map_call(void* at, std::size_t size, int protection, int flags, int fd, std::uint64_t offset) {
  const int saved = errno;
  void* result = ::mmap(at, size, protection, flags, fd, static_cast<off_t>(offset));
  const int error = errno;
  errno = saved;
  return result == MAP_FAILED ? -error : address(result);
}
int unmap_call(std::uintptr_t at, std::size_t size) { return ::munmap(reinterpret_cast<void*>(at), size); }
#else
long map_call(void* at, std::size_t size, int protection, int flags, int fd, std::uint64_t offset) {
  return call(SYS_mmap, address(at), static_cast<long>(size), protection, flags, fd, static_cast<long>(offset));
}
int unmap_call(std::uintptr_t at, std::size_t size) {
  return static_cast<int>(call(SYS_munmap, static_cast<long>(at), static_cast<long>(size)));
}
#endif
}  // namespace

void* map(std::size_t size, int fd, std::uint64_t offset) {
  const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  const long result = map_call(nullptr, size, PROT_READ | PROT_WRITE, flags, fd, offset);
  return failed(result) ? nullptr : reinterpret_cast<void*>(result);
}

void* map_aligned(std::size_t size, std::size_t alignment, int fd, std::uint64_t offset) {
  const long whole = map_call(nullptr, size + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (failed(whole)) return nullptr;
  const auto begin = static_cast<std::uintptr_t>(whole);
  const std::uintptr_t aligned = (begin + alignment - 1) & ~(alignment - 1);
  const int flags = MAP_FIXED | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
  const long result = map_call(reinterpret_cast<void*>(aligned), size, PROT_READ | PROT_WRITE, flags, fd, offset);
  if (failed(result)) {
    unmap_call(begin, size + alignment);
    return nullptr;
  }
  if (aligned > begin) unmap_call(begin, aligned - begin);
  const std::uintptr_t end = aligned + size;
  const std::uintptr_t whole_end = begin + size + alignment;
  if (whole_end > end) unmap_call(end, whole_end - end);
  return reinterpret_cast<void*>(aligned);
}

int unmap(void* data, std::size_t size) { return unmap_call(reinterpret_cast<std::uintptr_t>(data), size); }

int madvise(void* data, std::size_t size, int advice) {
  return static_cast<int>(call(SYS_madvise, address(data), static_cast<long>(size), advice));
}

int pid() { return static_cast<int>(call(SYS_getpid)); }
int tid() { return static_cast<int>(call(SYS_gettid)); }
int kill_thread(int pid, int tid, int signal) { return static_cast<int>(call(SYS_tgkill, pid, tid, signal)); }
int membarrier(int command) { return static_cast<int>(call(SYS_membarrier, command, 0, 0)); }

// The kernel's sigset is 64 bits wide on every Linux that we support; SIG_BLOCK 0, SIG_SETMASK 2. Signal 33 stays open:
// libc sends it to every thread when one calls setuid and its like, and waits for all of them.
std::uint64_t block_signals() {
  const std::uint64_t all = ~(std::uint64_t{1} << (33 - 1));
  std::uint64_t before = 0;
  call(SYS_rt_sigprocmask, 0, address(&all), address(&before), sizeof all);
  return before;
}
void restore_signals(std::uint64_t mask) { call(SYS_rt_sigprocmask, 2, address(&mask), 0, sizeof mask); }

int futex_wait(const void* word, std::uint32_t expected, std::uint64_t timeout_ns) {
  struct timespec timeout;
  timeout.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000);
  timeout.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000);
  return static_cast<int>(call(SYS_futex, address(word), FUTEX_WAIT_PRIVATE, expected, address(&timeout)));
}
int futex_wake(const void* word, int count) {
  return static_cast<int>(call(SYS_futex, address(word), FUTEX_WAKE_PRIVATE, count));
}

long write_all(int fd, const char* data, std::size_t size, std::size_t* done) {
  const WriteSignalsHeld signals;
  std::size_t written = 0;
  long result = 0;
  while (written < size) {
    result = write(fd, data + written, size - written);
    if (result == -EINTR) continue;
    if (result == 0) result = -EIO;  // a regular file never accepts nothing without an error
    if (result < 0) break;
    written += static_cast<std::size_t>(result);
  }
  signals.take_back(result);
  if (done != nullptr) *done = written;
  return written == size ? static_cast<long>(written) : result;
}

}  // namespace dft::base::raw
