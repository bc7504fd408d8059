// SPDX-License-Identifier: MIT
// Purpose: an environment and a configuration file for tests.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace dft::config {

// While it lives, lookup() answers from it. One at a time.
class FakeEnvironment {
 public:
  explicit FakeEnvironment(std::map<std::string, std::string> variables) : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_) {
      entries_.push_back(name);
      entries_.back().append("=").append(value);
    }
    for (const std::string& entry : entries_) environ_.push_back(entry.c_str());
    environ_.push_back(nullptr);
    current_ = this;
  }
  ~FakeEnvironment() { current_ = nullptr; }
  FakeEnvironment(const FakeEnvironment&) = delete;
  FakeEnvironment& operator=(const FakeEnvironment&) = delete;

  static const char* lookup(const char* name) {
    const auto found = current_->variables_.find(name);
    return found == current_->variables_.end() ? nullptr : found->second.c_str();
  }
  const char* const* entries() const { return environ_.data(); }

 private:
  static inline FakeEnvironment* current_ = nullptr;
  std::map<std::string, std::string> variables_;
  std::vector<std::string> entries_;
  std::vector<const char*> environ_;
};

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content) {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder == nullptr ? "/tmp" : folder) + "/dftracer_config_XXXXXX";
    const int fd = ::mkstemp(path_.data());
    if (fd >= 0) ::close(fd);
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline Loaded load_with(std::map<std::string, std::string> variables) {
  const FakeEnvironment environment(std::move(variables));
  return load(&FakeEnvironment::lookup, environment.entries());
}

// Loads `yaml` as the configuration file; "FILE" stands for its name in the lines that come back.
inline Loaded load_file(std::string_view yaml, std::map<std::string, std::string> variables = {}) {
  const TemporaryFile file(yaml);
  variables["DFTRACER_CONFIGURATION"] = file.path();
  Loaded loaded = load_with(std::move(variables));
  for (std::vector<std::string>* lines : {&loaded.notes, &loaded.muted}) {
    for (std::string& line : *lines) {
      for (std::size_t at; (at = line.find(file.path())) != std::string::npos;) {
        line.replace(at, file.path().size(), "FILE");
      }
    }
  }
  return loaded;
}

}  // namespace dft::config
