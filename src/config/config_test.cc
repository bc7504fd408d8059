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
#include "config/option_table.h"
#include "config/parse.h"

namespace {
std::size_t allocations = 0;
}

// NOLINTBEGIN(misc-new-delete-overloads): the other forms of new and delete end in these.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND(misc-new-delete-overloads)

namespace dft::config {
namespace {

using Variables = std::map<std::string, std::string>;
using Lines = std::vector<std::string>;

Origin origin_of(const Loaded& loaded, OptionId id) { return loaded.origins[static_cast<std::size_t>(id)]; }

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

// --- every option, both ways -----------------------------------------------------------------------------------------

// Some value that differs from the default, in the sense of the variable and of the key.
struct Sample {
  std::string variable;
  std::string key;
  std::string text;  // as value_of prints it
};

Sample sample_of(const OptionRow& row) {
  switch (row.kind) {
    case Kind::kBool: {
      const bool key = row.default_text == std::string("0");
      const std::string variable = key != row.env_negates ? "yes" : "off";
      return {variable, key ? "true" : "false", key != row.env_negates ? "1" : "0"};
    }
    case Kind::kEnum: {
      std::string value = row.values[0] == std::string(row.default_text) ? row.values[1] : row.values[0];
      return {value, value, value};
    }
    case Kind::kSize: return {"2M", "2 MiB", "2 MiB"};
    case Kind::kTimeMs: return {"3s", "3000", "3000 ms"};
    case Kind::kInt: return {"3", "3", "3"};
    case Kind::kPath: return {"/some/path", "/some/path", "/some/path"};
    case Kind::kList: return {"/x", "[/x]", "/x"};
  }
  return {};
}

std::string nested(const std::string& key, const std::string& value) {
  std::string open = "{" + key + ": " + value + "}";
  for (std::size_t dot; (dot = open.find('.')) < open.find(':');) open.replace(dot, 1, ": {").append("}");
  return open + "\n";
}

class EveryOption : public ::testing::TestWithParam<std::size_t> {
 protected:
  const OptionRow& row_ = kOptionRows[GetParam()];
  const Sample sample_ = sample_of(row_);
  const bool is_file_ = row_.id == OptionId::kConfiguration;
};

TEST_P(EveryOption, IsTakenFromTheEnvironment) {
  if (is_file_) return;
  const Loaded loaded = load_with({{row_.env, sample_.variable}});
  EXPECT_EQ(value_of(loaded.options, row_.env), sample_.text);
  EXPECT_EQ(origin_of(loaded, row_.id), Origin::kEnvironment);
  EXPECT_NE(sample_.text, value_of(Options{}, row_.env)) << "the sample must differ from the default";
}

TEST_P(EveryOption, IsTakenFromTheFile) {
  if (row_.yaml[0] == '\0') return;
  const Loaded loaded = load_file(nested(row_.yaml, sample_.key));
  EXPECT_EQ(value_of(loaded.options, row_.env), sample_.text);
  EXPECT_EQ(origin_of(loaded, row_.id), Origin::kFile);
}

TEST_P(EveryOption, OfTheFileIsOverriddenByTheEnvironmentInBothDirections) {
  if (row_.yaml[0] == '\0') return;
  std::string back = value_of(Options{}, row_.env);
  if (back.empty()) back = "/back";
  const Loaded off = load_file(nested(row_.yaml, sample_.key), {{row_.env, back}});
  EXPECT_EQ(value_of(off.options, row_.env), back);
  EXPECT_EQ(origin_of(off, row_.id), Origin::kEnvironment);
  const Loaded empty = load_file(nested(row_.yaml, sample_.key), {{row_.env, ""}});
  EXPECT_EQ(value_of(empty.options, row_.env), sample_.text) << "an empty variable counts as unset";
}

TEST_P(EveryOption, SaysOnceThatAPartIsNotInThisBuild) {
  if (is_file_) return;
  Variables variables{{"DFTRACER_ENABLE", "1"}};
  variables[row_.env] = sample_.variable;
  const Loaded loaded = load_with(std::move(variables));
  const bool quiet = row_.needs_quiet[0] != '\0' && value_text(loaded.options, row_) == row_.needs_quiet;
  if (row_.needs[0] == '\0' || quiet) {
    EXPECT_EQ(loaded.notes, Lines{});
  } else {
    EXPECT_EQ(loaded.notes, Lines{row_.env + std::string("=") + sample_.variable +
                                  " has no effect: this build does not have " + row_.needs + " yet"});
  }
}

TEST_P(EveryOption, WithAWrongValueKeepsTheDefaultAndSaysWhatIsAccepted) {
  if (is_file_ || row_.kind == Kind::kList || row_.otherwise >= 0) return;
  const std::string bad = row_.kind == Kind::kPath ? std::string(5000, 'x') : "16Q";
  const std::string end = std::string(" is not valid; accepted: ") + row_.accepted + "; the default ";
  Variables variables{{"DFTRACER_ENABLE", "1"}};
  variables[row_.env] = bad;
  const Loaded loaded = load_with(variables);
  EXPECT_EQ(value_of(loaded.options, row_.env), value_of(Options{}, row_.env));
  ASSERT_EQ(loaded.notes.size(), 1u);
  EXPECT_NE(loaded.notes[0].find(row_.env + std::string("=") + bad.substr(0, 80)), std::string::npos);
  EXPECT_NE(loaded.notes[0].find(end), std::string::npos) << loaded.notes[0];
  if (row_.yaml[0] == '\0' || row_.id == OptionId::kEnable) return;
  const Loaded file = load_file(nested(row_.yaml, bad), {{"DFTRACER_ENABLE", "1"}});
  EXPECT_EQ(value_of(file.options, row_.env), value_of(Options{}, row_.env));
  ASSERT_EQ(file.notes.size(), 1u);
  EXPECT_EQ(file.notes[0].find("FILE:1: " + std::string(row_.yaml) + ": " + bad.substr(0, 80)), 0u) << file.notes[0];
  EXPECT_NE(file.notes[0].find(end), std::string::npos) << file.notes[0];
}

INSTANTIATE_TEST_SUITE_P(Table, EveryOption, ::testing::Range<std::size_t>(0, kOptionCount),
                         [](const auto& option) { return std::string(kOptionRows[option.param].field_name); });

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
  const std::string source = __FILE__;
  std::ifstream in(source.substr(0, source.rfind("src/config/")) + "docs/configuration.md");
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

// --- defects of the original that must not come back -----------------------------------------------------------------

TEST(Cfg1, BothSectionNamesAreRead) {
  for (const char* section : {"tracer", "profiler"}) {
    const Loaded loaded =
        load_file(section + std::string(": {init: PRELOAD, log_file: p, data_dirs: /d, log_level: DEBUG, time_metric: "
                                        "NS, compression: no, libuv_threads: 4}\n"));
    EXPECT_EQ(loaded.options.init, InitMode::kPreload) << section;
    EXPECT_EQ(loaded.options.log_file, "p");
    EXPECT_EQ(loaded.options.data_dirs, Lines{"/d"});
    EXPECT_EQ(loaded.options.log_level, base::LogLevel::kDebug);
    EXPECT_EQ(loaded.options.time_metric, TimeMetric::kNs);
    EXPECT_FALSE(loaded.options.compression);
    EXPECT_EQ(loaded.options.libuv_threads, 4);
    EXPECT_EQ(loaded.muted.size(), 2u) << "only the parts that this build does not have";
  }
}

TEST(Cfg2, IoKeysNeedNoOtherKey) {
  const Loaded loaded = load_file("features: {io: {enable: false, posix: false, stdio: false}}\n");
  EXPECT_FALSE(loaded.options.io);
  EXPECT_FALSE(loaded.options.posix);
  EXPECT_FALSE(loaded.options.stdio);
  EXPECT_EQ(load_file("enable: 1\nfeatures: {enable: true}\n").notes, Lines{}) << "files that have it stay quiet";
}

TEST(Cfg3, DisableTidsDisablesTids) {
  EXPECT_FALSE(load_with({{"DFTRACER_DISABLE_TIDS", "1"}}).options.tids);
  EXPECT_TRUE(load_with({{"DFTRACER_DISABLE_TIDS", "0"}}).options.tids);
  EXPECT_FALSE(load_file("features: {tid: false}\n").options.tids);
  EXPECT_TRUE(load_file("features: {tid: true}\n").options.tids);
}

TEST(Cfg4, TheEnvironmentSwitchesOffWhatTheFileSwitchedOn) {
  const Loaded loaded = load_file(
      "enable: true\ninternal: {bind_signals: true}\nfeatures: {core_affinity: true, papi: {enable: true}, io: "
      "{enable: "
      "false}}\n",
      {{"DFTRACER_ENABLE", "0"},
       {"DFTRACER_BIND_SIGNALS", "0"},
       {"DFTRACER_SET_CORE_AFFINITY", "0"},
       {"DFTRACER_ENABLE_PAPI_TRACING", "0"},
       {"DFTRACER_DISABLE_IO", "0"}});
  EXPECT_FALSE(loaded.options.enable);
  EXPECT_FALSE(loaded.options.bind_signals);
  EXPECT_FALSE(loaded.options.core_affinity);
  EXPECT_FALSE(loaded.options.papi);
  EXPECT_TRUE(loaded.options.io);
}

TEST(Cfg5, AFileWithoutEnableLeavesItToTheOtherLayers) {
  EXPECT_FALSE(load_file("tracer: {init: PRELOAD}\n").options.enable);
  const Loaded on = load_file("tracer: {init: PRELOAD}\n", {{"DFTRACER_ENABLE", "1"}});
  EXPECT_TRUE(on.options.enable);
  EXPECT_EQ(on.options.init, InitMode::kPreload);
  EXPECT_EQ(on.notes, Lines{});
}

TEST(Cfg6, GarbageIsNamedAndUnitsAreUnderstood) {
  EXPECT_EQ(load_with({{"DFTRACER_WRITE_BUFFER_SIZE", "16M"}}).options.write_buffer_size, 16u << 20);
  EXPECT_EQ(load_with({{"DFTRACER_ENABLE", "1"}, {"DFTRACER_TIME_METRIC", "fortnight"}}).notes.size(), 1u);
}

TEST(Cfg7, AggregationIsNeverTakenForAvailable) {
  const Loaded loaded = load_with({{"DFTRACER_ENABLE", "1"},
                                   {"DFTRACER_ENABLE_AGGREGATION", "1"},
                                   {"DFTRACER_AGGREGATION_TYPE", "SELECTIVE"},
                                   {"DFTRACER_AGGREGATION_FILE", "/nonexistent"}});
  EXPECT_EQ(loaded.notes.size(), 3u);
  EXPECT_EQ(load_with({{"DFTRACER_ENABLE", "1"}, {"DFTRACER_ENABLE_AGGREGATION", "0"}}).notes, Lines{});
}

TEST(Cfg8, LoadingLeavesTheProcessEnvironmentAlone) {
  load_with({{"DFTRACER_ENABLE", "1"}, {"DFTRACER_LOG_FILE", "x"}, {"DFTRACER_DATA_DIR", "/d"}});
  EXPECT_EQ(process_environment("DFTRACER_LOG_FILE"), nullptr);
  EXPECT_EQ(process_environment("DFTRACER_DATA_DIR"), nullptr);
}

}  // namespace
}  // namespace dft::config
