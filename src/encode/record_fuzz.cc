// SPDX-License-Identifier: MIT
// Purpose: any bytes as records, as recovery may find them: a record is refused whole or becomes whole valid lines.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "encode/event_encoder.h"
#include "encode/record_for_test.h"
#include "encode/strict_json_for_test.h"

namespace {

using namespace dft;

struct Fixture {
  Fixture() {
    definitions.add_site("foo", "CPP_APP", model::Layer::kCppApp);
    definitions.add_site("a\"\xff\n", "\\", static_cast<model::Layer>(255));
    definitions.add_string(model::StringKind::kFile, "/tmp/a");
    definitions.add_string(static_cast<model::StringKind>(77), "\xff\x01");
    definitions.spoil_hash(2);
    std::string fields;
    for (const auto type : {model::ArgType::kInt64, model::ArgType::kString, model::ArgType::kHash,
                            model::ArgType::kDouble, model::ArgType::kJson}) {
      const std::string key(1, static_cast<char>('a' + static_cast<int>(type)));
      fields.resize(fields.size() + 16);
      model::put_arg(&fields[fields.size() - 16], type, key, nullptr, 0);
      definitions.add_schema(fields);
    }
    const std::uint64_t one = 1;
    fields.resize(16 + 24);  // an integer, and a hash that is a constant
    model::put_arg(&fields[16], model::ArgType::kHash, "h", &one, 8);
    definitions.add_schema(fields);
    definitions.add_schema("a list that is none");
    const base::ClockKnot knot{0, 0, 1.0};
    clock.restore(&knot, 1);
  }
  encode::FakeDefinitions definitions;
  base::ClockMap clock;
};

void require(bool holds) {
  if (!holds) std::abort();
}

// Takes the record at the front of the words; sizes are brought into the memory that there is, as recovery does.
std::size_t encode_one(encode::EventEncoder& encoder, std::uint64_t* words, std::size_t left, base::Buffer& out) {
  auto& record = *reinterpret_cast<model::RecordHeader*>(words);
  record.site %= 4;
  if (record.schema != model::kSelfDescribing) record.schema %= 8;
  // Those with rendered lines are in ticks.
  if ((record.flags & model::kFlagConstants) == 0) record.flags |= model::kFlagNanoseconds;
  if (record.size > left * 8) record.size = static_cast<std::uint32_t>(left * 8);
  const std::size_t before = out.size();
  const std::uint64_t lines = encoder.stats().lines;
  const bool written = encoder.encode(record, 1, out);
  const auto added = encode::strict::lines_of(out.view().substr(before));
  require(written == !added.empty());
  require(encoder.stats().lines - lines == added.size());
  // Two equal keys in recovered memory are not looked for; everything else is strict.
  for (const std::string& line : added) encode::strict::parse(line, false);
  return record.size >= sizeof record ? record.size / 8 : 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Fixture* const fixture = new Fixture;
  if (size < 1) return 0;
  std::vector<std::uint64_t> words((size - 1) / 8);
  if (!words.empty()) std::memcpy(words.data(), data + 1, words.size() * 8);
  encode::EncoderOptions options;
  options.metadata = (data[0] & 1) != 0;
  options.include_tids = (data[0] & 2) != 0;
  options.first_id = (data[0] & 4) != 0 ? 99'998 : 1;
  options.time_metric = static_cast<model::TimeMetric>(data[0] >> 6);
  const auto encoder = std::make_unique<encode::EventEncoder>(fixture->definitions, fixture->clock, options);
  base::Buffer out;
  for (std::size_t at = 0; at + sizeof(model::RecordHeader) / 8 <= words.size();) {
    at += encode_one(*encoder, &words[at], words.size() - at, out);
  }
  return 0;
}
