// SPDX-License-Identifier: MIT
// Purpose: what the stand-in for rocprofiler-sdk is made of.
// Threads: contexts and services change only while tools are initialised; buffers have their own locks.
#pragma once

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "standin.h"

namespace standin {

extern const Release kNewest;  // of the library that this is linked into

// Bytes of a struct whose fields are put by their place in the release.
class Bytes {
 public:
  Bytes(Record record, Release release)
      : bytes_(static_cast<std::size_t>(size_of(record, release)), 0), release_(release) {}
  template <typename T>
  Bytes& put(Field field, T value) {
    const int at = offset_of(field, release_);
    if (at != kNone) std::memcpy(&bytes_[static_cast<std::size_t>(at)], &value, sizeof value);
    return *this;
  }
  Bytes& put_words(Field field, const std::uint32_t (&words)[3]) {
    const int at = offset_of(field, release_);
    if (at != kNone) std::memcpy(&bytes_[static_cast<std::size_t>(at)], words, sizeof words);
    return *this;
  }
  void grow(std::size_t by) { bytes_.resize(bytes_.size() + by, 0); }
  unsigned char* data() { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::vector<unsigned char> bytes_;
  Release release_;
};

struct RecordHeader {  // the same in all releases
  std::uint32_t category, kind;
  void* payload;
};
using BufferCallback = void (*)(std::uint64_t context, std::uint64_t buffer, RecordHeader** headers, std::size_t count,
                                void* data, std::uint64_t drops);

// A thread that hands buffers over, one after the other.
class Worker {
 public:
  struct Batch {
    class Buffer* buffer;
    std::vector<unsigned char> bytes;
    std::vector<std::pair<std::uint32_t, std::size_t>> records;  // kind, offset
    std::uint64_t drops;
  };
  void start();
  void post(Batch batch);
  void wait();  // until all is handed over
  void end();   // the same, and the thread is gone

 private:
  void run();
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;
  bool busy_ = false, ending_ = false;
  std::thread thread_;
  pid_t owner_ = 0;
};

class Buffer {
 public:
  std::uint64_t id = 0, context = 0;
  std::size_t size = 0, watermark = 0;
  BufferCallback callback = nullptr;
  void* data = nullptr;
  Worker* worker = nullptr;

  void add(std::uint32_t kind, const void* record, std::size_t length);
  void add_drops(std::uint64_t count);
  void flush(bool wait);
  static void hand_over(Worker::Batch& batch);

 private:
  Worker::Batch take();
  std::mutex lock_;
  std::vector<unsigned char> bytes_;
  std::vector<std::pair<std::uint32_t, std::size_t>> records_;
  std::uint64_t drops_ = 0;
};

// By value: the records of both layouts are passed on the stack.
struct Callback56 {
  std::uint64_t words[7];
};
struct Callback64 {
  std::uint64_t words[8];
};
struct CallbackService {
  std::uint64_t context = 0;
  void* function = nullptr;
  void* data = nullptr;
  std::set<std::int32_t> operations;  // empty: all
};
struct BufferService {
  Buffer* buffer = nullptr;
  std::set<std::int32_t> operations;
};
using RequestFunction = int (*)(std::uint64_t thread, std::uint64_t context, int kind, std::int32_t operation,
                                std::uint64_t internal, std::uint64_t* external, void* data);

struct Tool {
  int (*initialize)(void (*end)(), void* data) = nullptr;
  void (*finalize)(void* data) = nullptr;
  void* data = nullptr;
};

struct Scenario {
  std::uint32_t version = 0, zero_every = 0, zero_end_every = 0, reversed_every = 0;
  std::uint64_t drops = 0;
  bool shuffle = false, no_flush = false, initialize_twice = false, locked = false, late = false, no_finalize = false,
       child_dies = false;
  bool uuid16 = false, scratch_bytes = false;
  std::set<std::string> fail;
};

struct State {
  Scenario scenario;
  Release release = kNewest;
  std::atomic<int> initialized{0}, finalized{0};  // -1: it is under way
  std::deque<std::atomic<bool>> contexts;         // active? The id is the place + 1.
  std::deque<Buffer> buffers;
  std::deque<Worker> workers;  // the first serves buffers without one of their own
  std::map<std::uint32_t, std::vector<BufferService>> buffered;
  std::map<std::uint32_t, std::vector<CallbackService>> called;
  std::map<int, RequestFunction> requests;
  void* request_data = nullptr;
  std::uint64_t request_context = 0;
  std::vector<Tool> tools;
  std::atomic<std::uint64_t> next_internal{1}, next_dispatch{1}, kernels{0};
  void (*before_thread)(int library, void* data) = nullptr;
  void (*after_thread)(int library, void* data) = nullptr;
  Counters counters;
  std::atomic<std::uint64_t> calls{0}, delivered{0};
  pid_t owner = getpid();
  State* before = nullptr;  // an earlier life: its threads may still look at it
};

State& state();

// names.cc
const char* operation_name(const char* kind, std::int32_t operation, Release release);  // null: there is none
std::int32_t operation_number(const char* kind, const char* operation, Release release);
const char* kind_name(std::uint32_t number, Release release, bool callback);
int number_of(const char* kind, Release release, bool callback);  // kNone: the release has no such kind

// records.cc
Bytes bytes_of(const Event& event, const State& state);
Bytes agent_bytes(unsigned node, const State& state);

// calls.cc
void call_back(const char* kind, std::int32_t operation, int phase, std::uint64_t thread, std::uint64_t internal,
               std::uint64_t ancestor, void* payload, std::uint64_t* user = nullptr);
std::uint64_t ask_for_external(int kind, std::int32_t operation, std::uint64_t internal);

// registration.cc
void apply_words(const char* words);
void initialize(const Configure* tools, std::size_t count);
void finalize_now();

}  // namespace standin
