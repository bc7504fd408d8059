// SPDX-License-Identifier: MIT
// Records what CUPTI delivers in a program, for replays: a library that the CUDA driver loads by itself.
//   RECORD_FILE=h200.cuptirec CUDA_INJECTION64_PATH=$PWD/librecord_cupti.so PROGRAM
// RECORD_KINDS: kinds to enable, separated by commas. RECORD_CUPTI: the libcupti to use. The times are moved so that
// the first one is that of make_synthetic; device uuids are cleared.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "../programs/injected.h"
#include "recording.h"

namespace {

constexpr std::size_t kBufferBytes = 1 << 20;
constexpr std::uint64_t kStart = 1'700'000'000'000'000'000;

struct State {
  std::mutex lock;
  standin::Recording recording;
  std::vector<pid_t> threads;
  bool saved = false;
};
State& state() {
  static State* one = new State;
  return *one;
}

void request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *buffer = static_cast<std::uint8_t*>(std::calloc(1, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *most = 0;
}

std::uint32_t number_of_thread(State& s) {
  const auto tid = static_cast<pid_t>(syscall(SYS_gettid));
  const auto found = std::find(s.threads.begin(), s.threads.end(), tid);
  if (found != s.threads.end()) return static_cast<std::uint32_t>(found - s.threads.begin());
  s.threads.push_back(tid);
  return static_cast<std::uint32_t>(s.threads.size() - 1);
}

void take_record(State& s, standin::Buffer& buffer, const std::uint8_t* record, std::size_t size) {
  std::uint32_t kind;
  std::memcpy(&kind, record, sizeof kind);
  std::uint32_t& known = s.recording.kinds[kind];
  if (known != 0 && known != size) {
    std::fprintf(stderr, "record_cupti: kind %u has records of %u and of %zu bytes\n", kind, known, size);
  }
  known = static_cast<std::uint32_t>(size);
  const auto at = static_cast<std::uint32_t>(buffer.bytes.size());
  buffer.bytes.append(reinterpret_cast<const char*>(record), size);
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE && size >= 144) std::memset(&buffer.bytes[at + 120], 0, 16);
  for (const standin::TextField& field : standin::kTextFields) {
    if (field.kind != kind || size < field.least) continue;
    const char* text;
    std::memcpy(&text, record + field.offset, sizeof text);
    buffer.pointers.push_back({at + field.offset, s.recording.text(text)});
    std::memset(&buffer.bytes[at + field.offset], 0, sizeof text);
  }
}

void complete(CUcontext, std::uint32_t, std::uint8_t* bytes, std::size_t, std::size_t valid) {
  State& s = state();
  const std::lock_guard<std::mutex> guard(s.lock);
  standin::Buffer buffer;
  buffer.thread = number_of_thread(s);
  CUpti_Activity* record = nullptr;
  const auto next = CUPTI(cuptiActivityGetNextRecord);
  const std::uint8_t* before = nullptr;
  while (valid != 0 && next(bytes, valid, &record) == CUPTI_SUCCESS) {
    const auto* at = reinterpret_cast<const std::uint8_t*>(record);
    if (before != nullptr) take_record(s, buffer, before, static_cast<std::size_t>(at - before));
    before = at;
  }
  if (before != nullptr) take_record(s, buffer, before, static_cast<std::size_t>(bytes + valid - before));
  if (!buffer.bytes.empty()) s.recording.buffers.push_back(std::move(buffer));
  std::free(bytes);
}

void enabled(std::uint32_t kind, CUptiResult result) {
  state().recording.enabled[kind] = static_cast<std::int32_t>(result);
}

// Moves the times so that the first is kStart.
void normalise(standin::Recording& recording) {
  std::uint64_t first = ~std::uint64_t{0};
  const auto for_each_time = [&](auto&& use) {
    for (standin::Buffer& buffer : recording.buffers) {
      for (std::size_t at = 0; at < buffer.bytes.size();) {
        std::uint32_t kind;
        std::memcpy(&kind, &buffer.bytes[at], sizeof kind);
        for (const standin::TimeField& field : standin::kTimeFields) {
          if (field.kind == kind) use(&buffer.bytes[at + field.offset]);
        }
        at += recording.kinds[kind];
      }
    }
  };
  for_each_time([&](char* place) {
    std::uint64_t time;
    std::memcpy(&time, place, sizeof time);
    if (time != 0 && time < first) first = time;
  });
  for_each_time([&](char* place) {
    std::uint64_t time;
    std::memcpy(&time, place, sizeof time);
    if (time >= first) time = time - first + kStart;
    std::memcpy(place, &time, sizeof time);
  });
}

void save() {
  State& s = state();
  if (s.saved) return;
  s.saved = true;
  CUPTI(cuptiActivityFlushAll)(0);
  CUPTI(cuptiActivityFlushAll)(1);
  std::size_t dropped = 0;
  CUPTI(cuptiActivityGetNumDroppedRecords)(nullptr, 0, &dropped);
  const std::lock_guard<std::mutex> guard(s.lock);
  s.recording.dropped = dropped;
  for (const auto domain : {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API}) {
    for (std::uint32_t id = 1; id < 2048; ++id) {
      const char* name = nullptr;
      if (CUPTI(cuptiGetCallbackName)(domain, id, &name) == CUPTI_SUCCESS && name != nullptr) {
        s.recording.names[{static_cast<std::uint32_t>(domain), id}] = name;
      }
    }
  }
  normalise(s.recording);
  const char* path = std::getenv("RECORD_FILE");
  if (path == nullptr) path = "recording.cuptirec";
  const bool good = standin::save(s.recording, path);
  std::fprintf(stderr, "record_cupti: %zu buffers %s %s\n", s.recording.buffers.size(), good ? "in" : "NOT in", path);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (!injected::subscribe(std::getenv("RECORD_CUPTI"))) return 0;
  CUPTI(cuptiGetVersion)(&state().recording.api);
  injected::enabled = &enabled;
  const char* kinds = std::getenv("RECORD_KINDS");
  injected::start(&request, &complete, kinds != nullptr ? kinds : "8,9,37,10,1,22,2,5,4,38,17,49,50,51");
  std::atexit(save);
  return 1;
}
