// SPDX-License-Identifier: MIT
#include "config/names.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace dft::config {
namespace {

TEST(Names, EveryVariableAndKeyLeadsToItsOwnRow) {
  for (const OptionRow& row : kOptionRows) {
    EXPECT_EQ(row_of_variable(row.env), &row);
    if (row.yaml[0] != '\0') {
      EXPECT_EQ(row_of_key(row.yaml), &row);
    }
    EXPECT_EQ(&row_of(row.id), &row);
  }
  EXPECT_EQ(row_of_variable("DFTRACER_"), nullptr);
  EXPECT_EQ(row_of_key(""), nullptr);
}

TEST(Names, ProfilerMeansTracer) {
  EXPECT_EQ(canonical_key("profiler.init"), "tracer.init");
  EXPECT_EQ(canonical_key("profiler"), "tracer");
  EXPECT_EQ(canonical_key("profilers.init"), "profilers.init");
  EXPECT_EQ(canonical_key("features.profiler"), "features.profiler");
}

// The configuration reference of earlier releases; a variable that is missing here would be told as unknown.
TEST(Names, EveryVariableOfEarlierReleasesIsKnown) {
  for (const char* name : {"ENABLE",
                           "CONFIGURATION",
                           "INIT",
                           "LOG_FILE",
                           "DATA_DIR",
                           "INC_METADATA",
                           "SET_CORE_AFFINITY",
                           "GOTCHA_PRIORITY",
                           "LOG_LEVEL",
                           "TIME_METRIC",
                           "TRACE_COMPRESSION",
                           "WRITE_BUFFER_SIZE",
                           "TRACE_INTERVAL_MS",
                           "LIBUV_THREADS",
                           "BIND_SIGNALS",
                           "DISABLE_IO",
                           "DISABLE_POSIX",
                           "DISABLE_STDIO",
                           "DISABLE_TIDS",
                           "ENABLE_AGGREGATION",
                           "AGGREGATION_TYPE",
                           "AGGREGATION_FILE",
                           "ENABLE_PAPI_TRACING",
                           "PAPI_EVENTS",
                           "PAPI_MULTIPLEX",
                           "PAPI_SAMPLE_INTERVAL_MS",
                           "DISABLE_VARIORUM_POWER"}) {
    EXPECT_NE(row_of_variable(std::string("DFTRACER_") + name), nullptr) << name;
  }
  for (const char* name : {"ERROR", "DEBUG_REGION_TRACK", "INIT_COUNT", "AGGREGATION_INCLUSION_RULES",
                           "AGGREGATION_EXCLUSION_RULES", "BUILD_TYPE", "CUDA_PATH", "MPI_IMPL", "ENABLE_HDF5",
                           "BUILD_PYTHON_BINDINGS", "INSTALL_DEPENDENCIES", "UTILS_THREADS"}) {
    EXPECT_TRUE(variable_is_known(std::string("DFTRACER_") + name)) << name;
  }
  EXPECT_FALSE(variable_is_known("DFTRACER_ENABEL"));
}

TEST(Names, EveryKeyOfEarlierReleasesIsKnown) {
  for (const char* key : {"enable",
                          "tracer.init",
                          "tracer.log_file",
                          "tracer.data_dirs",
                          "tracer.log_level",
                          "tracer.time_metric",
                          "tracer.compression",
                          "tracer.libuv_threads",
                          "gotcha.priority",
                          "features.metadata",
                          "features.core_affinity",
                          "features.tid",
                          "features.interval",
                          "features.io.enable",
                          "features.io.posix",
                          "features.io.stdio",
                          "features.papi.enable",
                          "features.papi.multiplex",
                          "features.papi.interval",
                          "features.papi.events",
                          "features.variorum.enable",
                          "features.aggregation.enable",
                          "features.aggregation.type",
                          "features.aggregation.file",
                          "internal.bind_signals",
                          "internal.write_buffer_size"}) {
    EXPECT_NE(row_of_key(key), nullptr) << key;
  }
  EXPECT_TRUE(key_is_accepted("internal.throw_error"));
  EXPECT_TRUE(key_is_accepted("features.enable"));
}

TEST(Names, SectionsAreProperPrefixes) {
  EXPECT_TRUE(key_is_section("features"));
  EXPECT_TRUE(key_is_section("features.io"));
  EXPECT_FALSE(key_is_section("features.io.posix"));
  EXPECT_FALSE(key_is_section("feature"));
  EXPECT_FALSE(key_is_section("enable"));
}

TEST(Names, TheNearestNameIsFoundAndAFarOneIsNot) {
  EXPECT_EQ(nearest_variable("DFTRACER_ENABEL"), "DFTRACER_ENABLE");
  EXPECT_EQ(nearest_variable("DFTRACER_LOGFILE"), "DFTRACER_LOG_FILE");
  EXPECT_EQ(nearest_variable("DFTRACER_DATA_DIRS"), "DFTRACER_DATA_DIR");
  EXPECT_EQ(nearest_variable("DFTRACER_QWERTYUIOP"), "");
  EXPECT_EQ(nearest_variable("DFTRACER_" + std::string(100'000, 'A')), "");
  EXPECT_EQ(nearest_key("tracer.logfile"), "tracer.log_file");
  EXPECT_EQ(nearest_key("enabled"), "enable");
  EXPECT_EQ(nearest_key("zebra"), "");
}

}  // namespace
}  // namespace dft::config
