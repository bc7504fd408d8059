// SPDX-License-Identifier: MIT
#include "config/config.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "config/names.h"
#include "config/yaml_file.h"

namespace dft::config {
namespace {

constexpr std::string_view kVariablePrefix = "DFTRACER_";
constexpr std::size_t kMostUnknown = 20;  // lines about unknown names in one source

bool is_set(const char* value) { return value != nullptr && !trimmed(value).empty(); }

// Gathers the layers in order, and only when all are known words what was wrong, so that a line can say what is used
// instead.
class Loader {
 public:
  Loader(Lookup lookup, const char* const* environment) : lookup_(lookup), environment_(environment) {
    out_.origins.assign(kOptionCount, Origin::kDefault);
  }

  Loaded run() {
    const char* path = lookup_("DFTRACER_CONFIGURATION");
    if (is_set(path)) apply_file(path);
    apply_environment();
    for (const Refused& refused : refused_) add_note(refused.id == OptionId::kEnable, refused_line(refused));
    for (const OptionRow& row : kOptionRows) note_missing_part(row);
    note_unknown_variables();
    return std::move(out_);
  }

 private:
  struct Refused {
    OptionId id;
    Origin origin;
    std::string what;  // "DFTRACER_CLOCK=x", "job.yaml:3: internal.clock: x"
  };

  // When tracing is off only what may have switched it off is worth a line.
  void add_note(bool when_off, std::string line) {
    const bool wanted = when_off || out_.options.enable;
    (wanted ? out_.notes : out_.muted).push_back(std::move(line));
  }

  void apply_file(const char* path) {
    file_ = shown(path);
    YamlFile file = read_yaml(path);
    if (!file.error.empty()) {
      file_error_ = "cannot use the configuration file " + file_ + ": " + file.error + "; it is ignored";
      return;
    }
    for (const YamlEntry& entry : file.entries) apply_entry(entry);
  }

  void apply_entry(const YamlEntry& entry) {
    const std::string key = canonical_key(entry.key);
    const std::string place = file_ + ":" + std::to_string(entry.line) + ": ";
    const OptionRow* row = row_of_key(key);
    if (row == nullptr) {
      if (!key_is_accepted(key) && !(key_is_section(key) && entry.is_null)) note_unknown_key(place, key, entry.key);
    } else if (!entry.is_null) {
      apply(*row, entry.value, Origin::kFile, false, place + shown(entry.key) + ": " + text_of(entry.value));
    }
  }

  static std::string text_of(const RawValue& value) {
    if (!value.readable) return value.text.empty() ? "a nested structure" : shown(value.text);
    if (!value.is_sequence) return shown(value.text);
    std::string text;
    for (const std::string& item : value.items) text += (text.empty() ? "" : ", ") + item;
    return shown("[" + text + "]");
  }

  // An unknown section is one line, not one for each key in it.
  void note_unknown_key(const std::string& place, std::string_view key, std::string_view written) {
    std::size_t end = key.find('.');
    while (end != std::string_view::npos && key_is_section(key.substr(0, end))) end = key.find('.', end + 1);
    const std::string_view unknown = key.substr(0, end);
    if (std::find(unknown_keys_.begin(), unknown_keys_.end(), unknown) != unknown_keys_.end()) return;
    if (unknown_keys_.size() > kMostUnknown) return;
    unknown_keys_.emplace_back(unknown);
    std::string line = place;
    if (unknown_keys_.size() > kMostUnknown) {
      line += "more unknown keys follow";
    } else if (key_is_section(unknown)) {
      line += shown(written) + " holds keys, not a value; it is ignored";
    } else {
      line += "unknown key " + shown(unknown == key ? written : unknown) + " is ignored";
      const std::string_view near = nearest_key(unknown);
      if (!near.empty()) line += "; did you mean " + std::string(near) + "?";
    }
    key_lines_.push_back(std::move(line));
  }

  void apply_environment() {
    for (const OptionRow& row : kOptionRows) {
      const char* value = lookup_(row.env);
      if (!is_set(value)) continue;
      apply(row, RawValue{value, {}, false, true}, Origin::kEnvironment, row.env_negates,
            std::string(row.env) + "=" + shown(value));
    }
    if (!file_error_.empty()) add_note(true, std::move(file_error_));
    for (std::string& line : key_lines_) add_note(false, std::move(line));
  }

