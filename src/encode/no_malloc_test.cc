// SPDX-License-Identifier: MIT
// Encoding and compressing must not enter the allocator: the application may have crashed inside it. A program of its
// own, since it replaces malloc.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "encode/block_compressor.h"
#include "encode/event_encoder.h"
#include "encode/record_for_test.h"

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
}

namespace {

using namespace dft;

bool watching = false;
unsigned calls = 0;

void seen() { calls += watching; }

}  // namespace

extern "C" {
void* malloc(std::size_t size) { return seen(), __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) { return seen(), __libc_calloc(count, size); }
void* realloc(void* block, std::size_t size) { return seen(), __libc_realloc(block, size); }
}

int main() {
  encode::FakeDefinitions definitions;
  const auto site = definitions.add_site("name", "cat", model::Layer::kCApp);
  std::vector<encode::RecordBuilder> records;
  for (unsigned i = 0; i < 5000; ++i) {
    const auto file = definitions.add_string(model::StringKind::kFile, "/data/\xff" + std::to_string(i));
    encode::RecordBuilder record(model::RecordKind::kEvent, site, i, i + 9, 0);
    record.hash("fhash", file).string("text", "a\"b").int64("hhash", -1).relation("used", i);
    record.real("short", 0.5).real("long", 1.0 / (i + 1)).real("large", 1e300 * i).real("whole", 1e17 * (i + 3));
    records.push_back(record);
  }
  const auto clock = std::make_unique<base::ClockMap>();
  const base::ClockKnot knot{0, 1'795'959'606'740'002'999, 0.37};
  clock->restore(&knot, 1);
  encode::EventEncoder encoder(definitions, *clock, encode::EncoderOptions{});
  encode::BlockCompressor compressor;
  base::Buffer block, member;

  watching = true;
  void* volatile probe = std::malloc(1);
  const bool counts = calls == 1;
  calls = 0;
  bool good = true;
  for (const auto& record : records) good &= encoder.encode(record.get(), 1, block);
  encoder.metadata("loss", 1, "\"count\":1", block);
  encoder.life_cycle_event("end", 1, 1, "\"app\":{}", block);
  encoder.forget_defined_strings();
  good &= encoder.encode(records[0].get(), 1, block);
  for (int i = 0; i < 3; ++i) good &= compressor.compress(block.view(), 1, member);
  watching = false;
  std::free(probe);
  if (!counts || !good || calls != 0) {
    std::printf("counting works: %d, all written: %d, calls of the allocator: %u\n", counts, good, calls);
    return 1;
  }
  return 0;
}
