// SPDX-License-Identifier: MIT
// Purpose: a backend for the tests of this folder: its buffers hold Activity values as they are.
#pragma once

#include <atomic>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "sources/gpu/backend.h"

namespace dft::gpu {

class FakeBackend : public Backend {
 public:
  bool starts = true;
  std::uint64_t clock_offset_ns = 0;
  std::vector<Activity> waiting;  // delivered by the next flush
  std::atomic<int> flushes{0};
  int stops = 0, children = 0;
  std::uint64_t drops = 0;
  int running = 0;  // flushes before the work in `held` is complete
  std::vector<Activity> held;
  bool echoes = false;  // each flush leaves a record of its own in a new buffer, until wind_down

  std::string_view name() const override { return "fake"; }
  model::Layer layer() const override { return model::Layer::kCuda; }
  std::string_view category(ActivityKind kind) const override {
    return kind == ActivityKind::kKernel       ? "CUDA_KERNEL"
           : kind == ActivityKind::kRuntimeApi ? "CUDA_RUNTIME_API"
                                               : "CUDA_OTHER";
  }
  std::string_view operation_name(ActivityKind, unsigned operation) override {
    return operation == 1 ? std::string_view("one") : std::string_view();
  }
  bool start(const Settings&, BufferPool& pool, StatusSink& statuses) override {
    pool_ = &pool;
    wound_down_ = false;
    Status status;
    status.state = starts ? Status::State::kOn : Status::State::kOff;
    statuses.status(status);
    return starts;
  }
  void flush(bool) override {
    ++flushes;
    if (!held.empty() && held_buffer_ == nullptr) held_buffer_ = pool_->take();
    if (running > 0 && --running == 0) complete_held();
    deliver();
    if (echo_ != nullptr) pool_->push(echo_, 0, nullptr);
    echo_ = echoes && !wound_down_ ? pool_->take() : nullptr;
  }
  void wind_down() override { wound_down_ = true; }
  void stop() override {
    ++stops;
    deliver();
  }
  void decode(const RawBuffer& buffer, ActivitySink& sink) override {
    for (std::size_t at = 0; at < buffer.valid; at += sizeof(Activity)) {
      Activity activity;
      std::memcpy(static_cast<void*>(&activity), buffer.data + at, sizeof activity);
      sink.activity(activity);
    }
  }
  void collect_losses(ActivitySink& sink) override {
    if (drops != 0) sink.loss(LossCause::kDropped, drops, 0, nullptr);
    drops = 0;
  }
  std::uint64_t now_ns() override { return base::monotonic_ns() + clock_offset_ns; }
  const char* clock_name() const override { return "fake"; }
  void in_forked_child() override { ++children; }

 private:
  void deliver() {
    for (const Activity& activity : waiting) {
      unsigned char* buffer = pool_->take();
      if (buffer == nullptr) return;
      std::memcpy(buffer, static_cast<const void*>(&activity), sizeof activity);
      pool_->push(buffer, sizeof activity, nullptr);
    }
    waiting.clear();
  }
  void complete_held() {
    std::memcpy(held_buffer_, static_cast<const void*>(held.data()), held.size() * sizeof(Activity));
    pool_->push(held_buffer_, held.size() * sizeof(Activity), nullptr);
    held.clear();
    held_buffer_ = nullptr;
  }
  bool wound_down_ = false;
  unsigned char* echo_ = nullptr;
  BufferPool* pool_ = nullptr;
  unsigned char* held_buffer_ = nullptr;
};

}  // namespace dft::gpu
