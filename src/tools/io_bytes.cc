// SPDX-License-Identifier: MIT
#include "tools/io_bytes.h"

#include <algorithm>
#include <iterator>

namespace dft::tools {
namespace {

bool cut_tail(std::string_view& text, std::string_view tail) {
  if (text.size() <= tail.size() || text.substr(text.size() - tail.size()) != tail) return false;
  text.remove_suffix(tail.size());
  return true;
}

}  // namespace

std::string_view plain_operation(std::string_view name) {
  while (name.size() > 1 && name[0] == '_') name.remove_prefix(1);
  while (cut_tail(name, "_chk") || cut_tail(name, "_unlocked") || cut_tail(name, "64")) {
  }
  return name;
}

std::optional<std::uint64_t> io_bytes(const read::Event& event) {
  if (event.has(read::kArgBytes)) {
    return event.number[read::kArgBytes] < 0 ? std::nullopt
                                             : std::optional<std::uint64_t>(event.number[read::kArgBytes]);
  }
  if (!event.has(read::kArgRet) || event.number[read::kArgRet] < 0) return std::nullopt;
  const auto ret = static_cast<std::uint64_t>(event.number[read::kArgRet]);
  static constexpr std::string_view kMoves[] = {
      "read",     "write",           "pread",  "pwrite", "readv",    "writev",  "preadv",  "pwritev",
      "preadv2",  "pwritev2",        "recv",   "send",   "recvfrom", "sendto",  "recvmsg", "sendmsg",
      "sendfile", "copy_file_range", "splice", "tee",    "getline",  "getdelim"};
  const std::string_view operation = plain_operation(event.name);
  if (operation == "fread" || operation == "fwrite") {
    const std::int64_t size = event.has(read::kArgSize) ? event.number[read::kArgSize] : 1;
    return size < 0 ? std::nullopt : std::optional<std::uint64_t>(ret * static_cast<std::uint64_t>(size));
  }
  const bool moves = std::find(std::begin(kMoves), std::end(kMoves), operation) != std::end(kMoves);
  return moves ? std::optional<std::uint64_t>(ret) : std::nullopt;
}

}  // namespace dft::tools
