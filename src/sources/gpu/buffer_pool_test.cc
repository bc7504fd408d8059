// SPDX-License-Identifier: MIT
#include "sources/gpu/buffer_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace dft::gpu {
namespace {

TEST(BufferPool, RefusesAtTheLimitAndCounts) {
  BufferPool pool;
  ASSERT_TRUE(pool.reserve(4096, 3 * 4096, nullptr));
  std::set<void*> taken;
  for (int i = 0; i < 3; ++i) taken.insert(pool.take());
  EXPECT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken.count(nullptr), 0u);
  EXPECT_EQ(pool.take(), nullptr);
  EXPECT_EQ(pool.take_refused(), 1u);
  EXPECT_EQ(pool.take_refused(), 0u);
}

TEST(BufferPool, HandsBackInOrderAndReusesZeroed) {
  BufferPool pool;
  ASSERT_TRUE(pool.reserve(4096, 2 * 4096, nullptr));
  unsigned char* a = pool.take();
  unsigned char* b = pool.take();
  a[0] = 1;
  b[0] = 2;
  EXPECT_TRUE(pool.push(b, 100, nullptr));
  EXPECT_TRUE(pool.push(a, 200, nullptr));
  std::vector<int> seen;
  EXPECT_EQ(pool.drain([&](const RawBuffer& buffer) {
    seen.push_back(buffer.data[0]);
    EXPECT_EQ(buffer.valid, buffer.data == b ? 100u : 200u);
    EXPECT_GT(buffer.arrival_ns, 0u);
  }),
            2u);
  EXPECT_EQ(seen, (std::vector<int>{2, 1}));
  EXPECT_EQ(pool.outstanding(), 0u);
  unsigned char* again = pool.take();
  EXPECT_EQ(pool.outstanding(), 1u);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again[0], 0);
  EXPECT_EQ(pool.used_buffers(), 2u);
}

TEST(BufferPool, ForeignMemoryIsLeftAlone) {
  BufferPool pool;
  ASSERT_TRUE(pool.reserve(4096, 8 * 4096, nullptr));
  unsigned char own[4096] = {7};
  EXPECT_FALSE(pool.push(own, sizeof own, nullptr));
  EXPECT_FALSE(pool.push(pool.take() + 8, 8, nullptr));  // not the start of a buffer
  EXPECT_EQ(own[0], 7);
  EXPECT_EQ(pool.take_foreign(), 2u);
  EXPECT_FALSE(pool.has_filled());
}

TEST(BufferPool, ScratchRecordsAreLostAndCounted) {
  BufferPool pool;
  ASSERT_TRUE(pool.reserve(4096, 2 * 4096, nullptr));
  unsigned char* scratch = pool.take_scratch();
  ASSERT_NE(scratch, nullptr);
  EXPECT_TRUE(pool.push(scratch, 400, nullptr));
  EXPECT_FALSE(pool.has_filled());
  EXPECT_EQ(pool.take_scratch_bytes(), 400u);
}

TEST(BufferPool, ClosedPoolCountsWhatComesLate) {
  BufferPool pool;
  ASSERT_TRUE(pool.reserve(4096, 2 * 4096, nullptr));
  unsigned char* late = pool.take();
  pool.close();
  EXPECT_TRUE(pool.push(late, 40, nullptr));
  EXPECT_FALSE(pool.has_filled());
  EXPECT_EQ(pool.take_late(), 1u);
}

std::atomic<int> wakes;
TEST(BufferPool, WakesForTheFirstOfAQueueOnly) {
  BufferPool pool;
  wakes = 0;
  ASSERT_TRUE(pool.reserve(4096, 4 * 4096, [](void*) { ++wakes; }));
  unsigned char* buffers[] = {pool.take(), pool.take(), pool.take()};
  pool.push(buffers[0], 8, nullptr);
  pool.push(buffers[1], 8, nullptr);
  EXPECT_EQ(wakes, 1);
  pool.drain([](const RawBuffer&) {});
  pool.push(buffers[2], 8, nullptr);
  EXPECT_EQ(wakes, 2);
}

TEST(BufferPool, NoBufferIsLostOrSharedAmongThreads) {
  BufferPool pool;
  ASSERT_TRUE(pool.reserve(4096, 64 * 4096, nullptr));
  constexpr std::uint64_t kEach = 2000;
  std::atomic<bool> done{false};
  std::uint64_t sum = 0;
  std::uint64_t pieces = 0;
  const auto consume = [&] {
    pieces += pool.drain([&](const RawBuffer& buffer) { sum += *reinterpret_cast<const std::uint64_t*>(buffer.data); });
  };
  std::thread consumer([&] {
    while (!done.load()) consume();
    consume();
  });
  std::vector<std::thread> producers;
  for (std::uint64_t t = 0; t < 4; ++t) {
    producers.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < kEach;) {
        unsigned char* buffer = pool.take();
        if (buffer == nullptr) continue;
        auto* word = reinterpret_cast<std::uint64_t*>(buffer);
        EXPECT_EQ(*word, 0u);  // nobody else's
        *word = t * kEach + i++;
        pool.push(buffer, 8, nullptr);
      }
    });
  }
  for (std::thread& producer : producers) producer.join();
  done = true;
  consumer.join();
  EXPECT_EQ(pieces, 4 * kEach);
  EXPECT_EQ(sum, (4 * kEach) * (4 * kEach - 1) / 2);
}

}  // namespace
}  // namespace dft::gpu
