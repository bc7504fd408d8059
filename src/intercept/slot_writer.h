// SPDX-License-Identifier: MIT
// Purpose: exchanges the value of a slot, also in pages that the dynamic linker has made read-only (RELRO). Such a page
//          is opened once for all slots in it and protected again; a page that was writable stays so.
// Threads: none; one owner. Other threads call through the slots meanwhile: each is exchanged by one atomic operation.
#pragma once

#include <cstdint>

#include "intercept/elf_object.h"

namespace dft::intercept {

enum class PageAccess : std::uint8_t { kWritable, kReadOnly, kUnknown };
PageAccess page_access(const void* word);

class SlotWriter {
 public:
  enum class Result : std::uint8_t { kDone, kChanged, kRefused };
  // Puts `wanted` there if `expected` is still there. kRefused: the page cannot be made writable.
  Result exchange(SlotWord* word, void* expected, void* wanted);
  void finish();  // REQUIRES: called while the object of the last slot is still sure to be mapped

 private:
  bool open_page(std::uintptr_t page);
  std::uintptr_t page_ = 0;  // the page that the last slot lay in
  bool writable_ = false;
  bool protect_again_ = false;
};

}  // namespace dft::intercept
