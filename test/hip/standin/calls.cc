// SPDX-License-Identifier: MIT
// What the runtimes do on the application's threads: calls that nest, work, code objects, streams, ROCTx.
#include <sys/syscall.h>

#include "state.h"

namespace standin {

namespace {

struct Call {
  const char* kind;
  const char* operation;
  std::uint64_t begin, internal, ancestor, external;
};
struct Range {
  std::string text;
  std::uint64_t begin, internal;
};

std::vector<Call>& calls() {
  static thread_local std::vector<Call> one;
  return one;
}
std::vector<Range>& ranges() {
  static thread_local std::vector<Range> one;
  return one;
}
std::map<std::uint64_t, Range>& process_ranges() {
  static auto* one = new std::map<std::uint64_t, Range>;
  return *one;
}
std::mutex process_ranges_lock;

std::uint64_t thread_id() { return static_cast<std::uint64_t>(syscall(SYS_gettid)); }

// The innermost call that is traced, else the innermost range, where ranges have ids.
std::uint64_t innermost() {
  for (std::size_t i = calls().size(); i-- > 0;) {
    if (calls()[i].internal != 0) return calls()[i].internal;
  }
  return ranges().empty() ? 0 : ranges().back().internal;
}

bool is_active(std::uint64_t context) {
  State& s = state();
  return context != 0 && context <= s.contexts.size() && s.contexts[context - 1].load(std::memory_order_acquire);
}

bool has(const std::set<std::int32_t>& operations, std::int32_t operation) {
  return operations.empty() || operations.count(operation) != 0;
}

bool is_called(const char* kind, std::int32_t operation) {
  State& s = state();
  const int number = number_of(kind, s.release, true);
  if (number == kNone) return false;
  const auto found = s.called.find(static_cast<std::uint32_t>(number));
  if (found == s.called.end()) return false;
  for (const CallbackService& service : found->second) {
    if (is_active(service.context) && has(service.operations, operation)) return true;
  }
  return false;
}

bool is_buffered(const char* kind, std::int32_t operation) {
  State& s = state();
  const int number = number_of(kind, s.release, false);
  if (number == kNone) return false;
  const auto found = s.buffered.find(static_cast<std::uint32_t>(number));
  if (found == s.buffered.end()) return false;
  for (const BufferService& service : found->second) {
    if (is_active(service.buffer->context) && has(service.operations, operation)) return true;
  }
  return false;
}

void put_into_buffers(std::uint32_t kind, std::int32_t operation, const void* record, std::size_t size) {
  const auto found = state().buffered.find(kind);
  if (found == state().buffered.end()) return;
  for (const BufferService& service : found->second) {
    if (is_active(service.buffer->context) && has(service.operations, operation))
      service.buffer->add(kind, record, size);
  }
}

int request_kind(const std::string& kind) {
  if (kind == "HSA_CORE_API") return 1;
  if (kind == "HSA_AMD_EXT_API") return 2;
  if (kind == "HIP_RUNTIME_API" || kind == "HIP_RUNTIME_API_EXT") return 5;
  if (kind == "MEMORY_COPY") return 10;
  if (kind == "KERNEL_DISPATCH") return 11;
  if (kind == "SCRATCH_MEMORY") return 12;
  if (kind == "MEMORY_ALLOCATION") return 15;
  return 0;
}

}  // namespace

void call_back(const char* kind, std::int32_t operation, int phase, std::uint64_t thread, std::uint64_t internal,
               std::uint64_t ancestor, void* payload, std::uint64_t* user) {
  State& s = state();
  const int number = number_of(kind, s.release, true);
  if (number == kNone) return;
  const auto found = s.called.find(static_cast<std::uint32_t>(number));
  if (found == s.called.end()) return;
  for (const CallbackService& service : found->second) {
    if (!is_active(service.context) || !has(service.operations, operation)) continue;
    Bytes record(Record::callback, s.release);
    record.put(Field::callback_context_id, service.context).put(Field::callback_thread_id, thread);
    record.put(Field::callback_internal, internal).put(Field::callback_ancestor, ancestor);
    record.put(Field::callback_kind, number).put(Field::callback_operation, operation);
    record.put(Field::callback_phase, phase).put(Field::callback_payload, payload);
    std::uint64_t own = 0;
    std::uint64_t* data = user != nullptr ? user++ : &own;
    if (record.size() == sizeof(Callback56)) {
      Callback56 by_value;
      std::memcpy(&by_value, record.data(), sizeof by_value);
      reinterpret_cast<void (*)(Callback56, std::uint64_t*, void*)>(service.function)(by_value, data, service.data);
    } else {
      Callback64 by_value;
      std::memcpy(&by_value, record.data(), sizeof by_value);
      reinterpret_cast<void (*)(Callback64, std::uint64_t*, void*)>(service.function)(by_value, data, service.data);
    }
  }
}

std::uint64_t ask_for_external(int kind, std::int32_t operation, std::uint64_t internal) {
  State& s = state();
  const auto found = s.requests.find(kind);
  std::uint64_t external = 0;
  if (kind != 0 && found != s.requests.end() && is_active(s.request_context))
    found->second(thread_id(), s.request_context, kind, operation, internal, &external, s.request_data);
  return external;
}

class TheSdk final : public Sdk {
 public:
  void configure(const char* words) override { apply_words(words); }
  void attach(const Configure* tools, std::size_t count) override;
  void finalize() override;
  Release release() const override { return state().release; }
  bool traces(const char* kind) const override { return is_buffered(kind, 0) || is_buffered(kind, 1); }
  std::uint32_t kind_number(const char* kind) const override {
    return static_cast<std::uint32_t>(number_of(kind, state().release, false));
  }
  bool has(const char* kind, const char* operation) const override {
    const Release release = state().release;
    return number_of(kind, release, false) != kNone && operation_number(kind, operation, release) != kNone;
  }

