// SPDX-License-Identifier: MIT
// Purpose: what the command prints: JSON objects, aligned tables, CSV, and its one-line messages on stderr.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "encode/json_writer.h"

namespace dft::tools {

// Text for stdout, written in large pieces. After a failed write (a closed pipe) good() is false and nothing more is
// written.
class Output {
 public:
  Output() : json_(buffer_) {}
  ~Output() { flush(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  Output& operator<<(std::string_view text) {
    buffer_.append(text);
    return *this;
  }
  encode::JsonWriter& json() { return json_; }
  base::Buffer& buffer() { return buffer_; }
  // Writes when much has gathered; false when the reader has gone.
  bool flush_some() { return buffer_.size() < kPiece || flush(); }
  bool flush();
  bool good() const { return good_; }

 private:
  static constexpr std::size_t kPiece = 64 * 1024;
  base::Buffer buffer_;
  encode::JsonWriter json_;
  bool good_ = true;
};

// The error number of the first text that could not be written; 0 also where the reader has gone, which is its choice.
int output_error();

// Begins the one object of a --json run: {"schema":1,"command":NAME, and leaves it open.
void begin_json(Output& out, std::string_view command);
void end_json(Output& out);

inline std::string_view json_bool(bool value) { return value ? "true" : "false"; }

// Columns are aligned; the first `left` of them to the left, the others to the right, but the last where it is a long
// text.
class Table {
 public:
  Table(std::vector<std::string> head, std::size_t left, bool text_last = false) : left_(left), text_last_(text_last) {
    rows_.push_back(std::move(head));
  }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.size() == 1; }
  void print(Output& out) const;

 private:
  std::size_t left_;
  bool text_last_;
  std::vector<std::vector<std::string>> rows_;
};

std::string csv_field(std::string_view text);
std::string number_text(double value);  // shortest text that reads back equal

// "dftracer: TEXT" on stderr.
void message(std::string_view text);

// "1 line", "2 lines".
std::string counted(std::uint64_t count, std::string_view noun);

}  // namespace dft::tools
