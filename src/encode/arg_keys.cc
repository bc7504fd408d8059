// SPDX-License-Identifier: MIT
#include "encode/arg_keys.h"

#include "encode/utf8.h"

namespace dft::encode {
namespace {

constexpr unsigned kMaxUnderscores = 8;

std::string_view key_of(const model::ArgView& arg) { return {arg.key, arg.key_len}; }

// Walks a text as it will be written: each invalid byte stands for U+FFFD.
class WrittenText {
 public:
  explicit WrittenText(std::string_view raw)
      : at_(reinterpret_cast<const unsigned char*>(raw.data())), end_(at_ + raw.size()) {}
  std::string_view next() {
    if (at_ == end_) return {};
    const unsigned length = *at_ < 0x80 ? 1 : utf8_sequence(at_, end_);
    const auto* begin = reinterpret_cast<const char*>(at_);
    at_ += length != 0 ? length : 1;
    return length != 0 ? std::string_view(begin, length) : std::string_view("\xef\xbf\xbd");
  }

 private:
  const unsigned char* at_;
  const unsigned char* end_;
};

bool written_alike(std::string_view a, std::string_view b) {
  WrittenText left(a), right(b);
  for (;;) {
    const std::string_view x = left.next(), y = right.next();
    if (x != y) return false;
    if (x.empty()) return true;
  }
}

bool is_taken(const model::RecordHeader& record, std::string_view reserved, unsigned underscores) {
  model::ArgCursor cursor(model::args_begin(record), model::args_bytes(record));
  for (model::ArgView other; cursor.next(other);) {
    const std::string_view key = key_of(other);
    if (other.type == model::ArgType::kDropped || other.type == model::ArgType::kRelation) continue;
    if (key.size() != reserved.size() + underscores || key.substr(0, reserved.size()) != reserved) continue;
    if (key.find_first_not_of('_', reserved.size()) == std::string_view::npos) return true;
  }
  return false;
}

bool has_double(const model::RecordHeader& record, const model::ArgView& arg) {
  model::ArgCursor cursor(model::args_begin(record), model::args_bytes(record));
  for (model::ArgView other; cursor.next(other);) {
    if (other.key == arg.key || other.type == model::ArgType::kDropped || other.type == model::ArgType::kRelation) {
      continue;
    }
    if (written_alike(key_of(other), key_of(arg))) return true;
  }
  return false;
}

}  // namespace

char* put_odd_key_end(char* p, const model::RecordHeader& record, const model::ArgView& arg, unsigned number,
                      bool valid) {
  if (valid) {
    unsigned underscores = 1;
    while (underscores < kMaxUnderscores && is_taken(record, key_of(arg), underscores)) ++underscores;
    std::memset(p, '_', underscores);
    return p + underscores;
  }
  if (!has_double(record, arg)) return p;
  *p++ = '_';
  return text::put_uint(p, number);
}

}  // namespace dft::encode
