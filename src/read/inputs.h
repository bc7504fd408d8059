// SPDX-License-Identifier: MIT
// Purpose: what the user names (files, folders, prefixes) -> the trace files meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dft::read {

// A damaged trace that `dftracer recover` made a whole one from, beside it.
struct Replaced {
  std::string damaged;
  std::string recovered;
};

struct Inputs {
  std::vector<std::string> files;   // sorted within each argument, none twice
  std::vector<std::string> errors;  // "NAME: reason", for arguments that name nothing
  std::vector<Replaced> replaced;   // left out of `files`, since what was recovered from them is there
};

// A file is taken as it is, but an index (`folder/*` names it too) stands for its trace. Folders and prefixes leave out
// a trace whose recovered one is there too, so that no event counts twice. A folder gives its *.pfw* files (not those
// of folders below), or, when it has none, what its name gives as a prefix. Anything else is a prefix:
// `./trace` gives ./trace-*.pfw*, ./trace_*.pfw*, ./trace.pfw*. `suffix` other than ".pfw" looks for other files beside
// traces (crash files).
Inputs find_inputs(const std::vector<std::string>& arguments, std::string_view suffix = ".pfw");

// The files of a prefix alone, also where a file or folder has its name: what a run with this prefix writes.
std::vector<std::string> files_of_prefix(const std::string& prefix, std::string_view suffix);

// Where what is recovered from a damaged trace goes: `<path without .pfw[.gz]>-recovered.pfw.gz`.
std::string recovered_name(std::string_view trace);

// `<path>` without .pfw.gz or .pfw.
std::string trace_base(std::string_view path);

}  // namespace dft::read
