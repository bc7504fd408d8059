// SPDX-License-Identifier: MIT
#include "sources/gpu/activity_args.h"

namespace dft::gpu {

namespace {
using model::ArgType;

constexpr record::ArgField kFields[] = {
    {ArgType::kUint64, "cbid"},
    {ArgType::kUint64, "device_id"},
    {ArgType::kUint64, "context_id"},
    {ArgType::kUint64, "stream_id"},
    {ArgType::kUint64, "correlation_id"},
    {ArgType::kUint64, "return_value"},
    {ArgType::kString, "error"},
    {ArgType::kUint64, "pid"},
    {ArgType::kInt64, "grid_id"},
    {ArgType::kInt64, "grid_x"},
    {ArgType::kInt64, "grid_y"},
    {ArgType::kInt64, "grid_z"},
    {ArgType::kInt64, "block_x"},
    {ArgType::kInt64, "block_y"},
    {ArgType::kInt64, "block_z"},
    {ArgType::kInt64, "static_shared_memory"},
    {ArgType::kInt64, "dynamic_shared_memory"},
    {ArgType::kUint64, "registers_per_thread"},
    {ArgType::kUint64, "local_memory_per_thread"},
    {ArgType::kUint64, "cluster_x"},
    {ArgType::kUint64, "cluster_y"},
    {ArgType::kUint64, "cluster_z"},
    {ArgType::kHash, "symbol_hash"},
    {ArgType::kUint64, "bytes"},
    {ArgType::kUint64, "copy_kind"},
    {ArgType::kUint64, "src_kind"},
    {ArgType::kUint64, "dst_kind"},
    {ArgType::kUint64, "src_device_id"},
    {ArgType::kUint64, "dst_device_id"},
    {ArgType::kUint64, "src_context_id"},
    {ArgType::kUint64, "dst_context_id"},
    {ArgType::kUint64, "value"},
    {ArgType::kUint64, "counter_kind"},
    {ArgType::kUint64, "address"},
    {ArgType::kUint64, "memory_kind"},
    {ArgType::kUint64, "pool_address"},
    {ArgType::kUint64, "pool_size"},
    {ArgType::kUint64, "async"},
    {ArgType::kString, "source"},
    {ArgType::kUint64, "cuda_event_id"},
    {ArgType::kUint64, "src_id"},
    {ArgType::kUint64, "dst_id"},
    {ArgType::kUint64, "object_kind"},
    {ArgType::kUint64, "overhead_kind"},
    {ArgType::kUint64, "graph_id"},
    {ArgType::kUint64, "graph_node_id"},
    {ArgType::kUint64, "dur_ns"},
    {ArgType::kString, "clock_suspect"},
};
static_assert(sizeof kFields / sizeof kFields[0] == static_cast<unsigned>(Key::kCount));
}  // namespace

model::SchemaId SchemaCache::look_up(std::uint64_t keys) {
  bool made = false;
  model::SchemaId* known = known_.find_or_add({keys}, &made);
  if (known == nullptr) return model::kSelfDescribing;
  if (made) {
    record::ArgField fields[model::kMaxFields];
    std::size_t count = 0;
    for (unsigned i = 0; i < static_cast<unsigned>(Key::kCount) && count < model::kMaxFields; ++i) {
      if ((keys >> i & 1u) != 0) fields[count++] = kFields[i];
    }
    *known = record::schema_id(fields, count);
  }
  return *known;
}

model::SchemaId constants_schema(std::uint64_t keys, std::uint64_t own, const std::uint64_t* values) {
  record::FieldOrConstant fields[model::kMaxFields];
  std::size_t count = 0;
  for (unsigned i = 0; i < static_cast<unsigned>(Key::kCount) && count < model::kMaxFields; ++i) {
    if ((keys >> i & 1u) == 0) continue;
    fields[count] = {kFields[i], (own >> i & 1u) == 0, values[count]};
    ++count;
  }
  return record::schema_id(fields, count);
}

}  // namespace dft::gpu
