// SPDX-License-Identifier: MIT
// Purpose: where the fields of CUPTI's activity records lie, for every CUPTI from 10.1 on. A record only ever grew at
// its
//          end, so one offset holds for all; a record that is too short for a field is of a CUPTI that did not have it.
// Invariant: layout_proofs.cc holds every record struct that the build's toolkit declares against this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dft::gpu::cupti {

template <class T>
struct Field {
  using Type = T;
  std::uint16_t offset;
  std::uint16_t least_size;  // of the records that have it
};

// One record of a buffer. Its size is the way to the next one, or to the end of what is valid.
class Record {
 public:
  Record(const void* bytes, std::size_t size) : bytes_(static_cast<const unsigned char*>(bytes)), size_(size) {}
  const void* bytes() const { return bytes_; }
  std::size_t size() const { return size_; }
  template <class T>
  bool has(Field<T> field) const {
    return size_ >= field.least_size;
  }
  // REQUIRES: has(field), which a record of at least its family's kLeastSize is for the fields without a later size
  template <class T>
  T get(Field<T> field) const {
    T value;
    std::memcpy(&value, bytes_ + field.offset, sizeof(value));
    return value;
  }
  template <class T>
  T get(Field<T> field, T otherwise) const {
    return has(field) ? get(field) : otherwise;
  }

 private:
  const unsigned char* bytes_;
  std::size_t size_;
};

struct Uuid {
  unsigned char bytes[16];
};

using U8 = Field<std::uint8_t>;
using U16 = Field<std::uint16_t>;
using U32 = Field<std::uint32_t>;
using I32 = Field<std::int32_t>;
using U64 = Field<std::uint64_t>;
using I64 = Field<std::int64_t>;
using Text = Field<const char*>;

inline constexpr U32 kKind{0, 8};

namespace api {
inline constexpr std::uint16_t kLeastSize = 40;
inline constexpr U32 kCallback{4, 40}, kPid{24, 40}, kTid{28, 40}, kCorrelation{32, 40}, kReturnValue{36, 40};
inline constexpr U64 kStart{8, 40}, kEnd{16, 40};
}  // namespace api

namespace kernel {  // Kernel4 (10.1) on
inline constexpr std::uint16_t kLeastSize = 144;
inline constexpr U16 kRegisters{6, 144};
inline constexpr U64 kStart{16, 144}, kEnd{24, 144}, kCompleted{32, 144}, kQueued{120, 144}, kSubmitted{128, 144};
inline constexpr U32 kDevice{40, 144}, kContext{44, 144}, kStream{48, 144};
inline constexpr I32 kGridX{52, 144}, kGridY{56, 144}, kGridZ{60, 144};
inline constexpr I32 kBlockX{64, 144}, kBlockY{68, 144}, kBlockZ{72, 144};
inline constexpr I32 kStaticShared{76, 144}, kDynamicShared{80, 144};
inline constexpr U32 kLocalPerThread{84, 144}, kCorrelation{92, 144}, kSharedExecuted{140, 144};
inline constexpr I64 kGridId{96, 144};
inline constexpr Text kName{104, 144};
inline constexpr U8 kLaunchType{136, 144};
inline constexpr U64 kGraphNode{144, 160};                                           // Kernel5, 11.0
inline constexpr U32 kGraph{156, 160};                                               // see Version::has_kernel_graph_id
inline constexpr U32 kChannel{168, 176}, kChannelType{172, 176};                     // Kernel7, 11.6
inline constexpr U32 kClusterX{176, 200}, kClusterY{180, 200}, kClusterZ{184, 200};  // Kernel8, 11.8
inline constexpr U8 kDeviceLaunched{208, 216};                                       // Kernel10, 13.0
inline constexpr I32 kPriority{216, 224};                                            // Kernel11, 13.1
inline constexpr U32 kSourceGraph{232, 248};                                         // Kernel13, 13.4
inline constexpr U64 kSourceGraphNode{240, 248};
}  // namespace kernel

