// SPDX-License-Identifier: MIT
#include "base/own_stack.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "base/futex_lock.h"

namespace dft::base {
namespace {

[[gnu::noinline]] std::uintptr_t deep() {
  volatile char room[64 << 10];
  std::memset(const_cast<char*>(room), 1, sizeof room);
  return reinterpret_cast<std::uintptr_t>(room);
}

TEST(OwnStack, TheWorkTakesNothingOfTheCallersStack) {
  const SignalGuard signals;
  char here;
  const auto mine = reinterpret_cast<std::uintptr_t>(&here);
  const std::uintptr_t there = on_own_stack(deep);
#ifdef DFT_OWN_STACK
  EXPECT_GT(mine > there ? mine - there : there - mine, std::uintptr_t{128} << 10);
#else
  EXPECT_NE(mine, there);
#endif
}

TEST(OwnStack, ResultsAndExceptionsStayWhole) {
  const SignalGuard signals;
  const int caught = on_own_stack([] {
    try {
      throw std::runtime_error("x");
    } catch (const std::exception& error) {
      return error.what()[0] == 'x' ? 7 : 1;
    }
  });
  EXPECT_EQ(caught, 7);
  EXPECT_THROW(on_own_stack([]() -> int { throw std::runtime_error("y"); }), std::runtime_error);
}

}  // namespace
}  // namespace dft::base
