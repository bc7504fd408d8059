// SPDX-License-Identifier: MIT
#include "sources/gpu/rocprof/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>

#include <cstring>
#include <new>

#include "base/raw_io.h"
#include "sources/gpu/rocprof/markers.h"

namespace dft::gpu::rocprof {

namespace {

constexpr std::size_t kBufferBytes = 1 << 20;
constexpr int kSdkLibrary = 1;  // of at_thread_create: the library's own threads

alignas(RocprofBackend) unsigned char room[sizeof(RocprofBackend)];

Group group_of(Family family) {
  switch (family) {
    case Family::kHipApi:
    case Family::kHsaApi:
    case Family::kApi:
    case Family::kApiExt: return Group::kCalls;
    case Family::kKernel: return Group::kKernels;
    case Family::kCopy: return Group::kCopies;
    default: return Group::kRest;
  }
}

// Told by the kernel's driver.
bool is_of_driver(Family family) {
  return family == Family::kPageMigration || (family >= Family::kKfdMigrateEvent && family <= Family::kKfdQueue);
}

// The application's signals are none of the library's threads, which inherit the mask of who makes them. Kept are the
// 64 signals that there are: room for a library's thread-local variables is scarce.
__thread std::uint64_t mask_before;
void before_thread(int, void*) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::memcpy(&mask_before, &before, sizeof mask_before);
}
void after_thread(int, void*) {
  sigset_t before;
  sigemptyset(&before);
  std::memcpy(&before, &mask_before, sizeof mask_before);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// The operations of a kind that are recorded, by the library's numbers.
struct Chosen {
  static constexpr std::size_t kMost = kNamedOperations;
  const KindTable* kinds;
  unsigned kind;
  std::size_t count = 0;
  bool leaves_out = false;
  std::int32_t operations[kMost];
};
int choose(int, std::int32_t operation, void* data) {
  Chosen& chosen = *static_cast<Chosen*>(data);
  if (operation < 0) return 0;
  const std::string_view name = chosen.kinds->operation_name(chosen.kind, static_cast<unsigned>(operation));
  if (is_quiet_call(chosen.kind, name)) {
    chosen.leaves_out = true;
  } else if (chosen.count < Chosen::kMost) {
    chosen.operations[chosen.count++] = operation;
  }
  return 0;
}
Chosen chosen;  // too large for a stack; made once, in `initialize`

struct MarkerSearch {
  const Functions* functions;
  MarkerOperations found;
};
int find_marker(int kind, std::int32_t operation, void* data) {
  MarkerSearch& search = *static_cast<MarkerSearch*>(data);
  const char* name = nullptr;
  std::uint64_t size = 0;
  if (search.functions->callback_operation_name(kind, operation, &name, &size) != kDone || name == nullptr) return 0;
  const struct {
    const char* name;
    int* place;
  } rows[] = {{"roctxMarkA", &search.found.mark},
              {"roctxRangePushA", &search.found.push},
              {"roctxRangePop", &search.found.pop},
              {"roctxRangeStartA", &search.found.start},
              {"roctxRangeStop", &search.found.stop}};
  for (const auto& row : rows) {
    if (std::strcmp(row.name, name) == 0) *row.place = operation;
  }
  return 0;
}

struct RangeSearch {
  const Functions* functions;
  std::int32_t operation;
};
int find_thread_range(int kind, std::int32_t operation, void* data) {
  RangeSearch& search = *static_cast<RangeSearch*>(data);
  const char* name = nullptr;
  std::uint64_t size = 0;
  if (search.functions->callback_operation_name(kind, operation, &name, &size) == kDone && name != nullptr &&
      std::strcmp(name, "roctxThreadRangeA") == 0) {
    search.operation = operation;
  }
  return 0;
}

template <typename Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

RocprofBackend& backend = *new (room) RocprofBackend;

std::string_view RocprofBackend::named_operation(unsigned kind, unsigned operation) {
  // The library's names are constants: they are there after its end too.
  return dead_ ? std::string_view() : kinds_.operation_name(kind, operation);
}

bool RocprofBackend::wants(Family family) const {
  for (unsigned kind = 0; kind < kKinds; ++kind) {
    if (kKindRows[kind].family == family && wants(kind)) return true;
  }
  return false;
}

bool RocprofBackend::has_ended() const {
  int ended = 0;
  return library_.functions.is_finalized(&ended) != kDone || ended > 0;
}

void RocprofBackend::note(rocprof::Status status, const char* category, const char* detail) {
  if (failure_count_ < kMostFailures) failures_[failure_count_++] = {status, category, detail};
}

void RocprofBackend::tell(const Failure& failure, StatusSink& statuses) const {
  gpu::Status status;
  status.state = failure.category != nullptr ? gpu::Status::State::kPartial : gpu::Status::State::kOff;
  status.code = failure.status;
  if (failure.status != kDone && library_.functions.status_name != nullptr) {
    status.code_name = library_.functions.status_name(failure.status);
  }
  status.category = failure.category;
  status.detail = failure.detail;
  statuses.status(status);
}

bool RocprofBackend::make(const Library& library, const Settings& settings) {
  if (is_made_) return true;  // asked again
  library_ = library;
  settings_ = settings;
  if (!kinds_.configure(library_.functions)) {
    note(kDone, nullptr, "the library knows no kind that can be traced");
    return false;
  }
  library_.generation = generation_of(library_.release, kinds_.buffered_number(kind_index("MEMORY_ALLOCATION")) >= 0);
  if (library_.functions.at_thread_create != nullptr) {
    library_.functions.at_thread_create(&before_thread, &after_thread, kSdkLibrary, nullptr);
  }
  if (!make_context()) return false;
  const bool has_device = can_open_device();
  for (unsigned kind = 0; kind < kKinds; ++kind) {
    if (wants(kind) && (has_device || !is_of_driver(kKindRows[kind].family))) trace_kind(kind);
  }
  trace_symbols();
  trace_streams();
  trace_markers();
  request_ids();
  int valid = 0;
  const rocprof::Status status = library_.functions.context_is_valid(context_, &valid);
  is_made_ = status == kDone && valid != 0;
  if (!is_made_) note(status, nullptr, "the library takes no tracing context of this shape");
  return is_made_;
}

// The library ends the process when it is asked for the driver's events and the device cannot be opened. Without a
// device there are none; with one that is closed to us it is said.
bool RocprofBackend::can_open_device() {
  const int fd = base::raw::open(settings_.amd_device, O_RDWR | O_CLOEXEC, 0);
  if (fd >= 0) {
    base::raw::close(fd);
    return true;
  }
  if (fd != -ENOENT) note(kDone, "PAGE_MIGRATION", "the driver's events: /dev/kfd cannot be opened");
  return false;
}

bool RocprofBackend::make_context() {
  const rocprof::Status status = library_.functions.create_context(&context_);
  if (status != kDone) {
    note(status, nullptr, "no tracing context");
    return false;
  }
  for (unsigned group = 0; group < kGroups; ++group) {
    if (!make_buffer(static_cast<Group>(group))) return false;
  }
  return true;
}

bool RocprofBackend::make_buffer(Group group) {
  const Functions& f = library_.functions;
  Id& buffer = buffers_[static_cast<unsigned>(group)];
  void* const number = reinterpret_cast<void*>(static_cast<std::uintptr_t>(group));
  rocprof::Status status =
      f.create_buffer(context_, kBufferBytes, kBufferBytes / 2, kLossless, &on_buffer, number, &buffer);
  Id thread{};
  if (status == kDone) status = f.create_callback_thread(&thread);
  if (status == kDone) status = f.assign_callback_thread(buffer, thread);
  if (status != kDone) note(status, nullptr, "no buffer");
  return status == kDone;
}

void RocprofBackend::trace_kind(unsigned kind) {
  const KindRow& row = kKindRows[kind];
  const bool is_call = group_of(row.family) == Group::kCalls;
  if (row.family == Family::kMarker || row.family == Family::kStream) return;
  if (is_call && settings_.api == ApiMode::kNone) return;
  const int number = kinds_.buffered_number(kind);
  if (number < 0) {
    if (!row.by_default) note(kDone, row.name, "this release of rocprofiler-sdk has no such kind");
    return;
  }
  const std::int32_t* operations = nullptr;
  std::size_t count = 0;
  if (is_call && settings_.api == ApiMode::kQuiet) {
    chosen.kinds = &kinds_;
    chosen.kind = kind;
    chosen.count = 0;
    chosen.leaves_out = false;
    library_.functions.for_each_buffered_operation(number, &choose, &chosen);
    if (chosen.leaves_out) {
      left_calls_out_ = true;
      if (chosen.count == 0) return;
      operations = chosen.operations;
      count = chosen.count;
    }
  }
  const Id buffer = buffers_[static_cast<unsigned>(group_of(row.family))];
  const rocprof::Status status = library_.functions.trace_buffered(context_, number, operations, count, buffer);
  if (status != kDone) return note(status, row.name, nullptr);
  if (row.family == Family::kHsaApi) traces_hsa_ = true;
}

void RocprofBackend::trace_symbols() {
  if (!wants(Family::kKernel)) return;
  const int number = kinds_.code_object_number();
  const std::int32_t operation = kKernelSymbol;
  void* const callback =
      library_.has_long_callbacks() ? address_of(&on_kernel_symbol1) : address_of(&on_kernel_symbol0);
  const rocprof::Status status =
      number < 0 ? kDone : library_.functions.trace_by_callback(context_, number, &operation, 1, callback, nullptr);
  if (number < 0 || status != kDone) note(status, "KERNEL_DISPATCH", "kernels have no names");
}

void RocprofBackend::trace_streams() {
  const int number = kinds_.callback_number(kind_index("HIP_STREAM"));
  if (number < 0 || !library_.has_long_callbacks() || !wants(Family::kStream)) return;
  const rocprof::Status status =
      library_.functions.trace_by_callback(context_, number, nullptr, 0, address_of(&on_stream1), nullptr);
  if (status != kDone) note(status, "HIP_STREAM", nullptr);
}

// Gives ranges ids that last, where this release can. True when it does.
bool RocprofBackend::trace_ranges() {
  const int number = kinds_.marker_range_number();
  if (number < 0 || !library_.has_long_callbacks()) return false;
  RangeSearch search{&library_.functions, -1};
  library_.functions.for_each_callback_operation(number, &find_thread_range, &search);
  return search.operation >= 0 && library_.functions.trace_by_callback(context_, number, &search.operation, 1,
                                                                       address_of(&keep_range), nullptr) == kDone;
}

void RocprofBackend::trace_markers() {
  const char* const name = "MARKER_CORE_API";
  const int number = kinds_.callback_number(kind_index(name));
  if (number < 0 || !wants(Family::kMarker)) return;
  MarkerSearch search{&library_.functions, {}};
  library_.functions.for_each_callback_operation(number, &find_marker, &search);
  search.found.ranges_have_ids = trace_ranges();
  configure_markers(search.found);
  std::int32_t operations[5];
  std::size_t count = 0;
  for (const int operation :
       {search.found.mark, search.found.push, search.found.pop, search.found.start, search.found.stop}) {
    if (operation >= 0) operations[count++] = operation;
  }
  if (count == 0) return;
  void* const callback = library_.has_long_callbacks() ? address_of(&on_marker1) : address_of(&on_marker0);
  const rocprof::Status status =
      library_.functions.trace_by_callback(context_, number, operations, count, callback, nullptr);
  if (status != kDone) note(status, name, nullptr);
}

// Kernels and copies: which stream and call they are of, and how many are on their way.
void RocprofBackend::request_ids() {
  int kinds[4];
  std::size_t count = 0;
  if (wants(Family::kKernel)) kinds[count++] = kRequestKernel;
  if (wants(Family::kCopy)) kinds[count++] = kRequestCopy;
  const bool allocations = library_.generation != Generation::k05 && wants(Family::kAllocation);
  if (allocations && traces_hsa_) kinds[count++] = kRequestAllocation;
  if (count != 0 && traces_hsa_) kinds[count++] = kRequestHip;
  if (count == 0 || library_.functions.request_external_ids == nullptr) return;
  const rocprof::Status status = library_.functions.request_external_ids(context_, kinds, count, &on_request, nullptr);
  if (status != kDone) note(status, "HIP_STREAM", "work has neither stream nor, where HSA is traced, its HIP call");
}

bool RocprofBackend::start(const Settings& settings, BufferPool& pool, StatusSink& statuses) {
  if (dead_) return false;
  settings_ = settings;
  told_quiet_ = false;
  for (unsigned i = 0; i < failure_count_; ++i) tell(failures_[i], statuses);
  if (!is_made_ || has_ended()) return false;
  agents_.configure(library_.functions);
  decoder_.configure({settings.categories, library_.generation, traces_hsa_}, kinds_, agents_, capture.symbols);
  capture.thread_begins.store(settings.thread_begins, std::memory_order_release);
  capture.pool.store(&pool, std::memory_order_release);
  record_markers(wants(Family::kMarker));
  const rocprof::Status status = library_.functions.start_context(context_);
  if (status != kDone) {
    record_markers(false);
    tell({status, nullptr, "the tracing context does not start"}, statuses);
    return false;
  }
  active_ = true;
  gpu::Status on;
  on.state = failure_count_ != 0 ? gpu::Status::State::kPartial : gpu::Status::State::kOn;
  on.detail = library_.path;
  statuses.status(on);
  return true;
}

void RocprofBackend::flush(bool) {
  if (dead_ || !is_made_ || has_ended()) return;
  // Calls first: the work that they asked for refers to them.
  for (const Id buffer : buffers_) library_.functions.flush_buffer(buffer);
}

void RocprofBackend::stop() {
  if (dead_ || !active_) return;
  record_markers(false);
  if (!has_ended()) library_.functions.stop_context(context_);
  flush(true);
  active_ = false;
}

bool RocprofBackend::work_is_left() {
  if (dead_ || has_ended()) return false;
  std::uint64_t done = capture.work_delivered.load(std::memory_order_acquire);
  for (const Group group : {Group::kKernels, Group::kCopies}) {
    done += capture.drops[static_cast<unsigned>(group)].load(std::memory_order_relaxed);
  }
  return capture.work_asked.load(std::memory_order_acquire) > done;
}

void RocprofBackend::collect_losses(ActivitySink& sink) {
  static constexpr const char* kGroupNames[kGroups] = {"calls", "kernels", "copies", "other records"};
  decoder_.release_waiting(sink, !active_);
  for (unsigned group = 0; group < kGroups; ++group) {
    const std::uint64_t drops = capture.drops[group].load(std::memory_order_relaxed);
    if (drops > drops_told_[group]) sink.loss(LossCause::kDropped, drops - drops_told_[group], 0, kGroupNames[group]);
    drops_told_[group] = drops;
  }
  const std::uint64_t no_buffer = capture.no_buffer.exchange(0, std::memory_order_relaxed);
  if (no_buffer != 0) sink.loss(LossCause::kDropped, no_buffer, 0, "no buffer left to copy records to");
  const std::uint64_t strange = capture.strange.exchange(0, std::memory_order_relaxed);
  if (strange != 0) sink.loss(LossCause::kUndecodable, strange, 0, "records that are no tracing records");
  if (told_quiet_) return;
  told_quiet_ = true;
  if (left_calls_out_) sink.loss(LossCause::kQuiet, 0, 0, quiet_list());
}

std::uint64_t RocprofBackend::now_ns() {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void RocprofBackend::in_forked_child() {
  dead_ = true;
  active_ = false;
  capture.dead.store(true, std::memory_order_release);
  capture.symbols.in_forked_child();
  markers_in_forked_child();
}

}  // namespace dft::gpu::rocprof
