// SPDX-License-Identifier: MIT
#include <time.h>

#include "python/span.h"

namespace dft::python {

namespace {
std::uint32_t forks = 0;
std::uint64_t forked_at_ns = 0;

void put_args(const State& state, DFTracerData* region) {
  if (state.parent != nullptr) put_args(*state.parent, region);
  if (!state.args.empty()) state.args.put_on(region);
}

void begin(Frame& frame, const State& state) {
  dftracer_site at{nullptr, nullptr, 0, frame.site};
  frame.region = dftracer_region_start(&at);
  put_args(state, frame.region);
  for (const Relation& each : state.relations) dftracer_update_relation(frame.region, each.relation, each.id);
}

// The parent ends its region itself; the child's part of it began with the child.
void end_in_child(Frame& frame, const State& state, PyObject* exception_type) {
  if (!is_on()) return;
  begin(frame, state);
  if (exception_type != nullptr) mark_exception(frame.region, exception_type);
  const TimeResolution now = dftracer_get_time();
  const TimeResolution duration = (monotonic_ns() - forked_at_ns) / trace_unit_ns();
  dftracer_region_end_at(frame.region, now - duration, duration);
}
}  // namespace

std::uint64_t trace_unit_ns() {
  char unit[8];
  dftracer_get_config("DFTRACER_TIME_METRIC", unit, sizeof unit);
  switch (unit[0]) {
    case 'N': return 1;
    case 'M': return 1'000'000;
    case 'S': return 1'000'000'000;
    default: return 1000;
  }
}

std::uint64_t monotonic_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void fork_happened_in_child() {
  ++forks;
  forked_at_ns = monotonic_ns();
}

void link(Frame& frame, State& state) {
  unlink(frame, state);
  frame.thread = PyThread_get_thread_ident();
  frame.newer = nullptr;
  frame.older = state.newest;
  if (frame.older != nullptr) frame.older->newer = &frame;
  state.newest = &frame;
  frame.linked = true;
}

void unlink(Frame& frame, State& state) {
  if (!frame.linked) return;
  (frame.newer != nullptr ? frame.newer->older : state.newest) = frame.older;
  if (frame.older != nullptr) frame.older->newer = frame.newer;
  frame.linked = false;
}

void open_frame(Frame& frame, State& state, std::uint32_t site, How how) {
  if (frame.linked) close_frame(frame, state, nullptr);  // one iterator, several threads
  frame.site = site;
  frame.how = how;
  frame.process = forks;
  frame.region = nullptr;
  if (is_on() && is_enabled(state)) begin(frame, state);
  link(frame, state);
}

void close_frame(Frame& frame, State& state, PyObject* exception_type) {
  unlink(frame, state);
  if (frame.region == nullptr) return;
  if (__builtin_expect(frame.process != forks, 0)) {
    end_in_child(frame, state, exception_type);
  } else {
    if (exception_type != nullptr) mark_exception(frame.region, exception_type);
    dftracer_finalize_region(frame.region);
  }
  frame.region = nullptr;
}

void close_frame_by_error(Frame& frame, State& state) {
  const ErrorAside error;
  const bool by_error = error.type() != nullptr && PyErr_GivenExceptionMatches(error.type(), PyExc_GeneratorExit) == 0;
  close_frame(frame, state, by_error ? error.type() : nullptr);
}

void drop_frame(Frame& frame, State& state) {
  unlink(frame, state);
  if (frame.process == forks) dftracer_region_drop(frame.region);
  frame.region = nullptr;
}

Frame* newest_of_thread(const State& state, const How* how) {
  if (state.newest == nullptr) return nullptr;
  const unsigned long thread = PyThread_get_thread_ident();
  for (Frame* frame = state.newest; frame != nullptr; frame = frame->older) {
    if (frame->thread == thread && frame->process == forks && (how == nullptr || frame->how == *how)) return frame;
  }
  return nullptr;
}

void drop_state(State* state) {
  if (--state->references != 0) return;
  if (state->parent != nullptr) drop_state(state->parent);
  delete state;
}

}  // namespace dft::python
