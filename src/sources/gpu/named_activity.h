// SPDX-License-Identifier: MIT
// Purpose: what a GPU did, of a vendor whose library names kinds and operations itself (AMD): the category is a kind's
//          name, and the args are a table of the backend's. The other vendor's fixed kinds are in activity.h.
// Invariant: texts live only during the call that hands the value over.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sources/gpu/activity.h"
#include "sources/gpu/lane_kind.h"

namespace dft::gpu {

inline constexpr unsigned kNamedKinds = 32;  // Settings::categories has a bit for each
inline constexpr unsigned kNamedOperations = 2048;
inline constexpr unsigned kMostNamedFields = 56;  // of a backend
inline constexpr unsigned kMostNamedValues = 24;  // of a record

// An arg: all are integers of 64 bits.
struct NamedField {
  const char* key;
  bool is_signed;
};
struct NamedFields {
  const NamedField* fields = nullptr;
  unsigned count = 0;
};

struct NamedActivity {
  std::uint8_t kind = 0;        // Backend::named_category
  std::uint16_t operation = 0;  // Backend::named_operation
  bool is_call = false;         // of the application: stands on its thread, and work refers to it
  bool is_work = false;         // on the device, asked for by a call
  bool is_instant = false;      // has one time only
  LaneKind lane = LaneKind::kStream;
  std::uint32_t tid = 0;         // of the kernel; 0: the work stands on a lane
  std::uint32_t device = kNoId;  // of the lane, as its name says it
  std::uint32_t context = kNoId;
  std::uint32_t stream = kNoId;
  std::uint64_t begin = 0;  // nanoseconds of the vendor's clock; 0: not known
  std::uint64_t end = 0;
  std::uint64_t correlation = 0;  // 0: none
  bool is_kernel = false;         // its name is that of `symbol`, without ".kd"
  const char* symbol = nullptr;   // mangled; may be null
  unsigned value_count = 0;
  std::uint64_t fields = 0;                // bit per entry of Backend::named_fields
  std::uint64_t values[kMostNamedValues];  // of `fields`, lowest first

  NamedActivity() {}  // the values are the decoder's to fill
  // In the table's order, at most kMostNamedValues.
  void add(unsigned field, std::uint64_t value) {
    values[value_count++] = value;
    fields |= std::uint64_t{1} << field;
  }
};

}  // namespace dft::gpu
