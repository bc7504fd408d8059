// SPDX-License-Identifier: MIT
// Purpose: a drain for the tests of this folder that keeps every record it sees.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "base/raw_io.h"
#include "record/recorder.h"

namespace dft::record {

struct CopiedRecord {
  std::vector<std::uint64_t> words;
  const model::RecordHeader& header() const { return *reinterpret_cast<const model::RecordHeader*>(words.data()); }
  bool find(std::string_view key, model::ArgView& out) const {
    model::ArgCursor cursor;
    if (!model::open_args(header(), recorder.definitions, cursor)) return false;
    while (cursor.next(out)) {
      if (out.type != model::ArgType::kDropped && std::string_view(out.key, out.key_len) == key) return true;
    }
    return false;
  }
  std::uint64_t arg(std::string_view key) const {
    model::ArgView view{};
    return find(key, view) ? view.bits() : ~std::uint64_t{0};
  }
  std::string text(std::string_view key) const {
    model::ArgView view{};
    return find(key, view) ? std::string(view.value, view.value_len) : std::string("(absent)");
  }
};

class DrainedRecords {
 public:
  std::vector<CopiedRecord> records;
  std::uint64_t lost = 0;

  void begin(const PoolOptions& options) {
    ASSERT_TRUE(recorder.prepare());
    recorder.pool.configure(options);
    recorder.start(base::raw::pid());
  }
  void step() {
    model::ChunkHeader* chunk = recorder.take_full();
    while (chunk != nullptr) {
      model::ChunkHeader* next = chunk->next;
      copy(chunk);
      auto* state = static_cast<ThreadState*>(chunk->owner);
      state->streams[chunk->stream].drained_seq = chunk->seq + 1;
      state->streams[chunk->stream].outstanding.fetch_sub(1);
      recorder.pool.give_back(chunk);
      chunk = next;
    }
    for (ThreadState* state = recorder.threads(); state != nullptr; state = state->next) {
      if (state->phase.load() == ThreadPhase::kExited && recorder.finished_with(*state)) recorder.retire(state);
    }
  }
  void end() {
    EXPECT_EQ(recorder.quiesce(1'000'000'000), 0u);
    step();
    for (ThreadState* state = recorder.threads(); state != nullptr; state = state->next) {
      for (Stream& stream : state->streams) {
        if (stream.current.load() != nullptr) copy(stream.current.load());
      }
      for (LossCounter& loss : state->losses) lost += loss.count.load();
    }
    recorder.forget_threads();
  }
  std::uint64_t events() const {
    std::uint64_t count = 0;
    for (const auto& record : records) count += record.header().kind == model::RecordKind::kEvent ? 1 : 0;
    return count;
  }

 private:
  void copy(model::ChunkHeader* chunk) {
    const std::uint64_t committed = chunk->committed.load(std::memory_order_acquire);
    while (chunk->drained < committed) {
      CopiedRecord copied;
      model::RecordHeader header;
      std::memcpy(&header, chunk->data() + chunk->drained, sizeof header);
      copied.words.resize(header.size / 8);
      std::memcpy(copied.words.data(), chunk->data() + chunk->drained, header.size);
      records.push_back(std::move(copied));
      chunk->drained += header.size;
    }
  }
};

}  // namespace dft::record
