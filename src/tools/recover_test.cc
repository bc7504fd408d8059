// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <algorithm>
#include <random>

#include "read/inputs.h"
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
    // Nothing was changed, or the result is valid, or what is wrong with it was said.
    if (said.status == 0) {
      EXPECT_EQ(dftracer({"validate", dir.path("t-app.pfw.gz")}).status, 0) << "round " << round;
    } else if (!contains(said.err, "it is not valid: ")) {
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
  EXPECT_EQ(got.events.size(), 8u);  // what was lost behind, nobody can know: `loss` says so, and the note `recovered`
  EXPECT_TRUE(std::any_of(got.events.begin(), got.events.end(), [](const auto& event) {
    return event.name == "loss" && contains(event.args, "\"cause\":\"damaged\"") && !contains(event.args, "count");
  }));
  EXPECT_EQ(read::test::slurp(trace).size(), whole.size() - 3);
}

std::string many(std::uint64_t from, std::uint64_t to) {
  std::string text;
  for (std::uint64_t id = from; id < to; ++id)
    text += work(id, 1'000'000 + 10 * id, 5, "work " + std::to_string(id * 7919 % 997));
  return text;
}

// Start and first events, two blocks of events, the last events and `end`: ids 1 to 401.
std::vector<std::string> blocks_of_400() {
  const std::string whole = our_trace(many(2, 401), 399);
  const std::size_t second = whole.find("{\"id\":101,"), third = whole.find("{\"id\":201,"),
                    last = whole.find("{\"id\":301,");
  return {whole.substr(0, second), whole.substr(second, third - second), whole.substr(third, last - third),
          whole.substr(last)};
}

TEST(Recover, WhatWasLostInTheMiddleIsCountedAndTheResultIsValid) {
  for (std::size_t damaged = 0; damaged < 4; ++damaged) {
    const TempDir dir;
    std::string bytes;
    for (std::size_t i = 0; i < 4; ++i) {
      std::string block = gzip(blocks_of_400()[i], true);
      if (i == damaged) block.replace(28, 40, 40, '\0');
      bytes += block;
    }
    const Said said = dftracer({"recover", dir.write("t-app.pfw.gz", bytes)});
    EXPECT_EQ(said.status, 0) << said.err;
    const std::string recovered = dir.path("t-app-recovered.pfw.gz");
    const Said validated = dftracer({"validate", recovered});
    EXPECT_EQ(validated.status, 0) << validated.out;
    if (damaged != 3) {
      EXPECT_TRUE(contains(said.out, "; 100 events missing")) << said.out;
      EXPECT_TRUE(contains(validated.out, "warning: 100 events are missing: damaged 100")) << validated.out;
    } else {
      EXPECT_TRUE(contains(said.out, "how much more is missing, nobody can know")) << said.out;
    }
    EXPECT_EQ(dftracer({"validate", "--strict-loss", recovered}).status, 1);
  }
}

TEST(Recover, TheUnitOfTimesIsKept) {
  const TempDir dir;
  auto blocks = blocks_of_400();
  const std::string told = "\"num_events\":400";
  blocks[3].replace(blocks[3].find(told), told.size(), told + ",\"cfg\":{\"time_metric\":\"NS\"}");
  const auto trace = dir.write("t-app.pfw.gz", gzip(blocks[0], true).substr(0, 60) + gzip(blocks[1] + blocks[3], true));
  EXPECT_EQ(dftracer({"recover", trace}).status, 0);
  EXPECT_EQ(read_files({dir.path("t-app-recovered.pfw.gz")}).files.at(0).unit_ns, 1u);
}

TEST(Recover, ARecoveredTraceStandsInForTheDamagedOne) {
  const TempDir dir;
  const std::string whole = gzip(blocks_of_400()[0], true) + gzip(blocks_of_400()[1], true);
  const auto trace = dir.write("t-app.pfw.gz", whole.substr(0, whole.size() - 9));
  EXPECT_EQ(dftracer({"recover", dir.path("t")}).status, 0);
  const auto count = [](const std::string& input) {
    const std::string out = dftracer({"summary", "--csv", input}).out;
    return std::count(out.begin(), out.end(), '\n');
  };
  const auto once = count(dir.path("t-app-recovered.pfw.gz"));
  EXPECT_GT(once, 100);
  for (const auto& input : {dir.path(), dir.path("t")}) {
    const Said said = dftracer({"cat", "--name", "work 883", input});  // id 2
    EXPECT_EQ(std::count(said.out.begin(), said.out.end(), '\n'), 1) << said.out;
    EXPECT_EQ(said.err, "dftracer: " + dir.path("t-app-recovered.pfw.gz") + " is read in place of " + trace + "\n");
    EXPECT_EQ(count(input), once);
    EXPECT_EQ(dftracer({"validate", input}).status, 0);
  }
  EXPECT_EQ(dftracer({"validate", trace}).status, 1) << "a named file is read as it is";
  for (const auto& input : {dir.path(), dir.path("t"), trace}) {
    const Said again = dftracer({"recover", input});
    EXPECT_EQ(again.status, 0);
    EXPECT_EQ(again.out, trace + ": recovered already, " + dir.path("t-app-recovered.pfw.gz") +
                             " is there; --force makes it again\n");
  }
  EXPECT_TRUE(contains(dftracer({"recover", "--force", dir.path()}).out, "recovered " + dir.path("t-app-recovered")));
  EXPECT_NE(access(dir.path("t-app-recovered-recovered.pfw.gz").c_str(), F_OK), 0);
}

