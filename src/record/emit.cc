// SPDX-License-Identifier: MIT
// The hot path. Order of one call: quick look at `active`, enter (level + 1), look again, work, leave. The second look
// pairs with the membarrier in Recorder::quiesce.
#include "record/emit.h"

#include <cstring>

#include "base/log.h"
#include "record/entry.h"
#include "record/interrupted.h"
#include "record/recorder.h"
#include "record/regions.h"

namespace dft::record {

using model::ChunkHeader;
using model::RecordHeader;
using model::RecordKind;

namespace {
constexpr std::uint64_t kWaitWorthTelling = 1'000'000;
constexpr std::size_t kWaitRecordRoom = 256;

// The application waited for the drain: a METADATA record `wait` in the chunk that ended the wait.
void note_wait(Stream& stream, ChunkHeader* chunk, std::uint64_t waited_ns) {
  ArgList<128> args;
  args.add_string("cause", "buffer_full");
  args.add_uint64("ns", waited_ns);
  const model::SiteId site =
      recorder.definitions.intern_site(model::kWait, model::kCategoryDftracer, model::Layer::kDftracer);
  RecordHeader header{};
  header.size = static_cast<std::uint32_t>(sizeof header + args.size());
  header.kind = RecordKind::kMetadata;
  header.schema = model::kSelfDescribing;
  header.site = site;
  std::memcpy(stream.pos, &header, sizeof header);
  std::memcpy(stream.pos + sizeof header, args.data(), args.size());
  stream.pos += header.size;
  chunk->committed.store(header.size, std::memory_order_release);
}
}  // namespace

[[gnu::noinline]] bool take_chunk(ThreadState* state, Stream& stream, std::size_t record_size) {
  if (!may_take(state)) return false;
  const base::SignalGuard signals;
  ChunkHeader* old = stream.current.load(std::memory_order_relaxed);
  stream.pos = stream.limit = nullptr;
  stream.current.store(nullptr, std::memory_order_release);
  if (old != nullptr) recorder.push_full(old);
  base::write_deferred_log();  // what the drain has to say (a full disk), once per chunk
  std::uint64_t waited_ns = 0;
  ChunkHeader* chunk = recorder.pool.take_or_wait(record_size + kWaitRecordRoom, stream.outstanding, &waited_ns);
  if (chunk == nullptr) {
    state->losses[static_cast<int>(LossCause::kBufferFull)].add(record_size, base::clock_now());
    return false;
  }
  chunk->pid = recorder.pid();
  chunk->tid = state->tid;
  chunk->owner = state;
  chunk->stream = static_cast<std::uint32_t>(&stream - state->streams);
  chunk->seq = stream.next_seq++;
  stream.outstanding.fetch_add(1, std::memory_order_relaxed);
  stream.pos = chunk->data();
  stream.limit = stream.pos + chunk->capacity();
  stream.current.store(chunk, std::memory_order_release);
  if (waited_ns > kWaitWorthTelling) note_wait(stream, chunk, waited_ns);
  return true;
}

namespace {
__thread ThreadState* suspended = nullptr;
__thread bool is_suspended = false;
}  // namespace

void suspend_thread() {
  suspended = this_thread;
  this_thread = nullptr;
  is_suspended = true;
}

void resume_thread() {
  this_thread = suspended;
  is_suspended = false;
}

[[gnu::noinline]] ThreadState* enter_slow() {
  if (is_suspended) return nullptr;
  if (control->active.load(std::memory_order_relaxed) == 0) {
    if (recorder.on_inactive == nullptr || !recorder.on_inactive()) return nullptr;
  }
  ThreadState* state = this_thread != nullptr ? this_thread : recorder.attach_thread();
  if (state == nullptr) return nullptr;
  const std::uint32_t level = state->level.load(std::memory_order_relaxed) + 1;
  state->level.store(level, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (control->active.load(std::memory_order_relaxed) == 0 || level > kMaxLevel) {
    if (level > kMaxLevel) {
      state->losses[static_cast<int>(LossCause::kSignalNesting)].add(0, base::clock_now());
    }
    leave(state);
    return nullptr;
  }
  return state;
}

model::SiteId site_id(std::string_view name, std::string_view cat, model::Layer layer) {
  return recorder.definitions.intern_site(name, cat, layer);
}

model::StringId string_id(model::StringKind kind, std::string_view bytes) {
  return recorder.definitions.intern_string(kind, bytes);
}

bool recording() { return control->active.load(std::memory_order_relaxed) != 0; }

model::SchemaId schema_id(const ArgField* fields, std::size_t count) {
  model::SchemaId schema = model::kNoArgs;
  for (std::size_t i = 0; i < count; ++i) {
    const model::SchemaId next = recorder.schemas.extend(schema, fields[i].type, fields[i].key);
    if (next == model::kSelfDescribing || next == schema) return model::kSelfDescribing;
    schema = next;
  }
  return schema;
}

model::SchemaId schema_id(const FieldOrConstant* fields, std::size_t count) {
  char list[model::kMaxFields * model::arg_size(model::kMaxPlainKey, sizeof(std::uint64_t))];
  std::size_t size = 0;
  if (count > model::kMaxFields) return model::kSelfDescribing;
  for (const FieldOrConstant* at = fields; at != fields + count; ++at) {
    const ArgField& field = at->field;
    const bool fits = at->is_constant ? model::fits_constant(field.type) : model::fits_schema(field.type);
    if (!fits || !model::is_plain_key(field.key)) return model::kSelfDescribing;
    const std::size_t value_len = at->is_constant ? sizeof at->value : 0;
    model::put_arg(list + size, field.type, field.key, &at->value, value_len);
    size += model::arg_size(field.key.size(), value_len);
  }
  recorder.settle_child();
  const model::SchemaId schema = recorder.definitions.add_schema({list, size}, true);
  return schema == model::kNoArgs ? model::kSelfDescribing : schema;
}

namespace {
[[gnu::noinline]] void emit_slowly(const RecordHeader& header, const Args& args) {
  const base::SignalGuard signals;  // those that waited come after leave(): their handlers may leave by siglongjmp
  ThreadState* state = enter();
  if (state == nullptr) return;
  if (char* at = reserve(state, header.size)) {
    put_record(at, header, args.data);
    commit(state, header.size);
  }
  leave(state);
}

void emit(RecordKind kind, std::uint8_t flags, model::SiteId site, base::Ticks begin, base::Ticks end, const Args& args,
          std::uint32_t lane) {
  const auto size = static_cast<std::uint32_t>(sizeof(RecordHeader) + args.size);
  const RecordHeader header{size, kind, flags, args.schema, site, lane, begin, end};
  if (__builtin_expect(!try_emit(header, args.data), 0)) emit_slowly(header, args);
}
}  // namespace

void emit_event(model::SiteId site, base::Ticks begin, base::Ticks end, const Args& args, std::uint8_t flags,
                std::uint32_t lane) {
  emit(RecordKind::kEvent, flags, site, begin, end, args, lane);
}

void emit_instant(model::SiteId site, const Args& args) {
  const base::Ticks now = base::clock_now();
  emit(RecordKind::kEvent, model::kFlagInstant, site, now, now, args, 0);
}

void emit_metadata(model::SiteId site, const Args& args, std::uint32_t lane) {
  emit(RecordKind::kMetadata, 0, site, 0, 0, args, lane);
}

}  // namespace dft::record
