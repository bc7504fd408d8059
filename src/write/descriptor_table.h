// SPDX-License-Identifier: MIT
// Purpose: gives the calling thread a descriptor table of its own, empty. Two gains: the application can neither close
// nor
//          reuse our descriptor, and a single-threaded application keeps the kernel's fast path for descriptors.
// Threads: the drain's thread, before it opens anything.
#pragma once

namespace dft::write {

// False when the kernel refuses (old, or a sandbox): the table is still shared and nothing was closed.
bool own_empty_descriptor_table();

}  // namespace dft::write
