// SPDX-License-Identifier: MIT
// lio_listio starts many transfers at once: one event for the call, and one for each traced transfer of its list, with
// the same times (the transfers themselves go on in libc's threads).
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
int list_call(Function& function, int mode, Control* const* list, int count, struct sigevent* event) {
  const auto call = [&] {
    return real<int(int, Control* const*, int, struct sigevent*)>(function)(mode, list, count, event);
  };
  if (!wanted(function)) return call();
  const auto done = timed(call, [](int ret) { return ret < 0; });
  bool any = false;
  for (int i = 0; i < count; ++i) {
    const Control* control = list[i];
    if (control == nullptr || control->aio_lio_opcode == LIO_NOP) continue;
    const FdEntry entry = fd_table.find(control->aio_fildes);
    if (!entry.traced) continue;
    any = true;
    emit(control->aio_lio_opcode == LIO_READ ? list_read : list_write, done, entry.name,
         [=](auto& v, Outcome, StringId, auto) {
           v.add_bits(control->aio_nbytes);
           v.add_bits(control->aio_offset);
         });
  }
  if (any) {
    emit(function, done, 0, [=](auto& v, Outcome, StringId, auto) {
      v.add_bits(mode);
      v.add_bits(count);
    });
  }
  errno = done.error;
  return done.ret;
}

}  // namespace

int wrap_lio_listio(int mode, struct aiocb* const* list, int count, struct sigevent* event) {
  return list_call(fn_lio_listio, mode, list, count, event);
}
int wrap_lio_listio64(int mode, struct aiocb64* const* list, int count, struct sigevent* event) {
  return list_call(fn_lio_listio64, mode, list, count, event);
}

}  // namespace dft::io
