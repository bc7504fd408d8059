// SPDX-License-Identifier: MIT
#include "recorded_sdk.h"

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <mutex>
#include <sstream>
#include <thread>

#include "sources/gpu/rocprof/capture.h"

namespace dft::gpu {

using rocprof::Id;
using rocprof::kDone;

namespace {

constexpr int kNotFound = 4;
RecordedSdk* playing = nullptr;  // the functions have no object

RecordedBytes bytes_of(const std::string& hex) {
  RecordedBytes out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<unsigned char>(std::strtoul(hex.substr(i, 2).c_str(), nullptr, 16)));
  }
  return out;
}

template <typename T>
void put(RecordedBytes& bytes, std::size_t at, T value) {
  if (at + sizeof value <= bytes.size()) std::memcpy(&bytes[at], &value, sizeof value);
}

}  // namespace

class RecordedThread {
 public:
  RecordedThread() : thread_([this] { work(); }) {}
  ~RecordedThread() {
    run(nullptr);
    thread_.join();
  }
  void run(std::function<void()> task) {
    std::unique_lock<std::mutex> lock(mutex_);
    task_ = std::move(task);
    has_task_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !has_task_; });
  }

 private:
  void work() {
    for (bool more = true; more;) {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return has_task_; });
      more = task_ != nullptr;
      if (more) task_();
      has_task_ = false;
      changed_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> task_;
  bool has_task_ = false;
  std::thread thread_;
};

// The library's functions.
struct RecordedCalls {
  static RecordedSdk& sdk() { return *playing; }
  static rocprof::Status version(std::uint32_t* major, std::uint32_t* minor, std::uint32_t* patch) {
    *major = sdk().version_[0];
    *minor = sdk().version_[1];
    *patch = sdk().version_[2];
    return kDone;
  }
  static rocprof::Status status_of_end(int* out) { return *out = 0, kDone; }
  static rocprof::Status is_valid(Id, int* out) { return *out = 1, kDone; }
  static rocprof::Status create(Id* out) { return out->handle = 1, kDone; }
  static rocprof::Status nothing(Id) { return kDone; }
  static rocprof::Status create_buffer(Id, std::size_t, std::size_t, int, rocprof::BufferCallback callback, void* data,
                                       Id* out) {
    sdk().buffers_.push_back({callback, data});
    out->handle = sdk().buffers_.size();
    return kDone;
  }
  static rocprof::Status trace_buffered(Id, int number, const std::int32_t* operations, std::size_t count, Id buffer) {
    RecordedSdk::Kind* kind = RecordedSdk::find(sdk().buffered_, number);
    if (kind == nullptr) return kNotFound;
    kind->wanted = true;
    kind->chosen.insert(operations, operations + count);
    kind->buffer = buffer.handle;
    return kDone;
  }
  static rocprof::Status trace_by_callback(Id, int number, const std::int32_t* operations, std::size_t count,
                                           void* callback, void*) {
    RecordedSdk::Kind* kind = RecordedSdk::find(sdk().callbacks_, number);
    if (kind == nullptr) return kNotFound;
    kind->wanted = true;
    kind->chosen.insert(operations, operations + count);
    kind->callback = callback;
    return kDone;
  }
  static rocprof::Status request(Id, const int* kinds, std::size_t count, rocprof::RequestCallback callback, void*) {
    sdk().requested_.insert(kinds, kinds + count);
    sdk().request_ = callback;
    return kDone;
  }
  static std::map<int, RecordedSdk::Kind>& kinds(bool by_callback) {
    return by_callback ? sdk().callbacks_ : sdk().buffered_;
  }
  template <bool kByCallback>
  static rocprof::Status for_each_kind(rocprof::KindCallback use, void* data) {
    for (const auto& [number, kind] : kinds(kByCallback)) use(number, data);
    return kDone;
  }
  template <bool kByCallback>
  static rocprof::Status for_each_operation(int number, rocprof::OperationCallback use, void* data) {
    const RecordedSdk::Kind* kind = RecordedSdk::find(kinds(kByCallback), number);
    if (kind == nullptr) return kNotFound;
    for (const auto& [operation, name] : kind->operations) use(number, operation, data);
    return kDone;
  }
  template <bool kByCallback>
  static rocprof::Status kind_name(int number, const char** name, std::uint64_t* size) {
    const RecordedSdk::Kind* kind = RecordedSdk::find(kinds(kByCallback), number);
    if (kind == nullptr) return kNotFound;
    *name = kind->name.c_str();
    *size = kind->name.size();
    return kDone;
  }
  template <bool kByCallback>
  static rocprof::Status operation_name(int number, std::int32_t operation, const char** name, std::uint64_t* size) {
    const RecordedSdk::Kind* kind = RecordedSdk::find(kinds(kByCallback), number);
    if (kind == nullptr || kind->operations.count(operation) == 0) return kNotFound;
    *name = kind->operations.at(operation).c_str();
    *size = kind->operations.at(operation).size();
    return kDone;
  }
  static rocprof::Status agents(int version, rocprof::AgentsCallback use, std::size_t, void* data) {
    std::vector<rocprof::Agent> all;
    for (const std::vector<std::string>& parts : sdk().agents_) {
      rocprof::Agent& agent = all.emplace_back();
      const RecordedBytes bytes = bytes_of(parts[0]);
      std::memcpy(static_cast<void*>(&agent), bytes.data(), std::min(bytes.size(), sizeof agent));
      agent.name = parts[1].c_str();
      agent.vendor_name = parts[2].c_str();
      agent.product_name = parts[3].c_str();
      agent.model_name = parts[4].c_str();
    }
    std::vector<const void*> pointers;
    for (const rocprof::Agent& agent : all) pointers.push_back(&agent);
    return use(version, pointers.data(), pointers.size(), data);
  }
  static rocprof::Status timestamp(std::uint64_t* out) { return *out = sdk().began_ns_, kDone; }
};

