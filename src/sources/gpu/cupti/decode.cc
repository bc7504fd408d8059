// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/decode.h"

#include <charconv>
#include <cstring>

#include "sources/gpu/activity_writer_inline.h"
#include "sources/gpu/cupti/decode_kernel.h"
#include "sources/gpu/cupti/error_names.h"

namespace dft::gpu::cupti {

namespace {

// The kinds of work whose records hold nothing but themselves; kernels apart, of which there are most.
bool decode_plain(std::uint32_t kind, Record record, Activity& out, bool& known) {
  known = true;
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY: return decode_memcpy(record, out);
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return decode_peer_copy(record, out);
    case CUPTI_ACTIVITY_KIND_MEMSET: return decode_memset(record, out);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return decode_sync(record, out);
    case CUPTI_ACTIVITY_KIND_OVERHEAD: return decode_overhead(record, out);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER: return decode_unified_memory(record, out);
    case 49: return decode_memory(record, out);  // MEMORY2: numbers, since headers of 10.x lack the names
    case 50: return decode_memory_pool(record, out);
    case 51: return decode_graph(record, out);  // GRAPH_TRACE
    default: known = false; return false;
  }
}

ApiCall call_in(Record record, ActivityKind kind) {
  const std::uint32_t callback = record.get(api::kCallback);
  return {kind,
          static_cast<std::uint16_t>(callback < kOperations ? callback : kOperations - 1),
          record.get(api::kCorrelation),
          record.get(api::kStart),
          record.get(api::kEnd),
          record.get(api::kPid),
          record.get(api::kTid),
          record.get(api::kReturnValue)};
}

// What the writer does not know yet. It is read anew, so that the values of the common case stay in registers.
[[gnu::noinline]] void hand_over_call(Record record, ActivityKind kind, ActivitySink& sink) {
  const ApiCall call = call_in(record, kind);
  const bool has_error = call.return_value != 0;
  sink.activity(
      activity_of(call, has_error ? error_name(kind == ActivityKind::kRuntimeApi, call.return_value) : nullptr));
}
[[gnu::noinline]] void hand_over_kernel(Record record, bool has_graph_id, ActivitySink& sink) {
  sink.activity(activity_of(decode_kernel(record, has_graph_id)));
}

class Detail {
 public:
  Detail& text(std::string_view s) {
    if (s.size() < sizeof buffer_ - size_) {
      std::memcpy(buffer_ + size_, s.data(), s.size());
      size_ += s.size();
    }
    buffer_[size_] = '\0';
    return *this;
  }
  Detail& number(std::uint64_t n) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, n).ptr;
    return text({digits, static_cast<std::size_t>(end - digits)});
  }
  const char* c_str() const { return buffer_; }

 private:
  char buffer_[96] = {};
  std::size_t size_ = 0;
};

}  // namespace

void Decoder::configure(const Choice& choice, ApiNames& names) {
  choice_ = choice;
  names_ = &names;
  unknown_count_ = 0;
}

// Launches and their calls are nearly all there is: a function for each, whose values stay in registers.
template <ActivityKind kind>
[[gnu::noinline]] bool Decoder::decode_api(Record record, ActivitySink& sink, ActivityWriter* writer) {
  if (record.size() < api::kLeastSize) return false;
  if (!wants(kind) || names_->is_left_out(kind, record.get(api::kCallback))) return true;
  if (writer != nullptr && writer->try_call<kind>(call_in(record, kind))) return true;
  hand_over_call(record, kind, sink);
  return true;
}

[[gnu::noinline]] bool Decoder::decode_kernel_record(Record record, ActivitySink& sink, ActivityWriter* writer) {
  if (record.size() < kernel::kLeastSize) return false;
  if (!wants(ActivityKind::kKernel)) return true;
  const bool has_graph_id = choice_.version.has_kernel_graph_id();
  if (writer != nullptr && writer->try_launch(decode_kernel(record, has_graph_id))) return true;
  hand_over_kernel(record, has_graph_id, sink);
  return true;
}

