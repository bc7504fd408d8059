// SPDX-License-Identifier: MIT
// Records as the library lays them out, from layout.h.
#include "state.h"

namespace standin {

namespace {

using F = Field;

// HIP's arguments in the _EXT records are a union of this release's functions; the result comes last.
constexpr std::size_t kExtArguments = 88, kExtResult = 24;

bool ends_with(const std::string& text, const char* end) {
  const std::size_t length = std::strlen(end);
  return text.size() >= length && text.compare(text.size() - length, length, end) == 0;
}

Bytes api_bytes(const Event& e, const State& s, std::uint32_t kind, std::int32_t operation) {
  Bytes out(Record::api, s.release);
  const bool ext = ends_with(e.kind, "_EXT");
  const std::size_t plain = out.size();
  if (ext) out.grow(kExtArguments + kExtResult);
  out.put<std::uint64_t>(F::api_size, out.size()).put(F::api_kind, kind).put(F::api_operation, operation);
  out.put(F::api_internal, e.internal).put(F::api_external, e.external).put(F::api_ancestor, e.ancestor);
  out.put(F::api_start, e.begin).put(F::api_end, e.end).put(F::api_thread, e.thread);
  if (ext) std::memcpy(out.data() + plain + kExtArguments, &e.result, sizeof e.result);
  return out;
}

Bytes dispatch_bytes(const Event& e, const State& s, std::uint32_t kind, std::int32_t operation) {
  Bytes out(Record::dispatch, s.release);
  out.put<std::uint64_t>(F::dispatch_size, out.size()).put(F::dispatch_kind, kind);
  out.put(F::dispatch_operation, operation).put(F::dispatch_internal, e.internal);
  out.put(F::dispatch_external, e.external).put(F::dispatch_thread, e.thread);
  out.put(F::dispatch_start, e.begin).put(F::dispatch_end, e.end);
  out.put<std::uint64_t>(F::dispatch_info_size, 128).put(F::dispatch_agent, e.agent).put(F::dispatch_queue, e.queue);
  out.put(F::dispatch_kernel, e.kernel).put(F::dispatch_dispatch, e.dispatch);
  out.put(F::dispatch_private_segment, e.private_segment).put(F::dispatch_group_segment, e.group_segment);
  return out.put_words(F::dispatch_workgroup, e.workgroup).put_words(F::dispatch_grid, e.grid);
}

Bytes copy_bytes(const Event& e, const State& s, std::uint32_t kind, std::int32_t operation) {
  Bytes out(Record::copy, s.release);
  out.put<std::uint64_t>(F::copy_size, out.size()).put(F::copy_kind, kind).put(F::copy_operation, operation);
  out.put(F::copy_internal, e.internal).put(F::copy_external, e.external).put(F::copy_thread, e.thread);
  out.put(F::copy_start, e.begin).put(F::copy_end, e.end);
  out.put(F::copy_dst_agent, e.dst_agent).put(F::copy_src_agent, e.src_agent).put(F::copy_bytes, e.bytes);
  return out.put(F::copy_dst_address, e.dst_address).put(F::copy_src_address, e.src_address);
}

Bytes scratch_bytes(const Event& e, const State& s, std::uint32_t kind, std::int32_t operation) {
  Bytes out(Record::scratch, s.release);
  const std::size_t plain = out.size();
  const bool longer = s.scenario.scratch_bytes && s.release == Release::k10;
  if (longer) out.grow(sizeof e.bytes);
  out.put<std::uint64_t>(F::scratch_size, out.size()).put(F::scratch_kind, kind).put(F::scratch_operation, operation);
  out.put(F::scratch_internal, e.internal).put(F::scratch_agent, e.agent).put(F::scratch_queue, e.queue);
  out.put(F::scratch_thread, e.thread).put(F::scratch_start, e.begin).put(F::scratch_end, e.end);
  out.put(F::scratch_flags, e.flags);
  if (longer) std::memcpy(out.data() + plain, &e.bytes, sizeof e.bytes);
  return out;
}

Bytes allocation_bytes(const Event& e, const State& s, std::uint32_t kind, std::int32_t operation) {
  Bytes out(Record::allocation, s.release);
  out.put<std::uint64_t>(F::allocation_size, out.size()).put(F::allocation_kind, kind);
  out.put(F::allocation_operation, operation).put(F::allocation_internal, e.internal);
  out.put(F::allocation_external, e.external);
  out.put(F::allocation_thread, e.thread).put(F::allocation_start, e.begin).put(F::allocation_end, e.end);
  return out.put(F::allocation_agent, e.agent).put(F::allocation_address, e.address).put(F::allocation_bytes, e.bytes);
}

Bytes retirement_bytes(const Event& e, const State& s, std::uint32_t kind) {
  Bytes out(Record::retirement, s.release);
  out.put<std::uint64_t>(F::retirement_size, out.size()).put(F::retirement_kind, kind);
  return out.put(F::retirement_timestamp, e.begin).put(F::retirement_internal, e.internal);
}

std::uint32_t node_of(std::uint64_t agent) { return static_cast<std::uint32_t>(agent - kCpuAgent); }

Bytes migration_bytes_05(const Event& e, const State& s, std::uint32_t kind, std::int32_t operation) {
  Bytes out(Record::migration, s.release);
  out.put<std::uint64_t>(F::migration_size, out.size()).put(F::migration_kind, kind);
  out.put(F::migration_operation, operation).put(F::migration_start, e.begin).put(F::migration_end, e.end);
  out.put(F::migration_pid, e.pid);
  const std::string name = e.operation;
  if (ends_with(name, "PAGE_MIGRATE")) {
    out.put(F::migration_migrate_start, e.start_address).put(F::migration_migrate_end, e.end_address);
    out.put(F::migration_migrate_from, node_of(e.src_agent)).put(F::migration_migrate_to, node_of(e.dst_agent));
    out.put(F::migration_migrate_prefetch, node_of(e.prefetch_agent));
    out.put(F::migration_migrate_preferred, node_of(e.preferred_agent)).put(F::migration_migrate_trigger, e.trigger);
  } else if (ends_with(name, "PAGE_FAULT")) {
    const auto flags = static_cast<std::uint8_t>((e.read_fault ? 1 : 0) | (e.migrated ? 2 : 0));
    out.put(F::migration_fault_flags, flags).put(F::migration_fault_node, node_of(e.agent));
    out.put(F::migration_fault_address, e.address);
  } else if (ends_with(name, "QUEUE_SUSPEND")) {
    out.put(F::migration_suspend_flags, static_cast<std::uint8_t>(e.rescheduled));
    out.put(F::migration_suspend_node, node_of(e.agent)).put(F::migration_suspend_trigger, e.trigger);
  } else {
    out.put(F::migration_unmap_node, node_of(e.agent)).put(F::migration_unmap_start, e.start_address);
    out.put(F::migration_unmap_end, e.end_address).put(F::migration_unmap_trigger, e.trigger);
  }
  return out;
}

Bytes migration_bytes_06(const Event& e, const State& s, std::uint32_t kind, std::int32_t operation) {
  Bytes out(Record::migration6, s.release);
  out.put<std::uint64_t>(F::migration6_size, out.size()).put(F::migration6_kind, kind);
  out.put(F::migration6_operation, operation).put(F::migration6_timestamp, e.begin).put(F::migration6_pid, e.pid);
  const std::string name = e.operation;
  if (ends_with(name, "DROPPED_EVENT")) return out.put(F::migration6_dropped, e.count);
  if (name.find("PAGE_FAULT") != std::string::npos) {
    const bool flag = ends_with(name, "START") ? e.read_fault : e.migrated;
    out.put(F::migration6_fault_flags, static_cast<std::uint32_t>(flag));
    return out.put(F::migration6_fault_agent, e.agent).put(F::migration6_fault_address, e.address);
  }
  if (ends_with(name, "EVICTION"))
    return out.put(F::migration6_eviction_agent, e.agent).put(F::migration6_eviction_trigger, e.trigger);
  if (ends_with(name, "RESTORE")) {
    out.put(F::migration6_restore_flags, static_cast<std::uint32_t>(e.rescheduled));
    return out.put(F::migration6_restore_agent, e.agent);
  }
  out.put(F::migration6_start_address, e.start_address).put(F::migration6_end_address, e.end_address);
  if (ends_with(name, "GPU"))
    return out.put(F::migration6_unmap_agent, e.agent).put(F::migration6_unmap_trigger, e.trigger);
  out.put(F::migration6_from_agent, e.src_agent).put(F::migration6_to_agent, e.dst_agent);
  if (ends_with(name, "END")) {
    return out.put(F::migration6_end_trigger, e.trigger).put(F::migration6_error_code, e.error);
  }
  out.put(F::migration6_prefetch_agent, e.prefetch_agent).put(F::migration6_preferred_agent, e.preferred_agent);
  return out.put(F::migration6_start_trigger, e.trigger);
}

Bytes kfd_bytes(const Event& e, const State& s, std::uint32_t kind, std::int32_t operation) {
  const std::string name = e.kind;
#define HEAD(record)                                                                \
  Bytes out(Record::record, s.release);                                             \
  out.put<std::uint64_t>(F::record##_size, out.size()).put(F::record##_kind, kind); \
  out.put(F::record##_operation, operation).put(F::record##_timestamp, e.begin).put(F::record##_pid, e.pid)
  if (ends_with(name, "MIGRATE")) {
    HEAD(kfd_migrate);
    out.put(F::kfd_migrate_start_address, e.start_address).put(F::kfd_migrate_end_address, e.end_address);
    out.put(F::kfd_migrate_src_agent, e.src_agent).put(F::kfd_migrate_dst_agent, e.dst_agent);
    out.put(F::kfd_migrate_prefetch_agent, e.prefetch_agent).put(F::kfd_migrate_preferred_agent, e.preferred_agent);
    return out.put(F::kfd_migrate_error_code, e.error);
  }
  if (ends_with(name, "FAULT")) {
    HEAD(kfd_fault);
    return out.put(F::kfd_fault_agent_id, e.agent).put(F::kfd_fault_address, e.address);
  }
  if (ends_with(name, "QUEUE")) {
    HEAD(kfd_queue);
    return out.put(F::kfd_queue_agent_id, e.agent);
  }
  if (ends_with(name, "GPU")) {
    HEAD(kfd_unmap);
    out.put(F::kfd_unmap_agent_id, e.agent).put(F::kfd_unmap_start_address, e.start_address);
    return out.put(F::kfd_unmap_end_address, e.end_address);
  }
  HEAD(kfd_dropped);
  return out.put(F::kfd_dropped_count, e.count);
#undef HEAD
}

}  // namespace

Bytes bytes_of(const Event& event, const State& s) {
  const std::string kind = event.kind;
  const auto number = static_cast<std::uint32_t>(number_of(event.kind, s.release, false));
  const std::int32_t operation = operation_number(event.kind, event.operation, s.release);
  if (kind == "KERNEL_DISPATCH") return dispatch_bytes(event, s, number, operation);
  if (kind == "MEMORY_COPY") return copy_bytes(event, s, number, operation);
  if (kind == "SCRATCH_MEMORY") return scratch_bytes(event, s, number, operation);
  if (kind == "MEMORY_ALLOCATION") return allocation_bytes(event, s, number, operation);
  if (kind == "CORRELATION_ID_RETIREMENT") return retirement_bytes(event, s, number);
  if (kind == "PAGE_MIGRATION") {
    return s.release == Release::k05 ? migration_bytes_05(event, s, number, operation)
                                     : migration_bytes_06(event, s, number, operation);
  }
  if (kind.compare(0, 4, "KFD_") == 0) return kfd_bytes(event, s, number, operation);
  return api_bytes(event, s, number, operation);
}

Bytes agent_bytes(unsigned node, const State& s) {
  const bool gpu = node > 0;
  Bytes out(Record::agent, s.release);
  const std::size_t plain = out.size();
  const bool longer = s.scenario.uuid16 && s.release == Release::k10;
  if (longer) out.grow(8);
  out.put<std::uint64_t>(F::agent_size, out.size()).put<std::uint64_t>(F::agent_id, kCpuAgent + node);
  out.put<std::int32_t>(F::agent_type, gpu ? 2 : 1).put<std::uint32_t>(F::agent_simd_count, gpu ? 440 : 0);
  out.put<std::uint32_t>(F::agent_wave_front_size, gpu ? 64 : 0).put<std::uint32_t>(F::agent_cu_count, gpu ? 110 : 64);
  out.put<std::uint32_t>(F::agent_gfx_target_version, gpu ? 90010 : 0);
  out.put<std::uint32_t>(F::agent_location_id, gpu ? 0x0300 * node : 0).put<std::uint32_t>(F::agent_domain, 0);
  out.put<std::uint64_t>(F::agent_local_mem_size, gpu ? std::uint64_t{64} << 30 : 0);
  out.put<std::uint32_t>(F::agent_lds_size_in_kb, gpu ? 64 : 0);
  out.put<std::uint32_t>(F::agent_clock_mhz, gpu ? 1700 : 0).put<std::uint64_t>(F::agent_gpu_id, gpu ? 4660 + node : 0);
  out.put<const char*>(F::agent_name, gpu ? "gfx90a" : "A processor").put<const char*>(F::agent_vendor_name, "AMD");
  out.put<const char*>(F::agent_product_name, gpu ? "AMD Instinct of the stand-in" : "A processor");
  out.put<const char*>(F::agent_model_name, gpu ? "aldebaran" : "");
  out.put<std::uint32_t>(F::agent_node_id, node)
      .put<std::int32_t>(F::agent_logical_node_id, static_cast<std::int32_t>(node));
  out.put<std::int32_t>(F::agent_logical_node_type_id, gpu ? static_cast<std::int32_t>(node) - 1 : 0);
  if (gpu) out.put<std::uint64_t>(F::agent_uuid, 0x0807060504030200u + node);
  if (gpu && longer) std::memset(out.data() + plain, 0x0a, 8);
  return out;
}

}  // namespace standin
