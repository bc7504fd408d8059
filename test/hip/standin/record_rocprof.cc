// SPDX-License-Identifier: MIT
// A tool of rocprofiler-sdk that writes down what the library delivers for a program, for replays on machines without
// it:
//   LD_PRELOAD=librecord_rocprof.so DFT_HIP_RECORDING=FILE program
// It asks for what HIP tracing asks for by default, all HIP calls included. One line each, in the order of delivery;
// bytes in hex, pointers in them zeroed:
//   V MAJOR MINOR PATCH BOOTTIME_NS
//   K b|c NUMBER NAME                     a kind that is asked for, of buffers or callbacks
//   A BYTES|NAME|VENDOR|PRODUCT|MODEL     an agent
//   C KIND OPERATION PHASE THREAD INTERNAL ANCESTOR BYTES [TEXT]   a callback; TEXT: a kernel's name or a range's
//   X KIND OPERATION THREAD INTERNAL EXTERNAL    an external correlation id is asked for, and what was answered
//   B GROUP DROPS COUNT, then COUNT lines R KIND BYTES             a buffer and its records
//   O b|c KIND OPERATION NAME             the operations that occurred; at the end
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <tuple>

#include "sources/gpu/rocprof/capture.h"
#include "sources/gpu/rocprof/kinds.h"
#include "sources/gpu/rocprof/library.h"

namespace {

namespace rocprof = dft::gpu::rocprof;
using dft::gpu::rocprof::Id;

struct Recorder {
  std::mutex mutex;
  std::FILE* out = nullptr;
  rocprof::Library opened;
  rocprof::KindTable kinds;
  Id context{};
  Id buffers[rocprof::kGroups] = {};
  std::uint64_t answered = 1'000'000;
  std::set<std::tuple<char, std::uint32_t, std::int32_t>> seen;
};
Recorder& recorder = *new Recorder;
pid_t owner;

using Lock = std::lock_guard<std::mutex>;
bool is_on() { return recorder.out != nullptr && getpid() == owner; }
unsigned long long wide(std::uint64_t value) { return value; }

void put_bytes(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) std::fprintf(recorder.out, "%02x", bytes[i]);
}

rocprof::Group group_of(rocprof::Family family) {
  if (family <= rocprof::Family::kApiExt) return rocprof::Group::kCalls;
  if (family == rocprof::Family::kKernel) return rocprof::Group::kKernels;
  return family == rocprof::Family::kCopy ? rocprof::Group::kCopies : rocprof::Group::kRest;
}

void on_buffer(Id, Id, rocprof::RecordHeader** records, std::size_t count, void* group, std::uint64_t drops) {
  const Lock lock(recorder.mutex);
  if (!is_on() || count == 0) return;
  std::fprintf(recorder.out, "B %zu %llu %zu\n", reinterpret_cast<std::size_t>(group), wide(drops), count);
  for (std::size_t i = 0; i < count; ++i) {
    rocprof::RecordHead head;
    std::memcpy(&head, records[i]->payload, sizeof head);
    recorder.seen.emplace('b', head.kind, head.operation);
    std::fprintf(recorder.out, "R %u ", records[i]->kind);
    put_bytes(records[i]->payload, head.size);
    std::fputc('\n', recorder.out);
  }
}

// The payload, and the text that it points to.
void put_payload(bool is_symbol, bool has_message, const void* payload) {
  unsigned char bytes[1024] = {};
  std::uint64_t size = 0;
  std::memcpy(&size, payload, sizeof size);
  if (size > sizeof bytes) size = sizeof bytes;
  std::memcpy(bytes, payload, size);
  const char* text = nullptr;
  const std::size_t at = is_symbol ? offsetof(rocprof::KernelSymbolData, name) : offsetof(rocprof::MarkerData, message);
  if (is_symbol || has_message) {
    std::memcpy(&text, bytes + at, sizeof text);
    std::memset(bytes + at, 0, sizeof text);
  }
  put_bytes(bytes, size);
  if (text != nullptr) std::fprintf(recorder.out, " %s", text);
}

