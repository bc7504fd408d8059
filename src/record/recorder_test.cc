// SPDX-License-Identifier: MIT
#include "record/recorder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "base/raw_io.h"
#include "record/drained_records_for_test.h"
#include "record/emit.h"
#include "record/entry.h"
#include "record/in_place.h"

namespace dft::record {
namespace {

const ArgList<8> kNoArgs;

class RecorderTest : public testing::Test {
 protected:
  void begin(PoolOptions options = {}) { drained_.begin(options); }
  model::SiteId site_ = site_id("site", "cat", model::Layer::kCApp);
  DrainedRecords drained_;
};

TEST_F(RecorderTest, ARunOfEventsIsInTheRecorderForShort) {
  begin();
  const ArgField field{model::ArgType::kUint64, "i"};
  const model::SchemaId schema = schema_id(&field, 1);
  EventRun run;
  const auto put = [&](std::uint64_t i) {
    char* const at = run.begin(sizeof i);
    if (at == nullptr) return false;
    char* const args = at + sizeof(model::RecordHeader);
    std::memcpy(args, &i, sizeof i);
    put_event(at, site_, i, i, schema, args + sizeof i, 0, 0);
    run.end(args + sizeof i);
    return true;
  };
  for (std::uint64_t i = 0; i < 5000; ++i) ASSERT_TRUE(put(i));  // over some chunks
  EXPECT_EQ(this_thread->level.load(), 1u);
  run.close();
  EXPECT_EQ(this_thread->level.load(), 0u);
  ArgList<64> last;
  last.add_uint64("i", 5000);
  emit_event(site_, 5000, 5000, last);
  ASSERT_TRUE(put(5001));
  std::uint64_t after = 0;
  EXPECT_EQ(recorder.quiesce(0), 0u);
  while (put(5002 + after)) ++after;
  EXPECT_LT(after, 100u);
  EXPECT_EQ(this_thread->level.load(), 0u);
  drained_.end();
  ASSERT_EQ(drained_.records.size(), 5002 + after);
  for (std::uint64_t i = 0; i < drained_.records.size(); ++i) ASSERT_EQ(drained_.records[i].arg("i"), i);
}

TEST_F(RecorderTest, EveryEventOfEveryThreadArrivesOnceInThreadOrder) {
  begin();
  constexpr int kThreads = 8;
  constexpr std::uint64_t kEvents = 50'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < kEvents; ++i) {
        ArgList<64> args;
        args.add_uint64("i", i * kThreads + static_cast<std::uint64_t>(t));
        emit_event(site_, i, i, args);
      }
    });
  }
  std::atomic<bool> done{false};
  std::thread drain([&] {
    while (!done) drained_.step();
  });
  for (auto& thread : threads) thread.join();
  done = true;
  drain.join();
  drained_.end();
  std::vector<std::uint64_t> next(kThreads, 0);
  ASSERT_EQ(drained_.records.size(), kThreads * kEvents);
  for (const auto& record : drained_.records) {
    const std::uint64_t value = record.arg("i");
    EXPECT_EQ(value / kThreads, next[value % kThreads]++);
  }
}

TEST_F(RecorderTest, DropModeCountsExactlyWhatIsMissing) {
  PoolOptions options;
  options.limit_bytes = 2 * model::kChunkSize;
  options.wait = false;
  begin(options);
  constexpr std::uint64_t kEvents = 100'000;
  for (std::uint64_t i = 0; i < kEvents; ++i) emit_event(site_, i, i, kNoArgs);
  drained_.end();
  EXPECT_GT(drained_.lost, 0u);
  EXPECT_EQ(drained_.records.size() + drained_.lost, kEvents);
}

