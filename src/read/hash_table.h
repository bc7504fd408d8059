// SPDX-License-Identifier: MIT
// Purpose: hash -> name, from FH, HH and SH records of all files read together: a record may stand in another process's
//          file, or behind its use.
// Threads: one owner while filling, any number of readers after.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "read/event.h"

namespace dft::read {

class HashTable {
 public:
  // Takes the record if it is one. Kinds are 'F', 'H', 'S'.
  void add(const Event& event);
  // Null when unknown. Kind '?' looks in files first, then strings, then hosts.
  const std::string* find(char kind, std::string_view hash) const;
  std::size_t size() const { return names_.size(); }

 private:
  std::unordered_map<std::string, std::string> names_;  // kind followed by the hash's text
  const std::string* look(char kind, std::string_view hash) const;
};

}  // namespace dft::read
