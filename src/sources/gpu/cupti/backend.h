// SPDX-License-Identifier: MIT
// Purpose: NVIDIA GPUs through CUPTI's activity interface.
// Threads: see sources/gpu/backend.h.
// Invariants:
//   1. The subscription is held from start to stop, so that no other client takes our buffers unnoticed; when another
//      holds it, nothing is registered and nothing enabled, but for one that is idle and tells us before it works
//      (Settings::beside_holder).
//      Where CUPTI and the driver let several subscribers work side by side, it is shared from the start.
//   2. cuptiFinalize is never called, the library never closed.
#pragma once

#include <atomic>

#include "sources/gpu/backend.h"
#include "sources/gpu/cupti/api_names.h"
#include "sources/gpu/cupti/client.h"
#include "sources/gpu/cupti/decode.h"
#include "sources/gpu/cupti/library.h"

namespace dft::gpu::cupti {

class CuptiBackend final : public Backend {
 public:
  std::string_view name() const override { return "cupti"; }
  model::Layer layer() const override { return model::Layer::kCuda; }
  std::string_view category(ActivityKind kind) const override { return category_name(kind); }
  std::string_view operation_name(ActivityKind kind, unsigned operation) override;

  bool start(const Settings& settings, BufferPool& pool, StatusSink& statuses) override;
  void flush(bool forced) override;
  void wind_down() override;
  void stop() override;
  void release() override;
  void decode(const RawBuffer& buffer, ActivitySink& sink) override { decoder_.decode(buffer, sink); }
  void collect_losses(ActivitySink& sink) override;
  std::uint64_t now_ns() override;
  const char* clock_name() const override { return is_realtime_ ? "realtime" : "cupti"; }
  void in_forked_child() override;

  // The library is there, but must not be called yet: start() is to be tried again. Any thread.
  bool waits_for_driver() const { return waits_for_driver_.load(std::memory_order_relaxed); }
  // Another client has put its own clock in place, as Kineto does when it takes the buffers. Any thread, while running.
  bool was_taken_over() const { return is_realtime_ && !dead_ && !clock_is_realtime(); }
  // Buffers of another client, which are not zeroed, may come between ours. Any thread, while running.
  void expect_foreign_buffers(bool on) { client_.set_attribute(Attribute::kZeroedBuffers, on ? 0 : 1); }
  bool shares() const { return client_.shares(); }  // other subscribers may work beside us
  bool has_shared() const { return has_shared_; }   // ... some time
  const char* loaded_from() const { return library_.path.c_str(); }
  std::uint32_t version() const { return library_.version.api(); }
  std::uint32_t driver_cuda() const { return library_.driver_cuda; }

 private:
  bool subscribe(StatusSink& statuses, bool may_share);
  bool begin(StatusSink& statuses);  // subscribed
  void tell_refused(StatusSink& statuses, CUptiResult result);
  void set_attributes();
  void reset_attributes();
  CUptiResult subscribe_by_name(bool share);
  bool graphs_are_whole(StatusSink& statuses);
  void unsubscribe();
  bool enable_kinds(StatusSink& statuses);
  bool enable(int kind, const char* category, StatusSink& statuses);
  void leave_calls_out(ActivityKind kind);
  void count_graph_nodes(StatusSink& statuses);
  bool knows_graph_nodes(StatusSink& statuses);
  void start_unified_memory_or_wait();
  void disable(std::uint64_t kinds);  // bits of CUpti_ActivityKind
  void tell_unified_memory();
  void check_clock();
  bool clock_is_realtime() const;
  void fail(StatusSink& statuses, CUptiResult result, const char* detail, const char* category = nullptr);
  const char* result_name(CUptiResult result) const;

  Settings settings_;
  StatusSink* statuses_ = nullptr;
  Library library_;
  std::atomic<bool> waits_for_driver_{false};  // of library_, for those who ask while start() opens it
  bool is_open_ = false;
  bool dead_ = false;
  bool is_realtime_ = true;
  bool told_quiet_ = false;
  bool partial_ = false;
  bool told_graphs_ = false;
  bool has_shared_ = false;
  bool unified_memory_stays_ = false;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  Client client_;
  char holder_[128] = {};
  std::uint64_t enabled_ = 0;  // bit per kind of CUPTI
  ApiNames names_;
  Decoder decoder_;
};

extern CuptiBackend& backend;  // the process's one backend; never destroyed

// What to do about a result of CUPTI; null: nothing is known.
const char* hint_for(CUptiResult result);

}  // namespace dft::gpu::cupti
