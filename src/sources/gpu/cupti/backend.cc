// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/backend.h"

#include <time.h>

#include <new>

#include "base/log.h"
#include "sources/gpu/cupti/capture.h"

namespace dft::gpu::cupti {

namespace {

constexpr int kTaken = 39;                         // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
constexpr std::uint32_t kForced = 1;               // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED
constexpr std::uint32_t kHasBufferPerThread = 21;  // 12.3

struct KindRow {
  int kind;
  ActivityKind category;
};
constexpr KindRow kKinds[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, ActivityKind::kKernel},
    {CUPTI_ACTIVITY_KIND_MEMCPY, ActivityKind::kMemcpy},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, ActivityKind::kMemcpyP2p},
    {CUPTI_ACTIVITY_KIND_MEMSET, ActivityKind::kMemset},
    {49, ActivityKind::kMemory},  // MEMORY2, 11.2
    {50, ActivityKind::kMemory},  // MEMORY_POOL
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, ActivityKind::kSync},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, ActivityKind::kOverhead},
    {CUPTI_ACTIVITY_KIND_RUNTIME, ActivityKind::kRuntimeApi},
    {CUPTI_ACTIVITY_KIND_DRIVER, ActivityKind::kDriverApi},
};
constexpr int kGraphTrace = 51;

alignas(CuptiBackend) unsigned char room[sizeof(CuptiBackend)];

