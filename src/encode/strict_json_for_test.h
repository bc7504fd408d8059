// SPDX-License-Identifier: MIT
// Purpose: a JSON reader for tests that forgives nothing: RFC 8259, valid UTF-8, no key twice in an object. Written
//          apart from the encoder, so that both are not wrong in the same way. Throws std::runtime_error.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dft::encode::strict {

struct Value {
  enum Kind { kNull, kBool, kNumber, kString, kArray, kObject } kind = kNull;
  bool boolean = false;
  std::string text;  // number as written, string decoded
  std::vector<Value> items;
  std::vector<std::pair<std::string, Value>> members;  // in order

  const Value* find(std::string_view key) const {
    for (const auto& [name, value] : members) {
      if (name == key) return &value;
    }
    return nullptr;
  }
  const Value& operator[](std::string_view key) const {
    const Value* found = find(key);
    if (found == nullptr) throw std::runtime_error("no member " + std::string(key));
    return *found;
  }
  std::uint64_t as_uint() const { return std::strtoull(text.c_str(), nullptr, 10); }
  std::int64_t as_int() const { return std::strtoll(text.c_str(), nullptr, 10); }
  double as_double() const { return std::strtod(text.c_str(), nullptr); }
  std::vector<std::string> keys() const {
    std::vector<std::string> out;
    for (const auto& member : members) out.push_back(member.first);
    return out;
  }
};

class Reader {
 public:
  explicit Reader(std::string_view text, bool unique_keys) : text_(text), unique_keys_(unique_keys) {}
  Value document() {
    Value out = value(0);
    blanks();
    if (at_ != text_.size()) fail("bytes behind the value");
    return out;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw std::runtime_error(std::string(what) + " at byte " + std::to_string(at_) + " of: " + std::string(text_));
  }
  int peek() const { return at_ < text_.size() ? static_cast<unsigned char>(text_[at_]) : -1; }
  int take() {
    if (at_ == text_.size()) fail("end of text");
    return static_cast<unsigned char>(text_[at_++]);
  }
  void expect(char c) {
    if (take() != c) fail("unexpected byte");
  }
  void blanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
  }

  Value value(int depth) {
    if (depth > 200) fail("too deep");
    blanks();
    Value out;
    switch (peek()) {
      case '{': object(out, depth); break;
      case '[': array(out, depth); break;
      case '"': out.kind = Value::kString, out.text = string(); break;
      case 't': literal("true"), out.kind = Value::kBool, out.boolean = true; break;
      case 'f': literal("false"), out.kind = Value::kBool; break;
      case 'n': literal("null"); break;
      default: out.kind = Value::kNumber, out.text = number(); break;
    }
    return out;
  }
  void literal(std::string_view word) {
    for (const char c : word) expect(c);
  }
  void object(Value& out, int depth) {
    out.kind = Value::kObject;
    expect('{');
    blanks();
    if (peek() == '}') return void(++at_);
    for (;;) {
      blanks();
      std::string key = string();
      if (unique_keys_ && out.find(key) != nullptr) fail("key twice");
      blanks();
      expect(':');
      out.members.emplace_back(std::move(key), value(depth + 1));
      blanks();
      const int c = take();
      if (c == '}') return;
      if (c != ',') fail("no comma");
    }
  }
  void array(Value& out, int depth) {
    out.kind = Value::kArray;
    expect('[');
    blanks();
    if (peek() == ']') return void(++at_);
    for (;;) {
      out.items.push_back(value(depth + 1));
      blanks();
      const int c = take();
      if (c == ']') return;
      if (c != ',') fail("no comma");
    }
  }
  void digits() {
    if (peek() < '0' || peek() > '9') fail("no digit");
    while (peek() >= '0' && peek() <= '9') ++at_;
  }
  std::string number() {
    const std::size_t begin = at_;
    if (peek() == '-') ++at_;
    if (peek() == '0') {
      ++at_;
    } else {
      digits();
    }
    if (peek() == '.') ++at_, digits();
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      digits();
    }
    return std::string(text_.substr(begin, at_ - begin));
  }
  unsigned hex4() {
    unsigned out = 0;
    for (int i = 0; i < 4; ++i) {
      const int c = take();
      const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (digit < 0) fail("bad \\u");
      out = out << 4 | static_cast<unsigned>(digit);
    }
    return out;
  }
  void escape(std::string& out) {
    switch (take()) {
      case '"': out += '"'; break;
      case '\\': out += '\\'; break;
      case '/': out += '/'; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'u': {
        const unsigned code = hex4();
        if (code >= 0x80) fail("the encoder escapes ASCII only");
        out += static_cast<char>(code);
        break;
      }
      default: fail("bad escape");
    }
  }
  // Decodes to a code point and judges that, other than the encoder, which judges bytes.
  void multibyte(int lead, std::string& out) {
    const int extra = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    unsigned code = static_cast<unsigned>(lead) & (0x3fu >> extra);
    if (lead < 0xc0 || lead > 0xf7) fail("bad UTF-8 lead");
    out += static_cast<char>(lead);
    for (int i = 0; i < extra; ++i) {
      const int c = take();
      if (c >> 6 != 2) fail("bad UTF-8 continuation");
      code = code << 6 | (static_cast<unsigned>(c) & 0x3f);
      out += static_cast<char>(c);
    }
    const unsigned least = extra == 1 ? 0x80 : extra == 2 ? 0x800 : 0x10000;
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) fail("bad code point");
  }
  std::string string() {
    expect('"');
    std::string out;
    for (;;) {
      const int c = take();
      if (c == '"') return out;
      if (c < 0x20) fail("raw control byte");
      if (c == '\\') {
        escape(out);
      } else if (c < 0x80) {
        out += static_cast<char>(c);
      } else {
        multibyte(c, out);
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool unique_keys_;
};

inline Value parse(std::string_view text, bool unique_keys = true) { return Reader(text, unique_keys).document(); }

// The lines of a block, each ended by a newline.
inline std::vector<std::string> lines_of(std::string_view block) {
  std::vector<std::string> out;
  while (!block.empty()) {
    const std::size_t end = block.find('\n');
    if (end == std::string_view::npos) throw std::runtime_error("last line has no newline");
    out.emplace_back(block.substr(0, end));
    block.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace dft::encode::strict
