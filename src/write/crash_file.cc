// SPDX-License-Identifier: MIT
#include "write/crash_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstring>

#include "base/raw_io.h"

namespace dft::write {

namespace raw = base::raw;

int CrashFile::open(const FileSink& trace, const WriterOptions& options) {
  const std::string_view stem = trace.stem();
  const std::string_view suffix = model::kCrashFileSuffix;
  if (stem.size() + suffix.size() >= sizeof path_) return -ENAMETOOLONG;
  std::memcpy(path_, stem.data(), stem.size());
  std::memcpy(path_ + stem.size(), suffix.data(), suffix.size());
  path_[stem.size() + suffix.size()] = '\0';
  const int fd = raw::open(path_, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return fd;
  // The lock tells `dftracer recover` that the process is alive; it ends with the process, however that ends.
  raw::call(SYS_flock, fd, LOCK_EX | LOCK_NB);
  constexpr std::uint64_t kWanted =
      model::kCrashHeaderSize + std::uint64_t{model::kCrashGrowth} * model::kChunkSize + model::kRoomForTrace;
  const int room = raw::free_bytes(fd) < kWanted ? -ENOSPC : raw::fallocate(fd, 0, model::kCrashHeaderSize);
  void* memory = room == 0 ? raw::map(model::kCrashHeaderSize, fd, 0) : nullptr;
  if (memory == nullptr) {
    raw::close(fd);
    raw::unlink(path_);
    return room < 0 ? room : -ENOMEM;
  }
  raw::madvise(memory, model::kCrashHeaderSize, MADV_DONTFORK);
  auto* header = static_cast<model::CrashHeader*>(memory);
  header->version = model::kCrashVersion;
  header->chunk_size = model::kChunkSize;
  header->pid = options.encoder.pid;
  header->metadata = options.encoder.metadata ? 1 : 0;
  header->include_tids = options.encoder.include_tids ? 1 : 0;
  header->time_metric = options.encoder.time_metric;
  header->compression = options.compression ? 1 : 0;
  std::memcpy(header->host_hash, options.encoder.host_hash, sizeof header->host_hash);
  std::memcpy(header->trace_path, trace.path(), std::strlen(trace.path()) + 1);
  header->next_id.store(options.encoder.first_id, std::memory_order_relaxed);
  header->magic = model::kCrashMagic;
  fd_ = fd;
  header_ = header;
  knots_stored_ = 0;
  return 0;
}

int CrashFile::reopen() {
  fd_ = raw::open(path_, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
  if (fd_ >= 0) raw::call(SYS_flock, fd_, LOCK_EX | LOCK_NB);
  return fd_;
}

void CrashFile::store_clock(const base::ClockMap& clock, base::Ticks now) {
  const std::size_t count = clock.knot_count();
  // The newest knot is the only new one, unless the map was thinned; the first gets its rate late.
  const std::size_t from = knots_stored_ > count || knots_stored_ <= 1 ? 0 : knots_stored_ - 1;
  for (std::size_t i = from; i < count; ++i) header_->knots[i] = clock.knots()[i];
  header_->knot_count.store(count, std::memory_order_release);
  header_->now_ticks.store(now, std::memory_order_release);
  knots_stored_ = count;
}

void CrashFile::close_and_remove() {
  if (header_ == nullptr) return;
  raw::unlink(path_);
  raw::unmap(header_, model::kCrashHeaderSize);
  raw::close(fd_);
  forget();
}

}  // namespace dft::write
