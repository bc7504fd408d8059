// SPDX-License-Identifier: MIT
#include "sources/gpu/rocprof/markers.h"

#include <atomic>
#include <cstring>
#include <string_view>

#include "base/futex_lock.h"
#include "record/emit.h"
#include "sources/gpu/range_stack.h"

namespace dft::gpu::rocprof {

namespace {

using record::Region;

constexpr std::string_view kCategory = "MARKER_CORE_API";
constexpr std::string_view kUnnamed = "marker";
constexpr std::size_t kRemembered = 4096;

MarkerOperations known_operations;  // written before the first callback
std::atomic<bool> recording_markers{false};
const char domain_of_roctx = 0;  // its address, among the domains of NVTX

// Ranges that a start opened, by their id. One that is open while 4,096 others begin is found no more, and ends with
// the trace.
struct Started {
  std::uint64_t id;
  Region* region;
};
base::FutexLock started_lock;
Started started[kRemembered];

std::atomic<std::uint64_t> correlations[kRemembered];

Region* open(const char* text, std::uint64_t correlation) {
  if (!recording_markers.load(std::memory_order_relaxed)) return nullptr;
  const std::string_view name = text != nullptr && *text != '\0' ? std::string_view(text) : kUnnamed;
  Region* region = record::open_region(record::site_id(name, kCategory, model::Layer::kHip));
  if (region != nullptr && correlation != 0) record::add_uint64(region, "correlation_id", correlation);
  return region;
}

void remember_start(std::uint64_t id, Region* region) {
  const base::LockGuard lock(started_lock);
  started[id % kRemembered] = {id, region};
}

void close_started(std::uint64_t id) {
  Region* region = nullptr;
  {
    const base::LockGuard lock(started_lock);
    Started& found = started[id % kRemembered];
    if (found.id != id) return;
    region = found.region;
    found.region = nullptr;
  }
  if (record::is_open(region)) record::close_region(region);
}

void remember_id(std::uint64_t id) { correlations[id % kRemembered].store(id, std::memory_order_relaxed); }

void on_enter(int operation, const MarkerData& data, std::uint64_t correlation, std::uint64_t* user) {
  if (operation == known_operations.pop) {
    pop_range(&domain_of_roctx);
  } else if (operation == known_operations.stop) {
    close_started(data.range_id);
  } else if (operation == known_operations.mark) {
    Region* region = open(data.message, correlation);
    if (region != nullptr) record::close_as_instant(region);
  } else if (operation == known_operations.push || operation == known_operations.start) {
    remember_id(correlation);
    Region* region = open(data.message, correlation);
    if (operation == known_operations.push) {
      push_range(&domain_of_roctx, region);
    } else {
      *user = reinterpret_cast<std::uintptr_t>(region);
    }
  }
}

std::uint64_t id_of(const Correlation2& correlation, int) { return correlation.internal; }
// The push call is within the range, which has an id of its own.
std::uint64_t id_of(const Correlation3& correlation, int operation) {
  const bool has_range = operation == known_operations.push && known_operations.ranges_have_ids;
  return has_range && correlation.ancestor != 0 ? correlation.ancestor : correlation.internal;
}

template <typename Record>
void on_marker(const Record& record, std::uint64_t* user) {
  if (record.payload == nullptr || user == nullptr || record.operation < 0) return;
  MarkerData data;
  std::memcpy(&data.size, record.payload, sizeof data.size);
  if (data.size < sizeof data) return;
  std::memcpy(&data, record.payload, sizeof data);
  if (record.phase == kEnter) {
    on_enter(record.operation, data, id_of(record.correlation, record.operation), user);
  } else if (record.phase == kExit && record.operation == known_operations.start && *user != 0) {
    remember_start(data.result, reinterpret_cast<Region*>(static_cast<std::uintptr_t>(*user)));
  }
}

}  // namespace

void configure_markers(const MarkerOperations& operations) {
  known_operations = operations;
  for (auto& id : correlations) id.store(0, std::memory_order_relaxed);
  prepare_range_stacks();
}

void keep_range(CallbackRecord1, std::uint64_t*, void*) {}

void record_markers(bool on) { recording_markers.store(on, std::memory_order_relaxed); }

void on_marker0(CallbackRecord0 record, std::uint64_t* user, void*) { on_marker(record, user); }
void on_marker1(CallbackRecord1 record, std::uint64_t* user, void*) { on_marker(record, user); }

bool is_marker(std::uint64_t correlation) {
  return correlation != 0 && correlations[correlation % kRemembered].load(std::memory_order_relaxed) == correlation;
}

void markers_in_forked_child() { started_lock.reset_after_fork(); }

}  // namespace dft::gpu::rocprof