std::uint64_t realtime_ns() {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

CuptiBackend& backend = *new (room) CuptiBackend;

const char* hint_for(CUptiResult result) {
  switch (static_cast<int>(result)) {
    case 13: return "called before a context exists";
    case 14: return "the kind cannot be enabled now, or another client owns CUPTI";
    case 15: return "the CUDA driver is not initialised";
    case 27: return "this device, mode or combination does not support it";
    case 28:
    case 29:
    case 30:
    case 31: return "unified memory cannot be traced on this system";
    case 33: return "a virtual GPU does not support it";
    case 35:
    case 40:
      return "needs rights: let the administrator load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0";
    case 36: return "the program uses CUPTI's old event interface";
    case 39: return "end the other profiler (nsys, ncu, torch.profiler), or let it start after the tracer";
    case 41: return "not possible in confidential computing mode";
    case 42: return "not possible on this kind of device";
    case 43: return "not possible on a MIG device";
    case 44: return "not possible with SLI";
    case 45: return "not possible under WSL";
    case 999: return "no usable driver, or one that is older than this CUPTI";
    default: return nullptr;
  }
}

std::string_view CuptiBackend::operation_name(ActivityKind kind, unsigned operation) {
  if (kind != ActivityKind::kRuntimeApi && kind != ActivityKind::kDriverApi) {
    return fixed_operation_name(kind, operation);
  }
  return dead_ ? std::string_view() : names_.name(kind, operation);
}

const char* CuptiBackend::result_name(CUptiResult result) const {
  const char* text = nullptr;
  if (library_.functions.get_result_string == nullptr ||
      library_.functions.get_result_string(result, &text) != CUPTI_SUCCESS) {
    return nullptr;
  }
  return text;
}

void CuptiBackend::fail(StatusSink& statuses, CUptiResult result, const char* detail, const char* category) {
  Status status;
  status.state = category != nullptr ? Status::State::kPartial : Status::State::kOff;
  status.code = static_cast<std::int32_t>(result);
  status.code_name = result_name(result);
  status.category = category;
  status.holder = holder_[0] != '\0' ? holder_ : nullptr;
  status.detail = detail != nullptr ? detail : hint_for(result);
  partial_ = true;
  statuses.status(status);
}

bool CuptiBackend::start(const Settings& settings, BufferPool& pool, StatusSink& statuses) {
  if (dead_) return false;
  settings_ = settings;
  statuses_ = &statuses;
  partial_ = told_quiet_ = false;
  if (!is_open_) {
    const Search search{settings.vendor_library, settings.cuda_home, kBuildFolder};
    is_open_ = open_library(search, &library_);
    waits_for_driver_.store(library_.waits_for_driver, std::memory_order_relaxed);
    if (!is_open_ && library_.waits_for_driver) return false;
    if (!is_open_) {
      fail(statuses, CUPTI_SUCCESS, library_.tried.c_str());
      base::LogLine() << "cannot trace the GPU: no usable libcupti: " << library_.tried.c_str()
                      << " (DFTRACER_CUPTI_PATH names one)";
      return false;
    }
  }
  names_.configure(library_.functions.callback_name, settings.api);
  capture.may_refuse.store(library_.version.may_refuse_buffers(), std::memory_order_relaxed);
  capture.pool.store(&pool, std::memory_order_release);
  client_.be_alone(library_.functions);
  bool recording = subscribe(statuses, true) && begin(statuses);
  if (!recording && shares()) {  // rather alone than not at all
    has_shared_ = false;
    release();
    recording = subscribe(statuses, false) && begin(statuses);
  }
  if (!recording) {
    release();
    return false;
  }
  Status on;
  on.state = partial_ ? Status::State::kPartial : Status::State::kOn;
  on.detail = library_.path.c_str();
  statuses.status(on);
  return true;
}

bool CuptiBackend::begin(StatusSink& statuses) {
  decoder_.configure({settings_.categories, library_.version, client_.walk()}, names_);
  capture.client = &client_;
  check_clock();
  set_attributes();
  const CUptiResult result = client_.register_callbacks();
  if (result == CUPTI_SUCCESS) return enable_kinds(statuses);
  fail(statuses, result, nullptr);
  return false;
}

CUptiResult CuptiBackend::subscribe_by_name(bool share) {
  SubscriberParams params{};
  params.size = share ? kSubscriberParamsWithShare : kSubscriberParamsWithoutShare;
  params.name = "dftracer";
  params.holder = holder_;
  params.holder_size = sizeof holder_;
  params.share = 1;
  return library_.functions.subscribe_v2(&subscriber_, &on_callback, nullptr, &params);
}

bool CuptiBackend::subscribe(StatusSink& statuses, bool may_share) {
  const Functions& f = library_.functions;
  holder_[0] = '\0';
  if (may_share && Client::can_share(f, library_.version) && subscribe_by_name(true) == CUPTI_SUCCESS) {
    client_.be_among_others(f, subscriber_);
    has_shared_ = true;
    return true;
  }
  // The driver is older, or another client wants CUPTI for itself.
  const CUptiResult result =
      f.subscribe_v2 != nullptr ? subscribe_by_name(false) : f.subscribe(&subscriber_, &on_callback, nullptr);
  if (result == CUPTI_SUCCESS) return true;
  subscriber_ = nullptr;
  if (static_cast<int>(result) == kTaken && settings_.beside_holder) return true;
  tell_refused(statuses, result);
  return false;
}

void CuptiBackend::tell_refused(StatusSink& statuses, CUptiResult result) {
  fail(statuses, result, nullptr);
  base::LogLine line;
  line << "cannot trace the GPU: ";
  if (static_cast<int>(result) == kTaken) {
    line << "CUPTI is held by " << (holder_[0] != '\0' ? holder_ : "another profiler");
  } else {
    const char* known = result_name(result);
    line << "CUPTI refuses: " << (known != nullptr ? known : "unknown result");
  }
  const char* hint = hint_for(result);
  if (hint != nullptr) line << "; " << hint;
  line << "; the rest is traced";
}

void CuptiBackend::unsubscribe() {
  if (subscriber_ != nullptr) library_.functions.unsubscribe(subscriber_);
  subscriber_ = nullptr;
}

// Buffers are walked, and drops asked for, through the subscription: it goes last.
void CuptiBackend::release() {
  if (dead_) return;
  unsubscribe();
  client_.be_alone(library_.functions);
}

void CuptiBackend::set_attributes() {
  client_.set_attribute(Attribute::kZeroedBuffers, 1);  // the pool's are
  if (library_.version.api() >= kHasBufferPerThread) client_.set_attribute(Attribute::kBufferPerThread, 1);
  client_.set_thread_id_type(1);  // of the kernel
  if (settings_.wants(ActivityKind::kMemory)) client_.record_allocation_source();
}

// For the client that comes next: its buffers may hold anything, and its threads have CUPTI's own numbers.
void CuptiBackend::reset_attributes() {
  client_.set_attribute(Attribute::kZeroedBuffers, 0);
  client_.set_thread_id_type(0);
}

bool CuptiBackend::enable(int kind, const char* category, StatusSink& statuses) {
  const CUptiResult result = client_.enable(kind);
  if (result == CUPTI_SUCCESS) {
    enabled_ |= std::uint64_t{1} << kind;
    return true;
  }
  // A kind that this CUPTI does not know is no failure of the system, but it is said all the same.
  if (category != nullptr) fail(statuses, result, nullptr, category);
  return false;
}

bool CuptiBackend::enable_kinds(StatusSink& statuses) {
  enabled_ = 0;
  bool tried = false;
  const bool graphs = settings_.wants(ActivityKind::kGraph) && settings_.graph == GraphMode::kGraph &&
                      graphs_are_whole(statuses);  // to be said before any kind is enabled
  for (const KindRow& row : kKinds) {
    const bool api = row.category == ActivityKind::kRuntimeApi || row.category == ActivityKind::kDriverApi;
    if (!settings_.wants(row.category) || (api && settings_.api == ApiMode::kNone)) continue;
    tried = true;
    if (enable(row.kind, category_name(row.category).data(), statuses) && api) leave_calls_out(row.category);
  }
  if (graphs) {
    tried = true;
    if (enable(kGraphTrace, category_name(ActivityKind::kGraph).data(), statuses)) count_graph_nodes(statuses);
  }
  // Unified memory alone may have to wait for a context; with nothing wanted, nothing is to be held.
  if (enabled_ == 0 && (tried || !settings_.wants(ActivityKind::kUnifiedMemory))) return false;
  // What exists already is told too, where this CUPTI can.
  for (const int kind : {static_cast<int>(CUPTI_ACTIVITY_KIND_DEVICE), static_cast<int>(CUPTI_ACTIVITY_KIND_CONTEXT)}) {
    if (client_.enable_with_what_exists(kind) == CUPTI_SUCCESS) {
      enabled_ |= std::uint64_t{1} << kind;
    } else {
      enable(kind, nullptr, statuses);
    }
  }
  enable(CUPTI_ACTIVITY_KIND_STREAM, nullptr, statuses);
  if (settings_.wants(ActivityKind::kUnifiedMemory)) start_unified_memory_or_wait();
  return true;
}

// Subscribers among several have graphs all as one record each, or all node by node.
bool CuptiBackend::graphs_are_whole(StatusSink& statuses) {
  if (!client_.shares()) return true;
  const CUptiResult result = client_.set_attribute(Attribute::kGraphTrace, 1);
  if (result == CUPTI_SUCCESS) return true;
  fail(statuses, result, "another client of CUPTI has graphs recorded node by node, and so they are here",
       category_name(ActivityKind::kGraph).data());
  return false;
}

void CuptiBackend::leave_calls_out(ActivityKind kind) {
  const bool runtime = kind == ActivityKind::kRuntimeApi;
  // Before 12.5 the decoder leaves them out.
  names_.for_each_left_out(kind, [&](std::uint32_t id) { client_.leave_call_out(runtime, id); });
}

bool CuptiBackend::knows_graph_nodes(StatusSink& statuses) {
  Status unknown;
  unknown.state = Status::State::kPartial;
  unknown.category = category_name(ActivityKind::kGraph).data();
  if (subscriber_ == nullptr) {
    unknown.code = kTaken;
    unknown.holder = holder_[0] != '\0' ? holder_ : nullptr;
    unknown.detail = "another client keeps CUPTI's subscription: nodes of graphs that are made now are not counted";
  } else if (!library_.may_see_graphs()) {
    unknown.detail =
        "this CUPTI is older than the driver and crashes when graphs are made: their nodes are not counted";
    if (!told_graphs_) base::LogLine() << unknown.detail << " (" << library_.path.c_str() << ")";
    told_graphs_ = true;
  } else {
    return true;
  }
  statuses.status(unknown);
  return false;
}

void CuptiBackend::count_graph_nodes(StatusSink& statuses) {
  if (!knows_graph_nodes(statuses)) return;
  capture.graphs.store(&library_.functions, std::memory_order_release);
  for (const GraphCallback id : kGraphCallbacks) {
    library_.functions.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, id);
  }
}

