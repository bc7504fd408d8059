// SPDX-License-Identifier: MIT
// Purpose: reads the configuration once: built-in defaults < YAML file (DFTRACER_CONFIGURATION) < environment.
//          The options themselves are generated from spec/options.toml into config/options.gen.h (struct Options).
// Threads: load() on one thread at start; the result is plain data that flows down.
// Errors: never fails. Each wrong value is one line on stderr naming variable or key, value and what is accepted, and
// the
//         default (or the lower layer's value) stays. A broken or missing file is one line; the application goes on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/options.gen.h"

namespace dft::config {

// Looks up an environment variable; null when unset. Injected so that tests need no setenv.
using Lookup = const char* (*)(const char* name);

// Where a value came from, for `dftracer config`.
enum class Origin : unsigned char { kDefault, kFile, kEnvironment };

struct Loaded {
  Options options;
  std::vector<Origin> origins;     // one per option, in table order
  std::vector<std::string> notes;  // the lines for stderr, without the "dftracer: " in front
};

// Cheap pre-check for the library constructor: looks at DFTRACER_ENABLE and DFTRACER_CONFIGURATION only. False: the
// process is off, nothing else happens. True: load() decides.
bool maybe_enabled(Lookup lookup);

Loaded load(Lookup lookup);

// "16M", "4 KiB", "100ms", "2s", plain numbers; empty result on anything else. Sizes in bytes (K, M, G binary; KB..
// decimal are accepted as binary too, documented), times in milliseconds.
bool parse_size(std::string_view text, unsigned long long* out);
bool parse_time_ms(std::string_view text, unsigned long long* out);
// 1 true on yes / 0 false off no, any case.
bool parse_bool(std::string_view text, bool* out);

}  // namespace dft::config
