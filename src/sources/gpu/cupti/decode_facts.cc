// SPDX-License-Identifier: MIT
// Devices, contexts and streams.
#include <cstring>

#include "sources/gpu/cupti/decode.h"
#include "sources/gpu/cupti/pci_address.h"

namespace dft::gpu::cupti {

bool decode_device(Record record, DeviceFacts& out) {
  using namespace device;
  if (record.size() < kLeastSize) return false;
  const auto* bytes = static_cast<const unsigned char*>(record.bytes());
  out.id = record.get(kId);
  out.name = record.get(kName);
  std::memcpy(out.uuid, bytes + kUuid.offset, sizeof out.uuid);
  out.has_mig = record.get(kMigEnabled, std::uint8_t{0}) != 0;
  if (out.has_mig) {
    std::memcpy(out.mig_uuid, bytes + kMigUuid.offset, sizeof out.mig_uuid);
    out.gpu_instance = record.get(kGpuInstance);
  }
  out.memory_bytes = record.get(kMemorySize);
  out.memory_bandwidth_kbs = record.get(kMemoryBandwidth);
  out.core_clock_khz = record.get(kCoreClock);
  out.multiprocessors = record.get(kMultiprocessors);
  out.capability_major = record.get(kCapabilityMajor);
  out.capability_minor = record.get(kCapabilityMinor);
  const PciAddress address = pci_address_of(out.uuid);
  std::memcpy(out.pci_address, address.text, sizeof out.pci_address);
  return true;
}

bool decode_context(Record record, ContextFacts& out) {
  using namespace context;
  if (record.size() < kLeastSize) return false;
  out = {record.get(kId), record.get(kDevice), record.get(kNullStream)};
  return true;
}

bool decode_stream(Record record, StreamFacts& out) {
  using namespace stream;
  if (record.size() < kLeastSize) return false;
  out = {record.get(kId), record.get(kContext), record.get(kPriority), record.get(kFlag)};
  return true;
}

}  // namespace dft::gpu::cupti
