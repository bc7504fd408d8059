// SPDX-License-Identifier: MIT
#include "config/parse.h"

#include <cstddef>
#include <limits>

#include "config/config.h"

namespace dft::config {
namespace {

constexpr std::size_t kLongestPath = 4095;
constexpr std::size_t kLongestShown = 80;

struct Unit {
  std::string_view name;
  unsigned long long factor;
};

constexpr Unit kSizeUnits[] = {
    {"", 1},
    {"b", 1},
    {"k", 1ull << 10},
    {"kb", 1ull << 10},
    {"kib", 1ull << 10},
    {"m", 1ull << 20},
    {"mb", 1ull << 20},
    {"mib", 1ull << 20},
    {"g", 1ull << 30},
    {"gb", 1ull << 30},
    {"gib", 1ull << 30},
    {"t", 1ull << 40},
    {"tb", 1ull << 40},
    {"tib", 1ull << 40},
};
constexpr Unit kTimeUnits[] = {{"", 1},       {"ms", 1},       {"s", 1000},     {"sec", 1000},
                               {"m", 60'000}, {"min", 60'000}, {"h", 3'600'000}};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Digits at the front of *text, which then begins behind them. False without a digit or beyond 64 bits.
bool take_digits(std::string_view* text, unsigned long long* out) {
  unsigned long long value = 0;
  std::size_t i = 0;
  for (; i < text->size() && is_digit((*text)[i]); ++i) {
    const auto digit = static_cast<unsigned long long>((*text)[i] - '0');
    if (__builtin_mul_overflow(value, 10ull, &value) || __builtin_add_overflow(value, digit, &value)) return false;
  }
  if (i == 0) return false;
  text->remove_prefix(i);
  *out = value;
  return true;
}

template <std::size_t N>
bool parse_amount(std::string_view text, const Unit (&units)[N], unsigned long long* out) {
  text = trimmed(text);
  unsigned long long value = 0;
  if (!take_digits(&text, &value)) return false;
  text = trimmed(text);
  for (const Unit& unit : units) {
    if (!equal_any_case(text, unit.name)) continue;
    if (__builtin_mul_overflow(value, unit.factor, &value)) return false;
    *out = value;
    return true;
  }
  return false;
}

bool is_path(std::string_view text) { return text.size() <= kLongestPath && text.find('\0') == std::string_view::npos; }

SetResult set_enum(Options* options, const OptionRow& row, std::string_view text) {
  for (std::size_t i = 0; i < row.value_count; ++i) {
    if (equal_any_case(text, row.values[i])) {
      set_choice(options, row.id, i);
      return SetResult::kSet;
    }
  }
  if (row.otherwise < 0) return SetResult::kRefused;
  set_choice(options, row.id, static_cast<std::size_t>(row.otherwise));
  return SetResult::kOtherwise;
}

SetResult set_list(Options* options, const OptionRow& row, const RawValue& value) {
  std::vector<std::string> items = value.is_sequence ? value.items : split(value.text, row.separators);
  for (const std::string& item : items) {
    if (!is_path(item)) return SetResult::kRefused;
  }
  options->*std::get<std::vector<std::string> Options::*>(row.field) = std::move(items);
  return SetResult::kSet;
}

SetResult set_amount(Options* options, const OptionRow& row, std::string_view text) {
  unsigned long long amount = 0;
  const bool parsed = row.kind == Kind::kSize ? parse_size(text, &amount) : parse_time_ms(text, &amount);
  if (!parsed || amount < static_cast<std::uint64_t>(row.min) || amount > static_cast<std::uint64_t>(row.max)) {
    return SetResult::kRefused;
  }
  options->*std::get<std::uint64_t Options::*>(row.field) = amount;
  return SetResult::kSet;
}

std::string size_text(std::uint64_t size) {
  static constexpr const char* kNames[] = {"", " KiB", " MiB", " GiB", " TiB"};
  std::size_t unit = 0;
  while (size != 0 && size % 1024 == 0 && unit + 1 < sizeof kNames / sizeof kNames[0]) {
    size /= 1024;
    ++unit;
  }
  return std::to_string(size) + kNames[unit];
}

std::string list_text(const std::vector<std::string>& items, const OptionRow& row) {
  if (items.empty()) return row.default_text;
  std::string out;
  for (const std::string& item : items) {
    if (!out.empty()) out += row.separators[0];
    out += item;
  }
  return out;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool equal_any_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

bool parse_size(std::string_view text, unsigned long long* out) { return parse_amount(text, kSizeUnits, out); }
bool parse_time_ms(std::string_view text, unsigned long long* out) { return parse_amount(text, kTimeUnits, out); }

bool parse_bool(std::string_view text, bool* out) {
  text = trimmed(text);
  for (const char* word : {"1", "true", "on", "yes"}) {
    if (equal_any_case(text, word)) {
      *out = true;
      return true;
    }
  }
  for (const char* word : {"0", "false", "off", "no"}) {
    if (equal_any_case(text, word)) {
      *out = false;
      return true;
    }
  }
  return false;
}

bool parse_int(std::string_view text, std::int64_t* out) {
  text = trimmed(text);
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  unsigned long long value = 0;
  if (!take_digits(&text, &value) || !text.empty()) return false;
  if (value > static_cast<unsigned long long>(std::numeric_limits<std::int64_t>::max())) return false;
  *out = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  return true;
}

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> items;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    const std::string_view item = text.substr(0, end);
    if (!trimmed(item).empty()) items.emplace_back(item);
    if (end == std::string_view::npos) return items;
    text.remove_prefix(end + 1);
  }
}

SetResult set_option(Options* options, const OptionRow& row, const RawValue& value, bool negates) {
  if (!value.readable || (value.is_sequence && row.kind != Kind::kList)) return SetResult::kRefused;
  switch (row.kind) {
    case Kind::kBool: {
      bool on = false;
      if (!parse_bool(value.text, &on)) return SetResult::kRefused;
      options->*std::get<bool Options::*>(row.field) = on != negates;
      return SetResult::kSet;
    }
    case Kind::kEnum: return set_enum(options, row, trimmed(value.text));
    case Kind::kSize:
    case Kind::kTimeMs: return set_amount(options, row, value.text);
    case Kind::kInt: {
      std::int64_t number = 0;
      if (!parse_int(value.text, &number) || number < row.min || number > row.max) return SetResult::kRefused;
      options->*std::get<std::int64_t Options::*>(row.field) = number;
      return SetResult::kSet;
    }
    case Kind::kPath:
      if (!is_path(value.text)) return SetResult::kRefused;
      options->*std::get<std::string Options::*>(row.field) = value.text;
      return SetResult::kSet;
    case Kind::kList: return set_list(options, row, value);
  }
  return SetResult::kRefused;
}

std::string value_text(const Options& options, const OptionRow& row, bool negates) {
  switch (row.kind) {
    case Kind::kBool: return options.*std::get<bool Options::*>(row.field) != negates ? "1" : "0";
    case Kind::kEnum: return row.values[choice_of(options, row.id)];
    case Kind::kSize: return size_text(options.*std::get<std::uint64_t Options::*>(row.field));
    case Kind::kTimeMs: return std::to_string(options.*std::get<std::uint64_t Options::*>(row.field)) + " ms";
    case Kind::kInt: return std::to_string(options.*std::get<std::int64_t Options::*>(row.field));
    case Kind::kPath: return options.*std::get<std::string Options::*>(row.field);
    case Kind::kList: return list_text(options.*std::get<std::vector<std::string> Options::*>(row.field), row);
  }
  return {};
}

std::string shown(std::string_view text) {
  const bool cut = text.size() > kLongestShown;
  std::string out(text.substr(0, kLongestShown));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return cut ? out + "..." : out;
}

}  // namespace dft::config
