// SPDX-License-Identifier: MIT
// Purpose: the options as data: everything that parsing, `dftracer config` and the documents say about them. The rows
//          come from spec/options.toml by scripts/gen.py.
// Threads: constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "config/options.gen.h"

namespace dft::config {

enum class Kind : std::uint8_t { kBool, kEnum, kSize, kTimeMs, kInt, kPath, kList };

// The member of Options behind a row; empty for enums, which go through set_choice and choice_of.
using Field = std::variant<std::monostate, bool Options::*, std::uint64_t Options::*, std::int64_t Options::*,
                           std::string Options::*, std::vector<std::string> Options::*>;

struct OptionRow {
  OptionId id;
  Kind kind;
  const char* env;
  bool env_negates;  // the variable says the opposite of the field
  const char* yaml;  // dotted key; empty: only the environment has it
  const char* field_name;
  Field field;
  const char* const* values;  // of an enum
  std::size_t value_count;
  int otherwise;  // value that any other text selects, or -1
  std::int64_t min;
  std::int64_t max;
  const char* separators;
  const char* default_text;
  const char* accepted;
  const char* needs;        // the part that this build does not have; empty: the option works
  const char* needs_quiet;  // the value that asks for nothing of that part
  const char* doc;
};

struct SectionAlias {
  const char* name;
  const char* means;
};

extern const OptionRow kOptionRows[kOptionCount];
extern const SectionAlias kSectionAliases[];
extern const std::size_t kSectionAliasesCount;
// Names that are no options and deserve no message.
extern const char* const kAcceptedVariables[];
extern const std::size_t kAcceptedVariablesCount;
extern const char* const kAcceptedKeys[];
extern const std::size_t kAcceptedKeysCount;
extern const char* const kForeignVariables[];
extern const std::size_t kForeignVariablesCount;
extern const char* const kForeignPrefixes[];
extern const std::size_t kForeignPrefixesCount;

void set_choice(Options* options, OptionId id, std::size_t choice);
std::size_t choice_of(const Options& options, OptionId id);

inline const OptionRow& row_of(OptionId id) { return kOptionRows[static_cast<std::size_t>(id)]; }

}  // namespace dft::config
