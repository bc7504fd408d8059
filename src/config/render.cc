// SPDX-License-Identifier: MIT
// Purpose: the effective configuration as `dftracer config` prints it.
#include <algorithm>

#include "config/config.h"
#include "config/parse.h"

namespace dft::config {
namespace {

constexpr std::size_t kWidestValue = 32;

void pad(std::string* line, std::size_t width) {
  if (line->size() < width) line->append(width - line->size(), ' ');
  *line += "  ";
}

Origin origin_of(const Loaded& loaded, const OptionRow& row) {
  const auto index = static_cast<std::size_t>(row.id);
  return index < loaded.origins.size() ? loaded.origins[index] : Origin::kDefault;
}

std::string in_variables_sense(const Loaded& loaded, const OptionRow& row) {
  return value_text(loaded.options, row, row.env_negates);
}

// Bytes that are not ASCII become escapes of their value: valid JSON whatever a path holds.
std::string quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string json_value(const Options& options, const OptionRow& row) {
  switch (row.kind) {
    case Kind::kBool: return value_text(options, row) == "1" ? "true" : "false";
    case Kind::kSize:
    case Kind::kTimeMs: return std::to_string(options.*std::get<std::uint64_t Options::*>(row.field));
    case Kind::kInt: return value_text(options, row);
    case Kind::kEnum:
    case Kind::kPath: return quoted(value_text(options, row));
    case Kind::kList: break;
  }
  std::string out = "[";
  for (const std::string& item : options.*std::get<std::vector<std::string> Options::*>(row.field)) {
    if (out.size() > 1) out += ',';
    out += quoted(item);
  }
  return out + "]";
}

std::string json_row(const Loaded& loaded, const OptionRow& row) {
  std::string out = "{\"name\":" + quoted(row.env);
  out += ",\"key\":" + quoted(row.yaml);
  out += ",\"field\":" + quoted(row.field_name);
  out += ",\"value\":" + json_value(loaded.options, row);
  out += ",\"text\":" + quoted(in_variables_sense(loaded, row));
  out += ",\"origin\":" + quoted(origin_name(origin_of(loaded, row)));
  out += ",\"default\":" + quoted(row.default_text);
  out += ",\"accepted\":" + quoted(row.accepted);
  out += ",\"meaning\":" + quoted(row.doc);
  return out + ",\"needs\":" + quoted(row.needs) + "}";
}

std::string json_strings(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ",") + quoted(text);
  return "[" + out + "]";
}

}  // namespace

std::string render_text(const Loaded& loaded) {
  std::size_t name_width = 0;
  std::size_t value_width = 5;
  for (const OptionRow& row : kOptionRows) {
    name_width = std::max(name_width, std::string_view(row.env).size());
    value_width = std::max(value_width, in_variables_sense(loaded, row).size());
  }
  value_width = std::min(value_width, kWidestValue);
  std::string out;
  const auto add = [&](std::string line, std::string_view value, std::string_view origin, std::string_view meaning) {
    pad(&line, name_width);
    std::string cell(value);
    pad(&cell, value_width);
    std::string source(origin);
    pad(&source, 11);
    out += line + cell + source + std::string(meaning) + '\n';
  };
  add("VARIABLE", "VALUE", "ORIGIN", "MEANING");
  for (const OptionRow& row : kOptionRows) {
    const std::string meaning = std::string(row.doc) + (row.needs[0] != '\0' ? " (not in this build yet)" : "") +
                                (row.env_negates ? " (1 switches it off)" : "");
    add(row.env, in_variables_sense(loaded, row), origin_name(origin_of(loaded, row)), meaning);
  }
  return out;
}

std::string render_json(const Loaded& loaded) {
  std::string out = "{\"options\":[";
  for (const OptionRow& row : kOptionRows) out += (row.id == OptionId{} ? "" : ",") + json_row(loaded, row);
  out += "],\"notes\":" + json_strings(loaded.notes);
  return out + ",\"muted\":" + json_strings(loaded.muted) + "}\n";
}

}  // namespace dft::config
