// SPDX-License-Identifier: MIT
#include "tools/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/raw_io.h"
#include "tools/commands.h"
#include "tools/progress.h"
#include "tools/time_text.h"

namespace dft::tools {
namespace {

// Columns on a terminal: bytes that begin a character.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

int first_error = 0;

}  // namespace

int output_error() { return first_error; }

bool Output::flush() {
  if (good_ && !buffer_.empty()) {
    Progress::make_room_for_output();
    std::size_t done = 0;
    const auto result = base::raw::write_all(1, buffer_.data(), buffer_.size(), &done);
    good_ = result >= 0;
    if (!good_ && first_error == 0 && result != -EPIPE) first_error = static_cast<int>(-result);
  }
  buffer_.clear();
  return good_;
}

void begin_json(Output& out, std::string_view command) {
  out.json().begin_object().key("schema").number(kSchemaVersion).key("command").string(command);
}

void end_json(Output& out) {
  out.json().end_object();
  out << "\n";
}

void Table::print(Output& out) const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - width(row[i]), ' ');
      line += i == 0 ? "" : "  ";
      const bool to_left = i < left_ || (text_last_ && i + 1 == row.size());
      line += to_left ? row[i] + blanks : blanks + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << "\n";
  }
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += '"';
  }
  return quoted + '"';
}

std::string number_text(double value) {
  base::Buffer text;
  encode::append_double(value, text);
  return std::string(text.view());
}

void message(std::string_view text) {
  std::string line = "dftracer: ";
  line += text;
  line += '\n';
  std::size_t done = 0;
  Progress::make_room();
  base::raw::write_all(2, line.data(), line.size(), &done);
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return human_count(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace dft::tools
