// SPDX-License-Identifier: MIT
#include "sources/gpu/rocprof/capture.h"

#include <cstring>
#include <new>

#include "record/emit.h"

namespace dft::gpu::rocprof {

namespace {

alignas(Capture) unsigned char memory[sizeof(Capture)];

// What the calling thread is in: the HIP call by its correlation id, and the streams of its calls. Streams nest, since
// a call may be made from within another.
constexpr unsigned kStreamDepth = 4;
struct ThreadCalls {
  std::uint64_t call;
  unsigned depth;
  std::uint32_t streams[kStreamDepth];
};
__thread ThreadCalls own;
__thread bool known_thread;  // its own I/O is no event

std::size_t padded(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

// Fills the pool's buffers one after another.
class Copier {
 public:
  explicit Copier(BufferPool& pool) : pool_(pool) {}
  ~Copier() { hand_over(); }
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;

  bool copy(const RecordHeader& header) {
    RecordHead head;
    std::memcpy(&head, header.payload, sizeof head);
    const bool makes_sense = head.size >= sizeof head && head.size <= kLargestRecord;
    const std::size_t bytes = makes_sense ? static_cast<std::size_t>(head.size) : sizeof head;
    const std::size_t room = sizeof(Frame) + padded(bytes);
    if (at_ != nullptr && used_ + room > pool_.buffer_bytes()) hand_over();
    if (at_ == nullptr) at_ = pool_.take();
    if (at_ == nullptr) return false;
    const Frame frame{static_cast<std::uint32_t>(bytes), header.kind};
    std::memcpy(at_ + used_, &frame, sizeof frame);
    std::memcpy(at_ + used_ + sizeof frame, header.payload, bytes);
    used_ += room;
    return true;
  }

 private:
  void hand_over() {
    if (at_ != nullptr) pool_.push(at_, used_, nullptr);
    at_ = nullptr;
    used_ = 0;
  }
  BufferPool& pool_;
  unsigned char* at_ = nullptr;
  std::size_t used_ = 0;
};

void note_thread() {
  if (known_thread) return;
  known_thread = true;
  if (auto* begins = capture.thread_begins.load(std::memory_order_acquire)) begins();
}

template <typename Record>
void note_symbol(const Record& record) {
  if (record.operation != kKernelSymbol || record.phase != kEnter || record.payload == nullptr) return;
  KernelSymbolData data;
  std::uint64_t size;
  std::memcpy(&size, record.payload, sizeof size);
  if (size < sizeof data) return;
  std::memcpy(&data, record.payload, sizeof data);
  capture.in_use.store(true, std::memory_order_relaxed);
  if (data.name != nullptr) capture.symbols.add(data.kernel, data.name);
}

void emit_stream(const StreamData& data) {
  record::ArgList<128> args;
  args.add_uint64("stream_id", data.stream.handle);
  args.add_uint64("address", data.value);
  record::emit_metadata(record::site_id("gpu_stream", model::kCategoryDftracer, model::Layer::kHip), args);
}

}  // namespace

Capture& capture = *new (memory) Capture;

void on_buffer(Id, Id, RecordHeader** records, std::size_t count, void* group, std::uint64_t drops) {
  BufferPool* pool = capture.pool.load(std::memory_order_acquire);
  if (pool == nullptr || capture.dead.load(std::memory_order_relaxed)) return;
  note_thread();
  const auto number = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(group));
  if (number < kGroups) capture.drops[number].store(drops, std::memory_order_relaxed);
  std::uint64_t lost = 0;
  {
    Copier copier(*pool);
    for (std::size_t i = 0; i < count; ++i) {
      const RecordHeader* header = records[i];
      if (header == nullptr || header->category != kTracingCategory || header->payload == nullptr) {
        capture.strange.fetch_add(1, std::memory_order_relaxed);
      } else if (!copier.copy(*header)) {
        ++lost;
      }
    }
  }
  if (lost != 0) capture.no_buffer.fetch_add(lost, std::memory_order_relaxed);
  const bool is_work =
      number == static_cast<unsigned>(Group::kKernels) || number == static_cast<unsigned>(Group::kCopies);
  if (is_work) capture.work_delivered.fetch_add(count, std::memory_order_release);
}

void on_kernel_symbol0(CallbackRecord0 record, std::uint64_t*, void*) { note_symbol(record); }
void on_kernel_symbol1(CallbackRecord1 record, std::uint64_t*, void*) { note_symbol(record); }

void on_stream1(CallbackRecord1 record, std::uint64_t*, void*) {
  if (record.payload == nullptr) return;
  StreamData data{};
  std::memcpy(&data.size, record.payload, sizeof data.size);
  if (data.size < kStreamDataLeast) return;
  std::memcpy(&data, record.payload, data.size < sizeof data ? kStreamDataLeast : sizeof data);
  if (record.operation == kStreamCreate && record.phase != kExit) {
    if (data.size >= sizeof data) emit_stream(data);
  } else if (record.operation == kStreamSet && record.phase == kEnter) {
    if (own.depth < kStreamDepth) own.streams[own.depth] = static_cast<std::uint32_t>(data.stream.handle) + 1;
    ++own.depth;
  } else if (record.operation == kStreamSet && record.phase == kExit && own.depth > 0) {
    if (--own.depth == 0) own.call = 0;  // this is the outermost of the call's wrappers
  }
}

int on_request(std::uint64_t, Id, int kind, std::int32_t, std::uint64_t internal, std::uint64_t* external, void*) {
  if (kind == kRequestHip) {
    own.call = internal;
    return 0;
  }
  if (kind != kRequestKernel && kind != kRequestCopy && kind != kRequestAllocation) return 0;
  if (!capture.in_use.load(std::memory_order_relaxed)) capture.in_use.store(true, std::memory_order_relaxed);
  if (kind != kRequestAllocation) capture.work_asked.fetch_add(1, std::memory_order_relaxed);
  const unsigned depth = own.depth < kStreamDepth ? own.depth : kStreamDepth;
  *external = ExternalId::make(own.call, depth != 0 ? own.streams[depth - 1] : 0);
  return 0;
}

}  // namespace dft::gpu::rocprof
