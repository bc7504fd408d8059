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
  std::string_view named_category(unsigned kind) const override;
  std::string_view named_operation(unsigned kind, unsigned operation) override;
  NamedFields named_fields() const override { return {kFields, static_cast<unsigned>(Field::kCount)}; }

  // REQUIRES: attach() was called.
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

  // The library that is at hand. Before the first start.
  void attach(const Library& library) { library_ = library; }
  bool is_attached() const { return library_.handle != nullptr; }
  const Library& library() const { return library_; }

 private:
  bool make_context(StatusSink& statuses);
  bool make_buffers();
  void trace_kinds(StatusSink& statuses);
  bool trace_calls(unsigned kind);
  void trace_callbacks(StatusSink& statuses);
  void fail(StatusSink& statuses, Status status, const char* detail, const char* category = nullptr);

  Settings settings_;
  Library library_;
  KindTable kinds_;
  Agents agents_;
  Decoder decoder_;
  Id context_{};
  Id buffers_[kGroups] = {};
  std::uint64_t drops_told_[kGroups] = {};
  bool is_made_ = false;
  bool active_ = false;
  bool dead_ = false;
  bool partial_ = false;
  bool told_quiet_ = false;
};

extern RocprofBackend& backend;  // the process's one backend; never destroyed

}  // namespace dft::gpu::rocprof
