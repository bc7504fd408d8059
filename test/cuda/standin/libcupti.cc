// SPDX-License-Identifier: MIT
// A stand-in for libcupti: the entry points that dftracer uses, over a recording. See standin.h.
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <sstream>
#include <thread>

#include "recording.h"
#include "standin.h"

namespace {

using standin::Buffer;
using standin::Counters;
using standin::Recording;

constexpr int kOk = 0, kInvalidParameter = 1, kMaxLimit = 12, kNotReady = 13, kNotCompatible = 14, kConflict = 39;
// Callbacks of the resource domain.
constexpr std::uint32_t kContextCreated = 1, kGraphCreated = 9, kGraphExecCreated = 18, kGraphNodeCloned = 20;
constexpr int kZeroedBuffers = 5, kGraphTrace = 20, kThreadIdType = 21;  // attributes
constexpr int kInvalidOperation = 7;
constexpr std::uint32_t kUnifiedMemory = 25;
constexpr std::uint32_t kUnknownKind = 200, kUnknownSize = 48;

using Request = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using Complete = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);
// Of a subscriber among several.
using RequestV2 = void (*)(std::uint8_t**, std::size_t*, std::size_t*, void*);
using CompleteV2 = void (*)(std::uint8_t*, std::size_t, std::size_t, void*);
using Clock = std::uint64_t (*)();
using Callback = void (*)(void*, int, std::uint32_t, const void*);

struct Scenario {
  std::uint32_t api = 0, zero_every = 0, zero_end_every = 0, unknown = 0, threads = 1, repeat = 1;
  std::uint64_t drops = 0;
  std::uint32_t graph = 0, graph_nodes = 0, child_nodes = 0;
  bool hold = false, hang = false, shift = false, no_context = false, share = false, nodes = false;
  std::string conflict;
  std::map<std::uint32_t, int> fail;
};

struct State {
  std::mutex lock;
  Recording recording;
  Scenario scenario;
  std::size_t next_buffer = 0;
  std::uint32_t round = 0;
  std::uint64_t kernels = 0;
  std::uint64_t shift_ns = 0;
  Request request = nullptr;
  Complete complete = nullptr;
  RequestV2 request_v2 = nullptr;
  CompleteV2 complete_v2 = nullptr;
  bool shared = false;  // the subscription is one of several
  Callback callback = nullptr;
  Clock clock = nullptr;
  void* user = nullptr;
  std::string holder;      // of the subscription
  bool zeroed = false;     // the client's buffers are, as it promises
  std::uint64_t sees = 0;  // bit per callback of the resource domain
  Counters counters = {};
  pid_t owner = getpid();
};

State& state() {
  static State* one = new State;
  return *one;
}

std::uint32_t correlation_offset(std::uint32_t kind) {
  switch (kind) {
    case 1:
    case 2: return 44;
    case 3:
    case 10: return 92;
    case 4:
    case 5: return 32;
    case 22: return 60;
    case 38: return 24;
    case 49:
    case 50: return 12;
    case 51: return 4;
    default: return 0;
  }
}

std::uint64_t now_ns() {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u + static_cast<std::uint64_t>(now.tv_nsec);
}

void called() {
  State& s = state();
  __atomic_fetch_add(&s.counters.calls, 1, __ATOMIC_RELAXED);
  if (getpid() == s.owner) return;
  // What a real CUPTI does in a forked child is to hang for good; a test notices this sooner.
  static const char text[] = "stand-in: CUPTI was called in a forked child\n";
  if (write(2, text, sizeof text - 1) < 0) _exit(98);
  _exit(99);
}