template <typename Record>
void note_callback(const Record& record, std::uint64_t ancestor) {
  const Lock lock(recorder.mutex);
  if (!is_on() || record.payload == nullptr) return;
  const bool is_code = record.kind == recorder.kinds.code_object_number();
  if (is_code && (record.operation != rocprof::kKernelSymbol || record.phase != rocprof::kEnter)) return;
  const char* name = "";
  std::uint64_t size = 0;
  recorder.opened.functions.callback_operation_name(record.kind, record.operation, &name, &size);
  const bool has_message = name != nullptr && std::strncmp(name, "roctx", 5) == 0 &&
                           std::strcmp(name, "roctxRangePop") != 0 && std::strcmp(name, "roctxRangeStop") != 0;
  recorder.seen.emplace('c', static_cast<std::uint32_t>(record.kind), record.operation);
  std::fprintf(recorder.out, "C %d %d %d %llu %llu %llu ", record.kind, record.operation, record.phase,
               wide(record.thread), wide(record.correlation.internal), wide(ancestor));
  put_payload(is_code, has_message && !is_code, record.payload);
  std::fputc('\n', recorder.out);
}
void on_callback0(rocprof::CallbackRecord0 record, std::uint64_t*, void*) { note_callback(record, 0); }
void on_callback1(rocprof::CallbackRecord1 record, std::uint64_t*, void*) {
  note_callback(record, record.correlation.ancestor);
}

int on_request(std::uint64_t thread, Id, int kind, std::int32_t operation, std::uint64_t internal,
               std::uint64_t* external, void*) {
  const Lock lock(recorder.mutex);
  if (!is_on()) return 0;
  if (kind != rocprof::kRequestHip) *external = ++recorder.answered;
  std::fprintf(recorder.out, "X %d %d %llu %llu %llu\n", kind, operation, wide(thread), wide(internal),
               kind == rocprof::kRequestHip ? 0ull : wide(*external));
  return 0;
}

rocprof::Status on_agents(int, const void** agents, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) {
    rocprof::Agent agent{};
    std::memcpy(&agent.size, agents[i], sizeof agent.size);
    const std::size_t size = agent.size < sizeof agent ? agent.size : sizeof agent;
    std::memcpy(static_cast<void*>(&agent), agents[i], size);
    const char* const texts[] = {agent.name, agent.vendor_name, agent.product_name, agent.model_name};
    agent.mem_banks = nullptr;
    agent.caches = agent.io_links = nullptr;
    agent.name = agent.vendor_name = agent.product_name = agent.model_name = nullptr;
    std::fputs("A ", recorder.out);
    put_bytes(&agent, size);
    for (const char* text : texts) std::fprintf(recorder.out, "|%s", text == nullptr ? "" : text);
    std::fputc('\n', recorder.out);
  }
  return rocprof::kDone;
}

struct Operations {
  unsigned kind;
  std::size_t count;
  std::int32_t chosen[1024];
};
int choose(int, std::int32_t operation, void* data) {
  auto& all = *static_cast<Operations*>(data);
  const std::string_view name = recorder.kinds.operation_name(all.kind, static_cast<unsigned>(operation));
  if (operation >= 0 && !rocprof::is_quiet_call(all.kind, name) && all.count < 1024)
    all.chosen[all.count++] = operation;
  return 0;
}

void trace_kind(unsigned kind) {
  const auto& f = recorder.opened.functions;
  const rocprof::KindRow& row = rocprof::kKindRows[kind];
  const int number = recorder.kinds.buffered_number(kind);
  const bool is_of_driver = row.family == rocprof::Family::kPageMigration || std::strncmp(row.name, "KFD_", 4) == 0;
  if (!row.by_default || number < 0 || (is_of_driver && access("/dev/kfd", R_OK | W_OK) != 0)) return;
  if (row.family == rocprof::Family::kMarker || row.family == rocprof::Family::kStream) return;
  static Operations all;
  all.kind = kind;
  all.count = 0;
  if (row.family == rocprof::Family::kHsaApi) f.for_each_buffered_operation(number, &choose, &all);
  const Id buffer = recorder.buffers[static_cast<unsigned>(group_of(row.family))];
  if (f.trace_buffered(recorder.context, number, all.count == 0 ? nullptr : all.chosen, all.count, buffer) == 0)
    std::fprintf(recorder.out, "K b %d %s\n", number, row.name);
}

