// SPDX-License-Identifier: MIT
// Purpose: the kinds of records that are known, by the names that rocprofiler-sdk gives them (an event's category), and
//          which number each has in the library at hand. Numbers differ between releases, names do not.
// Threads: filled while the backend starts, then read by the decoding thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "sources/gpu/named_activity.h"
#include "sources/gpu/rocprof/functions.h"
#include "sources/gpu/settings.h"

namespace dft::gpu::rocprof {

// How a kind's records are laid out and what becomes of them.
enum class Family : std::uint8_t {
  kHipApi,  // calls: ApiRecord
  kHsaApi,
  kApi,     // other calls
  kApiExt,  // ApiRecord, arguments, result
  kMarker,  // by callback (markers.h)
  kStream,  // by callback: which stream work belongs to
  kKernel,
  kCopy,
  kAllocation,
  kScratch,
  kPageMigration,
  kKfdMigrateEvent,
  kKfdFaultEvent,
  kKfdQueueEvent,
  kKfdUnmapEvent,
  kKfdDroppedEvent,
  kKfdMigrate,
  kKfdFault,
  kKfdQueue,
  kOmpt,
  kRuntime,
};

struct KindRow {
  const char* name;
  Family family;
  bool by_default;
};
// The index is the kind's number in NamedActivity and in Settings::categories.
inline constexpr KindRow kKindRows[] = {
    {"HIP_RUNTIME_API", Family::kHipApi, true},
    {"HIP_COMPILER_API", Family::kHipApi, false},
    {"HIP_RUNTIME_API_EXT", Family::kApiExt, false},
    {"HIP_COMPILER_API_EXT", Family::kApiExt, false},
    {"HSA_CORE_API", Family::kHsaApi, true},
    {"HSA_AMD_EXT_API", Family::kHsaApi, true},
    {"HSA_IMAGE_EXT_API", Family::kHsaApi, true},
    {"HSA_FINALIZE_EXT_API", Family::kHsaApi, true},
    {"KERNEL_DISPATCH", Family::kKernel, true},
    {"MEMORY_COPY", Family::kCopy, true},
    {"MEMORY_ALLOCATION", Family::kAllocation, true},
    {"SCRATCH_MEMORY", Family::kScratch, true},
    {"PAGE_MIGRATION", Family::kPageMigration, true},
    {"KFD_EVENT_PAGE_MIGRATE", Family::kKfdMigrateEvent, true},
    {"KFD_EVENT_PAGE_FAULT", Family::kKfdFaultEvent, true},
    {"KFD_EVENT_QUEUE", Family::kKfdQueueEvent, true},
    {"KFD_EVENT_UNMAP_FROM_GPU", Family::kKfdUnmapEvent, true},
    {"KFD_EVENT_DROPPED_EVENTS", Family::kKfdDroppedEvent, true},
    {"KFD_PAGE_MIGRATE", Family::kKfdMigrate, false},
    {"KFD_PAGE_FAULT", Family::kKfdFault, false},
    {"KFD_QUEUE", Family::kKfdQueue, false},
    {"RCCL_API", Family::kApi, true},
    {"MARKER_CORE_API", Family::kMarker, true},
    {"HIP_STREAM", Family::kStream, true},
    {"OMPT", Family::kOmpt, false},
    {"RUNTIME_INITIALIZATION", Family::kRuntime, false},
    {"ROCDECODE_API", Family::kApi, false},
    {"ROCJPEG_API", Family::kApi, false},
    {"ROCSHMEM_API", Family::kApi, false},
    {"HIPFILE_API", Family::kApi, false},
};
inline constexpr unsigned kKinds = sizeof kKindRows / sizeof kKindRows[0];
static_assert(kKinds <= kNamedKinds);
inline constexpr std::uint32_t kAllKinds = static_cast<std::uint32_t>((std::uint64_t{1} << kKinds) - 1);

unsigned kind_index(std::string_view name);  // kKinds: not known
// All but those that tell the calls of another kind once more.
std::uint32_t all_kinds();
std::uint32_t default_kinds();
// Bits for the names of a list; "default" and "all" stand for what they say, an empty list for the default.
// `unknown` gets the first name that is no kind; it is left out.
std::uint32_t kind_bits(const std::string_view* names, std::size_t count, std::string_view* unknown);

// Whether quiet mode leaves the call of this kind out.
bool is_quiet_call(unsigned kind, std::string_view operation);
// What quiet mode leaves out, in words for a `loss` record.
const char* quiet_list();

class KindTable {
 public:
  static constexpr unsigned kNumbers = 128;  // the library's own numbers are below

  // Asks the library for its kinds. False when it knows none of ours.
  bool configure(const Functions& functions);
  // The library's number; -1: this release has no such kind.
  int buffered_number(unsigned kind) const { return buffered_[kind]; }
  int callback_number(unsigned kind) const { return callback_[kind]; }
  int code_object_number() const { return code_object_; }    // of callbacks
  int marker_range_number() const { return marker_range_; }  // likewise, MARKER_CORE_RANGE_API
  // Our index of the library's number, kKinds if it is none of ours.
  unsigned of_number(std::uint32_t number) const { return number < kNumbers ? of_number_[number] : kKinds; }
  std::string_view operation_name(unsigned kind, unsigned operation) const;

 private:
  const Functions* functions_ = nullptr;
  int buffered_[kKinds];
  int callback_[kKinds];
  int code_object_ = -1;
  int marker_range_ = -1;
  std::uint8_t of_number_[kNumbers];
};

}  // namespace dft::gpu::rocprof
