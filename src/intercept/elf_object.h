// SPDX-License-Identifier: MIT
// Purpose: one loaded object as the dynamic linker sees it: its symbols, their versions, and the words (slots) in which
//          it keeps the addresses of functions that others define.
// Threads: none; valid only inside the dl_iterate_phdr callback that handed out its dl_phdr_info (the object cannot be
//          unmapped there). No malloc, no lock, no call into the dynamic linker.
// Invariant: objects that are odd (vdso: read-only and not relocated; prelinked; without hash table) read as objects
//            with fewer symbols or slots, never as addresses outside the object.
#pragma once

#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dft::intercept {

struct SymbolName {
  explicit SymbolName(const char* symbol);
  const char* text;
  std::uint32_t gnu_hash;
  std::uint32_t sysv_hash;
};

enum class SlotKind : std::uint8_t { kPlt, kGot, kData };

using SlotWord = std::atomic<void*>;
static_assert(sizeof(SlotWord) == sizeof(void*) && SlotWord::is_always_lock_free, "slots are plain words");

struct Slot {
  SlotWord* word;
  SlotKind kind;
  std::uint32_t symbol;
  std::uint32_t index;  // of its relocation in the table
};

// Where an object lies; may be kept for objects that are never unloaded.
struct ObjectPlace {
  std::uintptr_t base;
  const ElfW(Phdr) * headers;
  std::size_t header_count;
};

class ElfObject {
 public:
  explicit ElfObject(const ObjectPlace& place);  // knows its parts; the rest after read()
  explicit ElfObject(const dl_phdr_info& info)
      : ElfObject(ObjectPlace{info.dlpi_addr, info.dlpi_phdr, info.dlpi_phnum}) {}
  void read();

  ObjectPlace place() const { return {base_, headers_, header_count_}; }
  std::uintptr_t base() const { return base_; }
  const void* dynamic() const { return dynamic_; }
  bool has_slots() const { return symbols_ != nullptr && strings_ != nullptr && (plt_.size != 0 || other_.size != 0); }
  bool contains(const void* address) const { return within(address, 0); }
  bool executable(const void* address) const { return within(address, PF_X); }
  std::uintptr_t code_begin() const { return code_begin_; }
  std::uintptr_t code_end() const { return code_end_; }
  const char* soname() const { return soname_; }  // "" when it has none
  bool looks_at_itself_first() const { return symbolic_; }
  // An address in the part that the dynamic linker makes read-only when all relocations are done; null: none.
  const void* read_only_after_relocation() const { return relro_; }

  // The symbol that defines `name`: in `version`, or with null in its default version. An object without versions of
  // its own answers for every version, as it does to the dynamic linker.
  const ElfW(Sym) * find_defined(const SymbolName& name, const char* version) const;
  // The version that find_defined() found; null when the object has none.
  const char* defined_version(const ElfW(Sym) * symbol) const;
  // The address that an executable gives to a function of another object, so that pointers to it compare equal: an
  // entry of its own PLT. Null when it has none for this name.
  const void* canonical_plt(const SymbolName& name) const;
  void* address_of(const ElfW(Sym) * symbol) const { return reinterpret_cast<void*>(base_ + symbol->st_value); }

  const char* symbol_name(std::uint32_t symbol) const;     // "" when out of bounds
  const char* wanted_version(std::uint32_t symbol) const;  // of a symbol that this object asks for; null: any
  // The slot was never called through: `value` is the object's own way into the dynamic linker. Told by the code there,
  // since an object may also have put a function of its own into its slot.
  bool is_unresolved(const Slot& slot, const void* value) const;

  template <class Visit>
  void each_slot(Visit&& visit) const {
    each_in(plt_, visit);
    each_in(other_, visit);
  }

 private:
  struct Relocations {
    const char* first = nullptr;
    std::size_t size = 0;
    std::size_t stride = sizeof(ElfW(Rela));
    bool has_addend = true;
  };

  bool within(const void* address, std::uint32_t flags) const;
  bool writable(std::uintptr_t address) const;  // by its segment; the dynamic linker may have protected it since
  const void* located(ElfW(Addr) value) const;
  void take_versions(const ElfW(Dyn) & entry);
  const char* definition_version(std::uint16_t index) const;
  const char* needed_version(std::uint16_t index) const;
  const char* string(std::size_t offset) const { return offset < strings_size_ ? strings_ + offset : ""; }
  bool version_fits(std::uint32_t symbol, const char* version) const;
  template <class Accept>
      const ElfW(Sym) * search(const SymbolName& name, Accept accept) const;

  // The relocation types that put the bare address of a function into a word.
  static bool kind_of(std::uint32_t type, SlotKind* kind);

  template <class Visit>
  void each_in(const Relocations& table, Visit& visit) const {
    for (std::size_t at = 0; at + table.stride <= table.size; at += table.stride) {
      ElfW(Rela) entry{};
      std::memcpy(&entry, table.first + at, table.stride);
      Slot slot{};
      if (!kind_of(static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info)), &slot.kind)) continue;
      if (table.has_addend && entry.r_addend != 0 && slot.kind == SlotKind::kData) continue;
      const std::uintptr_t address = base_ + entry.r_offset;
      if (address % sizeof(void*) != 0 || !writable(address)) continue;
      slot.word = reinterpret_cast<SlotWord*>(address);
      slot.symbol = static_cast<std::uint32_t>(ELF64_R_SYM(entry.r_info));
      slot.index = static_cast<std::uint32_t>(at / table.stride);
      visit(slot);
    }
  }

  std::uintptr_t base_;
  const ElfW(Phdr) * headers_;
  std::size_t header_count_;
  const ElfW(Dyn) * dynamic_ = nullptr;
  std::uintptr_t code_begin_ = 0;
  std::uintptr_t code_end_ = 0;
  const void* relro_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
  std::size_t strings_size_ = 0;
  const std::uint32_t* gnu_hash_ = nullptr;
  const std::uint32_t* sysv_hash_ = nullptr;
  const std::uint16_t* symbol_versions_ = nullptr;
  const char* definitions_ = nullptr;
  const char* needs_ = nullptr;
  Relocations plt_;
  Relocations other_;
  const char* soname_ = "";
  bool symbolic_ = false;
};

}  // namespace dft::intercept