void apply(const std::string& word) {
  State& s = state();
  const std::size_t at = word.find('=');
  const std::string key = word.substr(0, at);
  const std::string value = at == std::string::npos ? "" : word.substr(at + 1);
  const auto number = static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
  if (key == "recording") {
    s.recording = Recording();
    if (!standin::load(value.c_str(), &s.recording)) {
      std::fprintf(stderr, "stand-in: cannot read %s\n", value.c_str());
      std::abort();
    }
    if (s.recording.dropped != 0) s.scenario.drops = s.recording.dropped;
  } else if (key == "api")
    s.scenario.api = number;
  else if (key == "drops")
    s.scenario.drops = number;
  else if (key == "zero_every")
    s.scenario.zero_every = number;
  else if (key == "zero_end_every")
    s.scenario.zero_end_every = number;
  else if (key == "unknown")
    s.scenario.unknown = number;
  else if (key == "conflict")
    s.scenario.conflict = value;
  else if (key == "fail")
    s.scenario.fail[number] = std::atoi(value.c_str() + value.find(':') + 1);
  else if (key == "threads")
    s.scenario.threads = number;
  else if (key == "repeat")
    s.scenario.repeat = number;
  else if (key == "hold")
    s.scenario.hold = number != 0;
  else if (key == "hang")
    s.scenario.hang = number != 0;
  else if (key == "no_context")
    s.scenario.no_context = number != 0;
  else if (key == "graph")
    std::sscanf(value.c_str(), "%u:%u:%u", &s.scenario.graph, &s.scenario.graph_nodes, &s.scenario.child_nodes);
  else if (key == "share")
    s.scenario.share = number != 0;
  else if (key == "nodes")
    s.scenario.nodes = number != 0;
  else if (key == "shift")
    s.scenario.shift = number != 0;
  else {
    std::fprintf(stderr, "stand-in: what is %s?\n", word.c_str());
    std::abort();
  }
}

template <typename T>
T& field(std::string& bytes, std::size_t at) {
  return *reinterpret_cast<T*>(&bytes[at]);
}

void move_times(std::string& bytes, std::size_t at, std::uint32_t kind, std::uint64_t by) {
  for (const standin::TimeField& time : standin::kTimeFields) {
    if (time.kind != kind) continue;
    std::uint64_t& ns = field<std::uint64_t>(bytes, at + time.offset);
    if (ns != 0) ns += by;
  }
}

std::uint32_t size_of(std::uint32_t kind) {
  if (kind == kUnknownKind) return kUnknownSize;
  const auto found = state().recording.kinds.find(kind);
  return found == state().recording.kinds.end() ? 0 : found->second;
}

std::uint64_t latest_time(const Recording& recording) {
  std::uint64_t latest = 0;
  for (const Buffer& buffer : recording.buffers) {
    for (std::size_t at = 0; at + 8 <= buffer.bytes.size();) {
      std::uint32_t kind;
      std::memcpy(&kind, &buffer.bytes[at], 4);
      for (const standin::TimeField& field : standin::kTimeFields) {
        std::uint64_t time = 0;
        if (field.kind == kind) std::memcpy(&time, &buffer.bytes[at + field.offset], 8);
        if (time > latest) latest = time;
      }
      const std::uint32_t size = size_of(kind);
      if (size == 0) break;
      at += size;
    }
  }
  return latest;
}

// The buffer as it is handed over this time. REQUIRES: lock held.
std::string prepare(const Buffer& buffer) {
  State& s = state();
  std::string bytes = buffer.bytes;
  for (const standin::Pointer& pointer : buffer.pointers) {
    const char* text = pointer.text == ~0u ? nullptr : s.recording.texts[pointer.text].c_str();
    std::memcpy(&bytes[pointer.offset], &text, sizeof text);
  }
  for (std::size_t at = 0; at + 8 <= bytes.size();) {
    const std::uint32_t kind = field<std::uint32_t>(bytes, at);
    const std::uint32_t size = size_of(kind);
    if (size == 0) break;
    move_times(bytes, at, kind, s.shift_ns + std::uint64_t{s.round} * 1'000'000);
    if (const std::uint32_t where = correlation_offset(kind))
      field<std::uint32_t>(bytes, at + where) += s.round * 100000u;
    if (kind == 10) {
      ++s.kernels;
      if (s.scenario.zero_every != 0 && s.kernels % s.scenario.zero_every == 0) {
        field<std::uint64_t>(bytes, at + 16) = field<std::uint64_t>(bytes, at + 24) = 0;
      } else if (s.scenario.zero_end_every != 0 && s.kernels % s.scenario.zero_end_every == 0) {
        field<std::uint64_t>(bytes, at + 24) = 0;
      }
    }
    at += size;
  }
  for (std::uint32_t i = 0; i < s.scenario.unknown; ++i) {
    std::string record(kUnknownSize, '\0');
    field<std::uint32_t>(record, 0) = kUnknownKind;
    bytes += record;
  }
  return bytes;
}

std::uint64_t count_records(const std::string& bytes) {
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < bytes.size(); ++count) {
    std::uint32_t kind;
    std::memcpy(&kind, &bytes[at], 4);
    if (size_of(kind) == 0) break;
    at += size_of(kind);
  }
  return count;
}

