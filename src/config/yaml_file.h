// SPDX-License-Identifier: MIT
// Purpose: a YAML file as a flat list of dotted keys and values.
// Threads: none. Errors: told in YamlFile::error; nothing throws but std::bad_alloc.
// Invariant: memory and time are bounded by the size of the text; aliases are never followed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/parse.h"

namespace dft::config {

struct YamlEntry {
  std::string key;  // "features.io.posix"
  RawValue value;
  bool is_null = false;
  unsigned long line = 0;
};

struct YamlFile {
  std::vector<YamlEntry> entries;  // in the file's order; empty when there is an error
  std::string error;               // what is wrong, without the file's name; empty: all is well
};

YamlFile parse_yaml(std::string_view text);
// Only regular files up to 1 MiB: a pipe could block the application, a huge file could fill its memory.
YamlFile read_yaml(const char* path);

}  // namespace dft::config
