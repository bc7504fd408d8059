// SPDX-License-Identifier: MIT
// Purpose: defects of earlier releases that must not come back. CFG-n are their numbers in the list of known defects.
#include <gtest/gtest.h>

#include <string>

#include "config/fake_environment.h"

namespace dft::config {
namespace {

using Lines = std::vector<std::string>;

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
    EXPECT_EQ(loaded.muted.size(), 1u) << "only the part that this build does not have";
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
