// SPDX-License-Identifier: MIT
// Purpose: JSON text -> positions of its tokens, and checked values at those positions. simdjson's first stage does the
//          vector work (token positions, UTF-8, control characters in strings) for a whole block of lines at once; what
//          is left, the grammar, is checked here, since the reader needs the place of each value in the text.
// Threads: one owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "read/event.h"

namespace dft::read {

class JsonTokens {
 public:
  JsonTokens();
  ~JsonTokens();
  JsonTokens(const JsonTokens&) = delete;
  JsonTokens& operator=(const JsonTokens&) = delete;

  // Finds the tokens of `text`; kPadding bytes behind it must be readable. False when something in it makes positions
  // unreliable; `reason` then says what, and bad_utf8() whether it was the encoding.
  bool index(std::string_view text);
  const char* reason() const { return reason_; }
  bool bad_utf8() const { return bad_utf8_; }

  const char* text() const { return text_; }
  std::uint32_t position(std::size_t token) const { return positions_[token]; }
  std::size_t count() const { return count_; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  const char* text_ = nullptr;
  const std::uint32_t* positions_ = nullptr;
  std::size_t count_ = 0;
  const char* reason_ = "";
  bool bad_utf8_ = false;
};

enum class ValueType : std::uint8_t { kNull, kBool, kNumber, kString, kObject, kArray };

struct Value {
  ValueType type = ValueType::kNull;
  bool escaped = false;  // string with backslashes
  bool integer = false;  // number without fraction and exponent, of at most 19 digits; then these two hold:
  bool negative = false;
  std::uint64_t magnitude = 0;
  std::string_view text;  // a string without its quotes, everything else as written
};

bool is_json_number(std::string_view text);

// Walks the tokens of one line. Every function returns false on a grammar error and keeps its reason and place.
class JsonCursor {
 public:
  // `next_token` is the first token at or behind `begin`; the line is [begin, end).
  JsonCursor(const JsonTokens& tokens, std::size_t next_token, std::uint32_t end, bool may_escape, bool unique_keys)
      : tokens_(tokens), next_(next_token), end_(end), may_escape_(may_escape), unique_keys_(unique_keys) {}
  // The same line once more, from `next_token`, without looking for duplicate keys.
  JsonCursor(const JsonCursor& other, std::size_t next_token)
      : JsonCursor(other.tokens_, next_token, other.end_, other.may_escape_, false) {}

  char peek() const {
    return next_ < tokens_.count() && tokens_.position(next_) < end_ ? tokens_.text()[tokens_.position(next_)] : '\0';
  }
  std::uint32_t at() const { return next_ < tokens_.count() ? std::min(tokens_.position(next_), end_) : end_; }
  bool at_end() const { return at() == end_; }
  void skip() { ++next_; }
  std::size_t next_token() const { return next_; }
  const char* text() const { return tokens_.text(); }  // what positions count from
  // The text from `begin` to the end of the token that was consumed last. REQUIRES: that token is one byte.
  std::string_view span(std::uint32_t begin) const {
    return {tokens_.text() + begin, tokens_.position(next_ - 1) + 1 - begin};
  }

  // Calls `member(key)` for each member of the object that begins here; it must consume the value by value() or
  // object().
  template <class Member>
  bool object(Member&& member) {
    if (peek() != '{') return fail("not a JSON object");
    skip();
    if (peek() == '}') return skip(), true;
    KeySet keys(*this);
    for (;;) {
      Value key;
      if (!string(key)) return false;
      if (unique_keys_ && !keys.add(key)) return false;
      if (peek() != ':') return fail("':' expected");
      skip();
      if (!member(key.text)) return false;
      const char c = peek();
      skip();
      if (c == '}') return true;
      if (c != ',') return --next_, fail("',' or '}' expected");
    }
  }
  // Consumes one value of any type; objects and arrays are checked as a whole.
  bool value(Value& out);

  bool fail(const char* reason) {
    reason_ = reason;
    error_at_ = at();
    return false;
  }
  const char* reason() const { return reason_; }
  std::uint32_t error_at() const { return error_at_; }
  bool duplicate() const { return duplicate_; }

 private:
  class KeySet {
   public:
    explicit KeySet(JsonCursor& cursor) : cursor_(cursor) {}
    bool add(const Value& key);

   private:
    static constexpr std::size_t kInline = 24;
    JsonCursor& cursor_;
    std::string_view few_[kInline];
    std::size_t count_ = 0;
    std::deque<std::string> unescaped_;          // does not move what it holds
    std::unordered_set<std::string_view> many_;  // all, once there are more than kInline
    friend class JsonCursor;
  };

  bool string(Value& out);
  bool scalar(Value& out);
  bool nested(Value& out);
  bool array();

  const JsonTokens& tokens_;
  std::size_t next_;
  std::uint32_t end_;
  bool may_escape_;
  bool unique_keys_;
  bool duplicate_ = false;
  int depth_ = 0;
  const char* reason_ = "";
  std::uint32_t error_at_ = 0;
};

// Undoes JSON escapes. REQUIRES: `out` has room for text.size() bytes. Returns the bytes written, or -1 when an escape
// is not valid.
std::ptrdiff_t unescape(std::string_view text, char* out);

}  // namespace dft::read
