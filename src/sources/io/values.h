// SPDX-License-Identifier: MIT
// Purpose: the args of one event on the caller's stack, and the small readings that rows of the spec make of arguments.
// Threads: the caller's.
#pragma once

#include <limits.h>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/readable.h"
#include "record/emit.h"
#include "sources/io/function.h"
#include "sources/io/libc_types.h"

namespace dft::io {

inline constexpr std::size_t kLongestText = 255;  // of a text argument in an event; modes and names are shorter

template <class T>
inline std::uint64_t bits_of(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<std::uintptr_t>(value);
  } else if constexpr (std::is_enum_v<T> || std::is_signed_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

// Room for what any row has: two texts, the symbol and a dozen numbers.
class Values : public record::ValueList<768> {
 public:
  template <class T>
  void add_bits(T value) {
    add(bits_of(value));
  }
  void add_text(const char* text) {
    add_string(text == nullptr ? std::string_view() : std::string_view(text, strnlen(text, kLongestText)));
  }
};

// A text argument after the call: null when it cannot be read. A call that fails may not have looked at it.
inline const char* seen(Outcome outcome, const char* text) {
  if (__builtin_expect(outcome == Outcome::kOk, 1)) return text;
  return outcome == Outcome::kFailed ? base::readable_text(text, PATH_MAX) : nullptr;
}

// The id of a path's absolute name, whether it is traced or not. REQUIRES: readable.
model::StringId path_id(int dir_fd, const char* path);
// The id of a text that is a file's name already.
model::StringId text_id(const char* name);

// Bytes that a vector call asked for.
template <class Count>
inline std::uint64_t sum(const struct iovec* iov, Count count) {
  std::uint64_t total = 0;
  for (Count i = 0; i < count; ++i) total += iov[i].iov_len;
  return total;
}
inline std::size_t text_len(const char* text) { return text != nullptr ? std::strlen(text) : 0; }
inline std::int64_t not_negative(std::int64_t value) { return value < 0 ? 0 : value; }

}  // namespace dft::io
