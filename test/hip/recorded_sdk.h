// SPDX-License-Identifier: MIT
// Purpose: rocprofiler-sdk as a recording of the real one (standin/record_rocprof.cc tells the lines): a table of
//          functions for the backend, which gets what it asks for of what the library once delivered.
// Threads: the test's own, and one for each thread of the recording, one at a time in the order of the recording.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sources/gpu/rocprof/library.h"

namespace dft::gpu {

using RecordedBytes = std::vector<unsigned char>;

// A thread of the recording: does what it is given, and is waited for.
class RecordedThread;

class RecordedSdk {
 public:
  explicit RecordedSdk(const std::string& path);
  ~RecordedSdk();
  RecordedSdk(const RecordedSdk&) = delete;
  RecordedSdk& operator=(const RecordedSdk&) = delete;

  rocprof::Library opened() const;
  std::uint64_t began_ns() const { return began_ns_; }  // since boot
  void play();                                          // all of it, once the backend has been made and started
  // Of buffers, as the recording has them.
  std::size_t recorded(const std::string& kind) const;
  std::size_t left_out() const { return left_out_; }  // records that the backend did not ask for

 private:
  friend struct RecordedCalls;
  struct Line {
    char letter;
    std::string rest;
  };
  struct Kind {
    std::string name;
    std::map<int, std::string> operations;
    // What the backend asked for: the operations, none for all; where they go.
    bool wanted = false;
    std::set<int> chosen;
    std::uint64_t buffer = 0;
    void* callback = nullptr;
  };
  struct Buffer {
    rocprof::BufferCallback callback;
    void* data;
  };

  void read_line(char letter, const std::string& rest);
  void play_callback(const std::string& rest);
  void play_request(const std::string& rest);
  void play_buffer(std::size_t& at);
  void answer(RecordedBytes& record, const Kind& kind) const;
  RecordedThread& thread(std::uint64_t id);
  static Kind* find(std::map<int, Kind>& kinds, int number);

  std::uint32_t version_[3] = {};
  std::uint64_t began_ns_ = 0;
  std::vector<Line> lines_;  // to play
  std::map<int, Kind> buffered_, callbacks_;
  std::vector<std::vector<std::string>> agents_;
  std::vector<Buffer> buffers_;
  std::set<int> requested_;
  rocprof::RequestCallback request_ = nullptr;
  std::map<std::uint64_t, std::uint64_t> answers_;  // recorded -> the backend's
  std::map<std::pair<int, std::uint64_t>, std::uint64_t> users_;
  std::map<std::uint64_t, std::unique_ptr<RecordedThread>> threads_;
  std::size_t left_out_ = 0;
};

}  // namespace dft::gpu
