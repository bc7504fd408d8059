// SPDX-License-Identifier: MIT
// The drain with the real recorder behind it, writing plain files that the tests read line by line.
#include "write/drain.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/raw_io.h"
#include "record/emit.h"

namespace dft::write {
namespace {

using record::recorder;
const record::ArgList<8> kNoArgs;

struct PlainNotes final : TraceNotes {
  void prologue(encode::EventEncoder& encoder, std::uint64_t start_ns, base::Buffer& out) override {
    encoder.life_cycle_event("start", 1, start_ns, "", out);
  }
  void epilogue(encode::EventEncoder& encoder, const FileSink&, const Losses& losses, std::uint64_t end_ns,
                base::Buffer& out) override {
    base::Buffer args;
    args.append("\"lost\":");
    losses.append_sums(args);
    encoder.life_cycle_event("end", 1, end_ns, args.view(), out);
  }
};

class DrainTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/dft-drain-XXXXXX";
    directory_ = mkdtemp(pattern);
    base::clock_start(true);
    ASSERT_TRUE(recorder.prepare());
  }
  void TearDown() override {
    drain.finish(5'000'000'000, 1'000'000'000);
    EXPECT_EQ(0, system(("rm -rf " + directory_).c_str()));
  }
  int start(bool crash_safe = false, std::uint64_t limit = 64u << 20) {
    DrainOptions options;
    const std::string stem = directory_ + "/t-app";
    std::memcpy(options.writer.stem, stem.c_str(), stem.size() + 1);
    options.writer.compression = false;
    options.writer.encoder.pid = base::raw::pid();
    options.flush_interval_ms = 3'600'000;  // only what the tests ask for
    options.crash_safe = crash_safe;
    record::PoolOptions pool;
    pool.limit_bytes = limit;
    recorder.pool.configure(pool);
    const int error = drain.start(options, notes_);
    if (error == 0) recorder.start(base::raw::pid());
    return error;
  }
  std::vector<std::string> lines() const {
    std::ifstream in(directory_ + "/t-app.pfw");
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  std::size_t count(const std::string& what) const {
    std::size_t found = 0;
    for (const std::string& line : lines()) found += line.find(what) != std::string::npos ? 1 : 0;
    return found;
  }
  bool finish() { return drain.finish(20'000'000'000, 1'000'000'000); }

  model::SiteId site_ = record::site_id("work", "TEST", model::Layer::kCApp);
  PlainNotes notes_;
  std::string directory_;
};

TEST_F(DrainTest, FlushPutsEverythingCommittedIntoTheFile) {
  ASSERT_EQ(start(), 0);
  for (std::uint64_t i = 1; i <= 100; ++i) {
    record::emit_event(site_, base::clock_now(), base::clock_now(), kNoArgs);
    if (i % 25 != 0) continue;
    ASSERT_TRUE(drain.flush(10'000'000'000));
    EXPECT_EQ(count("\"work\""), i);
  }
  EXPECT_TRUE(finish());
  EXPECT_EQ(lines().front().find("\"start\"") == std::string::npos, false);
  EXPECT_NE(lines().back().find("\"end\""), std::string::npos);
}

TEST_F(DrainTest, AFloodOnManyThreadsLosesNothing) {
  ASSERT_EQ(start(false, 4u << 20), 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50'000; ++i) record::emit_event(site_, base::clock_now(), base::clock_now(), kNoArgs);
    });
  }
  for (auto& thread : threads) thread.join();
  ASSERT_TRUE(finish());
  EXPECT_EQ(count("\"work\""), 200'000u);
  EXPECT_EQ(drain.lost_events(), 0u);
}

TEST_F(DrainTest, OpenRegionsAreWrittenAndMarked) {
  ASSERT_EQ(start(), 0);
  record::Region* region = record::open_region(site_);
  record::add_int64(region, "k", 1);
  record::add_string(region, "long", std::string(5000, 'z'));
  ASSERT_TRUE(finish());
  EXPECT_EQ(count("\"open_at_end\":1"), 1u);
  EXPECT_EQ(count(std::string(5000, 'z')), 1u);
}

TEST_F(DrainTest, CanStartAgainAndTakesANewName) {
  ASSERT_EQ(start(), 0);
  record::emit_instant(site_, kNoArgs);
  ASSERT_TRUE(finish());
  ASSERT_EQ(start(), 0);
  record::emit_instant(site_, kNoArgs);
  ASSERT_TRUE(finish());
  EXPECT_EQ(std::string(drain.path()), directory_ + "/t-app-2.pfw");
  EXPECT_EQ(count("\"work\""), 1u);
}

TEST_F(DrainTest, CrashSafeModeKeepsChunksInAFileAndRemovesIt) {
  ASSERT_EQ(start(true), 0);
  const std::string crash = directory_ + "/t-app.dfcrash";
  EXPECT_EQ(access(crash.c_str(), F_OK), 0);
  for (int i = 0; i < 50'000; ++i) record::emit_event(site_, base::clock_now(), base::clock_now(), kNoArgs);
  EXPECT_EQ(recorder.pool.unprotected_chunks(), 0u);
  ASSERT_TRUE(finish());
  EXPECT_NE(access(crash.c_str(), F_OK), 0);
  EXPECT_EQ(count("\"work\""), 50'000u);
}

TEST_F(DrainTest, AnUnwritablePlaceIsAnErrorAndOneLine) {
  std::ofstream(directory_ + "/t") << "x";
  directory_ += "/t";
  testing::internal::CaptureStderr();
  EXPECT_NE(start(), 0);
  base::write_deferred_log();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("cannot create the trace"), std::string::npos) << said;
  EXPECT_NE(said.find("Not a directory"), std::string::npos) << said;
  directory_.resize(directory_.size() - 2);
}

}  // namespace
}  // namespace dft::write