namespace memcpy {
inline constexpr std::uint16_t kLeastSize = 64;
inline constexpr U8 kCopyKind{4, 64}, kSourceKind{5, 64}, kTargetKind{6, 64}, kFlags{7, 64};
inline constexpr U64 kBytes{8, 64}, kStart{16, 64}, kEnd{24, 64};
inline constexpr U32 kDevice{32, 64}, kContext{36, 64}, kStream{40, 64}, kCorrelation{44, 64};
inline constexpr U64 kGraphNode{64, 72};  // Memcpy3, 11.0
inline constexpr U32 kGraph{72, 80};      // Memcpy4, 11.1
inline constexpr U64 kCopyCount{88, 96};  // Memcpy6, 12.8
}  // namespace memcpy

namespace peer_copy {
inline constexpr std::uint16_t kLeastSize = 72;
inline constexpr U8 kCopyKind{4, 72}, kSourceKind{5, 72}, kTargetKind{6, 72}, kFlags{7, 72};
inline constexpr U64 kBytes{8, 72}, kStart{16, 72}, kEnd{24, 72};
inline constexpr U32 kDevice{32, 72}, kContext{36, 72}, kStream{40, 72};
inline constexpr U32 kSourceDevice{44, 72}, kSourceContext{48, 72}, kTargetDevice{52, 72}, kTargetContext{56, 72};
inline constexpr U32 kCorrelation{60, 72};
inline constexpr U64 kGraphNode{72, 80};  // MemcpyPtoP2, 11.0
inline constexpr U32 kGraph{80, 88};      // MemcpyPtoP3, 11.1
}  // namespace peer_copy

namespace memset {
inline constexpr std::uint16_t kLeastSize = 64;
inline constexpr U32 kValue{4, 64}, kDevice{32, 64}, kContext{36, 64}, kStream{40, 64}, kCorrelation{44, 64};
inline constexpr U64 kBytes{8, 64}, kStart{16, 64}, kEnd{24, 64};
inline constexpr U16 kFlags{48, 64}, kMemoryKind{50, 64};
inline constexpr U64 kGraphNode{64, 72};  // Memset2, 11.0
inline constexpr U32 kGraph{72, 80};      // Memset3, 11.1
}  // namespace memset

namespace synchronization {
inline constexpr std::uint16_t kLeastSize = 40;
inline constexpr U32 kType{4, 40}, kCorrelation{24, 40}, kContext{28, 40}, kStream{32, 40}, kEvent{36, 40};
inline constexpr U64 kStart{8, 40}, kEnd{16, 40};
inline constexpr U64 kEventSync{40, 56};  // Synchronization2, 12.8
inline constexpr U32 kReturnValue{48, 56};
}  // namespace synchronization

namespace graph_trace {  // 11.7 on
inline constexpr std::uint16_t kLeastSize = 48;
inline constexpr U32 kCorrelation{4, 48}, kDevice{24, 48}, kGraph{28, 48}, kContext{32, 48}, kStream{36, 48};
inline constexpr U64 kStart{8, 48}, kEnd{16, 48};
inline constexpr U32 kEndDevice{48, 56}, kEndContext{52, 56};  // GraphTrace2, 12.3
}  // namespace graph_trace

namespace overhead {
inline constexpr std::uint16_t kLeastSize = 40;
inline constexpr U32 kOverheadKind{4, 40}, kObjectKind{8, 40}, kObjectPid{12, 40}, kObjectTid{16, 40};
inline constexpr U64 kStart{24, 40}, kEnd{32, 40};
inline constexpr U32 kCorrelation{40, 48};  // Overhead2, 12.3
}  // namespace overhead

namespace external_correlation {
inline constexpr std::uint16_t kLeastSize = 24;
inline constexpr U32 kExternalKind{4, 24}, kCorrelation{16, 24};
inline constexpr U64 kExternalId{8, 24};
}  // namespace external_correlation