// The form that belongs to one client alone, while there are several.
bool is_closed() {
  if (!state().shared) return false;
  ++state().counters.closed;
  return true;
}
// The other form, without a subscriber of that kind.
bool is_foreign(const void* subscriber) { return !state().shared || subscriber != &state(); }

void request_v1(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  std::size_t info[4] = {sizeof info};
  state().request_v2(buffer, size, most, info);
}
void complete_v1(void*, std::uint32_t, std::uint8_t* buffer, std::size_t size, std::size_t valid) {
  std::size_t info[4] = {sizeof info};
  state().complete_v2(buffer, size, valid, info);
}

// Hands over whole records in as many buffers as they need.
void hand_over(const std::string& bytes) {
  State& s = state();
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint8_t* room = nullptr;
    std::size_t size = 0, most = 0;
    s.request(&room, &size, &most);
    __atomic_fetch_add(&s.counters.requested, 1, __ATOMIC_RELAXED);
    if (room == nullptr) {
      __atomic_fetch_add(&s.counters.refused, 1, __ATOMIC_RELAXED);
      const std::uint32_t api = s.scenario.api != 0 ? s.scenario.api : s.recording.api;
      if (api < 27) std::abort();  // as the real one crashes
      const std::uint64_t lost = count_records(bytes.substr(at));
      __atomic_fetch_add(&s.counters.discarded, lost, __ATOMIC_RELAXED);
      __atomic_fetch_add(&s.scenario.drops, lost, __ATOMIC_RELAXED);
      return;
    }
    for (std::size_t i = 0; i < size; i += 4096) {
      if (s.zeroed && room[i] != 0) std::abort();
    }
    std::size_t filled = 0;
    while (at + filled < bytes.size()) {
      std::uint32_t kind;
      std::memcpy(&kind, &bytes[at + filled], 4);
      const std::uint32_t record = size_of(kind);
      if (record == 0 || filled + record > size) break;
      filled += record;
    }
    std::memcpy(room, &bytes[at], filled);
    __atomic_fetch_add(&s.counters.delivered, count_records(bytes.substr(at, filled)), __ATOMIC_RELAXED);
    s.complete(nullptr, 0, room, size, filled);
    if (filled == 0) return;
    at += filled;
  }
}

// The next buffer to deliver, or false.
bool take_next(std::string* bytes) {
  State& s = state();
  const std::lock_guard<std::mutex> guard(s.lock);
  if (s.request == nullptr || s.recording.buffers.empty()) return false;
  if (s.next_buffer == s.recording.buffers.size()) {
    if (s.round + 1 >= s.scenario.repeat) return false;
    ++s.round;
    s.next_buffer = 0;
  }
  if (s.scenario.shift && s.shift_ns == 0)
    s.shift_ns = now_ns() - latest_time(s.recording) - std::uint64_t{s.scenario.repeat} * 1'000'000;
  *bytes = prepare(s.recording.buffers[s.next_buffer++]);
  return true;
}

// As the real one tells that a graph was made executable: the graphs inside it get the next ids.
void make_graph() {
  State& s = state();
  struct Data {
    void *graph, *original, *node, *original_node;
    int type;
    void *dependency, *exec;
  };
  struct Resource {
    void *context, *handle;
    Data* data;
  };
  const auto tell = [&](std::uint32_t id, std::uintptr_t graph, std::uintptr_t exec) {
    Data data{};
    data.graph = reinterpret_cast<void*>(graph);  // its address is its id
    data.exec = reinterpret_cast<void*>(exec);
    Resource resource{nullptr, nullptr, &data};
    if ((s.sees >> id & 1u) != 0 && s.callback != nullptr) s.callback(s.user, 3, id, &resource);
  };
  const std::uint32_t graph = s.scenario.graph;
  if (graph == 0) return;
  s.scenario.graph = 0;
  tell(kGraphCreated, graph, 0);
  for (std::uint32_t i = 0; i < s.scenario.graph_nodes; ++i) tell(kGraphNodeCloned, graph, 0);
  if (s.scenario.child_nodes != 0) {
    tell(kGraphCreated, graph + 1, 0);
    for (std::uint32_t i = 0; i < s.scenario.child_nodes; ++i) tell(kGraphNodeCloned, graph + 1, 0);
    tell(kGraphNodeCloned, graph, 0);
  }
  tell(kGraphCreated, graph + 2, 0);
  tell(kGraphExecCreated, graph - 1, graph);
}

