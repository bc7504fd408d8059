// SPDX-License-Identifier: MIT
#include "sources/gpu/rocprof/capture.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace dft::gpu::rocprof {
namespace {

class CaptureTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(pool_.reserve(4096, 4 * 4096, nullptr));
    capture.pool.store(&pool_);
    capture.no_buffer.store(0);
    capture.strange.store(0);
  }
  void TearDown() override { capture.pool.store(nullptr); }
  // As many records of `size` bytes, numbered.
  void deliver(std::size_t count, std::size_t size, std::uint64_t says = 0) {
    std::vector<std::vector<std::uint64_t>> records(count, std::vector<std::uint64_t>(size / 8 + 1));
    std::vector<RecordHeader> headers(count);
    std::vector<RecordHeader*> pointers(count);
    for (std::size_t i = 0; i < count; ++i) {
      const RecordHead head{says != 0 ? says : size, 5, 1};
      std::memcpy(records[i].data(), &head, sizeof head);
      if (size > sizeof head) records[i][2] = i;
      headers[i] = {kTracingCategory, 5, records[i].data()};
      pointers[i] = &headers[i];
    }
    on_buffer({}, {}, pointers.data(), count, nullptr, 3);
  }
  std::size_t frames() {
    std::size_t count = 0;
    pool_.drain([&](const RawBuffer& buffer) {
      for (std::size_t at = 0; at < buffer.valid; ++count) {
        Frame frame;
        std::memcpy(&frame, buffer.data + at, sizeof frame);
        if (frame.bytes > sizeof(RecordHead)) {
          std::uint64_t number;
          std::memcpy(&number, buffer.data + at + sizeof frame + sizeof(RecordHead), sizeof number);
          EXPECT_EQ(number, count);
        }
        at += sizeof frame + ((frame.bytes + 7u) & ~7u);
      }
    });
    return count;
  }
  BufferPool pool_;
};

TEST_F(CaptureTest, RecordsAreCopiedInOrderOverAsManyBuffersAsItTakes) {
  deliver(100, 64);  // 72 bytes each with its frame: two buffers
  EXPECT_EQ(frames(), 100u);
  EXPECT_EQ(capture.drops[0].load(), 3u);
  EXPECT_EQ(capture.no_buffer.load(), 0u);
}

TEST_F(CaptureTest, WhatFindsNoBufferIsCounted) {
  deliver(1000, 64);
  const std::size_t copied = frames();
  EXPECT_EQ(copied + capture.no_buffer.load(), 1000u);
  EXPECT_GT(copied, 200u);
  deliver(10, 64);
  EXPECT_EQ(frames(), 10u);
}

TEST_F(CaptureTest, OfASizeThatMakesNoSenseTheBeginningIsKept) {
  deliver(2, 16, 1 << 30);
  std::size_t bytes = 0;
  pool_.drain([&](const RawBuffer& buffer) { bytes += buffer.valid; });
  EXPECT_EQ(bytes, 2 * (sizeof(Frame) + sizeof(RecordHead)));
}

TEST_F(CaptureTest, RecordsOfAnotherCategoryAreCounted) {
  RecordHeader header{2, 5, nullptr};
  RecordHeader* pointers[] = {&header, nullptr};
  on_buffer({}, {}, pointers, 2, nullptr, 0);
  EXPECT_EQ(capture.strange.load(), 2u);
}

std::uint64_t ask(int kind, std::uint64_t internal) {
  std::uint64_t external = 0;
  on_request(1, {}, kind, 0, internal, &external, nullptr);
  return external;
}

TEST_F(CaptureTest, WorkKnowsItsStreamAndItsCall) {
  StreamData data{sizeof(StreamData), {6}, 0};
  CallbackRecord1 record{};
  record.operation = kStreamSet;
  record.payload = &data;
  record.phase = kEnter;
  on_stream1(record, nullptr, nullptr);
  ask(kRequestHip, 40);
  const std::uint64_t id = ask(kRequestKernel, 41);
  EXPECT_EQ(ExternalId::call(id), 40u);
  EXPECT_EQ(ExternalId::stream_plus_1(id), 7u);
  data.stream.handle = 8;  // a call from within
  on_stream1(record, nullptr, nullptr);
  EXPECT_EQ(ExternalId::stream_plus_1(ask(kRequestCopy, 42)), 9u);
  record.phase = kExit;
  on_stream1(record, nullptr, nullptr);
  EXPECT_EQ(ExternalId::stream_plus_1(ask(kRequestCopy, 42)), 7u);
  on_stream1(record, nullptr, nullptr);
  EXPECT_EQ(ask(kRequestKernel, 43), 0u);  // the call has ended
  on_stream1(record, nullptr, nullptr);    // one too many
  EXPECT_EQ(ask(kRequestKernel, 43), 0u);
}

TEST_F(CaptureTest, SymbolsStayWhenTheirCodeGoes) {
  KernelSymbolData data{};
  data.size = sizeof data;
  data.kernel = 70;
  data.name = "_Z4workv.kd";
  CallbackRecord0 record{};
  record.operation = kKernelSymbol;
  record.phase = kEnter;
  record.payload = &data;
  on_kernel_symbol0(record, nullptr, nullptr);
  record.phase = kExit;
  data.name = nullptr;
  on_kernel_symbol0(record, nullptr, nullptr);
  EXPECT_STREQ(capture.symbols.find(70), "_Z4workv.kd");
  EXPECT_EQ(capture.symbols.find(71), nullptr);
}

TEST(Symbols, NamesOfAnyLength) {
  Symbols symbols;
  const std::string huge(512 << 10, 'x');
  symbols.add(1, huge);
  symbols.add(2, "");
  for (std::uint64_t i = 3; i < 5000; ++i) symbols.add(i, "kernel_" + std::to_string(i));
  EXPECT_EQ(symbols.find(1), huge);
  EXPECT_STREQ(symbols.find(2), "");
  EXPECT_STREQ(symbols.find(4999), "kernel_4999");
  EXPECT_EQ(symbols.count(), 4999u);
}

}  // namespace
}  // namespace dft::gpu::rocprof
