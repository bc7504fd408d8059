// SPDX-License-Identifier: MIT
#include "session/identity.h"

#include <gtest/gtest.h>

#include <cstring>

namespace dft::session {
namespace {

TEST(ExecName, IsTheFirstArgumentThatNamesAProgram) {
  EXPECT_EQ(exec_name({"python3", "train.py", "--lr", "0.1"}), "train.py");
  EXPECT_EQ(exec_name({"python", "train.py"}), "train.py");
  EXPECT_EQ(exec_name({"/usr/bin/python3.11", "-u", "/a/train.py"}), "train.py");
  EXPECT_EQ(exec_name({"/usr/bin/env", "python3", "run.py"}), "run.py");
  EXPECT_EQ(exec_name({"/bin/prog", "--size", "4"}), "prog");
  EXPECT_EQ(exec_name({"prog"}), "prog");
}

TEST(ExecName, OnlyExactLauncherNamesAreSkipped) {
  EXPECT_EQ(exec_name({"envapp", "x.pfw"}), "envapp");
  EXPECT_EQ(exec_name({"my_python_tool"}), "my_python_tool");
  EXPECT_EQ(exec_name({"python3x"}), "python3x");
}

TEST(ExecName, FallsBackToDefault) {
  EXPECT_EQ(exec_name({}), "DEFAULT");
  EXPECT_EQ(exec_name({"python3", "-c"}), "DEFAULT");
  EXPECT_EQ(exec_name({"python3", "-c", "from multiprocessing.spawn import spawn_main"}), "DEFAULT-spawn");
  EXPECT_EQ(exec_name({std::string(300, 'x')}).size(), 127u);
}

TEST(TraceStem, MatchesTheFormatsCheckVector) {
  Identity identity;
  identity.exec_name = "train.py";
  identity.host = "node1";
  EXPECT_EQ(trace_stem("/t/x", identity, 4242, "app"), "/t/x-dc6299c8868337f4-app");
}

TEST(Prefix, OfTheInitCallLosesItsExtension) {
  EXPECT_EQ(strip_extension("/a/b.pfw.gz"), "/a/b");
  EXPECT_EQ(strip_extension("b.pfw"), "b");
  EXPECT_EQ(strip_extension("/a.d/b.log"), "/a.d/b");
  EXPECT_EQ(strip_extension("/a.d/b"), "/a.d/b");
  EXPECT_EQ(strip_extension("/a/.hidden"), "/a/.hidden");
}

TEST(Prefix, IsMadeAbsolute) {
  EXPECT_EQ(make_absolute("./trace", "/w"), "/w/trace");
  EXPECT_EQ(make_absolute("out/t", "/w/"), "/w/out/t");
  EXPECT_EQ(make_absolute("/abs", "/w"), "/abs");
  EXPECT_EQ(make_absolute("t", "/"), "/t");
}

const char* torchrun(const char* name) {
  if (std::strcmp(name, "RANK") == 0) return "3";
  if (std::strcmp(name, "LOCAL_RANK") == 0) return "1";
  if (std::strcmp(name, "SLURM_PROCID") == 0) return "0";
  return nullptr;
}
const char* slurm(const char* name) { return std::strcmp(name, "SLURM_PROCID") == 0 ? "12" : nullptr; }
const char* rank_alone(const char* name) { return std::strcmp(name, "RANK") == 0 ? "3" : nullptr; }
const char* nonsense(const char* name) { return std::strcmp(name, "PMI_RANK") == 0 ? "abc" : nullptr; }

TEST(Rank, ComesFromTheInnermostLauncher) {
  EXPECT_EQ(rank_from_launcher(torchrun).value, "3");
  EXPECT_EQ(rank_from_launcher(torchrun).source, "RANK");
  EXPECT_EQ(rank_from_launcher(slurm).value, "12");
  EXPECT_FALSE(rank_from_launcher(rank_alone).known);
  EXPECT_FALSE(rank_from_launcher(nonsense).known);
}

}  // namespace
}  // namespace dft::session
