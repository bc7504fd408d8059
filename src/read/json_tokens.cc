// SPDX-License-Identifier: MIT
#include "read/json_tokens.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>

namespace dft::read {
namespace {

constexpr int kMaxDepth = 512;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex4(const char* at) {
  int value = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = at[i];
    const int digit = is_digit(c)            ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

char* put_utf8(int code, char* out) {
  if (code < 0x80) {
    *out++ = static_cast<char>(code);
  } else if (code < 0x800) {
    *out++ = static_cast<char>(0xc0 | code >> 6);
    *out++ = static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *out++ = static_cast<char>(0xe0 | code >> 12);
    *out++ = static_cast<char>(0x80 | (code >> 6 & 0x3f));
    *out++ = static_cast<char>(0x80 | (code & 0x3f));
  } else {
    *out++ = static_cast<char>(0xf0 | code >> 18);
    *out++ = static_cast<char>(0x80 | (code >> 12 & 0x3f));
    *out++ = static_cast<char>(0x80 | (code >> 6 & 0x3f));
    *out++ = static_cast<char>(0x80 | (code & 0x3f));
  }
  return out;
}

// Reads \uXXXX (with a second half where it is a surrogate); `at` points behind the 'u'. -1 when not valid.
int unicode_escape(const char*& at, const char* end) {
  if (end - at < 4) return -1;
  int code = hex4(at);
  at += 4;
  if (code < 0 || (code >= 0xdc00 && code <= 0xdfff)) return -1;
  if (code < 0xd800 || code > 0xdbff) return code;
  if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return -1;
  const int low = hex4(at + 2);
  at += 6;
  return low >= 0xdc00 && low <= 0xdfff ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : -1;
}

}  // namespace

bool is_json_number(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  if (at != end && *at == '-') ++at;
  if (at == end || !is_digit(*at)) return false;
  if (*at == '0') {
    ++at;
  } else {
    while (at != end && is_digit(*at)) ++at;
  }
  if (at != end && *at == '.') {
    if (++at == end || !is_digit(*at)) return false;
    while (at != end && is_digit(*at)) ++at;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    if (++at != end && (*at == '+' || *at == '-')) ++at;
    if (at == end || !is_digit(*at)) return false;
    while (at != end && is_digit(*at)) ++at;
  }
  return at == end;
}

std::ptrdiff_t unescape(std::string_view text, char* out) {
  char* const begin = out;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at != '\\') {
      *out++ = *at++;
      continue;
    }
    if (++at == end) return -1;
    const char c = *at++;
    if (c == 'u') {
      const int code = unicode_escape(at, end);
      if (code < 0) return -1;
      out = put_utf8(code, out);
      continue;
    }
    static constexpr char kFrom[] = "\"\\/bfnrt";
    static constexpr char kTo[] = "\"\\/\b\f\n\r\t";
    const char* found = c == '\0' ? nullptr : std::strchr(kFrom, c);
    if (found == nullptr) return -1;
    *out++ = kTo[found - kFrom];
  }
  return out - begin;
}

struct JsonTokens::Impl {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;
};

JsonTokens::JsonTokens() : impl_(std::make_unique<Impl>()) {}
JsonTokens::~JsonTokens() = default;

bool JsonTokens::index(std::string_view text) {
  text_ = text.data();
  count_ = 0;
  bad_utf8_ = false;
  auto& stage = impl_->stage;
  if (!stage || stage->capacity() < text.size()) {
    // Capacity only grows, in steps, so that blocks of slightly different sizes share it.
    const std::size_t wanted = (text.size() + text.size() / 8 + 4096) & ~std::size_t{4095};
    const std::size_t capacity = std::min<std::size_t>(wanted, simdjson::SIMDJSON_MAXSIZE_BYTES);
    stage.reset();
    const auto& simd = *simdjson::get_active_implementation();
    if (simd.create_dom_parser_implementation(capacity, 1, stage) != simdjson::SUCCESS) {
      reason_ = "no memory";
      return false;
    }
  }
  const auto error =
      stage->stage1(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), simdjson::stage1_mode::regular);
  switch (error) {
    case simdjson::SUCCESS: break;
    case simdjson::EMPTY: return true;
    case simdjson::UTF8_ERROR: bad_utf8_ = true, reason_ = "invalid UTF-8"; return false;
    case simdjson::UNESCAPED_CHARS: reason_ = "control character in a string"; return false;
    case simdjson::UNCLOSED_STRING: reason_ = "string without end"; return false;
    default: reason_ = "no JSON tokens"; return false;
  }
  positions_ = stage->structural_indexes.get();
  count_ = stage->n_structural_indexes;
  return true;
}

