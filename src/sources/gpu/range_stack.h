// SPDX-License-Identifier: MIT
// Purpose: the open push/pop ranges of each thread (NVTX, ROCTx), of all domains in the order in which they were
// opened. Threads: any; each its own stack.
#pragma once

#include "record/emit.h"

namespace dft::gpu {

// Once, before the others. False: no memory.
bool prepare_range_stacks();
// How many ranges of the domain were open on this thread before. A null region keeps the order of pops.
int push_range(const void* domain, record::Region* region);
// Closes the innermost range of the domain. How many are left; -1: there was none.
int pop_range(const void* domain);
void range_stacks_in_forked_child();

}  // namespace dft::gpu
