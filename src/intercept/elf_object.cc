// SPDX-License-Identifier: MIT
#include "intercept/elf_object.h"

#include <elf.h>
#include <sys/auxv.h>

namespace dft::intercept {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kPltRelocation = R_X86_64_JUMP_SLOT;
constexpr std::uint32_t kGotRelocation = R_X86_64_GLOB_DAT;
constexpr std::uint32_t kWordRelocation = R_X86_64_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kPltRelocation = R_AARCH64_JUMP_SLOT;
constexpr std::uint32_t kGotRelocation = R_AARCH64_GLOB_DAT;
constexpr std::uint32_t kWordRelocation = R_AARCH64_ABS64;
#else
#error "relocation types of this processor are not known here"
#endif

constexpr std::uint16_t kHidden = 0x8000;
constexpr std::uint16_t kFirstNamedVersion = 2;  // 0: local, 1: the object itself, without a version

bool is_function(const ElfW(Sym) & symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  return ELF64_ST_BIND(symbol.st_info) != STB_LOCAL &&
         (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

// REQUIRES: kStubSize bytes of code.
#if defined(__x86_64__)
constexpr std::size_t kStubSize = 9;  // no more: lld's PLT ends the segment
// ld, gold and lld: `push $index` in the PLT entry; mold: the PLT's head, `push %r11; push table(%rip)`.
bool is_lazy_stub(const unsigned char* code, std::uint32_t index) {
  constexpr unsigned char kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (std::memcmp(code, kEndbr64, sizeof kEndbr64) == 0) code += sizeof kEndbr64;
  std::uint32_t pushed = 0;
  std::memcpy(&pushed, code + 1, sizeof pushed);
  if (code[0] == 0x68) return pushed == index;
  if (code[0] == 0x41 && code[1] == 0x53) code += 2;
  return code[0] == 0xff && code[1] == 0x35;
}
#elif defined(__aarch64__)
constexpr std::size_t kStubSize = 8;
// The PLT's head: `stp x16, x30, [sp, #-16]!`, behind a landing pad or not.
bool is_lazy_stub(const unsigned char* code, std::uint32_t) {
  std::uint32_t words[2];
  std::memcpy(words, code, sizeof words);
  return words[words[0] == 0xd503245fu ? 1 : 0] == 0xa9bf7bf0u;
}
#endif

}  // namespace

SymbolName::SymbolName(const char* symbol) : text(symbol), gnu_hash(5381), sysv_hash(0) {
  for (const char* c = symbol; *c != '\0'; ++c) {
    const auto byte = static_cast<unsigned char>(*c);
    gnu_hash = gnu_hash * 33 + byte;
    sysv_hash = (sysv_hash << 4) + byte;
    const std::uint32_t top = sysv_hash & 0xf0000000u;
    sysv_hash = (sysv_hash ^ (top >> 24)) & ~top;
  }
}

ElfObject::ElfObject(const ObjectPlace& place)
    : base_(place.base), headers_(place.headers), header_count_(place.header_count) {
  const std::uintptr_t page = getauxval(AT_PAGESZ);
  for (std::size_t i = 0; i < header_count_; ++i) {
    const ElfW(Phdr)& header = headers_[i];
    const std::uintptr_t begin = base_ + header.p_vaddr;
    const std::uintptr_t end = begin + header.p_memsz;
    if (header.p_type == PT_DYNAMIC) dynamic_ = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (header.p_type == PT_GNU_RELRO && begin / page != end / page)
      relro_ = reinterpret_cast<const void*>(begin / page * page);
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0 && code_end_ == 0) {
      code_begin_ = begin;
      code_end_ = end;
    }
  }
}

bool ElfObject::within(const void* address, std::uint32_t flags) const {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  for (std::size_t i = 0; i < header_count_; ++i) {
    const ElfW(Phdr)& header = headers_[i];
    if (header.p_type == PT_LOAD && (header.p_flags & flags) == flags &&
        value - (base_ + header.p_vaddr) < header.p_memsz)
      return true;
  }
  return false;
}

bool ElfObject::writable(std::uintptr_t address) const { return within(reinterpret_cast<const void*>(address), PF_W); }

// The dynamic linker has relocated the pointers of a writable dynamic section, and left those of a read-only one.
const void* ElfObject::located(ElfW(Addr) value) const {
  const auto* relocated = reinterpret_cast<const void*>(value);
  if (contains(relocated)) return relocated;
  const auto* here = reinterpret_cast<const void*>(base_ + value);
  return contains(here) ? here : nullptr;
}

void ElfObject::take_versions(const ElfW(Dyn) & entry) {
  const void* place = located(entry.d_un.d_ptr);
  if (entry.d_tag == DT_VERSYM) symbol_versions_ = static_cast<const std::uint16_t*>(place);
  if (entry.d_tag == DT_VERDEF) definitions_ = static_cast<const char*>(place);
  if (entry.d_tag == DT_VERNEED) needs_ = static_cast<const char*>(place);
  if (entry.d_tag == DT_GNU_HASH) gnu_hash_ = static_cast<const std::uint32_t*>(place);
  if (entry.d_tag == DT_HASH) sysv_hash_ = static_cast<const std::uint32_t*>(place);
}

void ElfObject::read() {
  if (dynamic_ == nullptr) return;
  std::size_t soname = 0;
  for (const ElfW(Dyn)* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) {
    const auto value = entry->d_un.d_val;
    const auto table = [&](Relocations* relocations) {
      relocations->first = static_cast<const char*>(located(entry->d_un.d_ptr));
    };
    const auto without_addends = [](Relocations* relocations) {
      relocations->stride = sizeof(ElfW(Rel));
      relocations->has_addend = false;
    };
    switch (entry->d_tag) {
      case DT_SYMTAB: symbols_ = static_cast<const ElfW(Sym)*>(located(entry->d_un.d_ptr)); break;
      case DT_STRTAB: strings_ = static_cast<const char*>(located(entry->d_un.d_ptr)); break;
      case DT_STRSZ: strings_size_ = value; break;
      case DT_SONAME: soname = value; break;
      case DT_SYMBOLIC: symbolic_ = true; break;
      case DT_FLAGS: symbolic_ = symbolic_ || (value & DF_SYMBOLIC) != 0; break;
      case DT_JMPREL: table(&plt_); break;
      case DT_PLTRELSZ: plt_.size = value; break;
      case DT_PLTREL:
        if (value == DT_REL) without_addends(&plt_);
        break;
      case DT_RELA: table(&other_); break;
      case DT_RELASZ: other_.size = value; break;
      case DT_REL: table(&other_), without_addends(&other_); break;
      case DT_RELSZ: other_.size = value; break;
      default: take_versions(*entry); break;
    }
  }
  if (plt_.first == nullptr) plt_.size = 0;
  if (other_.first == nullptr) other_.size = 0;
  if (strings_ == nullptr) strings_size_ = 0;
  if (soname != 0) soname_ = string(soname);
}

template <class Accept>
    const ElfW(Sym) * ElfObject::search(const SymbolName& name, Accept accept) const {
  if (symbols_ == nullptr || strings_ == nullptr) return nullptr;
  const auto fits = [&](std::uint32_t index) {
    return std::strcmp(string(symbols_[index].st_name), name.text) == 0 && accept(index);
  };
  if (gnu_hash_ != nullptr) {
    const std::uint32_t buckets = gnu_hash_[0], first = gnu_hash_[1], words = gnu_hash_[2], shift = gnu_hash_[3];
    if (buckets == 0 || words == 0) return nullptr;
    const auto* bloom = reinterpret_cast<const std::uint64_t*>(gnu_hash_ + 4);
    const auto* bucket = reinterpret_cast<const std::uint32_t*>(bloom + words);
    const std::uint64_t mask = std::uint64_t{1} << (name.gnu_hash % 64) | std::uint64_t{1}
                                                                              << ((name.gnu_hash >> shift) % 64);
    if ((bloom[name.gnu_hash / 64 % words] & mask) != mask) return nullptr;
    std::uint32_t index = bucket[name.gnu_hash % buckets];
    if (index < first) return nullptr;
    for (const std::uint32_t* chain = bucket + buckets + (index - first);; ++chain, ++index) {
      if ((*chain | 1u) == (name.gnu_hash | 1u) && fits(index)) return symbols_ + index;
      if ((*chain & 1u) != 0) return nullptr;
    }
  }
  if (sysv_hash_ == nullptr || sysv_hash_[0] == 0) return nullptr;
  const std::uint32_t* chain = sysv_hash_ + 2 + sysv_hash_[0];
  for (std::uint32_t index = sysv_hash_[2 + name.sysv_hash % sysv_hash_[0]]; index != 0; index = chain[index])
    if (fits(index)) return symbols_ + index;
  return nullptr;
}

const char* ElfObject::definition_version(std::uint16_t index) const {
  for (const char* at = definitions_; at != nullptr;) {
    const auto* entry = reinterpret_cast<const ElfW(Verdef)*>(at);
    if (entry->vd_ndx == index) return string(reinterpret_cast<const ElfW(Verdaux)*>(at + entry->vd_aux)->vda_name);
    at = entry->vd_next != 0 ? at + entry->vd_next : nullptr;
  }
  return nullptr;
}

const char* ElfObject::needed_version(std::uint16_t index) const {
  for (const char* at = needs_; at != nullptr;) {
    const auto* file = reinterpret_cast<const ElfW(Verneed)*>(at);
    const char* place = at + file->vn_aux;
    for (unsigned i = 0; i < file->vn_cnt; ++i) {
      const auto* entry = reinterpret_cast<const ElfW(Vernaux)*>(place);
      if (entry->vna_other == index) return string(entry->vna_name);
      place += entry->vna_next;
    }
    at = file->vn_next != 0 ? at + file->vn_next : nullptr;
  }
  return nullptr;
}

bool ElfObject::version_fits(std::uint32_t symbol, const char* version) const {
  if (symbol_versions_ == nullptr) return true;
  const std::uint16_t raw = symbol_versions_[symbol];
  const auto index = static_cast<std::uint16_t>(raw & ~kHidden);
  if (version == nullptr || index < kFirstNamedVersion || definitions_ == nullptr) return (raw & kHidden) == 0;
  const char* own = definition_version(index);
  return own != nullptr && std::strcmp(own, version) == 0;
}

const ElfW(Sym) * ElfObject::find_defined(const SymbolName& name, const char* version) const {
  return search(name, [&](std::uint32_t index) {
    const ElfW(Sym)& symbol = symbols_[index];
    return symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 && is_function(symbol) && version_fits(index, version);
  });
}

const char* ElfObject::defined_version(const ElfW(Sym) * symbol) const {
  if (symbol_versions_ == nullptr || definitions_ == nullptr) return nullptr;
  const auto index = static_cast<std::uint16_t>(symbol_versions_[symbol - symbols_] & ~kHidden);
  return index < kFirstNamedVersion ? nullptr : definition_version(index);
}

const void* ElfObject::canonical_plt(const SymbolName& name) const {
  const ElfW(Sym)* found = search(name, [&](std::uint32_t index) {
    return symbols_[index].st_shndx == SHN_UNDEF && symbols_[index].st_value != 0 && is_function(symbols_[index]);
  });
  return found != nullptr ? address_of(found) : nullptr;
}

const char* ElfObject::symbol_name(std::uint32_t symbol) const { return string(symbols_[symbol].st_name); }

const char* ElfObject::wanted_version(std::uint32_t symbol) const {
  if (symbol_versions_ == nullptr) return nullptr;
  const auto index = static_cast<std::uint16_t>(symbol_versions_[symbol] & ~kHidden);
  if (index < kFirstNamedVersion) return nullptr;
  const char* needed = needed_version(index);
  return needed != nullptr ? needed : definition_version(index);
}

bool ElfObject::is_unresolved(const Slot& slot, const void* value) const {
  const auto* code = static_cast<const unsigned char*>(value);
  if (slot.kind != SlotKind::kPlt || !executable(code) || !executable(code + kStubSize - 1)) return false;
  return is_lazy_stub(code, slot.index);
}

bool ElfObject::kind_of(std::uint32_t type, SlotKind* kind) {
  if (type == kPltRelocation) return *kind = SlotKind::kPlt, true;
  if (type == kGotRelocation) return *kind = SlotKind::kGot, true;
  if (type == kWordRelocation) return *kind = SlotKind::kData, true;
  return false;
}

}  // namespace dft::intercept
