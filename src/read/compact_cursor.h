// SPDX-License-Identifier: MIT
// Purpose: the quick way through a line as tracers write it: compact JSON, ASCII, no escapes, one level of nesting. It
//          accepts only lines that are valid JSON with unique keys; whatever it refuses goes to JsonCursor, which alone
//          decides and gives reasons.
// Threads: one owner, lives for one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "read/json_tokens.h"

namespace dft::read {

class CompactCursor {
 public:
  // REQUIRES: kPadding bytes behind the line are readable.
  explicit CompactCursor(std::string_view line) : begin_(line.data()), at_(begin_), end_(begin_ + line.size()) {}

  char peek() const { return *at_; }
  std::uint32_t at() const { return static_cast<std::uint32_t>(at_ - begin_); }
  bool at_end() const { return at_ == end_; }
  std::string_view span(std::uint32_t begin) const {
    return {begin_ + begin, static_cast<std::size_t>(at_ - begin_) - begin};
  }

  template <class Member>
  bool object(Member&& member) {
    if (*at_++ != '{') return false;
    if (*at_ == '}') return ++at_, true;
    Keys keys;
    for (;;) {
      std::string_view key;
      if (*at_ != '"' || !string(key) || !keys.add(key) || *at_++ != ':') return false;
      if (!member(key)) return false;
      const char c = *at_++;
      if (c == '}') return at_ <= end_;
      if (c != ',') return false;
    }
  }

  bool value(Value& out) {
    if (*at_ == '"') {
      out.type = ValueType::kString;
      return string(out.text);
    }
    return number(out);
  }

 private:
  class Keys {
   public:
    // A bit for each key seen; only keys that share a bit are compared.
    bool add(std::string_view key) {
      if (count_ == kMost || key.empty()) return false;
      const auto front = static_cast<unsigned char>(key.front()), back = static_cast<unsigned char>(key.back());
      const std::uint64_t bit = std::uint64_t{1} << ((key.size() * 11 + front * 5u + back) & 63);
      if ((seen_ & bit) != 0) {
        for (unsigned i = 0; i < count_; ++i) {
          if (sizes_[i] == key.size() && std::memcmp(keys_[i], key.data(), key.size()) == 0) return false;
        }
      }
      seen_ |= bit;
      sizes_[count_] = static_cast<std::uint32_t>(key.size());
      keys_[count_++] = key.data();
      return true;
    }

   private:
    static constexpr unsigned kMost = 32;
    const char* keys_[kMost];
    std::uint32_t sizes_[kMost];
    std::uint64_t seen_ = 0;
    unsigned count_ = 0;
  };

  // Ends at the first byte that is a quote; a backslash, a control character or a byte beyond ASCII refuses the line.
  bool string(std::string_view& out) {
    const char* const begin = ++at_;
    for (;;) {
      std::uint64_t word;
      std::memcpy(&word, at_, sizeof word);
      const std::uint64_t special = bytes_equal(word, '"') | bytes_equal(word, '\\') |
                                    ((word - 0x2020202020202020ull) & ~word & kHigh) | (word & kHigh);
      if (special != 0) {
        at_ += __builtin_ctzll(special) >> 3;
        break;
      }
      at_ += sizeof word;
      if (at_ > end_) return false;
    }
    if (*at_ != '"' || at_ >= end_) return false;
    out = {begin, static_cast<std::size_t>(at_ - begin)};
    ++at_;
    return true;
  }

  bool number(Value& out) {
    const char* const begin = at_;
    out.type = ValueType::kNumber;
    out.negative = *at_ == '-';
    at_ += out.negative ? 1 : 0;
    const char* const digits = at_;
    std::uint64_t magnitude = 0;
    for (; static_cast<unsigned char>(*at_ - '0') < 10; ++at_) {
      magnitude = magnitude * 10 + static_cast<unsigned char>(*at_ - '0');
    }
    const auto count = at_ - digits;
    if (count == 0 || (*digits == '0' && count > 1)) return false;
    if (*at_ == '.' || *at_ == 'e' || *at_ == 'E') {
      while (*at_ != ',' && *at_ != '}' && at_ < end_) ++at_;
      out.text = {begin, static_cast<std::size_t>(at_ - begin)};
      return is_json_number(out.text);
    }
    out.integer = count <= 19;
    out.magnitude = magnitude;
    out.text = {begin, static_cast<std::size_t>(at_ - begin)};
    return true;
  }

  static constexpr std::uint64_t kHigh = 0x8080808080808080ull;
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte of a word is its lowest");
  // The lowest bit set marks the first byte equal to `c`; bits above it may be wrong.
  static std::uint64_t bytes_equal(std::uint64_t word, char c) {
    const std::uint64_t x = word ^ (0x0101010101010101ull * static_cast<unsigned char>(c));
    return (x - 0x0101010101010101ull) & ~x & kHigh;
  }

  const char* const begin_;
  const char* at_;
  const char* const end_;
};

}  // namespace dft::read
