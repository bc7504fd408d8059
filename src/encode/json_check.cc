// SPDX-License-Identifier: MIT
#include "encode/json_check.h"

#include <cstdint>

#include "encode/utf8.h"

namespace dft::encode {
namespace {

constexpr unsigned kMaxDepth = 64;

class Checker {
 public:
  explicit Checker(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}
  bool run();

 private:
  void skip_blanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view literal) {
    if (static_cast<std::size_t>(end_ - at_) < literal.size() || std::string_view(at_, literal.size()) != literal) {
      return false;
    }
    at_ += literal.size();
    return true;
  }
  bool digits() {
    const char* begin = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    return at_ != begin;
  }
  bool number();
  bool escape();
  bool string();
  bool scalar();
  bool open(bool object);
  void close() { --depth_, is_object_ >>= 1; }
  bool begin_value(bool& whole);  // up to the first value inside; `whole`: it has none and is over
  bool key() {
    if (!string()) return false;
    skip_blanks();
    return take(':');
  }

  const char* at_;
  const char* end_;
  unsigned depth_ = 0;
  std::uint64_t is_object_ = 0;  // bit per open level
};

bool Checker::number() {
  take('-');
  if (!take('0') && !digits()) return false;
  if (take('.') && !digits()) return false;
  if (take('e') || take('E')) {
    if (!take('+')) take('-');
    return digits();
  }
  return true;
}

bool Checker::escape() {
  if (at_ == end_) return false;
  const char c = *at_++;
  if (c != 'u') return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
  for (int i = 0; i < 4; ++i, ++at_) {
    if (at_ == end_ || std::string_view("0123456789abcdefABCDEF").find(*at_) == std::string_view::npos) return false;
  }
  return true;
}

bool Checker::string() {
  if (!take('"')) return false;
  while (at_ != end_) {
    const auto byte = static_cast<unsigned char>(*at_);
    if (byte == '"') return ++at_, true;
    if (byte < 0x20) return false;
    if (byte == '\\') {
      ++at_;
      if (!escape()) return false;
    } else if (byte < 0x80) {
      ++at_;
    } else {
      const unsigned length =
          utf8_sequence(reinterpret_cast<const unsigned char*>(at_), reinterpret_cast<const unsigned char*>(end_));
      if (length == 0) return false;
      at_ += length;
    }
  }
  return false;
}

bool Checker::scalar() {
  if (at_ == end_) return false;
  switch (*at_) {
    case '"': return string();
    case 't': return word("true");
    case 'f': return word("false");
    case 'n': return word("null");
    default: return number();
  }
}

bool Checker::open(bool object) {
  if (depth_ == kMaxDepth) return false;
  is_object_ = is_object_ << 1 | std::uint64_t{object};
  ++depth_;
  return true;
}

bool Checker::begin_value(bool& whole) {
  skip_blanks();
  const bool object = at_ != end_ && *at_ == '{';
  if (!object && (at_ == end_ || *at_ != '[')) return whole = true, scalar();
  ++at_;
  if (!open(object)) return false;
  skip_blanks();
  whole = take(object ? '}' : ']');
  if (whole) return close(), true;
  return !object || key();
}

bool Checker::run() {
  for (;;) {
    bool whole = false;
    if (!begin_value(whole)) return false;
    // Behind a whole value: the next member, or the ends of what is open.
    while (whole) {
      skip_blanks();
      if (depth_ == 0) return at_ == end_;
      const bool object = (is_object_ & 1) != 0;
      if (take(',')) {
        skip_blanks();
        if (object && !key()) return false;
        whole = false;
      } else if (take(object ? '}' : ']')) {
        close();
      } else {
        return false;
      }
    }
  }
}

}  // namespace

bool is_json(std::string_view text) { return Checker(text).run(); }

}  // namespace dft::encode
