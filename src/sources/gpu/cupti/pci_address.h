// SPDX-License-Identifier: MIT
// Purpose: where a GPU sits on the PCI bus, which CUPTI does not tell. Read from what the kernel's driver shows of it,
// so
//          that no call of CUDA is made.
// Threads: any; raw system calls, no malloc.
#pragma once

namespace dft::gpu::cupti {

inline constexpr const char* kDriversGpus = "/proc/driver/nvidia/gpus";

// "0000:1b:00.0"; empty when the driver does not show a GPU with this uuid.
struct PciAddress {
  char text[24] = {};
};
PciAddress pci_address_of(const unsigned char (&uuid)[16], const char* gpus = kDriversGpus);

}  // namespace dft::gpu::cupti
