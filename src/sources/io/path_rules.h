// SPDX-License-Identifier: MIT
// Purpose: the filter's rules as they lie in memory: a tree of path components whose edges stand in one hash table.
// Threads: written by the thread that builds it, then constant.
// Invariants: offsets only, no pointers besides the three below, which lie in the same mapping; node 0 is the root `/`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dft::io {

enum class Rule : std::uint8_t { kInherit, kInclude, kExclude, kBuiltInExclude };

struct RuleNode {
  Rule rule;
  bool has_children;
};

// A component of a path: where it ends, and a hash of its bytes.
struct PathComponent {
  std::string_view text;
  std::uint64_t hash;
};
// REQUIRES: at < path.size().
PathComponent component_at(std::string_view path, std::size_t at);

struct RuleEdge {
  std::uint32_t hash;
  std::uint32_t parent;
  std::uint32_t child;  // 0: an empty slot
  std::uint32_t text;   // offset of the component
  std::uint32_t size;
};

struct PathRules {
  bool trace_all;
  std::uint32_t node_count;
  std::uint32_t edge_mask;
  RuleNode* nodes;
  RuleEdge* edges;
  char* text;
  std::string_view own_traces[2];  // as given and with links resolved

  static PathRules* make(std::size_t nodes, std::string_view text);                 // null when memory is refused
  std::uint32_t child(std::uint32_t parent, const PathComponent& component) const;  // 0: none
  // The node of a path whose bytes lie in `text`, made when new.
  std::uint32_t node_of(std::string_view path);

 private:
  std::uint32_t add_child(std::uint32_t parent, const PathComponent& component);
};

}  // namespace dft::io
