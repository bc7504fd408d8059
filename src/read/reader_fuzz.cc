// SPDX-License-Identifier: MIT
// Any bytes as a trace file, strict and tolerant: nothing may crash, hang or leak.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "read/hash_table.h"
#include "read/scanner.h"

namespace {

class Touch : public dft::read::Consumer {
 public:
  bool block(const dft::read::Block& block) override {
    for (const auto& event : block.events) {
      table.add(event);
      sum += event.name.size() + event.raw.size() + event.args.size() + event.dur;
      if (!event.raw.empty()) sum += static_cast<unsigned char>(event.raw.back());
    }
    for (const auto& ref : block.refs) sum += table.find(ref.kind, ref.hash) != nullptr ? 1 : 0;
    return true;
  }
  dft::read::HashTable table;
  std::uint64_t sum = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int fd = memfd_create("trace", MFD_CLOEXEC);
  if (fd < 0) return 0;
  if (write(fd, data, size) != static_cast<ssize_t>(size)) {
    close(fd);
    return 0;
  }
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  for (int mode = 0; mode < 3; ++mode) {
    dft::read::ScanOptions options;
    options.workers = 1;
    options.block_size = 4096;
    options.parse.strict = mode == 1;
    options.parse.collect_refs = mode != 0;
    options.parse.hash_records_only = mode == 2;
    Touch touch;
    dft::read::scan({path}, options, touch);
  }
  close(fd);
  return 0;
}
