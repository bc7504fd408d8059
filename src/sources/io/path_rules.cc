// SPDX-License-Identifier: MIT
#include "sources/io/path_rules.h"

#include <cstring>
#include <new>

#include "base/hash.h"
#include "base/raw_io.h"

namespace dft::io {

namespace {
std::uint64_t edge_hash(std::uint32_t parent, std::string_view component) {
  return base::table_hash(component) + parent * 0x9e3779b97f4a7c15ull;
}
constexpr std::size_t rounded_up(std::size_t size) { return (size + 15) & ~std::size_t{15}; }
}  // namespace

PathRules* PathRules::make(std::size_t nodes, std::string_view text) {
  std::size_t slots = 16;
  while (slots < nodes * 2) slots *= 2;
  const std::size_t nodes_at = rounded_up(sizeof(PathRules));
  const std::size_t edges_at = nodes_at + rounded_up(nodes * sizeof(RuleNode));
  const std::size_t text_at = edges_at + slots * sizeof(RuleEdge);
  if (slots > UINT32_MAX / 2 || text.size() > UINT32_MAX) return nullptr;
  char* memory = static_cast<char*>(base::raw::map(text_at + text.size()));
  if (memory == nullptr) return nullptr;
  auto* rules = ::new (memory) PathRules{};
  rules->node_count = 1;
  rules->edge_mask = static_cast<std::uint32_t>(slots - 1);
  rules->nodes = reinterpret_cast<RuleNode*>(memory + nodes_at);
  rules->edges = reinterpret_cast<RuleEdge*>(memory + edges_at);
  rules->text = memory + text_at;
  if (!text.empty()) std::memcpy(rules->text, text.data(), text.size());
  return rules;
}

std::uint32_t PathRules::child(std::uint32_t parent, std::string_view component) const {
  for (std::uint64_t at = edge_hash(parent, component);; ++at) {
    const RuleEdge& edge = edges[at & edge_mask];
    if (edge.child == 0) return 0;
    if (edge.parent == parent && component == std::string_view(text + edge.text, edge.size)) return edge.child;
  }
}

std::uint32_t PathRules::add_child(std::uint32_t parent, std::string_view component) {
  std::uint64_t at = edge_hash(parent, component);
  while (edges[at & edge_mask].child != 0) ++at;
  const auto offset = static_cast<std::uint32_t>(component.data() - text);
  edges[at & edge_mask] = {parent, node_count, offset, static_cast<std::uint32_t>(component.size())};
  nodes[parent].has_children = true;
  return node_count++;
}

std::uint32_t PathRules::node_of(std::string_view path) {
  std::uint32_t node = 0;
  for (std::size_t at = 1; at < path.size();) {
    std::size_t end = path.find('/', at);
    if (end == std::string_view::npos) end = path.size();
    const std::string_view component = path.substr(at, end - at);
    const std::uint32_t known = child(node, component);
    node = known != 0 ? known : add_child(node, component);
    at = end + 1;
  }
  return node;
}

}  // namespace dft::io
