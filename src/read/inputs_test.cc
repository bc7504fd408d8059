// SPDX-License-Identifier: MIT
#include "read/inputs.h"

#include <gtest/gtest.h>

#include "read/traces_for_test.h"

namespace dft::read {
namespace {

TEST(Inputs, AFolderGivesItsTracesAndAPrefixItsOwn) {
  const test::TempDir dir;
  for (const char* name : {"run-aa-app.pfw.gz", "run-bb-fork.pfw", "run2-aa-app.pfw.gz", "run-aa-app.dfi", "notes.txt",
                           "run-aa.pfw.gz.tmp", "run.pfw"}) {
    dir.write(name, "x");
  }
  EXPECT_EQ(find_inputs({dir.path()}).files.size(), 4u);
  const auto prefixed = find_inputs({dir.path("run")});
  ASSERT_EQ(prefixed.files.size(), 3u);
  EXPECT_EQ(prefixed.files[0], dir.path("run-aa-app.pfw.gz"));
  EXPECT_EQ(find_inputs({dir.path("run"), dir.path()}).files.size(), 4u) << "no file twice";
  EXPECT_EQ(find_inputs({dir.path("notes.txt")}).files.size(), 1u) << "a named file is taken as it is";
}

TEST(Inputs, ARecoveredTraceTakesThePlaceOfTheDamagedOneUnlessThatIsNamed) {
  const test::TempDir dir;
  for (const char* name : {"t-a-app.pfw.gz", "t-a-app-recovered.pfw.gz", "t-b-app.pfw", "t-b-app-recovered.pfw.gz",
                           "t-c-app.pfw.gz", "t-d-app-recovered.pfw.gz", "t-recovered-e-app.pfw.gz"}) {
    dir.write(name, "x");
  }
  for (const auto& argument : {dir.path(), dir.path("t")}) {
    const auto inputs = find_inputs({argument});
    EXPECT_EQ(inputs.files,
              (std::vector<std::string>{dir.path("t-a-app-recovered.pfw.gz"), dir.path("t-b-app-recovered.pfw.gz"),
                                        dir.path("t-c-app.pfw.gz"), dir.path("t-d-app-recovered.pfw.gz"),
                                        dir.path("t-recovered-e-app.pfw.gz")}));
    ASSERT_EQ(inputs.replaced.size(), 2u);
    EXPECT_EQ(inputs.replaced[1].damaged, dir.path("t-b-app.pfw"));
    EXPECT_EQ(inputs.replaced[1].recovered, dir.path("t-b-app-recovered.pfw.gz"));
  }
  EXPECT_EQ(find_inputs({dir.path("t-a-app.pfw.gz")}).files.size(), 1u);
  EXPECT_TRUE(find_inputs({dir.path("t-a-app.pfw.gz")}).replaced.empty());
}

TEST(Inputs, WhatNamesNothingIsAnError) {
  const test::TempDir dir;
  const auto inputs = find_inputs({dir.path(), dir.path("absent"), "/nowhere/at/all"});
  EXPECT_TRUE(inputs.files.empty());
  ASSERT_EQ(inputs.errors.size(), 3u);
  EXPECT_NE(inputs.errors[1].find("absent: "), std::string::npos);
}

TEST(Inputs, AnIndexStandsForItsTrace) {
  const test::TempDir dir;
  for (const char* name : {"t-a-app.dfi", "t-a-app.pfw.gz", "t-b-app.dfi", "t-b-app.pfw", "t-c-app.dfi"}) {
    dir.write(name, "x");
  }
  const std::vector<std::string> traces = {dir.path("t-a-app.pfw.gz"), dir.path("t-b-app.pfw")};
  EXPECT_EQ(find_inputs({dir.path("t-a-app.dfi"), dir.path("t-b-app.dfi")}).files, traces);
  EXPECT_EQ(find_inputs({dir.path("t-a-app.dfi"), traces[0], dir.path("t-b-app.dfi"), traces[1]}).files, traces)
      << "as a shell's `folder/*` names them";
  const auto alone = find_inputs({dir.path("t-c-app.dfi")});
  EXPECT_TRUE(alone.files.empty());
  ASSERT_EQ(alone.errors.size(), 1u);
  EXPECT_NE(alone.errors[0].find("is not there"), std::string::npos);
}

TEST(Inputs, TraceBase) {
  EXPECT_EQ(trace_base("a/b.pfw.gz"), "a/b");
  EXPECT_EQ(trace_base("a/b.pfw"), "a/b");
  EXPECT_EQ(trace_base("a/b.dfcrash"), "a/b");
  EXPECT_EQ(trace_base("a/b"), "a/b");
}

}  // namespace
}  // namespace dft::read
