// SPDX-License-Identifier: MIT
// Purpose: one complete event whose args are written where they stay, for sources that emit millions from one thread.
// Threads: any, as emit.h; between begin and end the thread emits nothing else.
#pragma once

#include "record/entry.h"

namespace dft::record {

class EventInPlace {
 public:
  // `most`: bytes that the args may take.
  [[gnu::always_inline]] explicit EventInPlace(std::size_t most) : state_(enter(outer_)) {
    if (__builtin_expect(state_ == nullptr, 0)) return;
    stream_ = &state_->streams[outer_];
    has_room_ = static_cast<std::size_t>(stream_->limit - stream_->pos) >= sizeof(model::RecordHeader) + most;
    if (__builtin_expect(!has_room_, 0)) has_room_ = take_chunk(state_, *stream_, sizeof(model::RecordHeader) + most);
    at_ = stream_->pos;
    if (__builtin_expect(!has_room_, 0)) leave(state_);
  }
  EventInPlace(const EventInPlace&) = delete;
  EventInPlace& operator=(const EventInPlace&) = delete;
  explicit operator bool() const { return has_room_; }  // false: nothing is recorded
  char* args() const { return at_ + sizeof(model::RecordHeader); }

  // REQUIRES: true; to be called once. `args_end`: behind the values of the schema.
  void end(model::SiteId site, base::Ticks begin_ticks, base::Ticks end_ticks, model::SchemaId schema,
           const char* args_end, std::uint32_t lane, std::uint8_t flags = 0) {
    const auto size = static_cast<std::uint32_t>(args_end - at_);
    // Into its place: a copy of what was only just put together waits for the stores.
    ::new (at_) model::RecordHeader{size, model::RecordKind::kEvent, flags, schema, site, lane, begin_ticks, end_ticks};
    commit(*stream_, const_cast<char*>(args_end));
    leave(state_, outer_);
  }

 private:
  std::uint32_t outer_;  // the thread's level outside
  ThreadState* state_;
  Stream* stream_ = nullptr;
  bool has_room_ = false;
  char* at_ = nullptr;
};

}  // namespace dft::record