bool JsonCursor::KeySet::add(const Value& key) {
  std::string_view text = key.text;
  if (key.escaped) {
    std::string plain(text.size(), '\0');
    plain.resize(static_cast<std::size_t>(unescape(text, plain.data())));
    unescaped_.push_back(std::move(plain));
    text = unescaped_.back();
  }
  bool twice = false;
  if (count_ < kInline) {
    for (std::size_t i = 0; i < count_; ++i) twice |= few_[i].size() == text.size() && few_[i] == text;
    few_[count_++] = text;
  } else {
    if (many_.empty()) many_.insert(few_, few_ + kInline);
    twice = !many_.insert(text).second;
  }
  if (!twice) return true;
  cursor_.duplicate_ = true;
  cursor_.reason_ = "duplicate key";
  cursor_.error_at_ = static_cast<std::uint32_t>(key.text.data() - 1 - cursor_.tokens_.text());
  return false;
}

bool JsonCursor::string(Value& out) {
  if (peek() != '"') return fail("string expected");
  const char* const begin = tokens_.text() + tokens_.position(next_) + 1;
  // The token reaches to the next one (or the line's end); a closing quote is its last byte but blanks.
  const std::uint32_t limit = next_ + 1 < tokens_.count() ? std::min(tokens_.position(next_ + 1), end_) : end_;
  const char* last = tokens_.text() + limit;
  while (last > begin && is_space(last[-1])) --last;
  if (last <= begin || last[-1] != '"') return fail("string without end");
  out.type = ValueType::kString;
  out.text = {begin, static_cast<std::size_t>(last - 1 - begin)};
  out.escaped = may_escape_ && std::memchr(begin, '\\', out.text.size()) != nullptr;
  if (out.escaped) {
    std::string scratch(out.text.size(), '\0');
    if (unescape(out.text, scratch.data()) < 0) return fail("invalid escape in a string");
  }
  skip();
  return true;
}

bool JsonCursor::scalar(Value& out) {
  const char* const begin = tokens_.text() + tokens_.position(next_);
  const std::uint32_t limit = next_ + 1 < tokens_.count() ? std::min(tokens_.position(next_ + 1), end_) : end_;
  const char* last = tokens_.text() + limit;
  while (last > begin && is_space(last[-1])) --last;
  out.text = {begin, static_cast<std::size_t>(last - begin)};
  out.escaped = false;
  if (*begin == '-' || is_digit(*begin)) {
    out.type = ValueType::kNumber;
    if (!is_json_number(out.text)) return fail("invalid number");
  } else if (out.text == "true" || out.text == "false") {
    out.type = ValueType::kBool;
  } else if (out.text == "null") {
    out.type = ValueType::kNull;
  } else {
    return fail("value expected");
  }
  skip();
  return true;
}

bool JsonCursor::value(Value& out) {
  switch (peek()) {
    case '"': return string(out);
    case '{':
    case '[': return nested(out);
    case '\0': return fail("line ends inside the object");
    default: return scalar(out);
  }
}

bool JsonCursor::nested(Value& out) {
  if (++depth_ > kMaxDepth) return fail("nested too deeply");
  const char* const begin = tokens_.text() + tokens_.position(next_);
  const bool is_object = *begin == '{';
  out.type = is_object ? ValueType::kObject : ValueType::kArray;
  const bool good = is_object ? object([this](std::string_view) {
    Value member;
    return value(member);
  })
                              : array();
  if (!good) return false;
  --depth_;
  const char* const end = tokens_.text() + tokens_.position(next_ - 1) + 1;
  out.text = {begin, static_cast<std::size_t>(end - begin)};
  return true;
}

bool JsonCursor::array() {
  skip();
  if (peek() == ']') return skip(), true;
  for (;;) {
    Value value;
    if (!this->value(value)) return false;
    const char c = peek();
    skip();
    if (c == ']') return true;
    if (c != ',') return --next_, fail("',' or ']' expected");
  }
}

}  // namespace dft::read
