// SPDX-License-Identifier: MIT
// Purpose: AMD GPUs through rocprofiler-sdk's tracing services.
// Threads: see sources/gpu/backend.h. The first start is inside the library's call of `initialize`; what must be
//          configured can be configured there only.
// Invariants:
//   1. The library is never closed, and its context, buffers and services stay for the life of the process: a later
//      start only starts the context again.
//   2. No call of HIP or HSA.
#pragma once

#include "sources/gpu/backend.h"
#include "sources/gpu/rocprof/agents.h"
#include "sources/gpu/rocprof/capture.h"
#include "sources/gpu/rocprof/decode.h"
#include "sources/gpu/rocprof/fields.h"
#include "sources/gpu/rocprof/kinds.h"
#include "sources/gpu/rocprof/library.h"

namespace dft::gpu::rocprof {

class RocprofBackend final : public Backend {
 public:
  std::string_view name() const override { return "rocprofiler-sdk"; }
  model::Layer layer() const override { return model::Layer::kHip; }
  std::string_view category(ActivityKind) const override { return "KERNEL_DISPATCH"; }
  std::string_view operation_name(ActivityKind, unsigned) override { return {}; }
  std::string_view named_category(unsigned kind) const override { return kind < kKinds ? kKindRows[kind].name : ""; }
  std::string_view named_operation(unsigned kind, unsigned operation) override;
  NamedFields named_fields() const override { return {kFields, static_cast<unsigned>(Field::kCount)}; }
  std::string_view hidden_suffix() const override { return ".kd"; }

  // Inside the library's call of `initialize`, once: everything that only can be configured there. What failed is told
  // by the first start. False: nothing can be recorded.
  bool make(const Library& library, const Settings& settings);
  bool is_made() const { return is_made_; }
  // There will be nothing to make; told by the first start.
  void refuse(const char* why) { note(kDone, nullptr, why); }
  const Library& opened() const { return library_; }

  bool start(const Settings& settings, BufferPool& pool, StatusSink& statuses) override;
  void flush(bool forced) override;
  void wind_down() override {}
  void stop() override;
  void decode(const RawBuffer& buffer, ActivitySink& sink) override { decoder_.decode(buffer, sink); }
  void collect_losses(ActivitySink& sink) override;
  std::uint64_t now_ns() override;
  const char* clock_name() const override { return "boottime"; }
  bool work_is_left() override;
  void in_forked_child() override;

 private:
  // A refusal, told when there is someone to tell.
  struct Failure {
    rocprof::Status status;
    const char* category;  // null: all
    const char* detail;
  };
  bool can_open_device();
  bool make_context();
  bool make_buffer(Group group);
  void trace_kind(unsigned kind);
  void trace_symbols();
  void trace_streams();
  bool trace_ranges();
  void trace_markers();
  void request_ids();
  void note(rocprof::Status status, const char* category, const char* detail);
  void tell(const Failure& failure, StatusSink& statuses) const;
  bool wants(unsigned kind) const { return (settings_.categories >> kind & 1u) != 0; }
  bool wants(Family family) const;
  bool has_ended() const;

  static constexpr unsigned kMostFailures = 2 * kKinds;
  Settings settings_;
  Library library_;
  KindTable kinds_;
  Agents agents_;
  Decoder decoder_;
  Id context_{};
  Id buffers_[kGroups] = {};
  std::uint64_t drops_told_[kGroups] = {};
  Failure failures_[kMostFailures];
  unsigned failure_count_ = 0;
  bool is_made_ = false;
  bool active_ = false;
  bool dead_ = false;
  bool traces_hsa_ = false;
  bool left_calls_out_ = false;
  bool told_quiet_ = false;
};

extern RocprofBackend& backend;  // the process's one backend; never destroyed

}  // namespace dft::gpu::rocprof