RecordedSdk::RecordedSdk(const std::string& path) {
  playing = this;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.size() > 2) read_line(line[0], line.substr(2));
  }
}
RecordedSdk::~RecordedSdk() { playing = nullptr; }

void RecordedSdk::read_line(char letter, const std::string& rest) {
  std::istringstream in(rest);
  char side = 0;
  int number = 0, operation = 0;
  std::string name;
  if (letter == 'V') {
    in >> version_[0] >> version_[1] >> version_[2] >> began_ns_;
  } else if (letter == 'K') {
    in >> side >> number >> name;
    (side == 'b' ? buffered_ : callbacks_)[number].name = name;
  } else if (letter == 'O') {
    in >> side >> number >> operation >> name;
    (side == 'b' ? buffered_ : callbacks_)[number].operations[operation] = name;
  } else if (letter == 'A') {
    std::vector<std::string>& parts = agents_.emplace_back();
    for (std::string part; std::getline(in, part, '|');) parts.push_back(part);
    parts.resize(5);
  } else if (letter != '#') {
    lines_.push_back({letter, rest});
  }
}

RecordedSdk::Kind* RecordedSdk::find(std::map<int, Kind>& kinds, int number) {
  const auto found = kinds.find(number);
  return found == kinds.end() ? nullptr : &found->second;
}

rocprof::Library RecordedSdk::opened() const {
  rocprof::Library out;
  out.release = version_[0] * 10000 + version_[1] * 100 + version_[2];
  rocprof::Functions& f = out.functions;
  f.get_version = &RecordedCalls::version;
  f.is_initialized = f.is_finalized = &RecordedCalls::status_of_end;
  f.create_context = f.create_callback_thread = &RecordedCalls::create;
  f.context_is_valid = f.context_is_active = &RecordedCalls::is_valid;
  f.start_context = f.stop_context = f.flush_buffer = &RecordedCalls::nothing;
  f.create_buffer = &RecordedCalls::create_buffer;
  f.assign_callback_thread = [](Id, Id) { return kDone; };
  f.trace_buffered = &RecordedCalls::trace_buffered;
  f.trace_by_callback = &RecordedCalls::trace_by_callback;
  f.request_external_ids = &RecordedCalls::request;
  f.for_each_buffered_kind = &RecordedCalls::for_each_kind<false>;
  f.for_each_callback_kind = &RecordedCalls::for_each_kind<true>;
  f.for_each_buffered_operation = &RecordedCalls::for_each_operation<false>;
  f.for_each_callback_operation = &RecordedCalls::for_each_operation<true>;
  f.buffered_kind_name = &RecordedCalls::kind_name<false>;
  f.callback_kind_name = &RecordedCalls::kind_name<true>;
  f.buffered_operation_name = &RecordedCalls::operation_name<false>;
  f.callback_operation_name = &RecordedCalls::operation_name<true>;
  f.for_each_agent = &RecordedCalls::agents;
  f.get_timestamp = &RecordedCalls::timestamp;
  return out;
}

std::size_t RecordedSdk::recorded(const std::string& name) const {
  std::size_t count = 0;
  for (const Line& line : lines_) {
    const auto kind = line.letter == 'R' ? buffered_.find(std::atoi(line.rest.c_str())) : buffered_.end();
    count += kind != buffered_.end() && kind->second.name == name ? 1 : 0;
  }
  return count;
}

