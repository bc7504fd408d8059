// SPDX-License-Identifier: MIT
#include "sources/gpu/demangle.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstdlib>
#include <string>

namespace dft::gpu {
namespace {

std::string words(const std::string& symbol) {
  char* text = demangled(symbol.c_str());
  const std::string copied = text != nullptr ? text : "";
  std::free(text);
  return copied;
}

// void Kernel<GemmShape<GemmShape<...<int, 0>..., 38>, 39> >(...*): templates in templates, as CUTLASS has them.
std::string nested(int depth) {
  std::string type = "i";
  for (int i = 0; i < depth; ++i) type = "N7cutlass4gemm9GemmShapeI" + type + "Li" + std::to_string(i) + "EEE";
  return "_ZN7cutlass6KernelI" + type + "EEvP" + type;
}

TEST(Demangle, ShortSymbols) {
  EXPECT_EQ(words("_ZN5train7nothingEv"), "train::nothing()");
  EXPECT_EQ(words("_Z4workIifEvT_T0_"), "void work<int, float>(int, float)");
  EXPECT_EQ(words("plain_c_kernel"), "");
  EXPECT_EQ(words(""), "");
}

TEST(Demangle, LongSymbolsAsTheShortOnes) {
  const std::string symbol = nested(40);
  ASSERT_GT(symbol.size(), 1024u);
  if (!demangles_long_symbols()) {
    EXPECT_EQ(words(symbol), "");
    GTEST_SKIP() << "a build without libiberty";
  }
  std::string type = "int";
  for (int i = 0; i < 40; ++i) type = "cutlass::gemm::GemmShape<" + type + ", " + std::to_string(i) + ">";
  EXPECT_EQ(words(symbol), "void cutlass::Kernel<" + type + " >(" + type + "*)");
}

TEST(Demangle, LongNamesThatAreNoSymbolsStay) {
  EXPECT_EQ(words(std::string(2000, 'k')), "");
  EXPECT_EQ(words("_Z" + std::string(2000, 'k')), "");
}

// The forms that take the most stack, as long as they may be, in a thread like the decoding one.
TEST(Demangle, TheLongestSymbolsFitIntoTheStack) {
  const auto on_thread = [](void* symbol) -> void* {
    std::free(demangled(static_cast<std::string*>(symbol)->c_str()));
    return nullptr;
  };
  std::string pointers = "_Z1f" + std::string(kLongestDemangled - 5, 'P') + "i";
  std::string functions = "_Z1f";
  while (functions.size() + 8 < kLongestDemangled) functions += "PFv";
  functions += "i";
  for (std::string* symbol : {&pointers, &functions}) {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, kDemangleStack), 0);
    pthread_t thread;
    ASSERT_EQ(pthread_create(&thread, &attributes, on_thread, symbol), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
  }
  pointers.insert(4, "P");
  EXPECT_EQ(words(pointers), "");
}

}  // namespace
}  // namespace dft::gpu
