// SPDX-License-Identifier: MIT
// Purpose: reads the configuration once: built-in defaults < YAML file (DFTRACER_CONFIGURATION) < environment.
//          The options themselves are generated from spec/options.toml into config/options.gen.h (struct Options).
// Threads: load() on one thread at start; the result is plain data that flows down.
// Errors: never fails. Each wrong value is one line naming variable or key, value and what is accepted, and the default
//         (or the lower layer's value) stays. A broken or missing file is one line; the application goes on.
// See: docs/configuration.md
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/options.gen.h"

namespace dft::config {

// Looks up an environment variable; null when unset. Injected so that tests need no setenv.
using Lookup = const char* (*)(const char* name);
const char* process_environment(const char* name);

// Where a value came from, for `dftracer config`.
enum class Origin : unsigned char { kDefault, kFile, kEnvironment };
std::string_view origin_name(Origin origin);

struct Loaded {
  Options options;
  std::vector<Origin> origins;     // one per option, in table order (OptionId); empty when memory ran out
  std::vector<std::string> notes;  // the lines for stderr, without the "dftracer: " in front
  std::vector<std::string> muted;  // lines that nobody needs because tracing is off; only `dftracer config` shows them
};

// Cheap pre-check for the library constructor: looks at DFTRACER_ENABLE and DFTRACER_CONFIGURATION only, and takes no
// memory. False: the process is off, nothing else happens. True: load() decides.
bool maybe_enabled(Lookup lookup) noexcept;

// `environment`: null-terminated NAME=VALUE strings (as `environ`) that are looked through for misspelt variables; null
// leaves that out.
Loaded load(Lookup lookup, const char* const* environment = nullptr) noexcept;

// True when a list of data directories means every file: it is empty or has the entry `all`.
bool means_all_files(const std::vector<std::string>& data_dirs);

// The value of an option as text, by its variable's name and in the variable's sense; empty for unknown names.
std::string value_of(const Options& options, std::string_view variable);

// The effective configuration for `dftracer config`: an aligned table, or one JSON object
// {"options":[{"name","key","value","origin","default","accepted","meaning","needs"}],"notes":[...]}.
std::string render_text(const Loaded& loaded);
std::string render_json(const Loaded& loaded);

// "16M", "4 KiB", "1GB", "100ms", "2s", "1m", plain numbers; false, and *out unchanged, on anything else. Sizes in
// bytes (K, KB and KiB are all 1024, likewise M, G, T), times in milliseconds (ms, s, m or min, h).
bool parse_size(std::string_view text, unsigned long long* out);
bool parse_time_ms(std::string_view text, unsigned long long* out);
// 1 true on yes / 0 false off no, any case.
bool parse_bool(std::string_view text, bool* out);

}  // namespace dft::config
