// SPDX-License-Identifier: MIT
// The entry points of rocprofiler-sdk that a tracer uses.
#include <sys/syscall.h>

#include <cstdio>

#include "state.h"

using namespace standin;

namespace {

struct Id {
  std::uint64_t handle;
};

enum Status {
  kSuccess,
  kError,
  kContextNotFound,
  kBufferNotFound,
  kKindNotFound,
  kThreadNotFound,
  kContextNotZero,
  kBufferBusy,
  kAlreadyConfigured,
  kLocked,
  kInvalidArgument,
  kFinalized,
  kIncompatibleAbi,
};
struct StatusRow {
  const char* name;
  int in_0, in_1;
};
// 1.0 has one more in the middle (CONTEXT_ID_NOT_ZERO).
const StatusRow kStatuses[] = {{"ROCPROFILER_STATUS_SUCCESS", 0, 0},
                               {"ROCPROFILER_STATUS_ERROR", 1, 1},
                               {"ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND", 2, 2},
                               {"ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND", 3, 3},
                               {"ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND", 4, 4},
                               {"ROCPROFILER_STATUS_ERROR_THREAD_NOT_FOUND", 6, 6},
                               {"ROCPROFILER_STATUS_ERROR_CONTEXT_ID_NOT_ZERO", 12, 13},
                               {"ROCPROFILER_STATUS_ERROR_BUFFER_BUSY", 13, 14},
                               {"ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED", 14, 15},
                               {"ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED", 15, 16},
                               {"ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT", 18, 19},
                               {"ROCPROFILER_STATUS_ERROR_FINALIZED", 20, 21},
                               {"ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_ABI", 17, 18}};

int number(Status status) {
  const StatusRow& row = kStatuses[status];
  return state().release == Release::k05 ? row.in_0 : row.in_1;
}
const char* name_of(int code) {
  for (const StatusRow& row : kStatuses) {
    if (code == (state().release == Release::k05 ? row.in_0 : row.in_1)) return row.name;
  }
  return nullptr;
}

void called() {
  State& s = state();
  s.calls.fetch_add(1, std::memory_order_relaxed);
  if (getpid() == s.owner) return;
  static const char text[] = "stand-in: rocprofiler-sdk was called in a forked child\n";
  if (write(2, text, sizeof text - 1) < 0) _exit(98);
  _exit(99);
}

bool fails(const char* what) { return state().scenario.fail.count(what) != 0; }
bool is_locked() { return state().initialized.load() != -1; }

std::atomic<bool>* context_of(Id id) {
  State& s = state();
  return id.handle == 0 || id.handle > s.contexts.size() ? nullptr : &s.contexts[id.handle - 1];
}
Buffer* buffer_of(Id id) {
  for (Buffer& buffer : state().buffers) {
    if (buffer.id == id.handle) return &buffer;
  }
  return nullptr;
}

template <typename Callback>
int iterate_kinds(Callback callback, void* data, bool of_callbacks) {
  called();
  const Release release = state().release;
  for (std::uint32_t kind = 0; kind_name(kind, release, of_callbacks) != nullptr; ++kind) {
    if (callback(static_cast<int>(kind), data) != 0) break;
  }
  return number(kSuccess);
}
template <typename Callback>
int iterate_operations(int kind, Callback callback, void* data, bool of_callbacks) {
  called();
  const Release release = state().release;
  const char* name = kind < 0 ? nullptr : kind_name(static_cast<std::uint32_t>(kind), release, of_callbacks);
  if (name == nullptr) return number(kKindNotFound);
  for (std::int32_t i = 0; operation_name(name, i, release) != nullptr; ++i) {
    if (callback(kind, i, data) != 0) break;
  }
  return number(kSuccess);
}
int query_kind(int kind, const char** name, std::uint64_t* length, bool of_callbacks) {
  called();
  const char* text = kind < 0 ? nullptr : kind_name(static_cast<std::uint32_t>(kind), state().release, of_callbacks);
  if (name != nullptr) *name = text;
  if (length != nullptr) *length = text == nullptr ? 0 : std::strlen(text);
  return number(text == nullptr ? kKindNotFound : kSuccess);
}
int query_operation(int kind, std::int32_t operation, const char** name, std::uint64_t* length, bool of_callbacks) {
  called();
  const Release release = state().release;
  const char* of = kind < 0 ? nullptr : kind_name(static_cast<std::uint32_t>(kind), release, of_callbacks);
  const char* text = of == nullptr ? nullptr : operation_name(of, operation, release);
  if (name != nullptr) *name = text;
  if (length != nullptr) *length = text == nullptr ? 0 : std::strlen(text);
  return number(of == nullptr ? kKindNotFound : text == nullptr ? kInvalidArgument : kSuccess);
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int rocprofiler_get_version(std::uint32_t* major, std::uint32_t* minor, std::uint32_t* patch) {
  called();
  const std::uint32_t version = state().scenario.version;
  *major = version / 10000;
  *minor = version % 10000 / 100;
  *patch = version % 100;
  return number(kSuccess);
}
EXPORT int rocprofiler_get_timestamp(std::uint64_t* stamp) {
  called();
  *stamp = now_ns();
  return number(kSuccess);
}
EXPORT int rocprofiler_get_thread_id(std::uint64_t* id) {
  called();
  *id = static_cast<std::uint64_t>(syscall(SYS_gettid));
  return number(kSuccess);
}
EXPORT int rocprofiler_is_initialized(int* status) {
  called();
  *status = state().initialized.load();
  return number(kSuccess);
}
EXPORT int rocprofiler_is_finalized(int* status) {
  called();
  *status = state().finalized.load();
  return number(kSuccess);
}
EXPORT int rocprofiler_force_configure(Configure configure) {
  called();
  if (state().initialized.load() != 0) return number(kLocked);
  initialize(&configure, 1);
  return number(kSuccess);
}
EXPORT const char* rocprofiler_get_status_name(int status) {
  called();
  return name_of(status);
}
EXPORT const char* rocprofiler_get_status_string(int status) {
  called();
  return name_of(status) == nullptr ? nullptr : "a status of the stand-in";
}
// What rocprofiler-register calls for each runtime.
EXPORT int rocprofiler_set_api_table(const char*, std::uint64_t, std::uint64_t, void**, std::uint64_t) {
  initialize(nullptr, 0);
  return 0;
}

EXPORT int rocprofiler_create_context(Id* id) {
  called();
  if (is_locked()) return number(kLocked);
  if (fails("create_context")) return number(kError);
  if (state().release != Release::k05 && id->handle != 0) return number(kContextNotZero);
  state().contexts.emplace_back(false);
  id->handle = state().contexts.size();
  return number(kSuccess);
}
EXPORT int rocprofiler_context_is_valid(Id id, int* status) {
  called();
  *status = context_of(id) == nullptr ? 0 : 1;
  return number(kSuccess);
}
EXPORT int rocprofiler_context_is_active(Id id, int* status) {
  called();
  if (context_of(id) == nullptr) return number(kContextNotFound);
  *status = context_of(id)->load() ? 1 : 0;
  return number(kSuccess);
}
EXPORT int rocprofiler_start_context(Id id) {
  called();
  if (context_of(id) == nullptr) return number(kContextNotFound);
  if (state().finalized.load() != 0) return number(kFinalized);
  if (fails("start")) return number(kError);
  context_of(id)->store(true, std::memory_order_release);
  return number(kSuccess);
}
EXPORT int rocprofiler_stop_context(Id id) {
  called();
  if (context_of(id) == nullptr) return number(kContextNotFound);
  context_of(id)->store(false, std::memory_order_release);
  return number(kSuccess);
}

EXPORT int rocprofiler_create_buffer(Id context, std::size_t size, std::size_t watermark, int policy,
                                     BufferCallback callback, void* data, Id* id) {
  called();
  State& s = state();
  if (is_locked()) return number(kLocked);
  if (fails("create_buffer")) return number(kError);
  if (policy != 2 || watermark > size || callback == nullptr) return number(kInvalidArgument);  // only lossless ones
  if (s.workers.empty()) {
    s.workers.emplace_back();
    s.workers.back().start();
  }
  Buffer& buffer = s.buffers.emplace_back();
  buffer.id = id->handle = 300 + s.buffers.size();
  buffer.context = context.handle;
  buffer.size = size;
  buffer.watermark = watermark;
  buffer.callback = callback;
  buffer.data = data;
  buffer.worker = &s.workers.front();
  return number(kSuccess);
}
EXPORT int rocprofiler_flush_buffer(Id id) {
  called();
  if (state().finalized.load() > 0) return number(kFinalized);
  Buffer* buffer = buffer_of(id);
  if (buffer == nullptr) return number(kBufferNotFound);
  if (state().scenario.late) return number(kBufferBusy);
  buffer->flush(true);
  return number(kSuccess);
}
EXPORT int rocprofiler_destroy_buffer(Id id) {
  called();
  return number(buffer_of(id) == nullptr ? kBufferNotFound : kSuccess);
}
EXPORT int rocprofiler_create_callback_thread(Id* id) {
  called();
  State& s = state();
  if (is_locked()) return number(kLocked);
  if (s.workers.empty()) {
    s.workers.emplace_back();
    s.workers.back().start();
  }
  s.workers.emplace_back();
  s.workers.back().start();
  id->handle = s.workers.size() - 1;
  return number(kSuccess);
}
EXPORT int rocprofiler_assign_callback_thread(Id buffer, Id thread) {
  called();
  if (is_locked()) return number(kLocked);
  if (buffer_of(buffer) == nullptr) return number(kBufferNotFound);
  if (thread.handle >= state().workers.size()) return number(kThreadNotFound);
  buffer_of(buffer)->worker = &state().workers[thread.handle];
  return number(kSuccess);
}
EXPORT int rocprofiler_at_internal_thread_create(void (*before)(int, void*), void (*after)(int, void*), int libraries,
                                                 void*) {
  called();
  if ((libraries & 1) != 0) {
    state().before_thread = before;
    state().after_thread = after;
  }
  return number(kSuccess);
}

EXPORT int rocprofiler_configure_buffer_tracing_service(Id context, int kind, const std::int32_t* operations,
                                                        std::size_t count, Id buffer) {
  called();
  State& s = state();
  if (is_locked()) return number(kLocked);
  if (context_of(context) == nullptr) return number(kContextNotFound);
  const char* name = kind <= 0 ? nullptr : kind_name(static_cast<std::uint32_t>(kind), s.release, false);
  if (name == nullptr) return number(kKindNotFound);
  if (fails(name)) return number(kError);
  if (buffer_of(buffer) == nullptr) return number(kBufferNotFound);
  for (const BufferService& other : s.buffered[static_cast<std::uint32_t>(kind)]) {
    if (other.buffer->context == context.handle) return number(kAlreadyConfigured);
  }
  s.buffered[static_cast<std::uint32_t>(kind)].push_back({buffer_of(buffer), {operations, operations + count}});
  return number(kSuccess);
}
EXPORT int rocprofiler_configure_callback_tracing_service(Id context, int kind, const std::int32_t* operations,
                                                          std::size_t count, void* function, void* data) {
  called();
  State& s = state();
  if (is_locked()) return number(kLocked);
  if (context_of(context) == nullptr) return number(kContextNotFound);
  const char* name = kind <= 0 ? nullptr : kind_name(static_cast<std::uint32_t>(kind), s.release, true);
  if (name == nullptr) return number(kKindNotFound);
  if (fails(name)) return number(kError);
  for (const CallbackService& other : s.called[static_cast<std::uint32_t>(kind)]) {
    if (other.context == context.handle) return number(kAlreadyConfigured);
  }
  s.called[static_cast<std::uint32_t>(kind)].push_back(
      {context.handle, function, data, {operations, operations + count}});
  return number(kSuccess);
}
EXPORT int rocprofiler_configure_external_correlation_id_request_service(Id context, const int* kinds,
                                                                         std::size_t count, RequestFunction function,
                                                                         void* data) {
  called();
  State& s = state();
  if (is_locked()) return number(kLocked);
  if (context_of(context) == nullptr) return number(kContextNotFound);
  if (fails("external")) return number(kError);
  for (std::size_t i = 0; i < count; ++i) s.requests[kinds[i]] = function;
  s.request_data = data;
  s.request_context = context.handle;
  return number(kSuccess);
}
EXPORT int rocprofiler_push_external_correlation_id(Id, std::uint64_t, std::uint64_t) {
  called();
  return number(kSuccess);
}
EXPORT int rocprofiler_pop_external_correlation_id(Id, std::uint64_t, std::uint64_t*) {
  called();
  return number(kSuccess);
}

using KindCallback = int (*)(int, void*);
using OperationCallback = int (*)(int, std::int32_t, void*);

EXPORT int rocprofiler_iterate_buffer_tracing_kinds(KindCallback callback, void* data) {
  return iterate_kinds(callback, data, false);
}
EXPORT int rocprofiler_iterate_callback_tracing_kinds(KindCallback callback, void* data) {
  return iterate_kinds(callback, data, true);
}
EXPORT int rocprofiler_iterate_buffer_tracing_kind_operations(int kind, OperationCallback callback, void* data) {
  return iterate_operations(kind, callback, data, false);
}
EXPORT int rocprofiler_iterate_callback_tracing_kind_operations(int kind, OperationCallback callback, void* data) {
  return iterate_operations(kind, callback, data, true);
}
EXPORT int rocprofiler_query_buffer_tracing_kind_name(int kind, const char** name, std::uint64_t* length) {
  return query_kind(kind, name, length, false);
}
EXPORT int rocprofiler_query_callback_tracing_kind_name(int kind, const char** name, std::uint64_t* length) {
  return query_kind(kind, name, length, true);
}
EXPORT int rocprofiler_query_buffer_tracing_kind_operation_name(int kind, std::int32_t operation, const char** name,
                                                                std::uint64_t* length) {
  return query_operation(kind, operation, name, length, false);
}
EXPORT int rocprofiler_query_callback_tracing_kind_operation_name(int kind, std::int32_t operation, const char** name,
                                                                  std::uint64_t* length) {
  return query_operation(kind, operation, name, length, true);
}

EXPORT int rocprofiler_query_available_agents(int version, int (*callback)(int, const void**, std::size_t, void*),
                                              std::size_t size, void* data) {
  called();
  if (version != 1) return number(kInvalidArgument);
  std::vector<Bytes> agents;
  for (unsigned node = 0; node < 3; ++node) agents.push_back(agent_bytes(node, state()));
  if (size > agents.front().size()) return number(kIncompatibleAbi);
  std::vector<const void*> pointers;
  for (Bytes& agent : agents) pointers.push_back(agent.data());
  return callback(version, pointers.data(), pointers.size(), data);
}
