// SPDX-License-Identifier: MIT
#include "config/names.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace dft::config {
namespace {

constexpr std::size_t kLongestName = 64;

bool has_prefix(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool stands_in(const char* const* names, std::size_t count, std::string_view name) {
  return std::find(names, names + count, name) != names + count;
}

// Edits between two names. REQUIRES: both are shorter than kLongestName.
std::size_t distance(std::string_view a, std::string_view b) {
  std::array<std::size_t, kLongestName> last{}, now{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, change});
    }
    last = now;
  }
  return last[b.size()];
}

// `shared`: length of the front part that all names share and that says nothing about nearness.
std::string_view nearest(std::string_view name, const char* OptionRow::*column, std::size_t shared) {
  std::string_view best;
  if (name.size() >= kLongestName) return best;
  std::size_t best_distance = std::max<std::size_t>(2, (name.size() - std::min(shared, name.size())) / 3) + 1;
  for (const OptionRow& row : kOptionRows) {
    const std::string_view candidate = row.*column;
    if (candidate.empty() || candidate.size() >= kLongestName) continue;
    const std::size_t d = distance(name, candidate);
    if (d < best_distance) {
      best_distance = d;
      best = candidate;
    }
  }
  return best;
}

}  // namespace

const OptionRow* row_of_variable(std::string_view variable) {
  for (const OptionRow& row : kOptionRows) {
    if (variable == row.env) return &row;
  }
  return nullptr;
}

const OptionRow* row_of_key(std::string_view key) {
  if (key.empty()) return nullptr;
  for (const OptionRow& row : kOptionRows) {
    if (key == row.yaml) return &row;
  }
  return nullptr;
}

std::string canonical_key(std::string_view key) {
  const std::string_view section = key.substr(0, key.find('.'));
  for (std::size_t i = 0; i < kSectionAliasesCount; ++i) {
    if (section == kSectionAliases[i].name) {
      return kSectionAliases[i].means + std::string(key.substr(section.size()));
    }
  }
  return std::string(key);
}

bool variable_is_known(std::string_view variable) {
  if (row_of_variable(variable) != nullptr) return true;
  if (stands_in(kAcceptedVariables, kAcceptedVariablesCount, variable)) return true;
  if (stands_in(kForeignVariables, kForeignVariablesCount, variable)) return true;
  return std::any_of(kForeignPrefixes, kForeignPrefixes + kForeignPrefixesCount,
                     [&](const char* prefix) { return has_prefix(variable, prefix); });
}

bool key_is_accepted(std::string_view key) { return stands_in(kAcceptedKeys, kAcceptedKeysCount, key); }

bool key_is_section(std::string_view key) {
  const std::string front = std::string(key) + ".";
  const auto inside = [&](const char* known) { return has_prefix(known, front); };
  return std::any_of(std::begin(kOptionRows), std::end(kOptionRows),
                     [&](const OptionRow& row) { return inside(row.yaml); }) ||
         std::any_of(kAcceptedKeys, kAcceptedKeys + kAcceptedKeysCount, inside);
}

std::string_view nearest_variable(std::string_view variable) {
  return nearest(variable, &OptionRow::env, std::string_view("DFTRACER_").size());
}

std::string_view nearest_key(std::string_view key) {
  return nearest(key, &OptionRow::yaml, key.find('.') == std::string_view::npos ? 0 : key.find('.'));
}

}  // namespace dft::config