  void apply(const OptionRow& row, const RawValue& value, Origin origin, bool negates, std::string what) {
    const auto index = static_cast<std::size_t>(row.id);
    const SetResult result = set_option(&out_.options, row, value, negates);
    if (result != SetResult::kRefused) {
      out_.origins[index] = origin;
      places_[index] = what;
    }
    if (result != SetResult::kSet && !already_refused(row.id, origin)) {
      refused_.push_back({row.id, origin, std::move(what)});
    }
  }

  // A file that repeats one wrong key a thousand times is one line.
  bool already_refused(OptionId id, Origin origin) const {
    return std::any_of(refused_.begin(), refused_.end(),
                       [&](const Refused& refused) { return refused.id == id && refused.origin == origin; });
  }

  std::string refused_line(const Refused& refused) const {
    const OptionRow& row = row_of(refused.id);
    const auto index = static_cast<std::size_t>(refused.id);
    std::string line = refused.what + " is not valid; accepted: " + row.accepted + "; ";
    const bool negated = refused.origin == Origin::kEnvironment && row.env_negates;
    const std::string used = shown(value_text(out_.options, row, negated));
    if (places_[index] == refused.what) return line + used + " is used";
    switch (out_.origins[index]) {
      case Origin::kDefault: return line + "the default " + (used.empty() ? "(empty)" : used) + " is used";
      case Origin::kFile: return line + used + " from " + file_ + " is used";
      case Origin::kEnvironment: return line + used + " from the environment is used";
    }
    return line;
  }

  void note_missing_part(const OptionRow& row) {
    const auto index = static_cast<std::size_t>(row.id);
    if (row.needs[0] == '\0' || out_.origins[index] == Origin::kDefault) return;
    if (row.needs_quiet[0] != '\0' && value_text(out_.options, row) == row.needs_quiet) return;
    add_note(false, places_[index] + " has no effect: this build does not have " + row.needs + " yet");
  }

  void note_unknown_variables() {
    std::size_t unknown = 0;
    for (const char* const* entry = environment_; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      const std::string_view name = text.substr(0, text.find('='));
      if (name.substr(0, kVariablePrefix.size()) != kVariablePrefix || variable_is_known(name)) continue;
      if (++unknown > kMostUnknown) continue;
      const std::string_view near = nearest_variable(name);
      add_note(false, shown(name) + " is not a variable of the tracer" +
                          (near.empty() ? "; it is ignored" : "; did you mean " + std::string(near) + "?"));
    }
    if (unknown > kMostUnknown) {
      add_note(false, std::to_string(unknown - kMostUnknown) + " more unknown DFTRACER_ variables are ignored");
    }
  }

  Lookup lookup_;
  const char* const* environment_;
  Loaded out_;
  std::string file_;                                // as shown in lines
  std::string file_error_;                          // for add_note, once `enable` is known
  std::vector<std::string> key_lines_;              // likewise
  std::vector<std::string> unknown_keys_;           // already told
  std::array<std::string, kOptionCount> places_{};  // where the value in force was written
  std::vector<Refused> refused_;
};

}  // namespace

const char* process_environment(const char* name) { return std::getenv(name); }

std::string_view origin_name(Origin origin) {
  switch (origin) {
    case Origin::kDefault: return "default";
    case Origin::kFile: return "file";
    case Origin::kEnvironment: return "environment";
  }
  return "default";
}

bool maybe_enabled(Lookup lookup) noexcept {
  const char* enable = lookup("DFTRACER_ENABLE");
  if (is_set(enable)) {
    bool on = false;
    // A value that is neither yes nor no lets load() through, which says so.
    if (!parse_bool(enable, &on) || on) return true;
    return false;
  }
  return is_set(lookup("DFTRACER_CONFIGURATION"));
}

Loaded load(Lookup lookup, const char* const* environment) noexcept {
  try {
    return Loader(lookup, environment).run();
  } catch (...) {
    return Loaded{};  // no memory: off, without a word, as everything else would fail too
  }
}

bool means_all_files(const std::vector<std::string>& data_dirs) {
  return data_dirs.empty() || std::find(data_dirs.begin(), data_dirs.end(), "all") != data_dirs.end();
}

std::string value_of(const Options& options, std::string_view variable) {
  const OptionRow* row = row_of_variable(variable);
  return row == nullptr ? std::string() : value_text(options, *row, row->env_negates);
}

}  // namespace dft::config
