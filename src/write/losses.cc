// SPDX-License-Identifier: MIT
#include "write/losses.h"

#include "encode/json_writer.h"

namespace dft::write {

namespace {
constexpr std::string_view kNames[kCauses] = {"buffer_full", "signal_nesting", "no_memory",  "disk_full",
                                              "file_lost",   "write_error",    "undecodable"};

void merge(Loss& into, const Loss& more) {
  if (into.count == 0 || more.first_ns < into.first_ns) into.first_ns = more.first_ns;
  if (more.last_ns > into.last_ns) into.last_ns = more.last_ns;
  into.count += more.count;
  into.bytes += more.bytes;
}
}  // namespace

std::string_view cause_name(Cause cause) { return kNames[static_cast<std::size_t>(cause)]; }

void Losses::add(Cause cause, std::uint64_t count, std::uint64_t bytes, std::uint64_t first_ns, std::uint64_t last_ns) {
  if (count == 0) return;
  const Loss more{count, bytes, first_ns, last_ns};
  merge(total_[static_cast<std::size_t>(cause)], more);
  merge(unreported_[static_cast<std::size_t>(cause)], more);
}

bool Losses::take_unreported(Cause* cause, Loss* loss) {
  for (std::size_t i = 0; i < kCauses; ++i) {
    if (unreported_[i].count == 0) continue;
    *cause = static_cast<Cause>(i);
    *loss = unreported_[i];
    merge(in_block_[i], unreported_[i]);
    unreported_[i] = Loss{};
    return true;
  }
  return false;
}

void Losses::settle_reports(bool in_file) {
  for (std::size_t i = 0; i < kCauses; ++i) {
    if (!in_file && in_block_[i].count != 0) merge(unreported_[i], in_block_[i]);
    in_block_[i] = Loss{};
  }
}

std::uint64_t Losses::total() const {
  std::uint64_t sum = 0;
  for (const Loss& loss : total_) sum += loss.count;
  return sum;
}

void Losses::append_sums(base::Buffer& out) const {
  encode::JsonWriter json(out);
  json.begin_object();
  for (std::size_t i = 0; i < kCauses; ++i) {
    if (total_[i].count != 0) json.key(kNames[i]).number(total_[i].count);
  }
  json.end_object();
}

}  // namespace dft::write
