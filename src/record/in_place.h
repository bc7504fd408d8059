// SPDX-License-Identifier: MIT
// Purpose: complete events whose args are written where they stay, for sources that emit millions from one thread: one
//          (EventInPlace), or many with one way in and out of the recorder (EventRun).
// Threads: any, as emit.h; between begin and end, and while a run is open, the thread emits nothing else.
#pragma once

#include "record/entry.h"

namespace dft::record {

// REQUIRES: room for the header at `at`, and behind it the values of the schema up to `args_end`.
[[gnu::always_inline]] inline void put_event(char* at, model::SiteId site, base::Ticks begin, base::Ticks end,
                                             model::SchemaId schema, const char* args_end, std::uint32_t lane,
                                             std::uint8_t flags) {
  const auto size = static_cast<std::uint32_t>(args_end - at);
  // Into its place: a copy of what was only just put together waits for the stores.
  ::new (at) model::RecordHeader{size, model::RecordKind::kEvent, flags, schema, site, lane, begin, end};
}

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
    put_event(at_, site, begin_ticks, end_ticks, schema, args_end, lane, flags);
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

class EventRun {
 public:
  EventRun() = default;
  ~EventRun() { close(); }
  EventRun(const EventRun&) = delete;
  EventRun& operator=(const EventRun&) = delete;

  // Where the next record goes; null: nothing is recorded. `most`: bytes that its args may take.
  [[gnu::always_inline]] char* begin(std::size_t most) {
    const std::size_t size = sizeof(model::RecordHeader) + most;
    if (__builtin_expect(left_ == 0, 0) && !open()) return nullptr;
    --left_;
    if (__builtin_expect(static_cast<std::size_t>(stream_->limit - stream_->pos) < size, 0)) {
      if (!take_chunk(state_, *stream_, size)) return nullptr;
    }
    return stream_->pos;
  }
  // Behind put_event().
  [[gnu::always_inline]] void end(const char* args_end) { commit(*stream_, const_cast<char*>(args_end)); }
  // Before the thread does anything else.
  void close() {
    left_ = 0;
    if (state_ != nullptr) leave(state_, outer_);
    state_ = nullptr;
  }
  void forget() { left_ = 0, state_ = nullptr; }  // in a fork child: the thread that was inside does not exist here

 private:
  // Who stops recording waits until every thread is outside (Recorder::quiesce), so none stays in for long.
  static constexpr std::uint32_t kLongest = 32;
  [[gnu::noinline]] bool open() {
    close();
    state_ = enter(outer_);
    if (state_ == nullptr) return false;
    stream_ = &state_->streams[outer_];
    left_ = kLongest;
    return true;
  }

  std::uint32_t left_ = 0;   // events until it is opened anew; 0: maybe not open
  std::uint32_t outer_ = 0;  // the thread's level outside
  ThreadState* state_ = nullptr;
  Stream* stream_ = nullptr;
};

}  // namespace dft::record
