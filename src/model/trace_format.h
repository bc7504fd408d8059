// SPDX-License-Identifier: MIT
// Purpose: the numbers and names of the trace format (generation G3), one truth for writer and reader.
// See: docs/format.md.
#pragma once

#include <cstdint>
#include <string_view>

namespace dft::model {

// `type`: instrumentation layer of a record. Append-only; readers keep numbers they do not know.
enum class Layer : std::uint8_t {
  kUnknown = 0,
  kDftracer = 1,
  kCApp = 2,
  kLibcIo = 3,
  kHip = 4,
  kHdf5 = 5,
  kPython = 6,
  kPsutil = 7,
  kFinstrument = 8,
  kCppApp = 9,
  kMpi = 10,
  kPapi = 11,
  kOmnistat = 12,
  kVariorum = 13,
  kCuda = 14,
};
inline constexpr int kLayerCount = 15;

inline constexpr std::string_view kLayerNames[kLayerCount] = {
    "UNKNOWN",     "DFTRACER", "C_APP", "LIBC_IO", "HIP",      "HDF5",     "PYTHON", "PSUTIL",
    "FINSTRUMENT", "CPP_APP",  "MPI",   "PAPI",    "OMNISTAT", "VARIORUM", "CUDA"};

// Name of a layer number, "UNKNOWN" for numbers this version does not know.
constexpr std::string_view layer_name(int layer) {
  return layer >= 0 && layer < kLayerCount ? kLayerNames[layer] : kLayerNames[0];
}

// `ph`: record phase. Append-only.
enum class Phase : std::uint8_t {
  kUnknown = 0,
  kComplete = 1,
  kCounter = 2,
  kAggregated = 3,
  kMetadata = 4,
};

// Unit of `ts` and `dur`.
enum class TimeMetric : std::uint8_t { kNs, kUs, kMs, kSec };

constexpr std::uint64_t nanoseconds_per_unit(TimeMetric metric) {
  switch (metric) {
    case TimeMetric::kNs: return 1;
    case TimeMetric::kUs: return 1'000;
    case TimeMetric::kMs: return 1'000'000;
    case TimeMetric::kSec: return 1'000'000'000;
  }
  return 1'000;
}
constexpr std::string_view time_metric_name(TimeMetric metric) {
  switch (metric) {
    case TimeMetric::kNs: return "NS";
    case TimeMetric::kUs: return "US";
    case TimeMetric::kMs: return "MS";
    case TimeMetric::kSec: return "SEC";
  }
  return "US";
}

inline constexpr std::string_view kCategoryDftracer = "dftracer";
inline constexpr std::string_view kCategoryC = "C_APP";
inline constexpr std::string_view kCategoryCpp = "CPP_APP";

// Names of metadata records.
inline constexpr std::string_view kFileHash = "FH";
inline constexpr std::string_view kHostHash = "HH";
inline constexpr std::string_view kStringHash = "SH";
inline constexpr std::string_view kKeyValue = "CM";
inline constexpr std::string_view kProcessRecord = "PR";
inline constexpr std::string_view kThreadName = "thread_name";
inline constexpr std::string_view kProcessName = "process_name";
inline constexpr std::string_view kEntity = "EH";
inline constexpr std::string_view kEntityType = "ET";
inline constexpr std::string_view kEntityRelation = "ER";
inline constexpr std::string_view kLoss = "loss";
inline constexpr std::string_view kWait = "wait";
inline constexpr std::string_view kClockSample = "clock";

inline constexpr std::string_view kTraceSuffixGz = ".pfw.gz";
inline constexpr std::string_view kTraceSuffixPlain = ".pfw";
inline constexpr std::string_view kIndexSuffix = ".dfi";  // <trace without .pfw[.gz]>.dfi; see docs/format.md
inline constexpr std::string_view kCrashFileSuffix =
    ".dfcrash";  // <trace without .pfw[.gz]>.dfcrash, removed at a clean end

// Each gzip member that we write carries this FEXTRA subfield (RFC 1952 2.3.1.1), so that a reader can hop from member
// to member without inflating: SI1='D' SI2='F' LEN=12, then three little-endian uint32: size of the whole member in
// bytes, size of the uncompressed block in bytes, number of lines in it.
inline constexpr unsigned char kMemberExtraId[2] = {'D', 'F'};
inline constexpr unsigned kMemberExtraLen = 12;

}  // namespace dft::model
