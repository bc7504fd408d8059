// SPDX-License-Identifier: MIT
// Decoding a buffer of CUPTI must not enter the allocator once its names and rows are known: records come by the
// million. A program of its own, since it replaces malloc.
#include <memory>

#include "replay.h"
#include "sources/gpu/activity_writer.h"

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
}

namespace {
thread_local bool watching = false;
thread_local unsigned calls = 0;
void seen() { calls += watching; }
}  // namespace

extern "C" {
void* malloc(std::size_t size) { return seen(), __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) { return seen(), __libc_calloc(count, size); }
void* realloc(void* block, std::size_t size) { return seen(), __libc_realloc(block, size); }
}

namespace dft::gpu {
namespace {

constexpr std::uint64_t kRecorded = 1'700'000'000'000'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;

// Calls of the allocator while the recording is decoded once more.
void expect_no_calls(const std::string& recording) {
  Standin standin;
  standin.configure("", recording);
  static BufferPool pool;
  ASSERT_TRUE(pool.reserve(1 << 16, 64 << 20, nullptr));
  Settings settings;
  settings.vendor_library = DFT_STANDIN;
  settings.api = ApiMode::kAll;
  record::DrainedRecords drained;
  drained.begin({});
  GpuClock clock;
  clock.add({kRecorded - kSecond, 1 * kSecond, 1 * kSecond, 40});
  clock.add({kRecorded + kSecond, 3 * kSecond, 3 * kSecond, 40});
  const auto writer = std::make_unique<ActivityWriter>();
  cupti::CuptiBackend backend;
  Statuses statuses;
  writer->configure(settings, backend, clock);
  ASSERT_TRUE(backend.start(settings, pool, statuses));
  const auto decode = [&] {
    std::size_t bytes = 0;
    pool.drain([&](const RawBuffer& buffer) {
      writer->arrived_at(kRecorded + kSecond);
      watching = true;
      backend.decode(buffer, *writer);
      watching = false;
      bytes += buffer.valid;
    });
    return bytes;
  };
  backend.flush(false);
  EXPECT_GT(decode(), 0u);
  for (int i = 0; i < 3; ++i) {
    standin.work();
    calls = 0;
    EXPECT_GT(decode(), 0u);
    EXPECT_EQ(calls, 0u) << i;
  }
  backend.stop();
  backend.release();
  drained.end();
}

TEST(NoMalloc, TheWatchCounts) {
  watching = true;
  calls = 0;
  void* volatile probe = std::malloc(1);
  watching = false;
  std::free(probe);
  EXPECT_EQ(calls, 1u);
}

TEST(NoMalloc, EveryKindOnceMore) { expect_no_calls("synthetic.cuptirec"); }
TEST(NoMalloc, TheGraphsOfAnH200) { expect_no_calls("h200-graph.cuptirec"); }
TEST(NoMalloc, TheNodesOfAnH200) { expect_no_calls("h200-node.cuptirec"); }

}  // namespace
}  // namespace dft::gpu
