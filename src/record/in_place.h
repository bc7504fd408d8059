// SPDX-License-Identifier: MIT
// Purpose: one complete event whose args are written where they stay, for sources that emit millions from one thread.
// Threads: any, as emit.h; between begin and end the thread emits nothing else.
#pragma once

#include "record/entry.h"

namespace dft::record {

class EventInPlace {
 public:
  // `most`: bytes that the args may take.
  explicit EventInPlace(std::size_t most) : state_(enter()) {
    if (state_ == nullptr) return;
    stream_ = &stream_of(state_);
    at_ = reserve(state_, *stream_, sizeof(model::RecordHeader) + most);
    if (at_ == nullptr) leave(state_);
  }
  EventInPlace(const EventInPlace&) = delete;
  EventInPlace& operator=(const EventInPlace&) = delete;
  explicit operator bool() const { return at_ != nullptr; }  // false: nothing is recorded
  char* args() const { return at_ + sizeof(model::RecordHeader); }

  // REQUIRES: true; to be called once. `args_end`: behind the values of the schema.
  void end(model::SiteId site, base::Ticks begin_ticks, base::Ticks end_ticks, model::SchemaId schema,
           const char* args_end, std::uint32_t lane, std::uint8_t flags = 0) {
    const auto size = static_cast<std::size_t>(args_end - at_);
    // Field by field into its place: a copy of what was only just put together waits for the stores.
    auto& header = *reinterpret_cast<model::RecordHeader*>(at_);
    header.size = static_cast<std::uint32_t>(size);
    header.kind = model::RecordKind::kEvent;
    header.flags = flags;
    header.schema = schema;
    header.site = site;
    header.lane = lane;
    header.begin = begin_ticks;
    header.end = end_ticks;
    commit(*stream_, size);
    leave(state_);
  }

 private:
  ThreadState* state_;
  Stream* stream_ = nullptr;
  char* at_ = nullptr;
};

}  // namespace dft::record
