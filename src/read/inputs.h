// SPDX-License-Identifier: MIT
// Purpose: what the user names (files, folders, prefixes) -> the trace files meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dft::read {

struct Inputs {
  std::vector<std::string> files;   // sorted within each argument, none twice
  std::vector<std::string> errors;  // "NAME: reason", for arguments that name nothing
};

// A file is taken as it is. A folder gives its *.pfw* files (not those of folders below). Anything else is a prefix:
// `./trace` gives ./trace-*.pfw*, ./trace_*.pfw*, ./trace.pfw*. `suffix` other than ".pfw" looks for other files beside
// traces (crash files).
Inputs find_inputs(const std::vector<std::string>& arguments, std::string_view suffix = ".pfw");

// `<path>` without .pfw.gz or .pfw.
std::string trace_base(std::string_view path);

}  // namespace dft::read
