// SPDX-License-Identifier: MIT
#include "intercept/elf_object.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <functional>
#include <string>

#include "intercept/slot_writer.h"

namespace dft::intercept {
namespace {

// Runs `act` for the loaded object whose soname begins with `soname`; false when there is none.
bool with_object(const std::string& soname, const std::function<void(const ElfObject&)>& act) {
  struct Search {
    const std::string& soname;
    const std::function<void(const ElfObject&)>& act;
    bool found;
  } search{soname, act, false};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        ElfObject object(*info);
        object.read();
        if (wanted.found || std::string(object.soname()).rfind(wanted.soname, 0) != 0) return 0;
        wanted.found = true;
        wanted.act(object);
        return 0;
      },
      &search);
  return search.found;
}

TEST(ElfObject, FindsWhatTheDynamicLinkerFinds) {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(libc, nullptr);
  ASSERT_TRUE(with_object("libc.so", [&](const ElfObject& object) {
    for (const char* name : {"read", "pwrite64", "fopen", "posix_spawn", "__xstat", "_exit", "openat"}) {
      const ElfW(Sym)* symbol = object.find_defined(SymbolName(name), nullptr);
      void* expected = dlsym(libc, name);
      if (expected == nullptr) continue;  // only under an old version
      ASSERT_NE(symbol, nullptr) << name;
      EXPECT_EQ(object.address_of(symbol), expected) << name;
      const char* version = object.defined_version(symbol);
      ASSERT_NE(version, nullptr) << name;
      EXPECT_EQ(dlvsym(libc, name, version), expected) << name;
    }
    EXPECT_EQ(object.find_defined(SymbolName("no_such_function"), nullptr), nullptr);
    EXPECT_EQ(object.find_defined(SymbolName("read"), "GLIBC_9.99"), nullptr);
  }));
  dlclose(libc);
}

#if defined(__x86_64__)
TEST(ElfObject, TellsTheVersionsOfOneNameApart) {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(dlvsym(libc, "posix_spawn", "GLIBC_2.2.5"), dlvsym(libc, "posix_spawn", "GLIBC_2.15"));
  ASSERT_TRUE(with_object("libc.so", [&](const ElfObject& object) {
    for (const char* version : {"GLIBC_2.2.5", "GLIBC_2.15"}) {
      const ElfW(Sym)* symbol = object.find_defined(SymbolName("posix_spawn"), version);
      ASSERT_NE(symbol, nullptr);
      EXPECT_EQ(object.address_of(symbol), dlvsym(libc, "posix_spawn", version));
    }
  }));
  dlclose(libc);
}
#endif

TEST(ElfObject, ReadsTheClassicHashTableToo) {
  void* library = dlopen(DFT_TEST_OBJECTS "libcaller_sysv.so", RTLD_LAZY);
  ASSERT_NE(library, nullptr) << dlerror();
  ASSERT_TRUE(with_object("libcaller_sysv.so", [&](const ElfObject& object) {
    const ElfW(Sym)* symbol = object.find_defined(SymbolName("caller_read"), nullptr);
    ASSERT_NE(symbol, nullptr);
    EXPECT_EQ(object.address_of(symbol), dlsym(library, "caller_read"));
    EXPECT_EQ(object.find_defined(SymbolName("read"), nullptr), nullptr);  // asked for, not defined
  }));
  dlclose(library);
}

TEST(ElfObject, SeesEveryKindOfSlotAndTheVersionItAsksFor) {
  void* library = dlopen(DFT_TEST_OBJECTS "libcaller_lazy.so", RTLD_LAZY);
  ASSERT_NE(library, nullptr) << dlerror();
  int kinds[3] = {};
  ASSERT_TRUE(with_object("libcaller_lazy.so", [&](const ElfObject& object) {
    object.each_slot([&](const Slot& slot) {
      if (std::string(object.symbol_name(slot.symbol)) != "read") return;
      ++kinds[static_cast<int>(slot.kind)];
      const char* version = object.wanted_version(slot.symbol);  // none when linked against a sanitizer's definition
      if (version != nullptr) {
        EXPECT_EQ(std::string(version).rfind("GLIBC_2.", 0), 0u);
      }
      if (slot.kind == SlotKind::kPlt) {
        EXPECT_TRUE(object.is_unresolved(slot, slot.word->load()));
        EXPECT_FALSE(object.is_unresolved(slot, dlsym(library, "caller_read"))) << "code of the object, but no stub";
      }
    });
  }));
  EXPECT_EQ(kinds[static_cast<int>(SlotKind::kPlt)], 1);
  EXPECT_EQ(kinds[static_cast<int>(SlotKind::kGot)], 0);
  EXPECT_EQ(kinds[static_cast<int>(SlotKind::kData)], 2);
  dlclose(library);
}

TEST(ElfObject, TheKernelsObjectHasNoSlots) {
  if (getauxval(AT_SYSINFO_EHDR) == 0) GTEST_SKIP() << "no vdso";
  EXPECT_TRUE(with_object("linux-vdso", [](const ElfObject& object) {
    EXPECT_FALSE(object.has_slots());
    object.each_slot([](const Slot&) { FAIL(); });
  }));
}

TEST(SlotWriter, TellsWritablePagesFromOthersAndChangesNothing) {
  static std::uint64_t writable = 0x1122334455667788;
  static const std::uint64_t constant = 0x8877665544332211;
  EXPECT_EQ(page_access(&writable), PageAccess::kWritable);
  EXPECT_EQ(page_access(&constant), PageAccess::kReadOnly);
  EXPECT_EQ(writable, 0x1122334455667788u);
}

}  // namespace
}  // namespace dft::intercept
