// SPDX-License-Identifier: MIT
// Purpose: small traces on disk for tests, good and damaged.
#pragma once

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace_format.h"
#include "read/scanner.h"

namespace dft::read::test {

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dft-read-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  std::string path(std::string_view name = "") const { return name.empty() ? path_ : path_ + "/" + std::string(name); }
  std::string write(std::string_view name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::string path_;
};

inline std::string slurp(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

inline void append_little32(std::string& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xff);
}

// One gzip member; with `sized` it carries the subfield by which our traces can be hopped through.
inline std::string gzip(std::string_view text, bool sized = false) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string body(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(body.data());
  stream.avail_out = static_cast<uInt>(body.size());
  deflate(&stream, Z_FINISH);
  body.resize(stream.total_out);
  deflateEnd(&stream);
  std::string out("\x1f\x8b\x08", 3);
  out += sized ? '\x04' : '\0';
  out.append("\0\0\0\0\0\x03", 6);
  if (sized) {
    out.append("\x10\0DF\x0c\0", 6);
    std::uint32_t lines = 0;
    for (const char c : text) lines += c == '\n' ? 1 : 0;
    append_little32(out, static_cast<std::uint32_t>(out.size() + 12 + body.size() + 8));
    append_little32(out, static_cast<std::uint32_t>(text.size()));
    append_little32(out, lines);
  }
  out += body;
  append_little32(out, static_cast<std::uint32_t>(
                           crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()))));
  append_little32(out, static_cast<std::uint32_t>(text.size()));
  return out;
}

inline std::string event_line(std::uint64_t id, std::string_view name, std::uint64_t ts, std::uint64_t dur,
                              std::string_view args = "", int pid = 7, int tid = 7) {
  std::string line = R"({"id":)" + std::to_string(id) + R"(,"name":")" + std::string(name) +
                     R"(","cat":"CPP_APP","type":9,"pid":)" + std::to_string(pid) + R"(,"tid":)" + std::to_string(tid) +
                     R"(,"ts":)" + std::to_string(ts) + R"(,"dur":)" + std::to_string(dur) + R"(,"ph":1)";
  if (!args.empty()) line += R"(,"args":)" + std::string(args);
  return line + "}\n";
}

// What a scan delivered, copied.
struct Collected : Consumer {
  struct Copy {
    std::string name, cat, args, raw, hhash, fhash;
    std::uint64_t id, ts, dur, line, byte;
    std::int64_t pid, tid;
    int type;
    model::Phase phase;
  };
  std::vector<Copy> events;
  std::vector<Problem> problems;
  std::vector<FileReport> files;
  std::size_t refs = 0;

  bool block(const Block& block) override {
    for (const Event& e : block.events) {
      events.push_back({std::string(e.name), std::string(e.cat), std::string(e.args), std::string(e.raw),
                        std::string(e.hhash), std::string(e.fhash), e.id, e.ts, e.dur, block.line_of(e),
                        block.byte_of(e), e.pid, e.tid, e.type, e.phase});
    }
    problems.insert(problems.end(), block.problems.begin(), block.problems.end());
    refs += block.refs.size();
    return true;
  }
  void file_done(const FileReport& report) override { files.push_back(report); }
};

inline Collected read_files(const std::vector<std::string>& files, bool strict = false, unsigned workers = 2,
                            std::size_t block_size = std::size_t{1} << 20) {
  ScanOptions options;
  options.parse.strict = strict;
  options.parse.collect_refs = true;
  options.workers = workers;
  options.block_size = block_size;
  Collected collected;
  scan(files, options, collected);
  return collected;
}

}  // namespace dft::read::test
