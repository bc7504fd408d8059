// SPDX-License-Identifier: MIT
// Purpose: ROCTx ranges and marks: their texts come by callback only. Pushes and pops are paired on their thread,
// starts
//          and stops by their id; the text is the event's name.
// Threads: any of the application's.
#pragma once

#include <cstdint>

#include "sources/gpu/rocprof/declarations.h"

namespace dft::gpu::rocprof {

// Which operations are which, by the numbers of the library at hand; -1: it has none.
struct MarkerOperations {
  int mark = -1;
  int push = -1;
  int pop = -1;
  int start = -1;
  int stop = -1;
  bool ranges_have_ids = false;  // keep_range() is the callback of MARKER_CORE_RANGE_API
};
void configure_markers(const MarkerOperations& operations);
void record_markers(bool on);
void on_marker0(CallbackRecord0 record, std::uint64_t* user, void* data);
void on_marker1(CallbackRecord1 record, std::uint64_t* user, void* data);
// Does nothing; but while its kind is traced, a range of a thread has a correlation id as long as it is open, and calls
// within have it as ancestor.
void keep_range(CallbackRecord1 record, std::uint64_t* user, void* data);
// Whether the correlation id is that of a range that is, or lately was, open.
bool is_marker(std::uint64_t correlation);
void markers_in_forked_child();

}  // namespace dft::gpu::rocprof