TEST(Recover, AKeptCrashFileIsNotTakenTwice) {
  const TempDir dir;
  const Scene scene;
  const auto crash = scene.lay(dir, scene.first_block);
  EXPECT_EQ(dftracer({"recover", "--keep", crash}).status, 0);
  const Said again = dftracer({"recover", crash});
  EXPECT_EQ(again.status, 0);
  EXPECT_TRUE(contains(again.out, "was completed from it already")) << again.out;
  expect_complete(dir.path("t-app.pfw.gz"));
}

TEST(Recover, WhatHoldsNoRecordIsNoSuccess) {
  const TempDir dir;
  std::mt19937 random(3);
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>(random());
  for (const auto& file : {dir.write("r.pfw.gz", bytes), dir.write("r.pfw", bytes), dir.write("e.pfw.gz", "")}) {
    const Said said = dftracer({"recover", file});
    EXPECT_EQ(said.status, 1) << said.out;
    EXPECT_TRUE(contains(said.err, file + ": no record in it can be read: ")) << said.err;
    EXPECT_EQ(said.out, "");
    EXPECT_NE(access(read::recovered_name(file).c_str(), F_OK), 0);
  }
}

TEST(Recover, TracesOfOthersStayTheirsAndKeepTheirLines) {
  const TempDir dir;
  const std::string original = read::test::slurp(std::string(DFT_TEST_TRACES) + "/original-2.2-python-app.pfw.gz");
  const std::string whole = dir.write("w.pfw.gz", original);
  EXPECT_TRUE(contains(dftracer({"recover", whole}).out, "nothing to recover"));
  const std::string cut = dir.write("c.pfw.gz", original.substr(0, original.size() - 100));
  const Said said = dftracer({"recover", cut});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(dftracer({"validate", dir.path("c-recovered.pfw.gz")}).status, 0);
  EXPECT_EQ(read_files({dir.path("c-recovered.pfw.gz")}).files.at(0).sized_members, 0u);
  EXPECT_EQ(read_files({dir.path("c-recovered.pfw.gz")}).events.size(), read_files({cut}).events.size() + 2);
}

// Any damage: cuts, zeros, noise, bits, blocks that are gone, doubled or swapped.
std::string damaged(std::string bytes, std::mt19937& random) {
  const auto place = [&] { return random() % bytes.size(); };
  switch (random() % 6) {
    case 0: bytes.resize(place()); break;
    case 1: bytes[place()] ^= static_cast<char>(1 << random() % 8); break;
    case 2: bytes.erase(place(), random() % 300); break;
    case 3: bytes.insert(place(), bytes.substr(place(), random() % 300)); break;
    case 4:
      std::generate_n(bytes.begin() + place() / 2, bytes.size() / 4, [&] { return static_cast<char>(random()); });
      break;
    default: std::fill_n(bytes.begin() + place() / 2, std::min<std::size_t>(bytes.size() / 2, 64), '\0');
  }
  return bytes;
}

TEST(Recover, EveryDamagedTraceIsRecoveredOrReported) {
  std::mt19937 random(11);
  const auto blocks = blocks_of_400();
  for (int round = 0; round < 90; ++round) {
    const TempDir dir;
    std::string bytes;
    for (const auto& block : blocks) bytes += round % 3 == 2 ? block : gzip(block, round % 3 == 0);
    bytes = damaged(bytes, random);
    if (round % 5 == 0 && !bytes.empty()) bytes = damaged(bytes, random);
    const auto trace = dir.write(round % 3 == 2 ? "t.pfw" : "t.pfw.gz", bytes);
    const Said said = dftracer({"recover", trace});
    ASSERT_LE(said.status, 1) << "round " << round << said.err;
    EXPECT_FALSE(contains(said.err, "Sanitizer") || contains(said.err, "runtime error")) << said.err;
    EXPECT_EQ(read::test::slurp(trace), bytes) << "round " << round;
    const bool made = access(dir.path("t-recovered.pfw.gz").c_str(), F_OK) == 0;
    const int valid = dftracer({"validate", made ? dir.path("t-recovered.pfw.gz") : trace}).status;
    EXPECT_EQ(valid, said.status) << "round " << round << said.out << said.err;
  }
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
