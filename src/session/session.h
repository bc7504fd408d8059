// SPDX-License-Identifier: MIT
// Purpose: the composition root: starts and ends the recording of this process, and is the only place that knows every
// part. Threads: start/finish may be called by any thread and at any time; they serialise on one lock. The rest says
// for itself. Invariant: nothing here throws, changes errno, or ends the application. See: session/lifecycle.h for what
// happens at fork, exec, exit and signals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/record.h"

namespace dft::session {

enum class Producer : std::uint8_t { kApi, kPreload, kFork };  // suffix app, preload, fork

struct StartRequest {
  Producer producer = Producer::kApi;
  const char* log_file = nullptr;   // init call's prefix; null or empty: the configuration's
  const char* data_dirs = nullptr;  // joined with the configured list
  const int* process_id = nullptr;  // recorded as an arg of `start`
  bool bind = false;                // DFTRACER_INIT=FUNCTION: intercept calls, if nothing does yet
};

// Reads the configuration, and when it is on, starts recording. False when off or when it cannot start (said on stderr
// once). A second start while recording only adds what the request brings (nothing is thrown away): interception.
bool start(const StartRequest& request);

// Writes regions still open (open_at_end), `end`, the index, and closes the file. Only a
// new start opens a new file. In PRELOAD and HYBRID mode the API's call flushes only; the process end finalises.
void finish_from_api();

// The API's calls ask with their load of dftracer_on, and serve when there is something (kServiceWanted).
inline constexpr int kServiceWanted = 2;
void serve_request() noexcept;

// Changes whenever a new trace file begins: what must stand once in each file is written again then.
std::uint64_t file_generation();

// A time of the trace's clock in the trace's unit, now; 0 while nothing is recorded, which this call may change as the
// first event does.
std::uint64_t trace_time();
// How many nanoseconds the trace's unit has.
std::uint64_t unit_ns();
// The value in force of a DFTRACER_... variable, in the variable's sense; its size, of which `out` gets at most `room`
// bytes. 0 when there is no such variable, or tracing is off.
std::size_t configured_value(std::string_view variable, char* out, std::size_t room);

// This process is a worker that its parent ends by SIGTERM: its trace is to be ended first.
void note_worker();

// Notes for the `end` event. Any thread; take effect when recording or later starts.
void mark_used(std::string_view layer);
void set_app_metadata(std::string_view key, std::int64_t value);
void set_app_metadata(std::string_view key, std::string_view value);

}  // namespace dft::session
