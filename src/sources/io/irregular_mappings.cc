// SPDX-License-Identifier: MIT
// Mappings of traced files. What is read and written through them are page faults, which nobody counts (docs/io.md).
#include "sources/io/call.h"
#include "sources/io/posix.gen.h"

namespace dft::io {

using model::StringId;

namespace {

constexpr auto kMapFailed = [](void* ret) { return ret == MAP_FAILED; };

void* map_call(Function& function, void* addr, std::size_t length, int prot, int flags, int fd, off_t offset) {
  const auto call = [&] {
    return real<void*(void*, std::size_t, int, int, int, off_t)>(function)(addr, length, prot, flags, fd, offset);
  };
  if (!tracking()) return call();
  FdEntry entry{0, FdKind::kOther, false};
  if (fd >= 0 && (flags & MAP_ANONYMOUS) == 0) entry = fd_table.find(fd);
  // A mapping at a fixed address replaces what was there.
  if ((flags & MAP_FIXED) != 0 && !entry.traced) mapping_table.remove(addr, length);
  if (!entry.traced) return call();
  const auto done = timed(call, kMapFailed);
  if (done.ret != MAP_FAILED) mapping_table.add(done.ret, length, entry.name);
  if (wanted(function)) {
    emit(function, done, entry.name, [=](auto& v, Outcome, StringId, void* ret) {
      v.add_bits(length);
      v.add_bits(prot);
      v.add_bits(flags);
      v.add_bits(offset);
      v.add_bits(ret == MAP_FAILED ? addr : ret);
    });
  }
  errno = done.error;
  return done.ret;
}

}  // namespace

void* wrap_mmap(void* addr, std::size_t length, int prot, int flags, int fd, off_t offset) {
  return map_call(fn_mmap, addr, length, prot, flags, fd, offset);
}
void* wrap_mmap64(void* addr, std::size_t length, int prot, int flags, int fd, off_t offset) {
  return map_call(fn_mmap64, addr, length, prot, flags, fd, offset);
}

int wrap_munmap(void* addr, std::size_t len) {
  const auto call = [=] { return real<int(void*, std::size_t)>(fn_munmap)(addr, len); };
  if (!tracking()) return call();
  const StringId file = mapping_table.find(addr);
  if (file == 0) return call();
  mapping_table.remove(addr, len);  // before the call: the addresses may be another mapping's at once
  const auto done = timed(call, [](int ret) { return ret < 0; });
  if (wanted(fn_munmap)) {
    emit(fn_munmap, done, file, [=](auto& v, Outcome, StringId, auto) {
      v.add_bits(addr);
      v.add_bits(len);
    });
  }
  errno = done.error;
  return done.ret;
}

void* wrap_mremap(void* addr, std::size_t old_len, std::size_t new_len, int flags, ...) {
  va_list list;
  va_start(list, flags);
  void* target = (flags & MREMAP_FIXED) != 0 ? va_arg(list, void*) : nullptr;
  va_end(list);
  const auto call = [=] {
    return real<void*(void*, std::size_t, std::size_t, int, ...)>(fn_mremap)(addr, old_len, new_len, flags, target);
  };
  if (!tracking()) return call();
  const StringId file = mapping_table.find(addr);
  if (file == 0) return call();
  const auto done = timed(call, kMapFailed);
  if (done.ret != MAP_FAILED) {
    mapping_table.remove(addr, old_len);
    mapping_table.add(done.ret, new_len, file);
  }
  if (wanted(fn_mremap)) {
    emit(fn_mremap, done, file, [=](auto& v, Outcome, StringId, void* ret) {
      v.add_bits(ret == MAP_FAILED ? addr : ret);
      v.add_bits(old_len);
      v.add_bits(new_len);
      v.add_bits(flags);
    });
  }
  errno = done.error;
  return done.ret;
}

}  // namespace dft::io
