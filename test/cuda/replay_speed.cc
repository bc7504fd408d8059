// SPDX-License-Identifier: MIT
// What a record of the launch loop costs behind CUPTI: decoding and emitting (on the source's thread), formatting and
// compressing (on the drain's). Prints nanoseconds a record and bytes an event: the best round and the median, which
// differ where others use the machine.
//   dft_cuda_replay_speed [rounds]
#include <cupti.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "encode/block_compressor.h"
#include "encode/event_encoder.h"
#include "record/recorder.h"
#include "sources/gpu/activity_writer.h"
#include "sources/gpu/cupti/backend.h"
#include "sources/gpu/cupti/decode.h"

namespace {

using namespace dft;

constexpr std::uint64_t kStart = 1'700'000'000'000'000'000;
constexpr unsigned kLaunches = 4096;         // a 1 MiB buffer holds as many calls and kernels
constexpr std::size_t kBlockSize = 1 << 20;  // of text, that the drain compresses at a time

std::uint64_t now_ns() {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);  // others may use the machine
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

CUptiResult next(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  std::uint8_t* at = buffer;
  if (*record != nullptr) {
    const bool api = (*record)->kind == CUPTI_ACTIVITY_KIND_RUNTIME;
    at = reinterpret_cast<std::uint8_t*>(*record) + (api ? 40 : 216);
  }
  if (at >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}

std::vector<std::string> make_names() {
  std::vector<std::string> names;
  for (int i = 0; i < 64; ++i) {
    names.push_back("_ZN2at6native29vectorized_elementwise_kernelILi" + std::to_string(i) +
                    "ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_");
  }
  return names;
}

std::string make_buffer(const std::vector<std::string>& names, std::uint64_t first) {
  std::string bytes;
  for (std::uint64_t i = 0; i < kLaunches; ++i) {
    const std::uint64_t number = first + i;
    const std::uint64_t time = kStart + number * 4'400 + number % 37;
    std::string api(40, '\0');
    const auto put = [](std::string& to, std::size_t at, auto value) { std::memcpy(&to[at], &value, sizeof value); };
    put(api, 0, 5u), put(api, 4, 211u), put(api, 8, time), put(api, 16, time + 3'100 + number % 211);
    put(api, 24, 4242u), put(api, 28, 4243u), put(api, 32, static_cast<std::uint32_t>(number));
    bytes += api;
    std::string kernel(216, '\0');
    put(kernel, 0, 10u), put(kernel, 6, std::uint16_t{32}), put(kernel, 16, time + 5'000);
    put(kernel, 24, time + 6'200 + number % 97), put(kernel, 44, 1u), put(kernel, 48, 7u);
    put(kernel, 52, 1024), put(kernel, 56, 1), put(kernel, 60, 1), put(kernel, 64, 256), put(kernel, 68, 1);
    put(kernel, 72, 1), put(kernel, 92, static_cast<std::uint32_t>(number)), put(kernel, 96, number);
    put(kernel, 104, names[number % names.size()].c_str());
    bytes += kernel;
  }
  return bytes;
}

struct Cost {
  std::uint64_t decode, format, compress, lines, text, packed;
};

class Bench {
 public:
  Bench() {
    record::recorder.prepare();
    record::PoolOptions pool;
    pool.limit_bytes = 1u << 30;
    record::recorder.pool.configure(pool);
    record::recorder.start(4242);
    clock_->add({kStart - 1'000'000, 1'000'000, 1'000'000, 40});
    clock_->add({kStart + 900'000'000'000, 900'002'000'000, 900'002'000'000, 40});
    names_.configure(nullptr, gpu::ApiMode::kAll);
    decoder_.configure({~0u, gpu::cupti::Version(130001), &next}, names_);
    writer_.configure(settings_, gpu::cupti::backend, *clock_);
    const base::ClockKnot knot{0, kStart - 2'000'000, 1.0};
    map_->restore(&knot, 1);
    options_.pid = 4242;
    text_.reserve(kBlockSize + kBlockSize / 4);
    encoder_ = std::make_unique<encode::EventEncoder>(record::recorder.definitions, *map_, options_);
  }
  Cost round(std::uint64_t number) {
    const std::string bytes = make_buffer(symbols_, number * kLaunches);
    writer_.arrived_at(kStart + 900'000'000'000);
    Cost cost{};
    std::uint64_t from = now_ns();
    decoder_.decode({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr, 0, 0}, writer_);
    cost.decode = now_ns() - from;
    from = now_ns();
    format(cost);
    cost.format = now_ns() - from - cost.compress;
    compress(cost);
    return cost;
  }

 private:
  void format(Cost& cost) {
    model::ChunkHeader* chunk = record::recorder.take_full();
    while (chunk != nullptr) {
      model::ChunkHeader* following = chunk->next;
      encode_chunk(chunk, cost);
      auto* state = static_cast<record::ThreadState*>(chunk->owner);
      state->streams[chunk->stream].drained_seq = chunk->seq + 1;
      state->streams[chunk->stream].outstanding.fetch_sub(1);
      record::recorder.pool.give_back(chunk);
      chunk = following;
    }
    for (record::ThreadState* state = record::recorder.threads(); state != nullptr; state = state->next) {
      for (record::Stream& stream : state->streams) {
        if (stream.current.load() != nullptr) encode_chunk(stream.current.load(), cost);
      }
    }
  }
  void compress(Cost& cost) {
    const std::uint64_t from = now_ns();
    cost.text += text_.size();
    packed_.clear();
    compressor_.compress(text_.view(), 1, packed_);  // how many lines is of no interest
    cost.packed += packed_.size();
    text_.clear();
    cost.compress += now_ns() - from;
  }
  void encode_chunk(model::ChunkHeader* chunk, Cost& cost) {
    const std::uint64_t committed = chunk->committed.load(std::memory_order_acquire);
    while (chunk->drained < committed) {
      const char* const records = chunk->data() + chunk->drained;
      const auto run = encoder_->encode_run(records, committed - chunk->drained, kBlockSize, text_);
      chunk->drained += run.bytes;
      cost.lines += run.lines;
      if (run.lines == 0) {
        const auto& header = *reinterpret_cast<const model::RecordHeader*>(records);
        encoder_->encode(header, 1, text_);
        chunk->drained += header.size;
        ++cost.lines;
      }
      if (text_.size() >= kBlockSize) compress(cost);
    }
  }
  std::vector<std::string> symbols_ = make_names();
  std::unique_ptr<gpu::GpuClock> clock_ = std::make_unique<gpu::GpuClock>();
  std::unique_ptr<base::ClockMap> map_ = std::make_unique<base::ClockMap>();
  gpu::Settings settings_;
  gpu::cupti::ApiNames names_;
  gpu::cupti::Decoder decoder_;
  gpu::ActivityWriter writer_;
  encode::EncoderOptions options_;
  std::unique_ptr<encode::EventEncoder> encoder_;
  encode::BlockCompressor compressor_;
  base::Buffer text_, packed_;
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 41;
  Bench bench;
  std::vector<std::uint64_t> decode, format, compress;
  Cost last{};
  bench.round(0);
  for (int i = 1; i <= rounds; ++i) {
    last = bench.round(static_cast<std::uint64_t>(i));
    decode.push_back(last.decode * 10 / last.lines);
    format.push_back(last.format * 10 / last.lines);
    compress.push_back(last.compress * 10 / last.lines);
  }
  const auto print = [](const char* what, std::vector<std::uint64_t>& tenths) {
    std::sort(tenths.begin(), tenths.end());
    const auto ns = [](std::uint64_t value) { return static_cast<double>(value) / 10; };
    std::printf("%-22s %6.1f ns a record, median %.1f\n", what, ns(tenths.front()), ns(tenths[tenths.size() / 2]));
  };
  print("decode and emit", decode);
  print("format", format);
  print(std::string(encode::BlockCompressor::name()).c_str(), compress);
  std::printf("%llu records, %llu bytes of text and %llu of gzip each\n", static_cast<unsigned long long>(last.lines),
              static_cast<unsigned long long>(last.text / last.lines),
              static_cast<unsigned long long>(last.packed / last.lines));
  return 0;
}
