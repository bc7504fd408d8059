// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "api/fake_recorder.h"
#include "dftracer/dftracer.hpp"

namespace app {
struct Failure {
  int code;
};
template <class T>
struct Wrapped : std::runtime_error {
  Wrapped() : std::runtime_error("wrapped") {}
};
}  // namespace app

namespace dft {
namespace {

class ExceptionArg : public ::testing::Test {
 protected:
  void SetUp() override { fake::reset(); }
};

template <class Exception>
[[gnu::noinline]] void fail(const Exception& exception) {
  DFTRACER_CPP_REGION(thrower);
  throw exception;
}

template <class Exception>
[[gnu::noinline]] void pass_on(const Exception& exception) {
  DFTRACER_CPP_REGION(outer);
  std::vector<std::string> other_cleanup(3, "text");
  fail(exception);
}

template <class Exception>
std::string name_seen(const Exception& exception) {
  try {
    pass_on(exception);
  } catch (const Exception&) {
    // expected
  }
  EXPECT_EQ(fake::named("thrower").at(0).arg("exception"), fake::named("outer").at(0).arg("exception"));
  return fake::named("outer").at(0).arg("exception");
}

TEST_F(ExceptionArg, NamesTheTypeInEveryRegionThatIsLeft) {
  EXPECT_EQ(name_seen(std::out_of_range("x")), "\"std::out_of_range\"");
}
TEST_F(ExceptionArg, NamesTypesOfTheProgram) { EXPECT_EQ(name_seen(app::Failure{3}), "\"app::Failure\""); }
TEST_F(ExceptionArg, NamesTemplates) { EXPECT_EQ(name_seen(app::Wrapped<int>()), "\"app::Wrapped<int>\""); }
TEST_F(ExceptionArg, NamesFundamentalTypes) { EXPECT_EQ(name_seen(42), "\"int\""); }

TEST_F(ExceptionArg, AbsentWhenTheRegionEndsByItself) {
  try {
    { DFTRACER_CPP_REGION(quiet); }
    fail(1);
  } catch (int) {
    DFTRACER_CPP_REGION(handler);
  }
  EXPECT_EQ(fake::named("quiet").at(0).arg("exception"), "");
  EXPECT_EQ(fake::named("handler").at(0).arg("exception"), "");
}

struct TracesInDestructor {
  ~TracesInDestructor() { DFTRACER_CPP_REGION(cleanup); }
};

TEST_F(ExceptionArg, AbsentOfRegionsThatBeginAndEndDuringTheUnwinding) {
  try {
    const TracesInDestructor object;
    fail(1);
  } catch (int) {
  }
  EXPECT_EQ(fake::named("cleanup").at(0).arg("exception"), "");
}

TEST_F(ExceptionArg, NamesTheNewOneWhenAHandlerThrowsAnother) {
  try {
    try {
      throw app::Failure{1};
    } catch (const app::Failure&) {
      DFTRACER_CPP_REGION(handler);
      fail(std::logic_error("second"));
    }
  } catch (const std::logic_error&) {
  }
  EXPECT_EQ(fake::named("handler").at(0).arg("exception"), "\"std::logic_error\"");
}

TEST_F(ExceptionArg, NamesRethrownExceptions) {
  try {
    DFTRACER_CPP_REGION(outside);
    try {
      fail(std::range_error("first"));
    } catch (const std::range_error&) {
      DFTRACER_CPP_REGION(inside);
      throw;
    }
  } catch (const std::range_error&) {
  }
  EXPECT_EQ(fake::named("inside").at(0).arg("exception"), "\"std::range_error\"");
  EXPECT_EQ(fake::named("outside").at(0).arg("exception"), "\"std::range_error\"");
}

TEST_F(ExceptionArg, NamesExceptionsThatCameAsAPointer) {
  const std::exception_ptr pointer = std::make_exception_ptr(app::Wrapped<char>());
  try {
    DFTRACER_CPP_REGION(rethrown);
    std::rethrow_exception(pointer);
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(fake::named("rethrown").at(0).arg("exception"), "\"app::Wrapped<char>\"");
}

TEST_F(ExceptionArg, NamesItInAThread) {
  std::thread([] {
    try {
      pass_on(app::Failure{2});
    } catch (const app::Failure&) {
    }
  }).join();
  EXPECT_EQ(fake::named("outer").at(0).arg("exception"), "\"app::Failure\"");
}

TEST_F(ExceptionArg, HeapRegionsHaveItToo) {
  try {
    const auto region = std::make_unique<DFTracer>("heap", "c");
    fail(std::domain_error("x"));
  } catch (const std::domain_error&) {
  }
  EXPECT_EQ(fake::named("heap").at(0).arg("exception"), "\"std::domain_error\"");
}

TEST_F(ExceptionArg, UnknownWhenNoExceptionIsOnItsWay) {
  DFTracerData* region = initialize_region("r", "c", 0);
  dftracer_region_end_exception(region);
  EXPECT_EQ(fake::named("r").at(0).arg("exception"), "\"unknown\"");
}

}  // namespace
}  // namespace dft
