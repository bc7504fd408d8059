// SPDX-License-Identifier: MIT
#include "sources/gpu/rocprof/decode.h"

#include <charconv>

#include "base/raw_io.h"
#include "sources/gpu/rocprof/markers.h"

namespace dft::gpu::rocprof {

namespace {

// Calls of all releases in one form.
struct Call {
  std::uint64_t internal, ancestor, start, end, thread;
};

template <typename Correlation>
std::uint64_t ancestor_of(const Correlation&) {
  return 0;
}
template <>
std::uint64_t ancestor_of(const Correlation3& correlation) {
  return correlation.ancestor;
}

template <typename Correlation>
Call call_in(const ApiRecord<Correlation>& record) {
  return {record.correlation.internal, ancestor_of(record.correlation), record.start, record.end, record.thread};
}

bool get_call(const Record& record, bool is_1, Call* out) {
  if (is_1) {
    ApiRecord<Correlation3> call;
    if (!record.get(&call)) return false;
    *out = call_in(call);
    return true;
  }
  ApiRecord<Correlation2> call;
  if (!record.get_exactly(&call)) return false;
  *out = call_in(call);
  return true;
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
  char buffer_[128] = {};
  std::size_t size_ = 0;
};

std::uint16_t operation_number(std::int32_t operation) {
  return static_cast<std::uint16_t>(operation >= 0 && operation < 0xffff ? operation : 0xffff);
}

}  // namespace

void Decoder::configure(const Choice& choice, const KindTable& kinds, const Agents& agents, Symbols& symbols) {
  choice_ = choice;
  kinds_ = &kinds;
  agents_ = &agents;
  symbols_ = &symbols;
  unknown_count_ = 0;
  if (parents_ == nullptr) parents_ = static_cast<Parent*>(base::raw::map(kParents * sizeof(Parent)));
  if (waiting_ == nullptr) waiting_ = static_cast<Waiting*>(base::raw::map(kMostWaiting * sizeof(Waiting)));
}

void Decoder::decode(const RawBuffer& buffer, ActivitySink& sink) {
  std::size_t at = 0;
  while (at < buffer.valid) {
    Frame frame{};
    const std::size_t left = buffer.valid - at;
    if (left >= sizeof frame) std::memcpy(&frame, buffer.data + at, sizeof frame);
    if (left < sizeof frame + sizeof(RecordHead) || frame.bytes < sizeof(RecordHead) ||
        frame.bytes > left - sizeof frame) {
      sink.loss(LossCause::kUndecodable, 0, left, "records out of order");
      break;
    }
    const Record record(buffer.data + at + sizeof frame, frame.bytes);
    RecordHead head{};
    record.get(&head);
    const unsigned kind = kinds_->of_number(frame.kind);
    const bool is_whole = head.size == frame.bytes && head.kind == frame.kind;
    if (kind == kKinds || !is_whole || !decode_record(record, kind, sink)) count_unknown(frame.kind, head.size);
    at += sizeof frame + ((frame.bytes + 7u) & ~std::size_t{7});
  }
  report_unknown(sink);
}

bool Decoder::decode_record(const Record& record, unsigned kind, ActivitySink& sink) {
  RecordHead head{};
  record.get(&head);
  NamedActivity out;
  out.kind = static_cast<std::uint8_t>(kind);
  out.operation = operation_number(head.operation);
  const Family family = kKindRows[kind].family;
  bool good = false;
  switch (family) {
    case Family::kHipApi:
    case Family::kHsaApi:
    case Family::kApi:
    case Family::kApiExt: good = decode_call(record, out); break;
    case Family::kKernel: return decode_kernel(record, out, sink);
    case Family::kCopy: good = decode_copy(record, out); break;
    case Family::kAllocation: good = decode_allocation(record, out); break;
    case Family::kScratch: good = decode_scratch(record, out); break;
    case Family::kPageMigration: good = decode_page_migration(record, out, sink); break;
    case Family::kOmpt: good = decode_ompt(record, out); break;
    case Family::kRuntime: good = decode_runtime(record, out); break;
    case Family::kMarker:
    case Family::kStream: return false;  // by callback only
    default: good = decode_kfd(record, family, out, sink); break;
  }
  if (good && (choice_.kinds >> kind & 1u) != 0) sink.named(out);
  return good;
}

bool Decoder::decode_call(const Record& record, NamedActivity& out) {
  const Family family = kKindRows[out.kind].family;
  Call call;
  if (!get_call(record, is_1(), &call)) return false;
  if (family == Family::kHsaApi && is_1() && parents_ != nullptr) {
    parents_[call.internal % kParents] = {call.internal, call.ancestor};
  }
  out.is_call = true;
  out.tid = static_cast<std::uint32_t>(call.thread);
  out.begin = call.start;
  out.end = call.end;
  out.correlation = call.internal;
  add_signed(out, Field::kOperation, static_cast<std::int32_t>(out.operation));
  add(out, Field::kCorrelation, call.internal);
  if (call.ancestor != 0) add(out, Field::kAncestor, call.ancestor);
  if (family == Family::kApiExt) {
    ApiResult result;
    if (record.size() < sizeof(ApiRecord<Correlation3>) + sizeof result || !record.get_end(&result)) return false;
    add_signed(out, Field::kReturnValue, result.error);
  }
  return true;
}

// What the user called: the work's own id is that of a HSA call within it, where those are traced.
std::uint64_t Decoder::call_of(std::uint64_t internal, std::uint64_t external) const {
  if (!choice_.resolves_calls) return internal;
  std::uint64_t call = internal;
  bool is_known = false;
  for (int depth = 0; parents_ != nullptr && depth < 4; ++depth) {  // HSA calls may nest
    const Parent& parent = parents_[call % kParents];
    if (parent.call != call || call == 0) break;
    is_known = true;
    if (parent.ancestor == 0 || is_marker(parent.ancestor)) break;
    call = parent.ancestor;
  }
  if (is_known) return call;
  const std::uint64_t hip = ExternalId::call(external);
  return hip != 0 ? hip : internal;
}

std::uint64_t Decoder::agent_number(Id agent) const {
  const Agents::Entry* known = agents_->of_handle(agent.handle);
  return known != nullptr ? known->logical_node : agent.handle;
}

void Decoder::place_on(const Agents::Entry* agent, LaneKind lane, NamedActivity& out) const {
  out.lane = lane;
  out.device = agent != nullptr ? agent->gpu : kNoId;
}

bool Decoder::decode_kernel(const Record& record, NamedActivity& out, ActivitySink& sink) {
  KernelRecord kernel;
  if (!record.get(&kernel)) return false;
  if ((choice_.kinds >> out.kind & 1u) == 0) return true;
  fill_kernel(kernel, out);
  const bool can_wait = out.symbol == nullptr && waiting_ != nullptr && waiting_count_ < kMostWaiting;
  if (can_wait) {
    waiting_[waiting_count_++] = {kernel, 0};
  } else {
    sink.named(out);
  }
  return true;
}

void Decoder::fill_kernel(const KernelRecord& kernel, NamedActivity& out) const {
  const DispatchInfo& info = kernel.info;
  const std::uint64_t stream = ExternalId::stream_plus_1(kernel.correlation.external);
  out.is_kernel = out.is_work = true;
  out.symbol = symbols_->find(info.kernel);
  out.begin = kernel.start;
  out.end = kernel.end;
  out.correlation = call_of(kernel.correlation.internal, kernel.correlation.external);
  place_on(agents_->of_handle(info.agent.handle), stream != 0 ? LaneKind::kStream : LaneKind::kQueue, out);
  out.stream = static_cast<std::uint32_t>(stream != 0 ? stream - 1 : info.queue.handle);
  add(out, Field::kCorrelation, out.correlation);
  add(out, Field::kAgent, agent_number(info.agent));
  add(out, Field::kQueue, info.queue.handle);
  if (stream != 0) add(out, Field::kStream, stream - 1);
  add(out, Field::kDispatch, info.dispatch);
  add(out, Field::kKernel, info.kernel);
  add(out, Field::kGridX, info.grid[0]);
  add(out, Field::kGridY, info.grid[1]);
  add(out, Field::kGridZ, info.grid[2]);
  add(out, Field::kWorkgroupX, info.workgroup[0]);
  add(out, Field::kWorkgroupY, info.workgroup[1]);
  add(out, Field::kWorkgroupZ, info.workgroup[2]);
  add(out, Field::kGroupSegment, info.group_segment_size);
  add(out, Field::kPrivateSegment, info.private_segment_size);
}

void Decoder::release_waiting(ActivitySink& sink, bool all) {
  std::size_t kept = 0;
  const unsigned kind = kind_index("KERNEL_DISPATCH");
  for (std::size_t i = 0; i < waiting_count_; ++i) {
    Waiting& waiting = waiting_[i];
    const bool has_come = symbols_->find(waiting.record.info.kernel) != nullptr;
    if (!all && !has_come && ++waiting.rounds <= kRounds) {
      waiting_[kept++] = waiting;
      continue;
    }
    NamedActivity out;
    out.kind = static_cast<std::uint8_t>(kind);
    out.operation = operation_number(waiting.record.head.operation);
    fill_kernel(waiting.record, out);
    sink.named(out);
  }
  waiting_count_ = kept;
}

bool Decoder::decode_copy(const Record& record, NamedActivity& out) const {
  CopyRecord copy;
  const bool good = is_1() ? record.get(&copy) : record.get_exactly(&copy, kCopyRecordBefore1);
  if (!good) return false;
  const std::uint64_t stream = ExternalId::stream_plus_1(copy.correlation.external);
  const Agents::Entry* dst = agents_->of_handle(copy.dst_agent.handle);
  const Agents::Entry* src = agents_->of_handle(copy.src_agent.handle);
  const bool is_on_dst = dst != nullptr && dst->gpu != kNoId;
  out.is_work = true;
  out.begin = copy.start;
  out.end = copy.end;
  out.correlation = call_of(copy.correlation.internal, copy.correlation.external);
  place_on(is_on_dst ? dst : src, stream != 0 ? LaneKind::kStream : LaneKind::kCopies, out);
  if (stream != 0) out.stream = static_cast<std::uint32_t>(stream - 1);
  add(out, Field::kCorrelation, out.correlation);
  if (stream != 0) add(out, Field::kStream, stream - 1);
  add(out, Field::kBytes, copy.bytes);
  add(out, Field::kSrcAgent, agent_number(copy.src_agent));
  add(out, Field::kDstAgent, agent_number(copy.dst_agent));
  if (copy.src_address != 0) add(out, Field::kSrcAddress, copy.src_address);
  if (copy.dst_address != 0) add(out, Field::kDstAddress, copy.dst_address);
  return true;
}

bool Decoder::decode_allocation(const Record& record, NamedActivity& out) const {
  AllocationRecord<Correlation3> allocation;
  if (is_1()) {
    if (!record.get(&allocation)) return false;
  } else {
    AllocationRecord<Correlation2> old;
    if (!record.get_exactly(&old)) return false;
    allocation = {old.head,    {old.correlation.internal, old.correlation.external, 0},
                  old.thread,  old.start,
                  old.end,     old.agent,
                  old.address, old.bytes};
  }
  out.tid = static_cast<std::uint32_t>(allocation.thread);
  out.begin = allocation.start;
  out.end = allocation.end;
  out.correlation = call_of(allocation.correlation.internal, allocation.correlation.external);
  add(out, Field::kCorrelation, out.correlation);
  // Of a free the library tells neither agent nor size.
  if (agents_->of_handle(allocation.agent.handle) != nullptr) add(out, Field::kAgent, agent_number(allocation.agent));
  if (allocation.bytes != 0) add(out, Field::kBytes, allocation.bytes);
  if (allocation.address != 0) add(out, Field::kAddress, allocation.address);
  return true;
}

bool Decoder::decode_scratch(const Record& record, NamedActivity& out) const {
  ScratchRecord1 scratch{};
  if (is_1()) {
    if (!record.get(&scratch, kScratchRecord1Least)) return false;
  } else if (choice_.generation == Generation::k06) {
    ScratchRecord06 old;
    if (!record.get_exactly(&old)) return false;
    scratch.correlation.internal = old.correlation.internal;
    scratch.agent = old.agent;
    scratch.queue = old.queue;
    scratch.start = old.start;
    scratch.end = old.end;
    scratch.flags = old.flags;
  } else {
    ScratchRecord05 old;
    if (!record.get_exactly(&old)) return false;
    scratch.correlation.internal = old.correlation.internal;
    scratch.agent = old.agent;
    scratch.queue = old.queue;
    scratch.start = old.start;
    scratch.end = old.end;
    scratch.flags = old.flags;
  }
  out.begin = scratch.start;
  out.end = scratch.end;
  place_on(agents_->of_handle(scratch.agent.handle), LaneKind::kScratch, out);
  if (scratch.correlation.internal != 0) add(out, Field::kCorrelation, call_of(scratch.correlation.internal, 0));
  add(out, Field::kAgent, agent_number(scratch.agent));
  add(out, Field::kQueue, scratch.queue.handle);
  if (scratch.bytes != 0) add(out, Field::kBytes, scratch.bytes);
  add(out, Field::kFlags, scratch.flags);
  return true;
}

bool Decoder::decode_ompt(const Record& record, NamedActivity& out) const {
  Call call;
  if (is_1()) {
    OmptRecord<Correlation3> ompt;
    if (!record.get(&ompt)) return false;
    call = {ompt.correlation.internal, ompt.correlation.ancestor, ompt.start, ompt.end, ompt.thread};
  } else {
    OmptRecord<Correlation2> ompt;
    if (!record.get_exactly(&ompt)) return false;
    call = {ompt.correlation.internal, 0, ompt.start, ompt.end, ompt.thread};
  }
  out.is_call = true;
  out.tid = static_cast<std::uint32_t>(call.thread);
  out.begin = call.start;
  out.end = call.end;
  out.correlation = call.internal;
  add(out, Field::kCorrelation, call.internal);
  if (call.ancestor != 0) add(out, Field::kAncestor, call.ancestor);
  return true;
}

bool Decoder::decode_runtime(const Record& record, NamedActivity& out) const {
  RuntimeRecord<Correlation3> runtime;
  if (is_1()) {
    if (!record.get(&runtime)) return false;
  } else {
    RuntimeRecord<Correlation2> old;
    if (!record.get_exactly(&old)) return false;
    runtime = {old.head, {}, old.thread, old.timestamp, old.version, old.instance};
  }
  out.is_instant = true;
  out.tid = static_cast<std::uint32_t>(runtime.thread);
  out.begin = runtime.timestamp;
  add(out, Field::kVersion, runtime.version);
  add(out, Field::kInstance, runtime.instance);
  return true;
}

void Decoder::count_unknown(std::uint32_t kind, std::uint64_t size) {
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
    const unsigned kind = kinds_->of_number(unknown.kind);
    Detail detail;
    detail.text("rocprofiler kind ").number(unknown.kind);
    if (kind != kKinds) detail.text(" (").text(kKindRows[kind].name).text(")");
    detail.text(", ").number(unknown.size).text(" bytes");
    // A size that makes no sense is no measure of what is lost.
    const std::uint64_t bytes = unknown.size <= kLargestRecord ? unknown.count * unknown.size : 0;
    sink.loss(LossCause::kUndecodable, unknown.count, bytes, detail.c_str());
  }
  unknown_count_ = 0;
}

}  // namespace dft::gpu::rocprof