void CuptiBackend::start_unified_memory_or_wait() {
  constexpr std::uint64_t kBit = std::uint64_t{1} << CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
  if (unified_memory_stays_) {  // on since an earlier start, and nothing to be configured any more
    enabled_ |= kBit;
    return;
  }
  capture.unified_memory_on.store(true, std::memory_order_relaxed);
  const CUptiResult result = start_unified_memory(library_.functions, client_);
  if (result == CUPTI_SUCCESS) {
    unified_memory_stays_ = true;
    enabled_ |= kBit;
    return;
  }
  // No context yet, most likely: again when the first one is made.
  capture.unified_memory_result.store(-1, std::memory_order_relaxed);
  capture.unified_memory_on.store(false, std::memory_order_relaxed);
  if (subscriber_ == nullptr) {
    return fail(*statuses_, result, nullptr, category_name(ActivityKind::kUnifiedMemory).data());
  }
  capture.unified_memory.store(&library_.functions, std::memory_order_release);
  library_.functions.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
}

void CuptiBackend::tell_unified_memory() {
  const std::int32_t result = capture.unified_memory_result.exchange(-1, std::memory_order_acq_rel);
  if (result < 0) return;
  if (result == 0) {
    unified_memory_stays_ = true;
    enabled_ |= std::uint64_t{1} << CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
  } else {
    fail(*statuses_, static_cast<CUptiResult>(result), nullptr, category_name(ActivityKind::kUnifiedMemory).data());
  }
}

