// SPDX-License-Identifier: MIT
// Purpose: GPU recording as a part of the session: when it starts, and that it ends before the trace does. A build
//          without GPU tracing has all of this, empty (no_gpu.cc).
// Threads: each function says for itself. The vendor's library and the dynamic linker are never called with the
//          session's lock held: a constructor inside another thread's dlopen may wait for it.
// Invariants:
//   1. While no driver library is in the process there is no thread, no vendor library and no memory of this part.
//   2. Nothing is started from inside the driver, but where it calls InitializeInjection.
//   3. A forked child of a process that used the GPU never calls the vendor's library.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "config/config.h"

namespace dft::session {

// -- with the session's lock held --
// The preload library is there, recording has not begun: the driver's coming begins it, as a first event would.
void expect_gpu(const config::Options& config);
// Recording has begun: what the GPU does is recorded once the driver is there.
void allow_gpu(const config::Options& config, int pid);
// All that the GPU did is recorded, or said to be missing; bounded by DFTRACER_GPU_EXIT_TIMEOUT_MS. Before the trace
// ends.
void end_gpu();
void gpu_in_child();  // in a forked child, before its first event

// -- without the lock --
// Starts when the driver has come since the last look. Cheap when not.
void start_gpu();
// The application is about to load `file` (may be null), or to look a function up. The driver is loaded ahead of its
// caller, so that recording is on before its first call.
void gpu_before_dlopen(const char* file, int flags, const void* caller);
void gpu_before_dlsym(const void* caller);
// Another client of the vendor's library, such as a profiler of the program's own, is about to begin, or has ended.
// Calls nest. With DFTRACER_CUDA_YIELD the library is given up in between, else it is told that the other one will see
// nothing of the GPU. True when the library is free for the other one.
bool gpu_profiler_begins(const char* name);
void gpu_profiler_ends();
// Path of the library that NVTX has to load for ranges to be recorded; 0 and empty when nothing is to be done. Like
// snprintf.
std::size_t nvtx_library_to_set(char* out, std::size_t size);
// What is complete on the GPU is recorded afterwards. Also in signal handlers. False when the time was over first.
bool flush_gpu(std::uint64_t timeout_ns);
void forget_gpu();  // in a signal handler that ended the trace: nothing is started any more

// When the library is loaded and tracing is on: NVTX will find it, unless the user chose otherwise.
void offer_nvtx(const char* directory);

// -- the drain's thread, without malloc --
// Looks for a driver whose coming no hook has seen. It must not start anything itself, since its descriptor table is
// its own: the next call of the API does (serve_request).
void look_for_driver();
// Members of `cfg`, of `lost`, and of `end` (only where the GPU part was on).
void append_gpu_choice(base::Buffer& out);
void append_gpu_losses(base::Buffer& out);
void append_gpu_summary(base::Buffer& out);

}  // namespace dft::session
