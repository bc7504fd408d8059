// SPDX-License-Identifier: MIT
// Purpose: fuzzes what users hand in: the text of a configuration file, and the value of every option.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/config.h"
#include "config/names.h"
#include "config/parse.h"
#include "config/yaml_file.h"

namespace {

using dft::config::RawValue;

std::string fuzzed;

const char* fuzzed_variable(const char* name) {
  return std::string_view(name) == "DFTRACER_CONFIGURATION" ? nullptr : fuzzed.c_str();
}

void require(bool holds) {
  if (!holds) std::abort();
}

// A value that is accepted prints as text that is accepted again and means the same.
void set_and_print(const dft::config::OptionRow& row, const RawValue& value, bool negates) {
  dft::config::Options options;
  if (set_option(&options, row, value, negates) == dft::config::SetResult::kRefused) return;
  if (row.kind == dft::config::Kind::kList) return;
  const std::string text = value_text(options, row);
  dft::config::Options again;
  require(set_option(&again, row, RawValue{text, {}, false, true}, false) != dft::config::SetResult::kRefused);
  require(value_text(again, row) == text);
}

void use_file(std::string_view text) {
  const dft::config::YamlFile file = dft::config::parse_yaml(text);
  require(file.error.empty() || file.entries.empty());
  for (const dft::config::YamlEntry& entry : file.entries) {
    const std::string key = dft::config::canonical_key(entry.key);
    const dft::config::OptionRow* row = dft::config::row_of_key(key);
    if (row != nullptr) set_and_print(*row, entry.value, false);
  }
  if (!file.entries.empty()) (void)dft::config::nearest_key(file.entries.front().key);
}

void use_values() {
  for (const dft::config::OptionRow& row : dft::config::kOptionRows) {
    set_and_print(row, RawValue{fuzzed, {}, false, true}, row.env_negates);
  }
  const std::string unknown = "DFTRACER_" + fuzzed;
  const char* const environment[] = {unknown.c_str(), nullptr};
  const dft::config::Loaded loaded = dft::config::load(&fuzzed_variable, environment);
  require(loaded.origins.size() == dft::config::kOptionCount);
  for (const std::string& note : loaded.notes) require(note.size() < 1000 && note.find('\n') == std::string::npos);
  (void)render_text(loaded);
  (void)render_json(loaded);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  use_file(text);
  fuzzed.assign(text.substr(0, text.find('\0')));
  use_values();
  return 0;
}
