// SPDX-License-Identifier: MIT
#include "sources/gpu/rocprof/agents.h"

#include <cstdio>
#include <string_view>

#include "record/emit.h"
#include "sources/gpu/activity.h"

namespace dft::gpu::rocprof {

namespace {

// "GPU-" and the sixteen digits that AMD's tools print; all 128 bits where the library has them.
std::string_view uuid_text(const std::uint8_t* bytes, std::size_t count, char (&out)[80]) {
  static constexpr char kHex[] = "0123456789abcdef";
  char* at = out;
  for (const char c : {'G', 'P', 'U', '-'}) *at++ = c;
  for (std::size_t i = count; i-- > 0;) {
    *at++ = kHex[bytes[i] >> 4];
    *at++ = kHex[bytes[i] & 15];
  }
  return {out, static_cast<std::size_t>(at - out)};
}

bool is_given(const char* text) { return text != nullptr && text[0] != '\0'; }

// The driver says the memory's size for each bank only.
std::uint64_t memory_of(const Agent& agent) {
  std::uint64_t sum = agent.local_mem_size;
  if (sum != 0 || agent.mem_banks == nullptr) return sum;
  for (std::uint32_t i = 0; i < agent.mem_banks_count; ++i) {
    const MemBank& bank = agent.mem_banks[i];
    if (bank.heap_type == 1 || bank.heap_type == 2) sum += bank.bytes;
  }
  return sum;
}

// 90010 -> gfx90a, as compilers call it. Its name is not known where the library cannot ask the display driver.
const char* target_of(const Agent& agent, char (&out)[80]) {
  if (is_given(agent.name) || agent.type != kGpuAgent || agent.gfx_target_version == 0) return agent.name;
  const std::uint32_t version = agent.gfx_target_version;
  std::snprintf(out, sizeof out, "gfx%u%x%x", version / 10000, version / 100 % 100, version % 100);
  return out;
}

void emit_agent(const Agent& agent) {
  char text[80];
  char target[80];
  record::ArgList<1024> args;
  args.add_uint64("agent_id", static_cast<std::uint64_t>(agent.logical_node_id));
  args.add_string("type", agent.type == kGpuAgent ? "GPU" : "CPU");
  if (agent.type == kGpuAgent) args.add_uint64("device_id", static_cast<std::uint64_t>(agent.logical_node_type_id));
  args.add_uint64("node_id", agent.node_id);
  const auto add_text = [&](std::string_view key, const char* value) {
    if (is_given(value)) args.add_string(key, std::string_view(value).substr(0, 160));
  };
  const char* const code = target_of(agent, target);
  const char* const model = is_given(agent.model_name) ? agent.model_name : code;
  add_text("name", is_given(agent.product_name) ? agent.product_name : model);
  add_text("target", code);
  add_text("vendor", agent.vendor_name);
  const std::size_t uuid_bytes = agent.size >= sizeof(Agent) ? sizeof agent.uuid : agent.size >= kAgentHalfUuid ? 8 : 0;
  bool has_uuid = false;
  for (std::size_t i = 0; i < uuid_bytes; ++i) has_uuid = has_uuid || agent.uuid[i] != 0;
  if (has_uuid) args.add_string("uuid", uuid_text(agent.uuid, uuid_bytes, text));
  if (agent.type == kGpuAgent) {
    args.add_uint64("multiprocessors", agent.cu_count);
    args.add_uint64("simd_count", agent.simd_count);
    args.add_uint64("wave_front_size", agent.wave_front_size);
    args.add_uint64("lds_size_in_kb", agent.lds_size_in_kb);
    args.add_uint64("core_clock_khz", std::uint64_t{agent.max_engine_clk_fcompute} * 1000);
    args.add_uint64("memory_bytes", memory_of(agent));
    args.add_uint64("num_xcc", agent.num_xcc);
    args.add_uint64("domain", agent.domain);
    args.add_uint64("location_id", agent.location_id);
    args.add_uint64("pci_device_id", agent.device_id);
  } else {
    args.add_uint64("cpu_cores", agent.cpu_cores_count);
  }
  record::emit_metadata(record::site_id("gpu_device", model::kCategoryDftracer, model::Layer::kHip), args);
}

Status on_agents(int version, const void** agents, std::size_t count, void* data) {
  if (version != kAgentVersion || agents == nullptr) return kDone;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* agent = static_cast<const Agent*>(agents[i]);
    if (agent == nullptr || agent->size < kAgentLeast) continue;
    static_cast<Agents*>(data)->add(*agent);
    emit_agent(*agent);
  }
  return kDone;
}

}  // namespace

bool Agents::configure(const Functions& functions) {
  count_ = 0;
  last_ = nullptr;
  return functions.for_each_agent(kAgentVersion, &on_agents, kAgentLeast, this) == kDone;
}

void Agents::add(const Agent& agent) {
  if (count_ == kMost || of_handle(agent.id.handle) != nullptr) return;
  const bool is_gpu = agent.type == kGpuAgent;
  entries_[count_++] = {agent.id.handle, static_cast<std::uint32_t>(agent.logical_node_id),
                        is_gpu ? static_cast<std::uint32_t>(agent.logical_node_type_id) : kNoId, agent.node_id};
}

const Agents::Entry* Agents::of_handle(std::uint64_t handle) const {
  if (last_ != nullptr && last_->handle == handle) return last_;
  for (unsigned i = 0; i < count_; ++i) {
    if (entries_[i].handle == handle) return last_ = &entries_[i];
  }
  return nullptr;
}

const Agents::Entry* Agents::of_node(std::uint32_t node) const {
  for (unsigned i = 0; i < count_; ++i) {
    if (entries_[i].node == node) return &entries_[i];
  }
  return nullptr;
}

}  // namespace dft::gpu::rocprof