void RecordedSdk::play() {
  for (std::size_t at = 0; at < lines_.size(); ++at) {
    const Line& line = lines_[at];
    if (line.letter == 'C') play_callback(line.rest);
    if (line.letter == 'X') play_request(line.rest);
    if (line.letter == 'B') play_buffer(at);
  }
  threads_.clear();
}

RecordedThread& RecordedSdk::thread(std::uint64_t id) {
  std::unique_ptr<RecordedThread>& found = threads_[id];
  if (found == nullptr) found = std::make_unique<RecordedThread>();
  return *found;
}

void RecordedSdk::play_callback(const std::string& rest) {
  std::istringstream in(rest);
  rocprof::CallbackRecord1 record{};
  std::string hex, text;
  in >> record.kind >> record.operation >> record.phase >> record.thread >> record.correlation.internal >>
      record.correlation.ancestor >> hex;
  std::getline(in >> std::ws, text);
  const Kind* kind = find(callbacks_, record.kind);
  if (kind == nullptr || !kind->wanted || (!kind->chosen.empty() && kind->chosen.count(record.operation) == 0)) return;
  RecordedBytes payload = bytes_of(hex);
  const bool is_symbol = kind->name == "CODE_OBJECT";
  const std::size_t at = is_symbol ? offsetof(rocprof::KernelSymbolData, name) : offsetof(rocprof::MarkerData, message);
  if (!text.empty()) put(payload, at, text.c_str());
  record.payload = payload.data();
  thread(record.thread).run([&] {
    std::uint64_t& user = users_[{record.kind, record.correlation.internal}];  // the same when the call returns
    if (version_[0] >= 1) {
      reinterpret_cast<rocprof::TracingCallback1>(kind->callback)(record, &user, nullptr);
      return;
    }
    const rocprof::CallbackRecord0 old{
        {},           record.thread, {record.correlation.internal, 0}, record.kind, record.operation,
        record.phase, record.payload};
    reinterpret_cast<rocprof::TracingCallback0>(kind->callback)(old, &user, nullptr);
  });
}

void RecordedSdk::play_request(const std::string& rest) {
  std::istringstream in(rest);
  int kind = 0;
  std::int32_t operation = 0;
  std::uint64_t id = 0, internal = 0, recorded = 0;
  in >> kind >> operation >> id >> internal >> recorded;
  if (request_ == nullptr || requested_.count(kind) == 0) return;
  thread(id).run([&] { request_(id, Id{}, kind, operation, internal, &answers_[recorded], nullptr); });
}

// The answer of the recorder stands in the record; the backend's takes its place.
void RecordedSdk::answer(RecordedBytes& record, const Kind& kind) const {
  constexpr std::size_t kExternal = sizeof(rocprof::RecordHead) + offsetof(rocprof::Correlation2, external);
  if (kind.name != "KERNEL_DISPATCH" && kind.name != "MEMORY_COPY" && kind.name != "MEMORY_ALLOCATION") return;
  std::uint64_t recorded = 0;
  std::memcpy(&recorded, &record.at(kExternal), sizeof recorded);
  const auto found = answers_.find(recorded);
  put(record, kExternal, found == answers_.end() ? std::uint64_t{0} : found->second);
}

void RecordedSdk::play_buffer(std::size_t& at) {
  std::size_t group = 0, count = 0;
  std::uint64_t drops = 0;
  std::istringstream(lines_[at].rest) >> group >> drops >> count;
  std::map<std::uint64_t, std::vector<RecordedBytes>> records;  // by the backend's buffer
  for (; count > 0; --count) {
    std::istringstream in(lines_.at(++at).rest);
    int number = 0;
    std::string hex;
    in >> number >> hex;
    RecordedBytes bytes = bytes_of(hex);
    rocprof::RecordHead head;
    std::memcpy(&head, bytes.data(), sizeof head);
    const Kind* kind = find(buffered_, number);
    if (kind == nullptr || !kind->wanted || (!kind->chosen.empty() && kind->chosen.count(head.operation) == 0)) {
      ++left_out_;
      continue;
    }
    answer(bytes, *kind);
    records[kind->buffer].push_back(std::move(bytes));
  }
  for (auto& [buffer, all] : records) {
    std::vector<rocprof::RecordHeader> headers;
    for (RecordedBytes& bytes : all) {
      rocprof::RecordHead head;
      std::memcpy(&head, bytes.data(), sizeof head);
      headers.push_back({rocprof::kTracingCategory, head.kind, bytes.data()});
    }
    std::vector<rocprof::RecordHeader*> pointers;
    for (rocprof::RecordHeader& header : headers) pointers.push_back(&header);
    const Buffer& to = buffers_.at(buffer - 1);
    to.callback(Id{}, Id{buffer}, pointers.data(), pointers.size(), to.data, drops);
  }
}

}  // namespace dft::gpu
