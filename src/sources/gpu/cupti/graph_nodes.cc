// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/graph_nodes.h"

#include <algorithm>

namespace dft::gpu::cupti {

namespace {

// The graphs that were created last on a thread, oldest first, and the nodes cloned into each.
struct Recent {
  static constexpr unsigned kMost = 12;  // space in the thread's static storage is scarce
  const void* graphs[kMost];
  std::uint32_t nodes[kMost];
  std::uint32_t count;

  void add(const void* graph) {
    if (count == kMost) {
      --count;
      std::copy(graphs + 1, graphs + kMost, graphs);
      std::copy(nodes + 1, nodes + kMost, nodes);
    }
    graphs[count] = graph;
    nodes[count++] = 0;
  }
  std::uint32_t find(const void* graph) const {  // the last at that address; `count`: none
    std::uint32_t at = count;
    while (at != 0 && graphs[at - 1] != graph) --at;
    return at != 0 ? at - 1 : count;
  }
  std::uint32_t nodes_from(std::uint32_t first) const {
    std::uint32_t sum = nodes[first];
    for (std::uint32_t at = first + 1; at < count; ++at) {
      if (nodes[at] != 0) sum += nodes[at] - 1;  // the node that holds this graph has been counted in its own
    }
    return sum;
  }
};
__thread Recent recent;

bool id_of(CUgraphExec exec, const Functions& functions, std::uint32_t* id) {
  if (functions.graph_exec_id != nullptr) return functions.graph_exec_id(exec, id) == CUPTI_SUCCESS;
  // Before 12.3. REQUIRES: the address of a graph that CUPTI has told of.
  if (functions.graph_id == nullptr) return false;
  return functions.graph_id(reinterpret_cast<CUgraph>(exec), id) == CUPTI_SUCCESS;
}

}  // namespace

void count_graph_nodes(std::uint32_t callback, const GraphData& data, const Functions& functions, GraphSizes& sizes) {
  if (callback == kGraphCreated) {
    recent.add(data.graph);
  } else if (callback == kGraphNodeCloned) {
    const std::uint32_t at = recent.find(data.graph);
    if (at != recent.count) ++recent.nodes[at];
  } else if (callback == kGraphExecCreated) {
    const std::uint32_t at = recent.find(data.exec);
    std::uint32_t id = 0;
    if (at != recent.count && id_of(data.exec, functions, &id)) sizes.put({id, recent.nodes_from(at)});
    recent.count = 0;
  }
}

}  // namespace dft::gpu::cupti
