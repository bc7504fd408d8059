// SPDX-License-Identifier: MIT
// Purpose: encodes the same record over and over, for counting the instructions of one line (check_budgets.py).
// Usage:   encode_lines 0|4|18 LINES    18: a GPU kernel, of whose args all but three are constants of the schema
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "base/buffer.h"
#include "base/clock.h"
#include "encode/event_encoder.h"
#include "model/definitions.h"
#include "model/record.h"

namespace model = dft::model;

namespace {

class OneSite final : public model::Definitions {
 public:
  bool site(model::SiteId, model::SiteDef& out) const override {
    out = {"region", "C_APP", model::Layer::kCApp};
    return true;
  }
  bool string(model::StringId, model::StringDef&) const override { return false; }
  bool schema(model::SchemaId, model::SchemaView& out) const override {
    out = {fields_, bytes_};
    return true;
  }
  void add_field(model::ArgType type, std::string_view key) {
    model::put_arg(fields_ + bytes_, type, key, nullptr, 0);
    bytes_ += model::arg_size(key.size(), 0);
  }
  void add_constant(std::string_view key, std::uint64_t value) {
    model::put_arg(fields_ + bytes_, model::ArgType::kUint64, key, &value, sizeof value);
    bytes_ += model::arg_size(key.size(), sizeof value);
  }

 private:
  alignas(8) char fields_[1024];
  std::size_t bytes_ = 0;
};

constexpr std::string_view kKernelKeys[] = {"device_id",
                                            "context_id",
                                            "stream_id",
                                            "correlation_id",
                                            "grid_id",
                                            "grid_x",
                                            "grid_y",
                                            "grid_z",
                                            "block_x",
                                            "block_y",
                                            "block_z",
                                            "static_shared_memory",
                                            "dynamic_shared_memory",
                                            "registers_per_thread",
                                            "local_memory_per_thread",
                                            "graph_id",
                                            "graph_node_id",
                                            "dur_ns"};
constexpr unsigned kChanging[] = {3, 4, 17};

// The record that the four-arg region of the region benchmark makes, or a kernel's.
struct Record {
  alignas(8) char bytes[512];
  model::RecordHeader& header() { return *reinterpret_cast<model::RecordHeader*>(bytes); }

  Record(int args, OneSite& definitions) {
    header() = {sizeof(model::RecordHeader), model::RecordKind::kEvent, 0, model::kNoArgs, 1, 0, 0, 0};
    if (args == 0) return;
    header().schema = 1;
    if (args == 18) {
      make_kernel(definitions);
      return;
    }
    definitions.add_field(model::ArgType::kInt64, "step");
    definitions.add_field(model::ArgType::kInt64, "size");
    definitions.add_field(model::ArgType::kDouble, "loss");
    definitions.add_field(model::ArgType::kString, "file");
    const std::uint64_t step = 4711, size = 524288;
    const double loss = 17.125;
    const std::string_view file = "img_003.npz";
    const std::uint64_t length = file.size();
    put(&step, 8);
    put(&size, 8);
    put(&loss, 8);
    put(&length, 8);
    put(file.data(), file.size());
  }

  void make_kernel(OneSite& definitions) {
    header().flags = model::kFlagConstants;
    header().lane = (1u << 30) + 1;
    unsigned number = 0;
    for (const std::string_view key : kKernelKeys) {
      const std::uint64_t value = 1000 + key.size();
      if (std::find(std::begin(kChanging), std::end(kChanging), number++) == std::end(kChanging)) {
        definitions.add_constant(key, value);
      } else {
        definitions.add_field(model::ArgType::kUint64, key);
        put(&value, sizeof value);
      }
    }
  }
  void change(unsigned long line) {
    auto* values = reinterpret_cast<std::uint64_t*>(bytes + sizeof(model::RecordHeader));
    for (unsigned i = 0; i < 3; ++i) values[i] = (i == 2 ? 1000 : 100'000) + line % 5000;
  }

  void fill_chunk();
  void put(const void* value, std::size_t size) {
    model::copy_value(bytes + header().size, value, size);
    header().size += static_cast<std::uint32_t>(model::padded8(size));
  }
};

constexpr unsigned long kInChunk = 1000;
alignas(8) char chunk[kInChunk * 64];

void Record::fill_chunk() {
  for (unsigned long i = 0; i < kInChunk; ++i) {
    header().begin += 2400;
    header().end = header().begin + 240;
    change(i);
    std::memcpy(chunk + i * header().size, bytes, header().size);
  }
}

}  // namespace

// Not static: check_budgets.py switches the counting on by this name.
extern "C" __attribute__((noinline)) bool bench_encode_lines(dft::encode::EventEncoder& encoder, Record& record,
                                                             dft::base::Buffer& out, unsigned long lines) {
  for (unsigned long i = 0; i < lines; ++i) {
    record.header().begin += 2400;
    record.header().end = record.header().begin + 240;
    if (!encoder.encode(record.header(), 4242, out)) return false;
    if (out.size() > 900 * 1024) out.clear();
  }
  return true;
}

// The same for the records of a chunk with kernels, whose args change a little: as the drain encodes them.
extern "C" __attribute__((noinline)) bool bench_encode_kernel_lines(dft::encode::EventEncoder& encoder, Record& record,
                                                                    dft::base::Buffer& out, unsigned long lines) {
  const std::size_t size = record.header().size;
  for (unsigned long done = 0; done < lines;) {
    const unsigned long at = done % kInChunk;
    const std::size_t bytes = std::min(kInChunk - at, lines - done) * size;
    unsigned long encoded = encoder.encode_run(chunk + at * size, bytes, 900 * 1024, out).lines;
    if (encoded == 0) {
      const auto& header = *reinterpret_cast<const model::RecordHeader*>(chunk + at * size);
      if (!encoder.encode(header, 4242, out)) return false;
      encoded = 1;
    }
    done += encoded;
    if (out.size() >= 900 * 1024) out.clear();
  }
  return true;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s 0|4|18 LINES\n", argv[0]);
    return 2;
  }
  static dft::base::ClockMap clock;
  clock.start({1000000000, 1000000000, 10}, 1700000000000000000);
  clock.advance({2000000000, 2000000000, 10});
  dft::encode::EncoderOptions options;
  options.pid = 4242;
  std::memcpy(options.host_hash, "2a702c695247d487", sizeof options.host_hash);
  OneSite definitions;
  dft::encode::EventEncoder encoder(definitions, clock, options);
  dft::base::Buffer out;
  if (!out.reserve(1024 * 1024)) return 3;
  Record record(std::atoi(argv[1]), definitions);
  record.header().begin = 1000001000;
  const unsigned long lines = std::strtoul(argv[2], nullptr, 10);
  const bool kernel = std::atoi(argv[1]) == 18;
  if (kernel) {
    encoder.take_back_id(100'000);  // lines with few digits of id are not kept rendered
    record.fill_chunk();
  }
  const auto encode = kernel ? bench_encode_kernel_lines : bench_encode_lines;
  if (!encode(encoder, record, out, 100) || !encode(encoder, record, out, lines)) return 4;
  std::printf("%zu\n", out.size());
  return 0;
}