void deliver_all() {
  std::string bytes;
  while (take_next(&bytes)) hand_over(bytes);
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void dft_standin_configure(const char* words) {
  State& s = state();
  s.scenario = Scenario();
  s.next_buffer = s.round = 0;
  s.kernels = s.shift_ns = 0;
  s.counters = Counters{};
  s.owner = getpid();
  std::istringstream in(words);
  for (std::string word; in >> word;) apply(word);
}

EXPORT void dft_standin_counters(Counters* out) { *out = state().counters; }

EXPORT void dft_standin_deliver_late() {
  State& s = state();
  s.next_buffer = s.round = 0;
  std::string bytes;
  if (take_next(&bytes)) hand_over(bytes);
}

EXPORT void dft_standin_work() {
  State& s = state();
  for (const Buffer& buffer : s.recording.buffers) {
    std::string bytes;
    {
      const std::lock_guard<std::mutex> guard(s.lock);
      if (s.request == nullptr) return;
      bytes = prepare(buffer);
    }
    hand_over(bytes);
  }
}

__attribute__((constructor)) static void read_environment() {
  const char* words = std::getenv("DFT_CUPTI_STANDIN");
  if (words != nullptr) dft_standin_configure(words);
}

EXPORT int cuptiGetVersion(std::uint32_t* version) {
  called();
  *version = state().scenario.api != 0 ? state().scenario.api : state().recording.api;
  return kOk;
}
EXPORT int cuptiGetResultString(int result, const char** text) {
  called();
  *text = result == kConflict ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : "CUPTI_ERROR_OF_THE_STANDIN";
  return kOk;
}
EXPORT int cuptiGetTimestamp(std::uint64_t* stamp) {
  called();
  *stamp = state().clock != nullptr ? state().clock() : now_ns();
  return kOk;
}
EXPORT int cuptiActivityRegisterTimestampCallback(Clock clock) {
  called();
  if (clock == nullptr) return kInvalidParameter;
  state().clock = clock;
  return kOk;
}
EXPORT int cuptiGetDeviceId(void*, std::uint32_t* id) {
  called();
  *id = 0;
  return kOk;
}
EXPORT int cuptiGetContextId(void*, std::uint32_t* id) {
  called();
  *id = 1;
  return kOk;
}
EXPORT int cuptiGetStreamIdEx(void*, void*, std::uint8_t, std::uint32_t* id) {
  called();
  *id = 7;
  return kOk;
}
EXPORT int cuptiGetGraphExecId(void* exec, std::uint32_t* id) {
  called();
  *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(exec));
  return kOk;
}
EXPORT int cuptiActivityRegisterCallbacks(Request request, Complete complete) {
  called();
  if (is_closed()) return kNotCompatible;
  state().request = request;
  state().complete = complete;
  return kOk;
}
static int enable(std::uint32_t kind) {
  State& s = state();
  if (kind == 25 && s.scenario.no_context) return kNotReady;
  if (const auto fail = s.scenario.fail.find(kind); fail != s.scenario.fail.end()) return fail->second;
  if (const auto known = s.recording.enabled.find(kind); known != s.recording.enabled.end() && known->second != 0) {
    return known->second;
  }
  s.counters.enabled |= std::uint64_t{1} << kind;
  return kOk;
}
EXPORT int cuptiActivityEnable(std::uint32_t kind) {
  called();
  return is_closed() ? kNotCompatible : enable(kind);
}
EXPORT int cuptiActivityDisable(std::uint32_t kind) {
  called();
  if (is_closed()) return kNotCompatible;
  state().counters.enabled &= ~(std::uint64_t{1} << kind);
  return kOk;
}
EXPORT int cuptiActivityEnableAndDump(std::uint32_t kind) { return cuptiActivityEnable(kind); }
static int next_record(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
  std::uint8_t* next = buffer;
  if (*record != nullptr) {
    std::uint32_t kind;
    std::memcpy(&kind, *record, 4);
    const std::uint32_t size = size_of(kind);
    if (size == 0) return kInvalidParameter;
    next = *record + size;
  }
  if (next >= buffer + valid) return kMaxLimit;
  *record = next;
  return kOk;
}
EXPORT int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
  called();
  return is_closed() ? kNotCompatible : next_record(buffer, valid, record);
}
EXPORT int cuptiActivityFlushAll(std::uint32_t flag) {
  called();
  State& s = state();
  while (s.scenario.hang) pause();
  if (s.scenario.no_context) {  // the application makes one
    s.scenario.no_context = false;
    if ((s.sees >> kContextCreated & 1u) != 0) s.callback(s.user, 3, kContextCreated, nullptr);
  }
  make_graph();
  if (s.scenario.hold && (flag & 1u) == 0) return kOk;
  if (s.scenario.threads <= 1) {
    deliver_all();
    return kOk;
  }
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < s.scenario.threads; ++i) threads.emplace_back(deliver_all);
  for (std::thread& thread : threads) thread.join();
  return kOk;
}
EXPORT int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  called();
  if (is_closed()) return kNotCompatible;
  *dropped = __atomic_exchange_n(&state().scenario.drops, 0, __ATOMIC_RELAXED);
  return kOk;
}
EXPORT int cuptiActivitySetAttribute(int attribute, std::size_t*, void* value) {
  called();
  if (is_closed()) return kNotCompatible;
  if (attribute == kZeroedBuffers) state().zeroed = *static_cast<std::uint8_t*>(value) != 0;
  return kOk;
}
EXPORT int cuptiActivityGetAttribute(int, std::size_t*, void*) {
  called();
  return kOk;
}
static int subscribe(void** subscriber, Callback callback, void* user, bool share) {
  State& s = state();
  if (!s.scenario.conflict.empty()) s.holder = s.scenario.conflict;
  // Several want a driver that can (share=1), and that all say so: the one that holds it then does.
  if (share && !s.scenario.share) return kConflict;
  if (!share && !s.scenario.conflict.empty()) return kConflict;
  if (s.callback != nullptr) return kConflict;
  if (s.scenario.conflict.empty()) s.holder.clear();
  s.shared = share;
  s.callback = callback;
  s.user = user;
  *subscriber = &s;
  return kOk;
}
EXPORT int cuptiSubscribe(void** subscriber, Callback callback, void* user) {
  called();
  return subscribe(subscriber, callback, user, false);
}
EXPORT int cuptiSubscribe_v2(void** subscriber, Callback callback, void* user, void* params) {
  struct Params {
    std::size_t size;
    const char* name;
    char* holder;
    std::size_t holder_size;
    std::uint8_t share;
    std::uint8_t padding[7];
  };
  called();
  auto* p = static_cast<Params*>(params);
  const bool share = p != nullptr && p->size > offsetof(Params, share) && p->share == 1;
  const int result = subscribe(subscriber, callback, user, share);
  if (p != nullptr && p->holder != nullptr && (result == kConflict || share)) {
    std::snprintf(p->holder, p->holder_size, "%s", state().holder.c_str());
  }
  if (result == kOk && p != nullptr && p->name != nullptr) state().holder = p->name;
  return result;
}
EXPORT int cuptiUnsubscribe(void*) {
  called();
  ++state().counters.unsubscribed;
  state().sees = 0;
  state().callback = nullptr;
  if (state().shared) state().request = nullptr;
  state().shared = false;
  return kOk;
}
EXPORT int cuptiEnableCallback(std::uint32_t on, void*, int domain, std::uint32_t id) {
  called();
  if (domain != 3 || id >= 64) return kOk;
  State& s = state();
  s.sees = on != 0 ? s.sees | std::uint64_t{1} << id : s.sees & ~(std::uint64_t{1} << id);
  return kOk;
}
EXPORT int cuptiEnableDomain(std::uint32_t, void*, int) {
  called();
  return kOk;
}
EXPORT int cuptiGetCallbackName(int domain, std::uint32_t id, const char** name) {
  called();
  const auto& names = state().recording.names;
  const auto found = names.find({static_cast<std::uint32_t>(domain), id});
  if (found == names.end()) return kInvalidParameter;
  *name = found->second.c_str();
  return kOk;
}
EXPORT int cuptiSetThreadIdType(int) {
  called();
  if (is_closed()) return kNotCompatible;
  return kOk;
}
EXPORT int cuptiActivityConfigureUnifiedMemoryCounter(void*, std::uint32_t) {
  called();
  return (state().counters.enabled >> kUnifiedMemory & 1u) != 0 ? kInvalidOperation : kOk;
}
EXPORT int cuptiActivityEnableRuntimeApi(std::uint32_t, std::uint8_t on) {
  called();
  if (is_closed()) return kNotCompatible;
  state().counters.calls_left_out += on == 0 ? 1 : 0;
  return kOk;
}
EXPORT int cuptiActivityEnableDriverApi(std::uint32_t, std::uint8_t on) {
  called();
  if (is_closed()) return kNotCompatible;
  state().counters.calls_left_out += on == 0 ? 1 : 0;
  return kOk;
}

#include "several_subscribers.h"