  void emit(const Event& event) override {
    State& s = state();
    Event e = event;
    const int kind = number_of(e.kind, s.release, false);
    if (kind == kNone) return;
    if (std::strcmp(e.kind, "KERNEL_DISPATCH") == 0) spoil(e);
    Bytes record = bytes_of(e, s);
    put_into_buffers(static_cast<std::uint32_t>(kind), operation_number(e.kind, e.operation, s.release), record.data(),
                     record.size());
  }
  void emit_raw(std::uint32_t kind, const void* record, std::size_t size) override {
    // Not of a service's: into the first buffer.
    if (state().buffered.count(kind) != 0)
      put_into_buffers(kind, 0, record, size);
    else if (!state().buffers.empty())
      state().buffers.front().add(kind, record, size);
  }
  void deliver() override {
    for (Buffer& buffer : state().buffers) buffer.flush(true);
  }
  void deliver_late() override { deliver(); }
  void drop(const char* kind, std::uint64_t count) override {
    const auto found = state().buffered.find(kind_number(kind));
    if (found != state().buffered.end()) found->second.front().buffer->add_drops(count);
  }

  void enter(const char* kind, const char* operation) override {
    State& s = state();
    const std::int32_t number = operation_number(kind, operation, s.release);
    const std::string ext = std::string(kind) + "_EXT";
    Call call{kind, operation, now_ns(), 0, innermost(), 0};
    if (is_buffered(kind, number) || is_called(kind, number) || is_buffered(ext.c_str(), number)) {
      call.internal = s.next_internal.fetch_add(1, std::memory_order_relaxed);
      call.external = ask_for_external(request_kind(kind), number, call.internal);
    }
    calls().push_back(call);
  }
  void leave(std::int32_t result) override {
    const Call call = calls().back();
    calls().pop_back();
    if (call.internal == 0) return;
    Event e;
    e.kind = call.kind;
    e.operation = call.operation;
    e.begin = call.begin;
    e.end = now_ns();
    e.thread = thread_id();
    e.internal = call.internal;
    e.external = call.external;
    e.ancestor = call.ancestor;
    e.result = result;
    emit(e);
    const std::string ext = std::string(call.kind) + "_EXT";
    e.kind = ext.c_str();
    emit(e);
    if (is_buffered("CORRELATION_ID_RETIREMENT", 0)) {
      e.kind = "CORRELATION_ID_RETIREMENT";
      e.begin = e.end;
      emit(e);
    }
  }
  void work(Event event) override {
    State& s = state();
    event.internal = innermost();
    event.thread = thread_id();
    const std::int32_t operation = operation_number(event.kind, event.operation, s.release);
    event.external = ask_for_external(request_kind(event.kind), operation, event.internal);
    if (std::strcmp(event.kind, "KERNEL_DISPATCH") == 0)
      event.dispatch = s.next_dispatch.fetch_add(1, std::memory_order_relaxed);
    emit(event);
  }
  void symbol(bool load, std::uint64_t kernel, const char* name) override {
    Bytes data(Record::symbol, state().release);
    using F = Field;
    data.put<std::uint64_t>(F::symbol_size, data.size()).put(F::symbol_kernel_id, kernel);
    data.put<std::uint64_t>(F::symbol_code_object_id, 1).put(F::symbol_kernel_name, name);
    data.put<std::uint32_t>(F::symbol_group_segment_size, 1024).put<std::uint32_t>(F::symbol_private_segment_size, 16);
    data.put<std::uint32_t>(F::symbol_sgpr_count, 32).put<std::uint32_t>(F::symbol_arch_vgpr_count, 24);
    call_back("CODE_OBJECT", 2, load ? 1 : 2, thread_id(), 0, 0, data.data());
  }
  void stream(int operation, int phase, std::uint64_t id, std::uint64_t value) override {
    if (state().release != Release::k10) return;
    Bytes data(Record::stream, state().release);
    data.put<std::uint64_t>(Field::stream_size, data.size()).put(Field::stream_stream_id, id);
    data.put(Field::stream_stream_value, value);
    call_back("HIP_STREAM", operation, phase, thread_id(), 0, 0, data.data());
  }
  void marker(const char* function, const char* text, std::uint64_t id, std::uint64_t result) override;
  Counters counters() const override {
    State& s = state();
    Counters out = s.counters;
    out.calls = s.calls.load(std::memory_order_relaxed);
    out.delivered = s.delivered.load(std::memory_order_relaxed);
    out.buffers = s.buffers.size();
    out.threads = s.workers.empty() ? 0 : s.workers.size() - 1;
    out.contexts = s.contexts.size();
    for (const auto& context : s.contexts) out.active += context.load(std::memory_order_relaxed) ? 1 : 0;
    return out;
  }

