// SPDX-License-Identifier: MIT
#include "read/inputs.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "model/trace_format.h"

namespace dft::read {
namespace {

namespace fs = std::filesystem;

bool ends_with(std::string_view text, std::string_view tail) {
  return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail;
}

// Traces are named *.pfw or *.pfw.<anything>; a name that only contains .pfw within another word is not one.
bool has_suffix(std::string_view name, std::string_view suffix) {
  const std::size_t at = name.rfind(suffix);
  if (at == std::string_view::npos || at == 0) return false;
  const std::string_view rest = name.substr(at + suffix.size());
  return rest.empty() || rest == ".gz";
}

bool continues_prefix(std::string_view name, std::string_view prefix) {
  if (name.substr(0, prefix.size()) != prefix) return false;
  const std::string_view rest = name.substr(prefix.size());
  return !rest.empty() && (rest[0] == '-' || rest[0] == '_' || rest[0] == '.');
}

std::vector<std::string> list(const fs::path& folder, std::string_view prefix, std::string_view suffix,
                              std::string& why) {
  std::vector<std::string> found;
  std::error_code error;
  fs::directory_iterator entries(folder.empty() ? fs::path(".") : folder, error);
  if (error) {
    why = error.message();
    return found;
  }
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (!has_suffix(name, suffix) || (!prefix.empty() && !continues_prefix(name, prefix))) continue;
    found.push_back((folder / name).string());
    if (error) break;
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool is_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

bool is_index(std::string_view path) { return ends_with(path, model::kIndexSuffix); }

// Empty when it is not there.
std::string trace_of_index(std::string_view index) {
  const std::string base(index.substr(0, index.size() - model::kIndexSuffix.size()));
  for (const std::string_view suffix : {model::kTraceSuffixGz, model::kTraceSuffixPlain}) {
    std::string trace = base + std::string(suffix);
    if (is_file(trace)) return trace;
  }
  return {};
}

// `found` is sorted.
void leave_out_replaced(std::vector<std::string>& found, std::vector<Replaced>& replaced) {
  std::vector<std::string> kept;
  for (std::string& file : found) {
    std::string recovered = recovered_name(file);
    if (std::binary_search(found.begin(), found.end(), recovered)) {
      replaced.push_back({file, std::move(recovered)});
    } else {
      kept.push_back(file);
    }
  }
  found = std::move(kept);
}

}  // namespace

std::string recovered_name(std::string_view trace) {
  return trace_base(trace) + "-recovered" + std::string(model::kTraceSuffixGz);
}

std::string trace_base(std::string_view path) {
  for (const std::string_view tail : {model::kTraceSuffixGz, model::kTraceSuffixPlain, model::kCrashFileSuffix}) {
    if (ends_with(path, tail)) return std::string(path.substr(0, path.size() - tail.size()));
  }
  return std::string(path);
}

std::vector<std::string> files_of_prefix(const std::string& prefix, std::string_view suffix) {
  const fs::path path(prefix);
  std::string why;
  return list(path.parent_path(), path.filename().string(), suffix, why);
}

Inputs find_inputs(const std::vector<std::string>& arguments, std::string_view suffix) {
  Inputs inputs;
  std::set<std::string> seen;
  for (const std::string& argument : arguments) {
    struct stat info {};
    const bool exists = ::stat(argument.c_str(), &info) == 0;
    std::vector<std::string> found;
    std::string why;
    if (exists && S_ISREG(info.st_mode) && is_index(argument)) {
      std::string trace = trace_of_index(argument);
      if (!trace.empty()) found.push_back(std::move(trace));
      why = "an index, and its trace is not there";
    } else if (exists && !S_ISDIR(info.st_mode)) {
      found.push_back(argument);
    } else if (exists) {
      found = list(argument, "", suffix, why);
      if (found.empty() && why.empty()) found = files_of_prefix(argument, suffix);
      if (why.empty()) why = "no " + std::string(suffix) + " file in this folder";
    } else {
      const fs::path path(argument);
      found = list(path.parent_path(), path.filename().string(), suffix, why);
      why = "no such file, folder or prefix of a trace";
    }
    if (found.empty()) inputs.errors.push_back(argument + ": " + why);
    if (found.size() > 1) leave_out_replaced(found, inputs.replaced);
    for (std::string& file : found) {
      if (seen.insert(file).second) inputs.files.push_back(std::move(file));
    }
  }
  return inputs;
}

}  // namespace dft::read
