// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <random>

#include "tools/command_for_test.h"
#include "tools/crash_file_for_test.h"

namespace dft::tools::test {
namespace {

using model::ChunkKind;
using read::test::Collected;
using read::test::gzip;
using read::test::read_files;
using read::test::TempDir;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Five events: two are in the trace, two in the block that was being written, one was not drained; one region is open.
struct Scene {
  CrashFileMaker maker;
  std::string first_block = gzip(our_trace(work(2, 1000010, 1) + work(3, 1000020, 1), 2, false), true);
  std::string second_block = gzip(work(4, 1000030, 1) + work(5, 1000040, 1), true);

  explicit Scene(bool slot_is_committed_record = false) {
    CrashFileMaker::add_site(maker.add_chunk(ChunkKind::kDefinitions, 0), 1, "work", "CPP_APP");
    auto& events = maker.add_chunk(ChunkKind::kEvents, 7);
    CrashFileMaker::add_event(events, 1, 10'000, 11'000, 2);
    events.drained = CrashFileMaker::add_event(events, 1, 20'000, 21'000, 3);
    CrashFileMaker::add_event(events, 1, 30'000, 31'000, 4);
    events.pending = CrashFileMaker::add_event(events, 1, 40'000, 41'000, 5);
    events.pending_block = 2;
    CrashFileMaker::add_event(events, 1, 50'000, 51'000, 6);
    CrashFileMaker::add_region(maker.add_chunk(ChunkKind::kRegions, 7), 1, slot_is_committed_record ? 50'000 : 5'000,
                               7);
    auto& header = maker.header();
    header.pending_block = 2;
    header.block_begin = first_block.size();
    header.block_end = first_block.size() + second_block.size();
    header.next_id = 4;
    header.pending_next_id = 6;
    header.now_ticks = 60'000;
  }