inline bool Decoder::decode_record(Record record, ActivitySink& sink, ActivityWriter* writer) {
  switch (record.get(kKind)) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return decode_kernel_record(record, sink, writer);
    case CUPTI_ACTIVITY_KIND_RUNTIME: return decode_api<ActivityKind::kRuntimeApi>(record, sink, writer);
    case CUPTI_ACTIVITY_KIND_DRIVER: return decode_api<ActivityKind::kDriverApi>(record, sink, writer);
    default: return decode_other(record, sink);
  }
}

void Decoder::decode(const RawBuffer& buffer, ActivitySink& sink) {
  auto* data = const_cast<unsigned char*>(buffer.data);  // CUPTI's signature; it only reads
  const unsigned char* const end = buffer.data + buffer.valid;
  CUpti_Activity* at = nullptr;
  if (buffer.valid == 0 || choice_.next(data, buffer.valid, &at) != CUPTI_SUCCESS) return;
  const unsigned char* current = reinterpret_cast<unsigned char*>(at);
  ActivityWriter* const writer = sink.writer();
  while (current != nullptr) {
    const bool more = choice_.next(data, buffer.valid, &at) == CUPTI_SUCCESS;
    const unsigned char* const next = more ? reinterpret_cast<unsigned char*>(at) : nullptr;
    const auto size = static_cast<std::size_t>((more ? next : end) - current);
    const auto left = static_cast<std::size_t>(end - current);
    // A library that goes astray must not lead us out of the buffer. What lies before or behind it, or does not go on,
    // has no size, or more than there is.
    if (left > buffer.valid || size - 1 >= left || left < sizeof(std::uint64_t)) {
      sink.loss(LossCause::kUndecodable, 0, static_cast<std::uint64_t>(end - buffer.data), "records out of order");
      break;
    }
    const Record record(current, size);
    if (record.get(kKind) == CUPTI_ACTIVITY_KIND_INVALID) break;  // a buffer given back by force: nothing behind it
    if (!decode_record(record, sink, writer)) count_unknown(record);
    current = next;
  }
  if (writer != nullptr) writer->end_run();
  report_unknown(sink);
}

bool Decoder::decode_other(Record record, ActivitySink& sink) {
  const std::uint32_t kind = record.get(kKind);
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_DEVICE: {
      DeviceFacts facts;
      if (!decode_device(record, facts)) return false;
      sink.device(facts);
      return true;
    }
    case CUPTI_ACTIVITY_KIND_CONTEXT: {
      ContextFacts facts;
      if (!decode_context(record, facts)) return false;
      sink.context(facts);
      return true;
    }
    case CUPTI_ACTIVITY_KIND_STREAM: {
      StreamFacts facts;
      if (!decode_stream(record, facts)) return false;
      sink.stream(facts);
      return true;
    }
    case CUPTI_ACTIVITY_KIND_NAME:
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: return true;  // of another client's making
    default: break;
  }
  Activity activity;
  bool known = false;
  if (!decode_plain(kind, record, activity, known) || !known) return false;
  if (wants(activity.kind)) sink.activity(activity);
  return true;
}

void Decoder::count_unknown(Record record) {
  const std::uint32_t kind = record.get(kKind);
  const auto size = static_cast<std::uint32_t>(record.size());
  for (unsigned i = 0; i < unknown_count_; ++i) {
    if (unknown_[i].kind == kind && unknown_[i].size == size) {
      ++unknown_[i].count;
      return;
    }
  }
  // The last entry takes what finds no place: few kinds are ever unknown.
  if (unknown_count_ == kUnknownKinds) {
    ++unknown_[kUnknownKinds - 1].count;
    return;
  }
  unknown_[unknown_count_++] = {kind, size, 1};
}

void Decoder::report_unknown(ActivitySink& sink) {
  for (unsigned i = 0; i < unknown_count_; ++i) {
    const Unknown& unknown = unknown_[i];
    Detail detail;
    detail.text("CUPTI activity kind ").number(unknown.kind).text(", ").number(unknown.size).text(" bytes");
    sink.loss(LossCause::kUndecodable, unknown.count, unknown.count * unknown.size, detail.c_str());
  }
  unknown_count_ = 0;
}

}  // namespace dft::gpu::cupti
