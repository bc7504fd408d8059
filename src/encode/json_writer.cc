// SPDX-License-Identifier: MIT
#include "encode/json_writer.h"

#include "encode/json_text.h"

namespace dft::encode {
namespace {

// Room for `size` bytes and the slack that word-wise writers use; when memory is refused the buffer is marked failed.
bool make_room(base::Buffer& out, std::size_t size) {
  if (out.reserve(size + text::kSlack)) return true;
  out.fail();
  return false;
}

void finish(base::Buffer& out, const char* end) { out.advance(static_cast<std::size_t>(end - out.end())); }

}  // namespace

bool append_json_escaped(std::string_view value, base::Buffer& out) {
  // Long texts are measured first: six bytes for each would ask for memory that is hardly ever needed.
  const std::size_t room =
      value.size() <= 4096 ? value.size() * text::kMaxEscapeFactor : text::escaped_bound(value.data(), value.size());
  if (!make_room(out, room)) return true;
  const text::Escaped written = text::put_escaped(out.end(), value.data(), value.size());
  finish(out, written.end);
  return written.valid;
}

bool append_json_string(std::string_view value, base::Buffer& out) {
  out.push('"');
  const bool valid = append_json_escaped(value, out);
  out.push('"');
  return valid;
}

void append_uint(std::uint64_t value, base::Buffer& out) {
  if (make_room(out, text::kMaxNumber)) finish(out, text::put_uint(out.end(), value));
}
void append_int(std::int64_t value, base::Buffer& out) {
  if (make_room(out, text::kMaxNumber)) finish(out, text::put_int(out.end(), value));
}
void append_double(double value, base::Buffer& out) {
  if (make_room(out, text::kMaxNumber)) finish(out, text::put_double(out.end(), value));
}
void append_hex16(std::uint64_t value, base::Buffer& out) {
  if (make_room(out, 16)) finish(out, text::put_hex16(out.end(), value));
}

void JsonWriter::before_value() {
  if (comma_ && !after_key_) out_.push(',');
  after_key_ = false;
  comma_ = true;
}

JsonWriter& JsonWriter::escaped_key(std::string_view text) {
  before_value();
  out_.push('"');
  out_.append(text);
  out_.append("\":");
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  before_value();
  append_json_string(name, out_);
  out_.push(':');
  after_key_ = true;
  return *this;
}
JsonWriter& JsonWriter::string(std::string_view value) {
  before_value();
  append_json_string(value, out_);
  return *this;
}
JsonWriter& JsonWriter::number(std::uint64_t value) {
  before_value();
  append_uint(value, out_);
  return *this;
}
JsonWriter& JsonWriter::number(std::int64_t value) {
  before_value();
  append_int(value, out_);
  return *this;
}
JsonWriter& JsonWriter::number(double value) {
  before_value();
  append_double(value, out_);
  return *this;
}
JsonWriter& JsonWriter::raw_members(std::string_view members) {
  if (members.empty()) return *this;
  if (comma_) out_.push(',');
  out_.append(members);
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  before_value();
  out_.append(json);
  return *this;
}
JsonWriter& JsonWriter::begin_object() {
  before_value();
  out_.push('{');
  comma_ = false;
  return *this;
}
JsonWriter& JsonWriter::end_object() {
  out_.push('}');
  comma_ = true;
  return *this;
}
JsonWriter& JsonWriter::begin_array() {
  before_value();
  out_.push('[');
  comma_ = false;
  return *this;
}
JsonWriter& JsonWriter::end_array() {
  out_.push(']');
  comma_ = true;
  return *this;
}

}  // namespace dft::encode
