// SPDX-License-Identifier: MIT
// Purpose: a stand-in for record and session in the tests of api: the same functions, writing to a list that the test
//          reads. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/record.h"
#include "model/trace_format.h"

namespace dft::fake {

struct Record {
  model::RecordKind kind;
  bool instant;
  std::string name;
  std::string cat;
  model::Layer layer;
  bool metadata_event;
  std::vector<std::pair<std::string, std::string>> args;  // values as text: 5 -5 1.5 true "text" relation:<hex>
  std::string arg(const std::string& key) const;          // "" when absent
};

struct State {
  bool enabled = true;     // what a start finds in the configuration
  bool recording = false;  // the first record starts it
  std::uint64_t generation = 0;
  std::vector<Record> records;
  std::vector<std::string> calls;  // of session: "start log dirs pid [bind]", "finish", "used x", "app k v"
  bool throw_in_session = false;
  unsigned site_lookups = 0;
};
extern State state;

void reset();
std::vector<Record> named(const std::string& name);

}  // namespace dft::fake
