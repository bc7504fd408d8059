// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cerrno>

#include "api/fake_recorder.h"
#include "dftracer/dftracer.h"
#include "dftracer/dftracer_config.hpp"

namespace dft {
namespace {

using Calls = std::vector<std::string>;

class Lifecycle : public ::testing::Test {
 protected:
  void SetUp() override { fake::reset(); }
};

TEST_F(Lifecycle, InitPassesItsArgumentsAndMarksTheApi) {
  int id = 17;
  DFTRACER_C_INIT("log", "a:b", &id);
  DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
  DFTRACER_C_INIT_NO_BIND("log", nullptr, nullptr);
  DFTRACER_CPP_INIT_NO_BIND(nullptr, "all", nullptr);
  EXPECT_EQ(fake::state.calls,
            (Calls{"start log a:b 17 bind", "used C_APP", "start (null) (null) (null) bind", "used CPP_APP",
                   "start log (null) (null)", "used C_APP", "start (null) all (null)", "used CPP_APP"}));
}

TEST_F(Lifecycle, NotesReachTheSession) {
  DFTRACER_C_APP_METADATA_INT("n", -1);
  DFTRACER_C_APP_METADATA_STR("s", "text");
  DFTRACER_CPP_APP_METADATA_INT("n", 2);
  DFTRACER_CPP_APP_METADATA_STR("s", "other");
  DFTRACER_C_MARK_USED("mine");
  DFTRACER_CPP_MARK_USED("yours");
  DFTRACER_C_FINI();
  EXPECT_EQ(fake::state.calls,
            (Calls{"app n -1", "app s \"text\"", "app n 2", "app s \"other\"", "used mine", "used yours", "finish"}));
}

TEST_F(Lifecycle, OldNamesAreTheNewFunctions) {
  initialize_main("l", nullptr, nullptr);
  initialize_no_bind("l", nullptr, nullptr);
  mark_used("m");
  set_app_metadata_int("i", 1);
  set_app_metadata_string("s", "v");
  finalize();
  EXPECT_EQ(fake::state.calls, (Calls{"start l (null) (null) bind", "start l (null) (null)", "used m", "app i 1",
                                      "app s \"v\"", "finish"}));
}

TEST_F(Lifecycle, NullNotesAreIgnored) {
  set_app_metadata_int(nullptr, 1);
  set_app_metadata_string(nullptr, "v");
  set_app_metadata_string("k", nullptr);
  mark_used(nullptr);
  EXPECT_TRUE(fake::state.calls.empty());
}

#if DFTRACER_HAS_GPU_TRACING
TEST_F(Lifecycle, ARegionServesARequestOfTheSessionBeforeItBegins) {
  dftracer_on = 2;
  errno = ENOTTY;
  DFTRACER_C_REGION_START(first);
  EXPECT_EQ(errno, ENOTTY);
  DFTRACER_C_REGION_END(first);
  DFTRACER_C_REGION_START(second);
  DFTRACER_C_REGION_END(second);
  EXPECT_EQ(fake::state.calls, Calls{"serve"});
}
#endif

TEST_F(Lifecycle, ErrnoIsKeptAndNothingIsThrown) {
  fake::state.throw_in_session = true;
  errno = ENOTTY;
  DFTRACER_C_INIT("log", nullptr, nullptr);
  DFTRACER_C_APP_METADATA_INT("n", 1);
  DFTRACER_C_APP_METADATA_STR("s", "v");
  DFTRACER_C_FINI();
  EXPECT_EQ(errno, ENOTTY);
  EXPECT_EQ(fake::state.calls.size(), 5u);
}

}  // namespace
}  // namespace dft
