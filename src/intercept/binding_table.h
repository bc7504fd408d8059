// SPDX-License-Identifier: MIT
// Purpose: the functions that are to be bound, found by name, and for each what callers without us would reach.
// Threads: none; under the lock of the GotBinder that owns it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "intercept/elf_object.h"
#include "intercept/mapped_array.h"

namespace dft::intercept {

// One wrapper. The table and everything it points to must live as long as the process.
struct Binding {
  const char* name;
  const char* version;  // null: the default version of the name in libc (else in whatever defines it first)
  void* wrapper;
  std::atomic<void*>* real;    // what the wrapper calls; stored before the first slot leads to the wrapper
  bool spare = false;          // one more wrapper of the same name, for callers that reach another definition
  bool real_is_given = false;  // `real` is set already and stays (a preload library: RTLD_NEXT from its own place)
};

inline constexpr std::uint32_t kNoRow = ~0u;

struct Row {
  const Binding* binding;
  SymbolName name;
  std::uint32_t next;  // row of the same name, or kNoRow
  char version[40];    // the version that its callers ask for; "" when nobody has versions
  void* definition;    // what the dynamic linker takes for callers of the global scope; null: nobody defines it
  bool any_version;    // the definition answers for every version
  bool lasting;        // it lies in an object that is never unloaded, at `place`
  ObjectPlace place;
  bool indirect;           // an IFUNC: dlsym has to say where it leads
  bool defined_elsewhere;  // some object has another definition of this name and version
  void* other;             // what slots hold instead (another tool has bound them before us)
  std::uint32_t slots_with_definition;
  std::uint32_t slots_with_other;

  void* real() const { return binding->real->load(std::memory_order_relaxed); }
  bool active() const { return real() != nullptr; }
};

class BindingTable {
 public:
  bool load(const Binding* bindings, std::size_t count);  // false: no memory
  void release();

  std::size_t size() const { return rows_.size(); }
  Row& operator[](std::uint32_t row) { return rows_[row]; }
  Row* begin() { return rows_.begin(); }
  Row* end() { return rows_.end(); }
  std::uint32_t index_of(const Row* row) { return static_cast<std::uint32_t>(row - rows_.begin()); }

  Row* find(const char* name);  // the first row of that name
  Row* next(Row* row) { return row->next == kNoRow ? nullptr : &rows_[row->next]; }
  bool is_wrapper(Row* group, const void* value);
  // The row whose wrapper ends in `target`, of that version if there are several; null: none.
  Row* leading_to(Row* group, const void* target, const char* version);
  // The row whose definition a caller would get that asks for `version` (null: any); null: unknown.
  Row* defined_for(Row* group, const char* version);

  // An object of the process, in the order of the global scope. Objects up to libc are never unloaded.
  void take_default_versions(const ElfObject& libc);
  void take_definitions(const ElfObject& object, bool lasting);
  void resolve_indirect();  // calls the dynamic linker: not under a lock, not in a dl_iterate_phdr callback
  void note_definitions(const ElfObject& object);
  // Decides which address each wrapper ends in. Where most slots agree on another address than the definition, another
  // tool has bound them before: our wrapper goes on top of its.
  void store_reals();

 private:
  MappedArray<Row> rows_;
  MappedArray<std::uint32_t> index_;  // row + 1 by hash of the name, open addressing, a power of two in size
  std::size_t longest_ = 0;
  std::uint64_t beginnings_[(1 << 14) / 64] = {};
};

}  // namespace dft::intercept
