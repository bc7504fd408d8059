// SPDX-License-Identifier: MIT
// The symbol by which NVTX finds an injection that is linked in; its header holds a weak one.
#include "sources/gpu/nvtx.h"

extern "C" int (*InitializeInjectionNvtx2_fnptr)(dft::gpu::nvtx::GetExportTable);
int (*InitializeInjectionNvtx2_fnptr)(dft::gpu::nvtx::GetExportTable) = &dft::gpu::nvtx::initialize;
