// SPDX-License-Identifier: MIT
#include "sources/io/path_rules.h"

#include <cstring>
#include <new>

#include "base/raw_io.h"
#include "model/record.h"
#include "sources/io/path_name.h"

namespace dft::io {

namespace {
std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 32);
}
std::uint32_t edge_hash(std::uint32_t parent, const PathComponent& component) {
  return static_cast<std::uint32_t>(mixed(component.hash, parent));
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

PathComponent component_at(std::string_view path, std::size_t at) {
  const std::size_t begin = at;
  std::uint64_t hash = 0x9e3779b97f4a7c15ull;
  while (true) {
    std::uint64_t word = model::leading_word(path.data() + at, path.size() - at);
    const std::uint64_t slashes = bytes_equal(word, '/');
    const std::size_t left = path.size() - at;
    std::size_t used = left < 8 ? left : 8;
    if (slashes != 0) {
      used = static_cast<std::size_t>(__builtin_ctzll(slashes)) / 8;
      word = used == 0 ? 0 : word & (~std::uint64_t{0} >> (64 - 8 * used));
    }
    hash = mixed(hash, word);
    at += used;
    if (slashes != 0 || at == path.size()) return {path.substr(begin, at - begin), hash};
  }
}

std::uint32_t PathRules::child(std::uint32_t parent, const PathComponent& component) const {
  const std::uint32_t hash = edge_hash(parent, component);
  for (std::uint32_t at = hash;; ++at) {
    const RuleEdge& edge = edges[at & edge_mask];
    if (edge.child == 0) return 0;
    if (edge.hash == hash && edge.parent == parent && component.text == std::string_view(text + edge.text, edge.size)) {
      return edge.child;
    }
  }
}

std::uint32_t PathRules::add_child(std::uint32_t parent, const PathComponent& component) {
  const std::uint32_t hash = edge_hash(parent, component);
  std::uint32_t at = hash;
  while (edges[at & edge_mask].child != 0) ++at;
  const auto offset = static_cast<std::uint32_t>(component.text.data() - text);
  edges[at & edge_mask] = {hash, parent, node_count, offset, static_cast<std::uint32_t>(component.text.size())};
  nodes[parent].has_children = true;
  return node_count++;
}

std::uint32_t PathRules::node_of(std::string_view path) {
  std::uint32_t node = 0;
  for (std::size_t at = 1; at < path.size();) {
    const PathComponent component = component_at(path, at);
    const std::uint32_t known = child(node, component);
    node = known != 0 ? known : add_child(node, component);
    at += component.text.size() + 1;
  }
  return node;
}

}  // namespace dft::io