 private:
  static void spoil(Event& e) {
    State& s = state();
    const std::uint64_t nth = s.kernels.fetch_add(1, std::memory_order_relaxed) + 1;
    if (s.scenario.zero_every != 0 && nth % s.scenario.zero_every == 0)
      e.begin = e.end = 0;
    else if (s.scenario.zero_end_every != 0 && nth % s.scenario.zero_end_every == 0)
      e.end = 0;
    else if (s.scenario.reversed_every != 0 && nth % s.scenario.reversed_every == 0)
      std::swap(e.begin, e.end);
  }
  void end_of_range(const char* operation, const Range& range) {
    Event e;
    e.kind = "MARKER_CORE_RANGE_API";
    e.operation = operation;
    e.begin = range.begin;
    e.end = now_ns();
    e.thread = thread_id();
    e.internal = range.internal;
    emit(e);
    tell_range(operation, 2, range);
  }
  void tell_range(const char* operation, int phase, const Range& range) {
    Bytes data(Record::marker, state().release);
    data.put<std::uint64_t>(Field::marker_size, data.size()).put(Field::marker_message, range.text.c_str());
    call_back("MARKER_CORE_RANGE_API", operation_number("MARKER_CORE_RANGE_API", operation, state().release), phase,
              thread_id(), range.internal, 0, data.data());
  }
  Range begin_of_range(const char* operation, const char* text) {
    State& s = state();
    Range range{text, now_ns(), 0};
    const std::int32_t number = operation_number("MARKER_CORE_RANGE_API", operation, s.release);
    if (is_buffered("MARKER_CORE_RANGE_API", number) || is_called("MARKER_CORE_RANGE_API", number))
      range.internal = s.next_internal.fetch_add(1, std::memory_order_relaxed);
    tell_range(operation, 1, range);
    return range;
  }
};

void TheSdk::marker(const char* function, const char* text, std::uint64_t id, std::uint64_t result) {
  State& s = state();
  const std::int32_t number = operation_number("MARKER_CORE_API", function, s.release);
  Bytes data(Record::marker, s.release);
  data.put<std::uint64_t>(Field::marker_size, data.size());
  if (text != nullptr)
    data.put(Field::marker_message, text);
  else
    data.put(Field::marker_stop_id, id);
  enter("MARKER_CORE_API", function);
  const Call call = calls().back();
  std::uint64_t user[8] = {};  // a tool's own, from the entry to the exit of a call
  call_back("MARKER_CORE_API", number, 1, thread_id(), call.internal, call.ancestor, data.data(), user);
  data.put(Field::marker_start_id, result);
  call_back("MARKER_CORE_API", number, 2, thread_id(), call.internal, call.ancestor, data.data(), user);
  leave(0);
  const std::string name = function;
  if (name == "roctxMarkA") {
    end_of_range("roctxMarkA", begin_of_range("roctxMarkA", text));
  } else if (name == "roctxRangePushA") {
    ranges().push_back(begin_of_range("roctxThreadRangeA", text));
  } else if (name == "roctxRangePop" && !ranges().empty()) {
    end_of_range("roctxThreadRangeA", ranges().back());
    ranges().pop_back();
  } else if (name == "roctxRangeStartA") {
    const std::lock_guard<std::mutex> guard(process_ranges_lock);
    process_ranges()[result] = begin_of_range("roctxProcessRangeA", text);
  } else if (name == "roctxRangeStop") {
    const std::lock_guard<std::mutex> guard(process_ranges_lock);
    const auto found = process_ranges().find(id);
    if (found == process_ranges().end()) return;
    end_of_range("roctxProcessRangeA", found->second);
    process_ranges().erase(found);
  }
}

void TheSdk::attach(const Configure* tools, std::size_t count) { initialize(tools, count); }
void TheSdk::finalize() { finalize_now(); }

static TheSdk* the_sdk() {
  static auto* one = new TheSdk;
  return one;
}

}  // namespace standin

extern "C" __attribute__((visibility("default"))) standin::Sdk* dft_hip_standin() { return standin::the_sdk(); }