bool CuptiBackend::clock_is_realtime() const {
  std::uint64_t stamp = 0;
  library_.functions.get_timestamp(&stamp);  // the first call is slow
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = realtime_ns();
    const CUptiResult result = library_.functions.get_timestamp(&stamp);
    const std::uint64_t after = realtime_ns();
    if (result != CUPTI_SUCCESS || (stamp >= before && stamp <= after)) return true;
  }
  return false;
}

void CuptiBackend::check_clock() {
  is_realtime_ = clock_is_realtime();
  if (is_realtime_ || !settings_.beside_holder || library_.functions.register_clock == nullptr) return;
  // Kineto leaves its own clock behind, which counts the processor's cycles. CUPTI takes another, but none back.
  library_.functions.register_clock(&realtime_ns);
  is_realtime_ = clock_is_realtime();
}

std::uint64_t CuptiBackend::now_ns() {
  std::uint64_t stamp = 0;
  if (is_realtime_ || dead_ || library_.functions.get_timestamp(&stamp) != CUPTI_SUCCESS) return realtime_ns();
  return stamp;
}

void CuptiBackend::flush(bool forced) {
  if (!dead_ && enabled_ != 0) library_.functions.flush_all(forced ? kForced : 0);
}

void CuptiBackend::disable(std::uint64_t kinds) {
  if (library_.version.disable_may_hang()) return;
  for (int kind = 0; kind < 64; ++kind) {
    if ((enabled_ & kinds) >> kind & 1u) client_.disable(kind);
  }
}

void CuptiBackend::wind_down() {
  constexpr std::uint64_t kHostSide = std::uint64_t{1} << CUPTI_ACTIVITY_KIND_OVERHEAD |
                                      std::uint64_t{1} << CUPTI_ACTIVITY_KIND_RUNTIME |
                                      std::uint64_t{1} << CUPTI_ACTIVITY_KIND_DRIVER;
  if (!dead_) disable(kHostSide);
}

void CuptiBackend::stop() {
  if (dead_) return;
  capture.unified_memory.store(nullptr, std::memory_order_release);
  capture.graphs.store(nullptr, std::memory_order_release);
  // Unified memory stays on: CUPTI 13.0 on an H200 takes 2 s to disable it after a second of recording. What it still
  // records finds the pool closed.
  disable(~(std::uint64_t{1} << CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER));
  flush(false);
  flush(true);
  reset_attributes();
}

void CuptiBackend::collect_losses(ActivitySink& sink) {
  if (dead_) return;
  tell_unified_memory();
  capture.graph_sizes.drain([&](GraphSize size) { sink.graph({size.graph, size.nodes}); });
  std::size_t dropped = 0;
  if (client_.dropped_records(&dropped) == CUPTI_SUCCESS && dropped != 0) {
    sink.loss(LossCause::kDropped, dropped, 0, "dropped by CUPTI");
  }
  if (told_quiet_ || settings_.api != ApiMode::kQuiet) return;
  told_quiet_ = true;
  sink.loss(LossCause::kQuiet, 0, 0, quiet_list());
}

void CuptiBackend::in_forked_child() {
  dead_ = true;
  capture.dead.store(true, std::memory_order_relaxed);
}

}  // namespace dft::gpu::cupti
