// SPDX-License-Identifier: MIT
// Layouts: Itanium C++ ABI, exception handling, 2.2.1 (64-bit): the header that precedes the thrown object ends in the
// _Unwind_Exception. libstdc++ and libc++abi agree on the distances used here.
#include "api/exception_type.h"

#include <cxxabi.h>
#include <sys/syscall.h>
#include <unwind.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "base/raw_io.h"

namespace dft::api {
namespace {

using Word = std::uintptr_t;

constexpr std::uint64_t kGnuClass = 0x474e5543432b2b00;   // "GNUCC++\0"
constexpr std::uint64_t kLlvmClass = 0x434c4e47432b2b00;  // "CLNGC++\0"
constexpr std::uint64_t kDependentBit = 1;                // made by std::rethrow_exception
constexpr Word kTypeBefore = 80;                          // exceptionType, or primaryException of a dependent one
constexpr Word kHandlersBefore = 40;                      // handlerCount: > 0 while a handler has the exception
constexpr Word kUnwindSize = sizeof(_Unwind_Exception);   // the thrown object follows
constexpr Word kPrivate2 = 24;                            // where the handler's frame is
constexpr Word kLongestScan = 64 * 1024;
constexpr int kMostFrames = 8;

#if defined(__x86_64__)
constexpr int kSavedRegisters[] = {3, 12, 13, 14, 15, 6};
#elif defined(__aarch64__)
constexpr int kSavedRegisters[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
#else
constexpr std::initializer_list<int> kSavedRegisters = {};  // the frames alone are searched
#endif

// Looks at memory that is not its own: sanitizers would report what they know to be dead.
#define DFT_RAW_READ __attribute__((no_sanitize("address"), no_sanitize("thread")))

// Whether 8 bytes at `address` can be read: the kernel copies the signal set before it refuses the operation. Any other
// answer (a sandbox that forbids the call) counts as no.
bool readable(Word address) {
  if (address < 4096 || (address & 7) != 0) return false;
  constexpr long kNoOperation = -1;
  return base::raw::call(SYS_rt_sigprocmask, kNoOperation, static_cast<long>(address), 0, 8) == -EINVAL;
}

DFT_RAW_READ bool read_word(Word address, Word* out) {
  if (!readable(address)) return false;
  *out = *reinterpret_cast<const Word*>(address);
  return true;
}

// The type's mangled name; empty unless all of it can be read and looks like one.
DFT_RAW_READ std::string_view mangled_name(Word type_info) {
  Word text = 0;
  if (!read_word(type_info + sizeof(Word), &text)) return {};
  std::size_t size = 0;
  for (; size < 4096; ++size) {
    const Word at = text + size;
    if ((size == 0 || (at & 7) == 0) && !readable(at & ~Word{7})) return {};
    const char c = *reinterpret_cast<const char*>(at);
    if (c == 0) break;
    if (c <= ' ' || c > '~') return {};
  }
  std::string_view name(reinterpret_cast<const char*>(text), size);
  if (!name.empty() && name.front() == '*') name.remove_prefix(1);  // "compare by address", of no concern here
  return name;
}

// The type name when `exception` is a C++ exception that is being thrown to a handler above `stack`; else empty.
std::string_view type_of(Word exception, Word stack) {
  if ((exception & 15) != 0) return {};
  Word kind = 0;
  Word handler_frame = 0;
  Word type = 0;
  if (!read_word(exception, &kind)) return {};
  const std::uint64_t family = kind & ~kDependentBit;
  if (family != kGnuClass && family != kLlvmClass) return {};
  if (!read_word(exception + kPrivate2, &handler_frame) || handler_frame < stack) return {};
  Word handlers = 0;
  if (!read_word(exception - kTypeBefore, &type) || !read_word(exception - kHandlersBefore, &handlers)) return {};
  if (static_cast<std::int32_t>(handlers & 0xffffffff) > 0) return {};
  if (kind == (kGnuClass | kDependentBit) && !read_word(type - kUnwindSize - kTypeBefore, &type)) return {};
  return mangled_name(type);
}

struct Search {
  Word stack;    // the lowest frame's start
  Word scanned;  // stack words below this were looked at
  int frames = 0;
  std::string_view found;
};

DFT_RAW_READ _Unwind_Reason_Code look_in_frame(_Unwind_Context* frame, void* data) {
  auto& search = *static_cast<Search*>(data);
  for (const int reg : kSavedRegisters) {
    search.found = type_of(_Unwind_GetGR(frame, reg), search.stack);
    if (!search.found.empty()) return _URC_END_OF_STACK;
  }
  const Word end = std::min<Word>(_Unwind_GetCFA(frame), search.stack + kLongestScan);
  for (; search.scanned < end; search.scanned += sizeof(Word)) {
    const Word word = *reinterpret_cast<const Word*>(search.scanned);
    if (word >= search.stack && word < end) continue;  // exceptions do not live on the stack
    search.found = type_of(word, search.stack);
    if (!search.found.empty()) return _URC_END_OF_STACK;
  }
  return ++search.frames < kMostFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
}

void assign(TypeName& name, std::string_view text) {
  name.size = std::min(text.size(), sizeof name.text);
  std::memcpy(name.text, text.data(), name.size);
}

}  // namespace

void exception_in_flight(TypeName& name) {
  assign(name, "unknown");
  const auto here = reinterpret_cast<Word>(__builtin_frame_address(0));
  Search search{here, here, 0, {}};
  _Unwind_Backtrace(look_in_frame, &search);
  if (search.found.empty()) return;
  assign(name, search.found);
  int status = 0;
  char* demangled = abi::__cxa_demangle(search.found.data(), nullptr, nullptr, &status);
  if (status == 0 && demangled != nullptr) assign(name, demangled);
  std::free(demangled);
}

}  // namespace dft::api
