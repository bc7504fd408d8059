// SPDX-License-Identifier: MIT
#include "config/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <new>
#include <string>

#include "config/fake_environment.h"

namespace {
std::size_t allocations = 0;
}

// The other forms of new and delete end in these. Not inlined, since GCC 12 then takes the pairs for mismatched.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace dft::config {
namespace {

using Variables = std::map<std::string, std::string>;
using Lines = std::vector<std::string>;

bool maybe_with(Variables variables) {
  const FakeEnvironment environment(std::move(variables));
  return maybe_enabled(&FakeEnvironment::lookup);
}

TEST(MaybeEnabled, LooksAtTwoVariablesOnly) {
  EXPECT_FALSE(maybe_with({}));
  EXPECT_FALSE(maybe_with({{"DFTRACER_LOG_FILE", "x"}}));
  EXPECT_TRUE(maybe_with({{"DFTRACER_ENABLE", "1"}}));
  EXPECT_TRUE(maybe_with({{"DFTRACER_ENABLE", "TRUE"}}));
  EXPECT_FALSE(maybe_with({{"DFTRACER_ENABLE", "off"}}));
  EXPECT_FALSE(maybe_with({{"DFTRACER_ENABLE", ""}}));
  EXPECT_TRUE(maybe_with({{"DFTRACER_CONFIGURATION", "x.yaml"}}));
  EXPECT_FALSE(maybe_with({{"DFTRACER_CONFIGURATION", "x.yaml"}, {"DFTRACER_ENABLE", "0"}}));
  EXPECT_TRUE(maybe_with({{"DFTRACER_ENABLE", "maybe"}})) << "load() says that the value is wrong";
}

const char* nothing_is_set(const char*) { return nullptr; }
const char* long_configuration(const char* name) {
  return name[9] == 'C' ? "/a/path/that/is/longer/than/any/small/string/buffer.yaml" : nullptr;
}

TEST(MaybeEnabled, TakesNoMemory) {
  const std::size_t before = allocations;
  const bool off = maybe_enabled(&nothing_is_set);
  const bool on = maybe_enabled(&long_configuration);
  EXPECT_EQ(allocations, before);
  EXPECT_FALSE(off);
  EXPECT_TRUE(on);
  EXPECT_GT((load(&nothing_is_set), allocations), before) << "the count must see allocations";
}

TEST(Load, WithoutAnythingGivesTheDefaults) {
  const Loaded loaded = load_with({});
  EXPECT_FALSE(loaded.options.enable);
  EXPECT_TRUE(loaded.options.metadata);
  EXPECT_TRUE(loaded.options.compression);
  EXPECT_TRUE(loaded.options.tids);
  EXPECT_FALSE(loaded.options.aggregation);
  EXPECT_EQ(loaded.options.trace_interval_ms, 1000u);
  EXPECT_EQ(loaded.options.flush_interval_ms, 1000u);
  EXPECT_EQ(loaded.options.exit_timeout_ms, 10'000u);
  EXPECT_EQ(loaded.options.buffer_limit, 64u << 20);
  EXPECT_EQ(loaded.options.write_buffer_size, 1u << 20);
  EXPECT_EQ(loaded.options.log_file, "./trace");
  EXPECT_EQ(loaded.options.init, InitMode::kFunction);
  EXPECT_EQ(loaded.options.time_metric, TimeMetric::kUs);
  EXPECT_TRUE(means_all_files(loaded.options.data_dirs));
  EXPECT_EQ(loaded.notes, Lines{});
  EXPECT_EQ(loaded.muted, Lines{});
  for (const Origin origin : loaded.origins) EXPECT_EQ(origin, Origin::kDefault);
}

TEST(Load, DataDirectories) {
  EXPECT_EQ(load_with({{"DFTRACER_DATA_DIR", "/a:/b"}}).options.data_dirs, (Lines{"/a", "/b"}));
  EXPECT_EQ(load_file("tracer: {data_dirs: \"/a:/b\"}\n").options.data_dirs, (Lines{"/a", "/b"}));
  EXPECT_EQ(load_file("tracer: {data_dirs: [\"/a:/b\", /c]}\n").options.data_dirs, (Lines{"/a:/b", "/c"}));
  EXPECT_TRUE(means_all_files({}));
  EXPECT_TRUE(means_all_files({"/a", "all"}));
  EXPECT_FALSE(means_all_files({"/a"}));
}

TEST(Load, InitAcceptsThreeModesAndAnythingElseRecordsAnnotationsOnly) {
  EXPECT_EQ(load_with({{"DFTRACER_INIT", "PRELOAD"}}).options.init, InitMode::kPreload);
  EXPECT_EQ(load_with({{"DFTRACER_INIT", "hybrid"}}).options.init, InitMode::kHybrid);
  const Loaded other = load_with({{"DFTRACER_ENABLE", "1"}, {"DFTRACER_INIT", "BOTH"}});
  EXPECT_EQ(other.options.init, InitMode::kNone);
  EXPECT_EQ(other.notes,
            Lines{"DFTRACER_INIT=BOTH is not valid; accepted: FUNCTION, PRELOAD, HYBRID, NONE; NONE is used"});
}

// --- absurd values ---------------------------------------------------------------------------------------------------

TEST(Load, AbsurdSizesAndTimesKeepTheDefault) {
  for (const char* text : {"-1", "0", "1000000000000000000000000000000", "16Q", "18446744073709551615", "1", "nan"}) {
    const Loaded loaded = load_with({{"DFTRACER_ENABLE", "1"},
                                     {"DFTRACER_WRITE_BUFFER_SIZE", text},
                                     {"DFTRACER_BUFFER_LIMIT", text},
                                     {"DFTRACER_FLUSH_INTERVAL_MS", text == std::string("1") ? "0" : text}});
    EXPECT_EQ(loaded.options.write_buffer_size, 1u << 20) << text;
    EXPECT_EQ(loaded.options.buffer_limit, 64u << 20) << text;
    EXPECT_EQ(loaded.options.flush_interval_ms, 1000u) << text;
    EXPECT_EQ(loaded.notes.size(), 3u) << text;
  }
}

TEST(Load, AWrongVariableLeavesTheValueOfTheFile) {
  const Loaded loaded =
      load_file("enable: 1\ninternal: {write_buffer_size: 2M}\n", {{"DFTRACER_WRITE_BUFFER_SIZE", "x"}});
  EXPECT_EQ(loaded.options.write_buffer_size, 2u << 20);
  EXPECT_EQ(loaded.notes, Lines{"DFTRACER_WRITE_BUFFER_SIZE=x is not valid; accepted: a size from 4 KiB to 256 MiB, as "
                                "in 65536, 512K or 16 MiB; 2 MiB from FILE is used"});
}

TEST(Load, AWrongValueOfTheFileNamesWhatTheEnvironmentMadeOfIt) {
  const Loaded loaded = load_file("enable: 1\n\ntracer: {time_metric: PS}\n", {{"DFTRACER_TIME_METRIC", "ns"}});
  EXPECT_EQ(loaded.options.time_metric, TimeMetric::kNs);
  EXPECT_EQ(loaded.notes, Lines{"FILE:3: tracer.time_metric: PS is not valid; accepted: NS, US, MS, SEC; NS from the "
                                "environment is used"});
}

TEST(Load, ValuesInLinesAreCutAndCannotBreakTheLine) {
  const Loaded loaded = load_with({{"DFTRACER_ENABLE", "1"}, {"DFTRACER_CLOCK", "a\nb" + std::string(100'000, 'c')}});
  ASSERT_EQ(loaded.notes.size(), 1u);
  EXPECT_LT(loaded.notes[0].size(), 300u);
  EXPECT_EQ(loaded.notes[0].find('\n'), std::string::npos);
}

// --- unknown names ---------------------------------------------------------------------------------------------------

TEST(Load, UnknownVariablesGetTheNearestName) {
  const Loaded loaded = load_with({{"DFTRACER_ENABLE", "1"},
                                   {"DFTRACER_LOGFILE", "x"},
                                   {"DFTRACER_ZZZZZZZZZZZZ", "x"},
                                   {"DFTRACER_CUDA_PATH", "/usr"},
                                   {"DFTRACER_INIT_COUNT", "1"},
                                   {"DFTRACERX", "1"}});
  EXPECT_EQ(loaded.notes, (Lines{"DFTRACER_LOGFILE is not a variable of the tracer; did you mean DFTRACER_LOG_FILE?",
                                 "DFTRACER_ZZZZZZZZZZZZ is not a variable of the tracer; it is ignored"}));
}

TEST(Load, UnknownKeysAreNamedWithTheirLine) {
  const Loaded loaded = load_file("enable: 1\ntracer:\n  logfile: x\nzebra: {a: 1, b: 2}\nfeatures: 3\ngotcha:\n");
  EXPECT_EQ(loaded.notes,
            (Lines{"FILE:3: unknown key tracer.logfile is ignored; did you mean tracer.log_file?",
                   "FILE:4: unknown key zebra is ignored", "FILE:5: features holds keys, not a value; it is ignored"}));
}

TEST(Load, AThousandUnknownNamesAreNotAThousandLines) {
  std::string yaml = "enable: 1\n";
  Variables variables;
  for (int i = 0; i < 1000; ++i) {
    yaml += "zebra" + std::to_string(i) + ": 1\n";
    variables["DFTRACER_ZEBRA_CROSSING_" + std::to_string(i)] = "1";
  }
  const Loaded loaded = load_file(yaml, variables);
  EXPECT_EQ(loaded.notes.size(), 42u);
  EXPECT_EQ(loaded.notes[20], "FILE:22: more unknown keys follow");
  EXPECT_EQ(loaded.notes[41], "980 more unknown DFTRACER_ variables are ignored");
}

// --- when off --------------------------------------------------------------------------------------------------------

TEST(Load, WhenOffOnlyWhatMayHaveSwitchedItOffIsTold) {
  const Loaded loaded = load_with({{"DFTRACER_ENABLE", "ja"}, {"DFTRACER_CLOCK", "x"}, {"DFTRACER_ENABEL", "1"}});
  EXPECT_FALSE(loaded.options.enable);
  EXPECT_EQ(
      loaded.notes,
      Lines{"DFTRACER_ENABLE=ja is not valid; accepted: 1, true, on, yes or 0, false, off, no; the default 0 is used"});
  EXPECT_EQ(loaded.muted.size(), 2u);
}

// --- broken files ----------------------------------------------------------------------------------------------------

TEST(Load, ABrokenFileIsOneLineAndTheEnvironmentStillCounts) {
  const Loaded loaded = load_file("enable: true\n  - x: [\n", {{"DFTRACER_ENABLE", "1"}, {"DFTRACER_CLOCK", "tsc"}});
  EXPECT_TRUE(loaded.options.enable);
  EXPECT_EQ(loaded.options.clock, ClockChoice::kTsc);
  ASSERT_EQ(loaded.notes.size(), 1u);
  EXPECT_EQ(loaded.notes[0].find("cannot use the configuration file FILE: line 2: "), 0u) << loaded.notes[0];
}

TEST(Load, AMissingFileIsOneLineAlsoWhenNothingElseSwitchesTracingOn) {
  const Loaded loaded = load_with({{"DFTRACER_CONFIGURATION", "/nonexistent/job.yaml"}});
  EXPECT_FALSE(loaded.options.enable);
  EXPECT_EQ(loaded.notes,
            Lines{"cannot use the configuration file /nonexistent/job.yaml: No such file or directory; it "
                  "is ignored"});
}

TEST(Load, AKeyThatStandsTwiceCountsLast) {
  EXPECT_EQ(load_file("internal: {clock: tsc, clock: monotonic}\n").options.clock, ClockChoice::kMonotonic);
}

TEST(Load, AWrongKeyThatIsRepeatedIsOneLine) {
  std::string yaml = "enable: 1\n";
  for (int i = 0; i < 1000; ++i) yaml += "internal: {clock: sundial}\n";
  EXPECT_EQ(
      load_file(yaml).notes,
      Lines{"FILE:2: internal.clock: sundial is not valid; accepted: auto, tsc, monotonic; the default auto is used"});
}

TEST(Load, PathsWithAZeroByteAreRefused) {
  const Loaded loaded = load_file("enable: 1\ntracer: {log_file: \"a\\0b\", data_dirs: [\"c\\0d\"]}\n");
  EXPECT_EQ(loaded.options.log_file, "./trace");
  EXPECT_EQ(loaded.options.data_dirs, Lines{});
  EXPECT_EQ(loaded.notes.size(), 2u);
}

TEST(Documentation, TheExampleOfTheFileIsValid) {
  std::ifstream in(DFT_SOURCE_DIR "/docs/configuration.md");
  const std::string page((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string fence = "```yaml\n";
  const std::size_t begin = page.find(fence) + fence.size();
  ASSERT_GT(begin, fence.size()) << "no example in docs/configuration.md";
  const Loaded loaded = load_file(page.substr(begin, page.find("```", begin) - begin));
  EXPECT_EQ(loaded.options.write_buffer_size, 4u << 20);
  EXPECT_EQ(loaded.options.flush_interval_ms, 500u);
  EXPECT_EQ(loaded.options.data_dirs, (Lines{"/scratch/job42", "/data"}));
  for (const std::string& note : loaded.notes)
    EXPECT_NE(note.find("this build does not have I/O"), std::string::npos) << note;
}

}  // namespace
}  // namespace dft::config
