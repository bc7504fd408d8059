// SPDX-License-Identifier: MIT
// Purpose: what stands still about one intercepted function: its real address, its event's name, and the schema of the
//          event's args. The generated files define one object for each row of spec/posix.toml and spec/stdio.toml.
// Threads: any; the ids are interned by whoever comes first, a race interns the same ones twice.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "model/record.h"
#include "record/emit.h"

namespace dft::io {

enum class Category : std::uint8_t { kPosix = 1, kStdio = 2 };  // bits of io_wanted

// How a call ended, as far as its args depend on it: kFault means EFAULT, pointer arguments must not be read.
enum class Outcome : std::uint8_t { kOk, kFailed, kFault };
inline constexpr unsigned kOutcomes = 3;

// Which outcomes an arg is there for: all; all but kFault; kOk.
enum class When : std::uint8_t { kAlways, kReadable, kDone };

struct Arg {
  model::ArgType type;
  When when;
  const char* key;
};

enum FunctionFlag : std::uint8_t {
  kHasRet = 1,          // the result is a number, and the arg `ret`
  kReturnsCode = 2,     // the result is 0 or the error's number; errno says nothing
  kReturnsPointer = 4,  // what to give when libc does not have the function: null instead of -1
};

// An aggregate: a constructor would make GCC 12 initialise it at run time, and wrappers run before that.
struct Function {
  const char* name;
  const char* operation;
  std::string_view symbol;  // empty when it is the operation's
  Category category;
  int flags;
  const Arg* args;
  unsigned arg_count;

  std::atomic<void*> real{nullptr};
  std::atomic<model::SiteId> site{0};
  // By outcome, without and with fhash.
  std::atomic<model::SchemaId> schemas[2 * kOutcomes]{};
};

// Finds the function behind ours and remembers it; never null.
[[gnu::noinline, gnu::cold]] void* find_real(Function& function);

template <class Signature>
inline Signature* real(Function& function) {
  void* address = function.real.load(std::memory_order_relaxed);
  if (__builtin_expect(address == nullptr, 0)) address = find_real(function);
  return reinterpret_cast<Signature*>(address);
}

}  // namespace dft::io