void trace_callbacks() {
  const auto& f = recorder.opened.functions;
  const bool is_long = recorder.opened.has_long_callbacks();
  void* const callback = is_long ? reinterpret_cast<void*>(&on_callback1) : reinterpret_cast<void*>(&on_callback0);
  const struct {
    int number;
    const char* name;
  } kinds[] = {{recorder.kinds.code_object_number(), "CODE_OBJECT"},
               {recorder.kinds.callback_number(rocprof::kind_index("MARKER_CORE_API")), "MARKER_CORE_API"},
               {recorder.kinds.marker_range_number(), "MARKER_CORE_RANGE_API"},
               {is_long ? recorder.kinds.callback_number(rocprof::kind_index("HIP_STREAM")) : -1, "HIP_STREAM"}};
  for (const auto& kind : kinds) {
    if (kind.number >= 0 && f.trace_by_callback(recorder.context, kind.number, nullptr, 0, callback, nullptr) == 0)
      std::fprintf(recorder.out, "K c %d %s\n", kind.number, kind.name);
  }
}

int initialize(void (*)(), void*) {
  auto& f = recorder.opened.functions;
  const Lock lock(recorder.mutex);
  const char* path = std::getenv("DFT_HIP_RECORDING");
  recorder.out = path == nullptr ? nullptr : std::fopen(path, "w");
  if (recorder.out == nullptr || !recorder.kinds.configure(f)) return -1;
  owner = getpid();
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  const std::uint32_t release = recorder.opened.release;
  std::fprintf(recorder.out, "V %u %u %u %lld\n", release / 10000, release / 100 % 100, release % 100,
               static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec);
  if (rocprof::has_driver(rocprof::kTopology))
    f.for_each_agent(rocprof::kAgentVersion, &on_agents, rocprof::kAgentLeast, nullptr);
  f.create_context(&recorder.context);
  for (std::size_t group = 0; group < rocprof::kGroups; ++group) {
    f.create_buffer(recorder.context, 1 << 20, 1 << 19, rocprof::kLossless, &on_buffer, reinterpret_cast<void*>(group),
                    &recorder.buffers[group]);
  }
  for (unsigned kind = 0; kind < rocprof::kKinds; ++kind) trace_kind(kind);
  trace_callbacks();
  const int requests[] = {rocprof::kRequestHip, rocprof::kRequestKernel, rocprof::kRequestCopy,
                          rocprof::kRequestAllocation};
  const bool has_allocations = recorder.kinds.buffered_number(rocprof::kind_index("MEMORY_ALLOCATION")) >= 0;
  f.request_external_ids(recorder.context, requests, has_allocations ? 4 : 3, &on_request, nullptr);
  return f.start_context(recorder.context);
}

void finalize(void*) {
  const auto& f = recorder.opened.functions;
  f.stop_context(recorder.context);
  for (const Id buffer : recorder.buffers) f.flush_buffer(buffer);
  const Lock lock(recorder.mutex);
  if (!is_on()) return;
  for (const auto& [side, kind, operation] : recorder.seen) {
    const char* name = nullptr;
    std::uint64_t size = 0;
    const int number = static_cast<int>(kind);
    if (side == 'b') f.buffered_operation_name(number, operation, &name, &size);
    if (side == 'c') f.callback_operation_name(number, operation, &name, &size);
    if (name != nullptr) std::fprintf(recorder.out, "O %c %u %d %s\n", side, kind, operation, name);
  }
  std::fclose(recorder.out);
  recorder.out = nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void* rocprofiler_configure(std::uint32_t, const char*, std::uint32_t,
                                                                              void*) {
  static rocprof::ConfigureResult result = {sizeof result, &initialize, &finalize, nullptr};
  return rocprof::library_of(__builtin_return_address(0), &recorder.opened) ? &result : nullptr;
}
