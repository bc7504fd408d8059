// SPDX-License-Identifier: MIT
// Purpose: what `dftracer run` can tell about a program before it starts it: where it is, and whether the dynamic
//          loader will take our library into it.
#pragma once

#include <string>

namespace dft::tools {

struct Program {
  std::string path;          // as found by the rules of execvp
  int status = 0;            // 0, or 127 (not found), 126 (not executable), as a shell says it
  std::string why_untraced;  // empty when it can be traced by preloading
};
Program find_program(const std::string& name, const char* search_path);

// Where the library to preload lies, seen from the command itself; empty when it is in none of the usual places.
std::string find_library(const std::string& file_name);

}  // namespace dft::tools
