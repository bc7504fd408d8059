// SPDX-License-Identifier: MIT
#include "sources/gpu/name_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "record/recorder.h"
#include "sources/gpu/demangle.h"

namespace dft::gpu {
namespace {

std::string name_of(model::SiteId site) {
  model::SiteDef def{};
  return record::recorder.definitions.site(site, def) ? std::string(def.name) : "";
}
std::string symbol_of(model::StringId id) {
  model::StringDef def{};
  return record::recorder.definitions.string(id, def) ? std::string(def.bytes) : "";
}

class NameTableTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(record::recorder.prepare());
    names_.configure(KernelNames::kFull, "CUDA_KERNEL", model::Layer::kCuda);
  }
  NameTable names_;
};

TEST_F(NameTableTest, DemanglesWholeAndKeepsTheSymbol) {
  const char* symbol = "_ZN5train10vector_addIfLi128EEEvPKT_S3_PS1_i";
  const KernelName name = names_.of(symbol);
  EXPECT_EQ(name_of(name.site), "void train::vector_add<float, 128>(float const*, float const*, float*, int)");
  EXPECT_EQ(symbol_of(name.symbol), symbol);
}

TEST_F(NameTableTest, ASuffixOfTheVendorsIsNoPartOfTheName) {
  for (const KernelNames form : {KernelNames::kFull, KernelNames::kShort, KernelNames::kMangled}) {
    names_.configure(form, "KERNEL_DISPATCH", model::Layer::kHip, ".kd");
    const KernelName name = names_.of("_ZN5train4workEv.kd");
    const char* const expected[] = {"train::work()", "work", "_ZN5train4workEv"};
    EXPECT_EQ(name_of(name.site), expected[static_cast<unsigned>(form)]);
    EXPECT_EQ(symbol_of(name.symbol), "_ZN5train4workEv.kd");
    EXPECT_EQ(name_of(names_.of(".kd").site), ".kd");
  }
  const std::string huge(512 << 10, 'x');
  EXPECT_EQ(name_of(names_.of((huge + ".kd").c_str()).site), huge);
}

TEST_F(NameTableTest, TemplatesWithACommonBeginningStayApart) {
  std::string stem = "_Z1fI";
  for (int i = 0; i < 30; ++i) stem += "Li" + std::to_string(i) + "E";
  EXPECT_NE(names_.of((stem + "fEvv").c_str()).site, names_.of((stem + "dEvv").c_str()).site);
}

// Beyond what the demangler takes the name is the symbol, whole.
TEST_F(NameTableTest, WhatTheDemanglerRefusesStaysWhole) {
  const std::size_t longest = demangles_long_symbols() ? kLongestDemangled : 1024;
  const std::string argument = "50" + std::string(50, 'x');
  std::string symbol = "_Z4workI";
  while (symbol.size() + argument.size() + 4 <= longest) symbol += argument;
  symbol += "EvT_";
  EXPECT_EQ(name_of(names_.of(symbol.c_str()).site).substr(0, 12), "void work<xx");
  names_.configure(KernelNames::kShort, "CUDA_KERNEL", model::Layer::kCuda);
  EXPECT_EQ(name_of(names_.of(symbol.c_str()).site), "work");
  symbol.insert(8, argument);
  EXPECT_EQ(name_of(names_.of(symbol.c_str()).site), symbol);
  names_.configure(KernelNames::kFull, "CUDA_KERNEL", model::Layer::kCuda);
  EXPECT_EQ(name_of(names_.of(symbol.c_str()).site), symbol);
}

TEST_F(NameTableTest, AnotherTextAtTheSameAddressIsAnotherName) {
  char place[64] = "_Z5firstv";
  EXPECT_EQ(name_of(names_.of(place).site), "first()");
  std::strcpy(place, "_Z6secondv");
  EXPECT_EQ(name_of(names_.of(place).site), "second()");
  std::strcpy(place, "_Z5firstv");
  EXPECT_EQ(name_of(names_.of(place).site), "first()");
  EXPECT_EQ(names_.count(), 2u);
}

TEST_F(NameTableTest, TheSameTextElsewhereIsTheSameName) {
  const std::string a = "_Z5thirdv", b = a;
  EXPECT_EQ(names_.of(a.c_str()).site, names_.of(b.c_str()).site);
  EXPECT_EQ(names_.count(), 1u);
}

TEST_F(NameTableTest, WhatIsNotMangledStays) {
  EXPECT_EQ(name_of(names_.of("plain_c_kernel").site), "plain_c_kernel");
  EXPECT_EQ(name_of(names_.of(nullptr).site), "kernel");
  EXPECT_EQ(name_of(names_.of("").site), "kernel");
  EXPECT_EQ(names_.of("").symbol, 0u);
}

TEST_F(NameTableTest, NamesOfAnyLengthAreWhole) {
  const std::string longest(512 * 1024, 'k');
  EXPECT_EQ(symbol_of(names_.of(longest.c_str()).symbol), longest);
  EXPECT_EQ(name_of(names_.of(longest.c_str()).site).size(), longest.size());
}

TEST(ShortKernelName, IsTheBaseName) {
  EXPECT_EQ(short_kernel_name("void train::vector_add<float, 128>(float const*, int)"), "vector_add");
  EXPECT_EQ(short_kernel_name("plain_c_kernel"), "plain_c_kernel");
  EXPECT_EQ(short_kernel_name("f(int)"), "f");
  EXPECT_EQ(short_kernel_name("void at::native::(anonymous namespace)::fill<c10::Half>(int)"), "fill");
  EXPECT_EQ(short_kernel_name("void a::S<b::T<int>, (x)1>::run<3>(std::pair<int, int>)"), "run");
  EXPECT_EQ(short_kernel_name("unsigned long const* ns::g(void (*)(int))"), "g");
  EXPECT_EQ(short_kernel_name("void ns::F::operator()(int) const"), "operator()");
  EXPECT_EQ(short_kernel_name(""), "");
}

}  // namespace
}  // namespace dft::gpu