  std::string lay(const TempDir& dir, const std::string& trace) const {
    dir.write("t-app.pfw.gz", trace);
    return dir.write("t-app.dfcrash", maker.bytes());
  }
};

void expect_complete(const std::string& trace) {
  const Collected got = read_files({trace}, true);
  EXPECT_TRUE(got.problems.empty()) << got.problems[0].reason;
  std::vector<std::uint64_t> begins;
  std::size_t open = 0;
  for (const auto& event : got.events) {
    if (event.name != "work") continue;
    const bool is_open = contains(event.args, "\"open_at_end\":1");
    open += is_open ? 1 : 0;
    if (!is_open) begins.push_back(event.ts);
  }
  EXPECT_EQ(begins, (std::vector<std::uint64_t>{1000010, 1000020, 1000030, 1000040, 1000050}));
  EXPECT_EQ(open, 1u);
}

TEST(Recover, CutsBackABlockThatWasNotFinished) {
  for (const std::size_t part : {std::size_t{0}, std::size_t{1}, std::size_t{40}}) {
    const TempDir dir;
    const Scene scene;
    const auto crash = scene.lay(dir, scene.first_block + scene.second_block.substr(0, part));
    const Said said = dftracer({"recover", crash});
    EXPECT_EQ(said.status, 0) << said.err;
    EXPECT_TRUE(contains(said.out, "3 events that had not been written, 1 open region")) << said.out;
    expect_complete(dir.path("t-app.pfw.gz"));
    EXPECT_NE(access(crash.c_str(), F_OK), 0);
    EXPECT_EQ(dftracer({"validate", "--strict-loss", dir.path("t-app.pfw.gz")}).status, 0)
        << dftracer({"validate", dir.path("t-app.pfw.gz")}).out;
  }
}

TEST(Recover, KeepsABlockThatWasFinished) {
  const TempDir dir;
  const Scene scene;
  scene.lay(dir, scene.first_block + scene.second_block);
  const Said said = dftracer({"recover", dir.path("t")});  // by prefix
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(contains(said.out, "1 event that had not been written")) << said.out;
  expect_complete(dir.path("t-app.pfw.gz"));
  EXPECT_EQ(dftracer({"validate", dir.path("t-app.pfw.gz")}).status, 0);
}

TEST(Recover, OpenRegionsEndAtTheLastMomentKnown) {
  const TempDir dir;
  const Scene scene;
  scene.lay(dir, scene.first_block + scene.second_block);
  EXPECT_EQ(dftracer({"recover", dir.path()}).status, 0);
  for (const auto& event : read_files({dir.path("t-app.pfw.gz")}).events) {
    if (!contains(event.args, "open_at_end")) continue;
    EXPECT_EQ(event.ts, 1000005u);
    EXPECT_EQ(event.dur, 55u);
    return;
  }
  FAIL() << "no open region";
}

TEST(Recover, ARegionWhoseRecordIsCommittedIsNotRepeated) {
  const TempDir dir;
  const Scene scene(true);
  scene.lay(dir, scene.first_block + scene.second_block);
  EXPECT_TRUE(contains(dftracer({"recover", dir.path()}).out, "1 event that had not been written, 0 open regions"));
}

TEST(Recover, AProcessThatDiedBeforeItsFirstBlockKeepsItsEvents) {
  const TempDir dir;
  CrashFileMaker maker;
  CrashFileMaker::add_site(maker.add_chunk(ChunkKind::kDefinitions, 0), 1, "work", "CPP_APP");
  CrashFileMaker::add_event(maker.add_chunk(ChunkKind::kEvents, 7), 1, 10'000, 11'000, 2);
  dir.write("t-app.dfcrash", maker.bytes());
  dir.write("t-app.pfw.gz", "");
  EXPECT_EQ(dftracer({"recover", dir.path("t")}).status, 0);
  const Collected got = read_files({dir.path("t-app.pfw.gz")});
  EXPECT_TRUE(got.problems.empty());
  EXPECT_TRUE(std::any_of(got.events.begin(), got.events.end(), [](const auto& e) { return e.name == "work"; }));
}

TEST(Recover, FreeAndUnusedSlotsAreSkipped) {
  const TempDir dir;
  CrashFileMaker maker;
  CrashFileMaker::add_site(maker.add_chunk(ChunkKind::kDefinitions, 0), 1, "work", "CPP_APP");
  // A freed chunk keeps what it held, a large one in its inner slots too.
  auto& large = maker.add_chunk(ChunkKind::kFree, 7, 0, 3);
  std::memset(large.data() + 10, 'x', large.capacity() - 10);
  auto& freed = maker.add_chunk(ChunkKind::kEvents, 7);
  CrashFileMaker::add_event(freed, 1, 1'000, 2'000, 1);
  freed.kind = ChunkKind::kFree;
  maker.add_unused();
  CrashFileMaker::add_event(maker.add_chunk(ChunkKind::kEvents, 7), 1, 10'000, 11'000, 2);
  for (int i = 0; i < 5; ++i) maker.add_unused();
  maker.add_unused(2);
  dir.write("t-app.dfcrash", maker.bytes());
  dir.write("t-app.pfw.gz", "");
  const Said said = dftracer({"recover", dir.path("t")});
  EXPECT_TRUE(contains(said.out, "1 event that had not been written, 0 open regions")) << said.out << said.err;
  const Collected got = read_files({dir.path("t-app.pfw.gz")});
  const auto is_note = [](const auto& event) { return event.name == "recovered"; };
  const auto note = std::find_if(got.events.begin(), got.events.end(), is_note);
  ASSERT_NE(note, got.events.end());
  EXPECT_TRUE(contains(note->args, "\"broken_chunks\":0")) << note->args;
}

TEST(Recover, ALongArgListOfAnOpenRegionFitsItsSlot) {
  const TempDir dir;
  CrashFileMaker maker;
  CrashFileMaker::add_site(maker.add_chunk(ChunkKind::kDefinitions, 0), 1, "work", "CPP_APP");
  auto& slot = CrashFileMaker::add_region(maker.add_chunk(ChunkKind::kRegions, 7), 1, 10'000, 7);
  const std::string value(sizeof slot.args - model::arg_size(4, 0), 'v');  // fills it to the last byte
  model::put_arg(slot.args, model::ArgType::kString, "text", value.data(), value.size());
  slot.extent = model::ArgExtent{model::kSelfDescribing, 0, sizeof slot.args};
  dir.write("t-app.dfcrash", maker.bytes());
  dir.write("t-app.pfw.gz", "");
  EXPECT_TRUE(contains(dftracer({"recover", dir.path("t")}).out, "1 open region"));
  const Collected got = read_files({dir.path("t-app.pfw.gz")});
  EXPECT_TRUE(std::any_of(got.events.begin(), got.events.end(),
                          [&](const auto& event) { return contains(event.args, "\"text\":\"" + value + "\""); }));
}

TEST(Recover, OutputAndKeepLeaveTheInputsAlone) {
  const TempDir dir;
  const Scene scene;
  const std::string trace = scene.first_block + "half";
  const auto crash = scene.lay(dir, trace);
  EXPECT_EQ(dftracer({"recover", "-o", dir.path("out.pfw.gz"), crash}).status, 0);
  EXPECT_EQ(read::test::slurp(dir.path("t-app.pfw.gz")), trace);
  EXPECT_EQ(access(crash.c_str(), F_OK), 0);
  expect_complete(dir.path("out.pfw.gz"));
  EXPECT_EQ(dftracer({"recover", "--keep", crash}).status, 0);
  EXPECT_EQ(access(crash.c_str(), F_OK), 0);
}

TEST(Recover, RefusesWhileTheProcessLives) {
  const TempDir dir;
  const Scene scene;
  const auto crash = scene.lay(dir, scene.first_block);
  const int fd = open(crash.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  const Said said = dftracer({"recover", crash});
  EXPECT_EQ(said.status, 1);
  EXPECT_TRUE(contains(said.err, "process 4242 still uses it")) << said.err;
  EXPECT_EQ(read::test::slurp(dir.path("t-app.pfw.gz")), scene.first_block);
  EXPECT_EQ(dftracer({"recover", "--force", crash}).status, 0);
  close(fd);
}

TEST(Recover, AnErrorLosesNothing) {
  const TempDir dir;
  const Scene scene;
  const auto crash = scene.lay(dir, scene.first_block);
  const Said said = dftracer({"recover", "-o", dir.path("absent/out.pfw.gz"), crash});
  EXPECT_EQ(said.status, 1);
  EXPECT_TRUE(contains(said.err, "cannot create")) << said.err;
  EXPECT_EQ(read::test::slurp(dir.path("t-app.pfw.gz")), scene.first_block);
  EXPECT_EQ(read::test::slurp(crash), scene.maker.bytes());
}

TEST(Recover, DamagedCrashFilesAreReadAsFarAsPossibleAndNeverCrash) {
  const Scene scene;
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    const TempDir dir;
    std::string bytes = scene.maker.bytes();
    for (int i = 0; i < 12; ++i) {
      const std::size_t chunk = random() % 4;
      const std::size_t area = chunk == 0 ? 4300 : 600;
      bytes[chunk * model::kChunkSize + random() % area] = static_cast<char>(random());
    }
    if (round % 4 == 0) bytes.resize(random() % bytes.size());
    dir.write("t-app.pfw.gz", scene.first_block);
    const Said said = dftracer({"recover", dir.write("t-app.dfcrash", bytes)});
    EXPECT_LE(said.status, 1) << "round " << round << said.err;
    // A sanitizer's report ends with status 1 as well.
    EXPECT_FALSE(contains(said.err, "Sanitizer") || contains(said.err, "runtime error")) << said.err;
    if (said.status == 1) {
      EXPECT_EQ(read::test::slurp(dir.path("t-app.pfw.gz")), scene.first_block);
    }
  }
}

TEST(Recover, ATruncatedTraceKeepsItsWholeLines) {
  const TempDir dir;
  const std::string whole = gzip(our_trace(work(2, 1000010, 1), 1, false), true) + gzip(work(3, 1000020, 1), true);
  const auto trace = dir.write("t-app.pfw.gz", whole.substr(0, whole.size() - 3));
  const Said said = dftracer({"recover", trace});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(contains(said.out, "recovered " + dir.path("t-app-recovered.pfw.gz"))) << said.out;
  const Collected got = read_files({dir.path("t-app-recovered.pfw.gz")}, true);
  EXPECT_TRUE(got.problems.empty());
  EXPECT_EQ(got.events.size(), 6u);
  EXPECT_EQ(read::test::slurp(trace).size(), whole.size() - 3);
}

TEST(Recover, AWholeTraceIsLeftAlone) {
  const TempDir dir;
  const auto trace = dir.write("t-app.pfw.gz", gzip(our_trace(work(2, 1000010, 1), 1), true));
  const Said said = dftracer({"recover", trace});
  EXPECT_EQ(said.status, 0);
  EXPECT_TRUE(contains(said.out, "nothing to recover")) << said.out;
  EXPECT_NE(access(dir.path("t-app-recovered.pfw.gz").c_str(), F_OK), 0);
  EXPECT_NE(access(dir.path("t-app-recovered.pfw.gz.recovering").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace dft::tools::test