namespace memory {  // of kind MEMORY2: Memory2 (11.2) on
inline constexpr std::uint16_t kLeastSize = 112;
inline constexpr U32 kOperation{4, 112}, kMemoryKind{8, 112}, kCorrelation{12, 112}, kPid{48, 112};
inline constexpr U32 kDevice{52, 112}, kContext{56, 112}, kStream{60, 112}, kAsync{72, 112}, kPoolType{80, 112};
inline constexpr U64 kAddress{16, 112}, kBytes{24, 112}, kTimestamp{32, 112}, kProgramCounter{40, 112};
inline constexpr Text kName{64, 112};
inline constexpr U64 kPoolAddress{88, 112}, kPoolReleaseThreshold{96, 112}, kPoolSize{104, 112};
inline constexpr U64 kPoolUtilized{112, 120};  // Memory3, 11.6
inline constexpr Text kSource{120, 128};       // Memory4, 12.6
}  // namespace memory

namespace memory_pool {  // 11.2 on
inline constexpr std::uint16_t kLeastSize = 64;
inline constexpr U32 kOperation{4, 64}, kPoolType{8, 64}, kCorrelation{12, 64}, kPid{16, 64}, kDevice{20, 64};
inline constexpr U64 kMinBytesToKeep{24, 64}, kAddress{32, 64}, kSize{40, 64}, kReleaseThreshold{48, 64};
inline constexpr U64 kTimestamp{56, 64};
inline constexpr U64 kUtilized{64, 72};  // MemoryPool2
}  // namespace memory_pool

namespace marker {  // Marker2
inline constexpr std::uint16_t kLeastSize = 56;
inline constexpr U32 kFlags{4, 56}, kId{16, 56}, kObjectKind{20, 56}, kObjectPid{24, 56}, kObjectTid{28, 56};
inline constexpr U64 kTimestamp{8, 56};
inline constexpr Text kName{40, 56}, kDomain{48, 56};
}  // namespace marker

namespace marker_data {
inline constexpr std::uint16_t kLeastSize = 32;
inline constexpr U32 kFlags{4, 32}, kId{8, 32}, kPayloadKind{12, 32}, kColor{24, 32}, kCategory{28, 32};
inline constexpr U64 kPayload{16, 32};
}  // namespace marker_data

namespace unified_memory {  // UnifiedMemoryCounter2
inline constexpr std::uint16_t kLeastSize = 64;
inline constexpr U32 kCounterKind{4, 64}, kSource{40, 64}, kTarget{44, 64}, kStream{48, 64}, kPid{52, 64},
    kFlags{56, 64};
inline constexpr U64 kValue{8, 64}, kStart{16, 64}, kEnd{24, 64}, kAddress{32, 64};
}  // namespace unified_memory

namespace device {  // Device2 on
inline constexpr std::uint16_t kLeastSize = 144;
inline constexpr U64 kMemoryBandwidth{8, 144}, kMemorySize{16, 144};
inline constexpr U32 kL2Size{28, 144}, kWarpSize{32, 144}, kCoreClock{36, 144}, kCopyEngines{40, 144};
inline constexpr U32 kMultiprocessors{44, 144}, kCapabilityMajor{104, 144}, kCapabilityMinor{108, 144}, kId{112, 144};
inline constexpr U32 kEcc{116, 144};
inline constexpr Field<Uuid> kUuid{120, 144};
inline constexpr Text kName{136, 144};
inline constexpr U8 kCudaVisible{144, 152};  // Device3
inline constexpr U8 kMigEnabled{145, 176};   // Device4
inline constexpr U32 kGpuInstance{152, 176}, kComputeInstance{156, 176};
inline constexpr Field<Uuid> kMigUuid{160, 176};
}  // namespace device

namespace context {
inline constexpr std::uint16_t kLeastSize = 16;
inline constexpr U32 kId{4, 16}, kDevice{8, 16};
inline constexpr U16 kNullStream{14, 16};
inline constexpr U32 kParent{16, 24};  // Context2, 12.4
inline constexpr U8 kGreen{20, 24};
}  // namespace context

namespace stream {
inline constexpr std::uint16_t kLeastSize = 24;
inline constexpr U32 kContext{4, 24}, kId{8, 24}, kPriority{12, 24}, kFlag{16, 24}, kCorrelation{20, 24};
}  // namespace stream

}  // namespace dft::gpu::cupti
