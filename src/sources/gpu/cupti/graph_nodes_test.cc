// SPDX-License-Identifier: MIT
// The sequences are those that CUPTI gave on an H200.
#include "sources/gpu/cupti/graph_nodes.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace dft::gpu::cupti {
namespace {

// A handle whose address is its id.
CUgraph graph(std::uintptr_t id) { return reinterpret_cast<CUgraph>(id); }
CUptiResult id_of_exec(CUgraphExec exec, std::uint32_t* id) {
  *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(exec));
  return CUPTI_SUCCESS;
}
CUptiResult id_of_graph(CUgraph one, std::uint32_t* id) {
  *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(one));
  return CUPTI_SUCCESS;
}

class GraphNodesTest : public testing::Test {
 protected:
  GraphNodesTest() { functions_.graph_exec_id = &id_of_exec; }
  void created(std::uintptr_t id) { tell(kGraphCreated, id); }
  void cloned(std::uintptr_t id, int nodes) {
    for (int i = 0; i < nodes; ++i) tell(kGraphNodeCloned, id);
  }
  void executable(std::uintptr_t id) {
    GraphData data{};
    data.exec = reinterpret_cast<CUgraphExec>(id);
    count_graph_nodes(kGraphExecCreated, data, functions_, sizes_);
  }
  void tell(GraphCallback callback, std::uintptr_t id) {
    GraphData data{};
    data.graph = graph(id);
    count_graph_nodes(callback, data, functions_, sizes_);
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> told() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
    sizes_.drain([&](GraphSize size) { all.emplace_back(size.graph, size.nodes); });
    return all;
  }
  using Told = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  Functions functions_;
  GraphSizes sizes_;
};

TEST_F(GraphNodesTest, TheExecutableGraphHasTheNodesThatWereClonedIntoIt) {
  created(1);
  created(2), cloned(2, 3), created(3), executable(2);
  created(4), cloned(4, 3), created(5), executable(4);
  EXPECT_EQ(told(), (Told{{2, 3}, {4, 3}}));
}

TEST_F(GraphNodesTest, ChildGraphsCountByTheirNodes) {
  created(9), created(10), cloned(10, 3);  // added to 9
  created(11), cloned(11, 1), created(12), cloned(12, 3), cloned(11, 1), created(13), created(14), executable(11);
  EXPECT_EQ(told(), (Told{{11, 4}}));
}

TEST_F(GraphNodesTest, AChildGraphInAChildGraphIsNoNodeEither) {
  created(1), created(2), created(3), cloned(3, 5), cloned(2, 1), cloned(1, 1), executable(1);
  EXPECT_EQ(told(), (Told{{1, 5}}));
}

TEST_F(GraphNodesTest, AClonedGraphIsNotPartOfTheNextOne) {
  created(15), cloned(15, 3);
  created(16), cloned(16, 2), executable(16);
  EXPECT_EQ(told(), (Told{{16, 2}}));
}

TEST_F(GraphNodesTest, WhatIsNotSureIsNotTold) {
  cloned(7, 3), executable(7);  // its creation was not seen
  created(8);
  for (std::uintptr_t child = 100; child < 170; ++child) created(child), cloned(child, 1);
  executable(8);
  EXPECT_EQ(told(), Told{});
}

TEST_F(GraphNodesTest, BeforeTwelveThreeTheIdIsThatOfTheGraphAtTheAddress) {
  functions_.graph_exec_id = nullptr;
  created(2), cloned(2, 3), executable(2);
  EXPECT_EQ(told(), Told{});
  functions_.graph_id = &id_of_graph;
  created(4), cloned(4, 3), executable(4);
  EXPECT_EQ(told(), (Told{{4, 3}}));
}

TEST_F(GraphNodesTest, ThreadsCountForThemselves) {
  created(2), cloned(2, 1);
  std::thread other([&] { created(3), cloned(3, 7), executable(3); });
  other.join();
  cloned(2, 1), executable(2);
  EXPECT_EQ(told(), (Told{{3, 7}, {2, 2}}));
}

TEST_F(GraphNodesTest, ThreadsThatMakeNothingExecutableTakeNoPlaceFromOthers) {
  for (int i = 0; i < 100; ++i) std::thread([&] { created(2), cloned(2, 1); }).join();
  created(3), cloned(3, 2), executable(3);
  EXPECT_EQ(told(), (Told{{3, 2}}));
}

TEST_F(GraphNodesTest, ManyThreadsAtOnceGetTheirOwnNumbersOrNone) {
  std::vector<std::thread> threads;
  for (std::uintptr_t id = 1; id <= 48; ++id) {
    threads.emplace_back([this, id] {
      for (std::uintptr_t round = 0; round < 50; ++round) {
        const std::uintptr_t mine = round * 64 + id;
        created(mine), cloned(mine, static_cast<int>(id)), executable(mine);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Told all = told();
  EXPECT_GT(all.size(), 0u);
  for (const auto& [graph, nodes] : all) EXPECT_EQ(nodes, graph % 64);
}

TEST_F(GraphNodesTest, ManyGraphsBetweenTwoLooksAreBounded) {
  for (std::uint32_t id = 1; id <= GraphSizes::kSlots; ++id) EXPECT_TRUE(sizes_.put({id, 1}));
  EXPECT_FALSE(sizes_.put({9999, 1}));
  EXPECT_EQ(told().size(), GraphSizes::kSlots);
  EXPECT_TRUE(sizes_.put({5, 6}));
  EXPECT_EQ(told(), (Told{{5, 6}}));
}

}  // namespace
}  // namespace dft::gpu::cupti
