// SPDX-License-Identifier: MIT
// Purpose: the type of the C++ exception that is unwinding the calling thread right now.
//          The language offers it in handlers only. A destructor's caller, however, must keep the pointer to the
//          exception across the call, in a callee-saved register or in its frame, to resume the unwinding; it is looked
//          for there and proven by the exception class, the exception's own fields and readable memory.
// Threads: any; no lock. Allocates (demangling). Never throws.
#pragma once

#include <cstddef>
#include <string_view>

namespace dft::api {

struct TypeName {
  char text[512];
  std::size_t size = 0;
  std::string_view view() const { return {text, size}; }
};

// Fills in the demangled name, or "unknown" when the exception cannot be found (a foreign runtime or language).
// To be called, directly or through a few frames, by a function that the unwinding entered for clean-up.
void exception_in_flight(TypeName& name);

}  // namespace dft::api
