// SPDX-License-Identifier: MIT
// Transfers that libc's threads make. Whoever is told of a transfer's end may free its control block before the call
// that started it has returned, so all that is recorded is read before. lio_listio starts many at once: one event for
// the call, and one for each traced transfer of its list, with the same times.
#include "base/raw_io.h"
#include "sources/io/call.h"
#include "sources/io/posix.gen.h"

namespace dft::io {

using model::ArgType;
using model::StringId;

namespace {

constexpr Arg kTransferArgs[] = {{ArgType::kUint64, When::kAlways, "count"},
                                 {ArgType::kInt64, When::kAlways, "offset"}};
Function list_read{"lio_listio", "aio_read", "lio_listio", Category::kPosix, kHasRet, kTransferArgs, 2};
Function list_write{"lio_listio", "aio_write", "lio_listio", Category::kPosix, kHasRet, kTransferArgs, 2};

template <class Control>
int transfer(Function& function, Control* control) {
  const std::uint64_t size = control->aio_nbytes;
  const std::int64_t offset = control->aio_offset;
  return on_fd(
      function, control->aio_fildes, [&] { return real<int(Control*)>(function)(control); },
      [](int ret) { return ret < 0; },
      [=](auto& v, Outcome outcome, StringId, auto) {
        if (outcome != Outcome::kOk) return;
        v.add_bits(size);
        v.add_bits(offset);
      });
}

struct Transfer {
  StringId file;
  bool reads;
  std::uint64_t size;
  std::int64_t offset;
};

// The traced ones of a list, in this frame or, of a long one, in a mapping.
class Transfers {
 public:
  template <class Control>
  Transfers(Control* const* list, int count) {
    if (count > kRoom) memory_ = base::raw::map(static_cast<std::size_t>(count) * sizeof(Transfer));
    const int most = memory_ != nullptr ? count : kRoom;
    mapped_ = memory_ != nullptr ? static_cast<std::size_t>(count) * sizeof(Transfer) : 0;
    for (int i = 0; i < count && count_ < most; ++i) {
      const Control* control = list[i];
      if (control == nullptr || control->aio_lio_opcode == LIO_NOP) continue;
      const FdEntry entry = fd_table.find(control->aio_fildes);
      if (!entry.traced) continue;
      begin()[count_++] = {entry.name, control->aio_lio_opcode == LIO_READ, control->aio_nbytes, control->aio_offset};
    }
  }
  ~Transfers() {
    if (memory_ != nullptr) base::raw::unmap(memory_, mapped_);
  }
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  Transfer* begin() { return memory_ != nullptr ? static_cast<Transfer*>(memory_) : few_; }
  Transfer* end() { return begin() + count_; }
  bool empty() const { return count_ == 0; }

 private:
  static constexpr int kRoom = 32;
  Transfer few_[kRoom];
  void* memory_ = nullptr;
  std::size_t mapped_ = 0;
  int count_ = 0;
};

template <class Control>
int list_call(Function& function, int mode, Control* const* list, int count, struct sigevent* event) {
  const auto call = [&] {
    return real<int(int, Control* const*, int, struct sigevent*)>(function)(mode, list, count, event);
  };
  const bool looks_at_list = mode == LIO_WAIT || mode == LIO_NOWAIT;  // as libc does not with another mode
  if (!wanted(function) || !looks_at_list) return call();
  Transfers transfers(list, count);
  const auto done = timed(call, [](int ret) { return ret < 0; });
  for (const Transfer& each : transfers) {
    emit(each.reads ? list_read : list_write, done, each.file, [&](auto& v, Outcome, StringId, auto) {
      v.add_bits(each.size);
      v.add_bits(each.offset);
    });
  }
  if (!transfers.empty()) {
    emit(function, done, 0, [=](auto& v, Outcome, StringId, auto) {
      v.add_bits(mode);
      v.add_bits(count);
    });
  }
  errno = done.error;
  return done.ret;
}

}  // namespace

int wrap_aio_read(struct aiocb* control) { return transfer(fn_aio_read, control); }
int wrap_aio_read64(struct aiocb64* control) { return transfer(fn_aio_read64, control); }
int wrap_aio_write(struct aiocb* control) { return transfer(fn_aio_write, control); }
int wrap_aio_write64(struct aiocb64* control) { return transfer(fn_aio_write64, control); }

int wrap_lio_listio(int mode, struct aiocb* const* list, int count, struct sigevent* event) {
  return list_call(fn_lio_listio, mode, list, count, event);
}
int wrap_lio_listio64(int mode, struct aiocb64* const* list, int count, struct sigevent* event) {
  return list_call(fn_lio_listio64, mode, list, count, event);
}

}  // namespace dft::io