TEST_F(RecorderTest, WaitsForTheDrainAndLosesNothing) {
  PoolOptions options;
  options.limit_bytes = model::kChunkSize;
  begin(options);
  constexpr std::uint64_t kEvents = 200'000;
  std::atomic<bool> done{false};
  std::thread drain([&] {
    while (!done) drained_.step();
  });
  for (std::uint64_t i = 0; i < kEvents; ++i) emit_event(site_, i, i, kNoArgs);
  done = true;
  drain.join();
  drained_.end();
  EXPECT_EQ(drained_.lost, 0u);
  EXPECT_EQ(drained_.events(), kEvents);
}

TEST_F(RecorderTest, RecordsLargerThanAChunkPass) {
  begin();
  Region* region = open_region(site_);
  const std::string big(3'000'000, 'x');
  add_string(region, "big", big);
  add_int64(region, "after", 7);
  close_region(region);
  drained_.end();
  ASSERT_EQ(drained_.records.size(), 1u);
  EXPECT_EQ(drained_.records[0].text("big"), big);
  EXPECT_EQ(drained_.records[0].arg("after"), 7u);
}

model::SiteId handler_site;
std::atomic<int> handler_calls{0};
void emit_in_handler(int) {
  emit_instant(handler_site, kNoArgs);
  handler_calls.fetch_add(1);
}

TEST_F(RecorderTest, AHandlerThatInterruptsTheRecorderLosesNothing) {
  begin();
  handler_site = site_;
  signal(SIGUSR1, emit_in_handler);
  // Inside the recorder, as if the signal had come between reserve and commit.
  ThreadState* state = enter();
  ASSERT_NE(state, nullptr);
  raise(SIGUSR1);
  leave(state);
  raise(SIGUSR1);
  signal(SIGUSR1, SIG_DFL);
  drained_.end();
  EXPECT_EQ(drained_.events(), 2u);
  EXPECT_EQ(drained_.lost, 0u);
}

TEST_F(RecorderTest, DeeperNestingIsRefusedAndCounted) {
  begin();
  ThreadState* first = enter();
  ThreadState* second = enter();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(enter(), nullptr);
  leave(second);
  leave(first);
  drained_.end();
  EXPECT_EQ(drained_.lost, 1u);
}

TEST_F(RecorderTest, NothingIsRecordedAfterQuiesce) {
  begin();
  emit_event(site_, 1, 2, kNoArgs);
  drained_.end();
  emit_event(site_, 3, 4, kNoArgs);
  EXPECT_EQ(open_region(site_), nullptr);
  EXPECT_EQ(drained_.events(), 1u);
}

TEST_F(RecorderTest, ThreadStatesAreReusedByShortThreads) {
  begin();
  for (int i = 0; i < 300; ++i) {
    std::thread([&] { emit_event(site_, 1, 2, kNoArgs); }).join();
    drained_.step();
  }
  unsigned states = 0;
  for (const ThreadState* s = recorder.threads(); s != nullptr; s = s->next) ++states;
  EXPECT_LT(states, 20u);
  drained_.end();
  EXPECT_EQ(drained_.events(), 300u);
}

TEST_F(RecorderTest, AForkedChildRecordsNothingOfItsParent) {
  begin();
  emit_event(site_, 1, 2, kNoArgs);
  const pid_t child = fork();
  if (child == 0) _exit(recording() ? 1 : 0);  // no atfork handler here: the kernel's wipe alone must protect
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(recording());
  drained_.end();
  EXPECT_EQ(drained_.events(), 1u);
}

TEST_F(RecorderTest, ShortThreadsShareFewStatesAndChunks) {
  begin();
  constexpr int kThreads = 500;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([&] { emit_event(site_, 1, 1, kNoArgs); }).join();
    drained_.step();
  }
  std::size_t states = 0;
  for (const ThreadState* state = recorder.threads(); state != nullptr; state = state->next) ++states;
  EXPECT_LE(states, 40u) << "of " << kThreads << " threads, one at a time; other tests made some";
  drained_.end();
  EXPECT_EQ(drained_.records.size(), std::size_t{kThreads});
}

}  // namespace
}  // namespace dft::record
