// SPDX-License-Identifier: MIT
#include "sources/gpu/rocprof/kinds.h"

#include <cstring>

namespace dft::gpu::rocprof {

namespace {

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

constexpr std::string_view kQuietHip[] = {
    "hipGetDevice",
    "hipSetDevice",
    "hipGetLastError",
    "hipExtGetLastError",
    "hipPeekAtLastError",
    "__hipPushCallConfiguration",
    "__hipPopCallConfiguration",
    "hipPushCallConfiguration",
    "hipPopCallConfiguration",
    "hipGetDeviceCount",
    "hipDeviceGetAttribute",
    "hipCtxSetCurrent",
    "hipRuntimeGetVersion",
    "hipModuleGetFunction",
};
constexpr std::string_view kQuietHipPrefixes[] = {"hipGetDeviceProperties"};

// In quiet mode only HSA calls that do work are recorded.
constexpr std::string_view kLoudHsa[] = {"hsa_init",
                                         "hsa_shut_down",
                                         "hsa_queue_create",
                                         "hsa_soft_queue_create",
                                         "hsa_queue_destroy",
                                         "hsa_memory_allocate",
                                         "hsa_memory_free",
                                         "hsa_memory_copy",
                                         "hsa_memory_register",
                                         "hsa_memory_deregister",
                                         "hsa_executable_freeze",
                                         "hsa_executable_destroy",
                                         "hsa_amd_memory_pool_allocate",
                                         "hsa_amd_memory_pool_free",
                                         "hsa_amd_memory_lock",
                                         "hsa_amd_memory_lock_to_pool",
                                         "hsa_amd_memory_unlock",
                                         "hsa_amd_memory_fill",
                                         "hsa_amd_interop_map_buffer",
                                         "hsa_amd_vmem_handle_create",
                                         "hsa_amd_vmem_handle_release"};
constexpr std::string_view kLoudHsaPrefixes[] = {
    "hsa_executable_load",  "hsa_amd_memory_async_copy", "hsa_ext_image_copy",  "hsa_ext_image_create",
    "hsa_ext_image_import", "hsa_ext_image_export",      "hsa_ext_image_clear", "hsa_ext_program_finalize"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  for (const std::string_view known : names) {
    if (name == known) return true;
  }
  return false;
}
template <std::size_t N>
bool begins_with_one_of(std::string_view name, const std::string_view (&prefixes)[N]) {
  for (const std::string_view prefix : prefixes) {
    if (starts_with(name, prefix)) return true;
  }
  return false;
}

using NameOf = Signature_query_buffer_tracing_kind_name;

std::string_view text_of(Status status, const char* name) {
  return status == kDone && name != nullptr ? std::string_view(name) : std::string_view();
}

struct Numbers {
  NameOf name_of;
  int* numbers;
  int* code_object;  // null: not looked for, as the next
  int* marker_range;
  std::uint8_t* of_number;
};

int note_kind(int number, void* data) {
  const Numbers& out = *static_cast<Numbers*>(data);
  const char* name = nullptr;
  std::uint64_t size = 0;
  const Status status = out.name_of(number, &name, &size);
  const std::string_view text = text_of(status, name);
  if (out.code_object != nullptr && text == "CODE_OBJECT") *out.code_object = number;
  if (out.marker_range != nullptr && text == "MARKER_CORE_RANGE_API") *out.marker_range = number;
  const unsigned kind = kind_index(text);
  if (kind == kKinds || number < 0) return 0;
  out.numbers[kind] = number;
  if (out.of_number != nullptr && static_cast<unsigned>(number) < KindTable::kNumbers) {
    out.of_number[number] = static_cast<std::uint8_t>(kind);
  }
  return 0;
}

}  // namespace

unsigned kind_index(std::string_view name) {
  unsigned kind = 0;
  while (kind < kKinds && name != kKindRows[kind].name) ++kind;
  return kind;
}

std::uint32_t default_kinds() {
  std::uint32_t bits = 0;
  for (unsigned kind = 0; kind < kKinds; ++kind) bits |= kKindRows[kind].by_default ? 1u << kind : 0;
  return bits;
}

std::uint32_t all_kinds() {
  std::uint32_t bits = kAllKinds;
  for (unsigned kind = 0; kind < kKinds; ++kind) {
    if (kKindRows[kind].family == Family::kApiExt) bits &= ~(1u << kind);
  }
  return bits;
}

std::uint32_t kind_bits(const std::string_view* names, std::size_t count, std::string_view* unknown) {
  if (count == 0) return default_kinds();
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned kind = kind_index(names[i]);
    if (kind < kKinds) {
      bits |= 1u << kind;
    } else if (names[i] == "default") {
      bits |= default_kinds();
    } else if (names[i] == "all") {
      bits |= all_kinds();
    } else if (unknown->empty()) {
      *unknown = names[i];
    }
  }
  return bits;
}

bool is_quiet_call(unsigned kind, std::string_view operation) {
  switch (kKindRows[kind].family) {
    case Family::kHipApi:
    case Family::kApiExt: return is_one_of(operation, kQuietHip) || begins_with_one_of(operation, kQuietHipPrefixes);
    case Family::kHsaApi: return !is_one_of(operation, kLoudHsa) && !begins_with_one_of(operation, kLoudHsaPrefixes);
    default: return false;
  }
}

const char* quiet_list() {
  return "HIP queries (hipGetDevice, hipSetDevice, hipGetLastError, hipExtGetLastError, hipPeekAtLastError, "
         "hipGetDeviceCount, hipDeviceGetAttribute, hipGetDeviceProperties*, hipCtxSetCurrent, hipRuntimeGetVersion, "
         "hipModuleGetFunction, __hipPushCallConfiguration, __hipPopCallConfiguration); HSA calls but those that begin "
         "or end the runtime, make or end queues, allocate, free, copy, fill or register memory and images, or load "
         "and "
         "freeze code; DFTRACER_HIP_API=all records them";
}

bool KindTable::configure(const Functions& functions) {
  functions_ = &functions;
  code_object_ = marker_range_ = -1;
  for (unsigned kind = 0; kind < kKinds; ++kind) buffered_[kind] = callback_[kind] = -1;
  std::memset(of_number_, kKinds, sizeof of_number_);
  Numbers buffered{functions.buffered_kind_name, buffered_, nullptr, nullptr, of_number_};
  functions.for_each_buffered_kind(&note_kind, &buffered);
  Numbers callbacks{functions.callback_kind_name, callback_, &code_object_, &marker_range_, nullptr};
  functions.for_each_callback_kind(&note_kind, &callbacks);
  for (const int number : buffered_) {
    if (number >= 0) return true;
  }
  return false;
}

std::string_view KindTable::operation_name(unsigned kind, unsigned operation) const {
  const char* name = nullptr;
  std::uint64_t size = 0;
  if (functions_ == nullptr || kind >= kKinds || buffered_[kind] < 0) return {};
  const Status status =
      functions_->buffered_operation_name(buffered_[kind], static_cast<std::int32_t>(operation), &name, &size);
  return text_of(status, name);
}

}  // namespace dft::gpu::rocprof
