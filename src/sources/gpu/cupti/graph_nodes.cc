// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/graph_nodes.h"

#include <algorithm>
#include <atomic>

namespace dft::gpu::cupti {

namespace {

// The graphs that were created last on a thread, oldest first, and the nodes cloned into each.
struct Recent {
  static constexpr unsigned kMost = 64;
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

// A thread's place from the first graph that it creates to the executable one. Static storage of threads is scarce, so
// the places are the process's: a thread that has made graphs only to clone them loses its place to one that needs it.
// Nobody waits for another.
struct Place {
  std::atomic<std::uint32_t> owner{0};  // its number twice, plus one while it works here; 0: nobody's
  Recent recent;
};
constexpr std::uint32_t kPlaces = 32;
Place places[kPlaces];
std::atomic<std::uint32_t> threads{0};
__thread std::uint32_t my_number, my_place;  // number 0: none

bool take(std::uint32_t place, std::uint32_t from) {
  return places[place].owner.compare_exchange_strong(from, my_number * 2 + 1, std::memory_order_acquire,
                                                     std::memory_order_relaxed);
}

Recent* take_any() {
  my_number = (threads.fetch_add(1, std::memory_order_relaxed) & 0x3fffffff) + 1;
  for (const bool free : {true, false}) {
    for (std::uint32_t i = 0; i < kPlaces; ++i) {
      const std::uint32_t place = (my_number + i) % kPlaces;
      const std::uint32_t owner = free ? 0 : places[place].owner.load(std::memory_order_relaxed);
      if (owner % 2 != 0 || !take(place, owner)) continue;
      my_place = place;
      places[place].recent.count = 0;
      return &places[place].recent;
    }
  }
  my_number = 0;
  return nullptr;
}

Recent* begin(bool anew) {
  if (my_number != 0 && take(my_place, my_number * 2)) return &places[my_place].recent;
  my_number = 0;
  return anew ? take_any() : nullptr;
}
void end(bool keep) {
  places[my_place].owner.store(keep ? my_number * 2 : 0, std::memory_order_release);
  if (!keep) my_number = 0;
}

bool id_of(CUgraphExec exec, const Functions& functions, std::uint32_t* id) {
  if (functions.graph_exec_id != nullptr) return functions.graph_exec_id(exec, id) == CUPTI_SUCCESS;
  // Before 12.3. REQUIRES: the address of a graph that CUPTI has told of.
  if (functions.graph_id == nullptr) return false;
  return functions.graph_id(reinterpret_cast<CUgraph>(exec), id) == CUPTI_SUCCESS;
}

}  // namespace

void count_graph_nodes(std::uint32_t callback, const GraphData& data, const Functions& functions, GraphSizes& sizes) {
  Recent* recent = begin(callback == kGraphCreated);
  if (recent == nullptr) return;
  if (callback == kGraphCreated) {
    recent->add(data.graph);
  } else if (callback == kGraphNodeCloned) {
    const std::uint32_t at = recent->find(data.graph);
    if (at != recent->count) ++recent->nodes[at];
  } else if (callback == kGraphExecCreated) {
    const std::uint32_t at = recent->find(data.exec);
    std::uint32_t id = 0;
    if (at != recent->count && id_of(data.exec, functions, &id)) sizes.put({id, recent->nodes_from(at)});
  }
  end(callback != kGraphExecCreated);
}

}  // namespace dft::gpu::cupti
