// SPDX-License-Identifier: MIT
// `dftracer run` with --mode function, which needs no preloaded library: what it does around a program.
#include <gtest/gtest.h>
#include <signal.h>

#include "tools/command_for_test.h"
#include "tools/program_check.h"

namespace dft::tools::test {
namespace {

using read::test::TempDir;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Said run_sh(const TempDir& dir, const std::string& script, std::vector<std::string> options = {}) {
  std::vector<std::string> arguments = {"run", "--mode", "function", "-o", dir.path("t/x")};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {"--", "/bin/sh", "-c", script});
  return dftracer(arguments);
}

TEST(Run, ReturnsTheProgramsStatus) {
  const TempDir dir;
  EXPECT_EQ(run_sh(dir, "exit 0").status, 0);
  EXPECT_EQ(run_sh(dir, "exit 7").status, 7);
  EXPECT_EQ(run_sh(dir, "kill -TERM $$").status, 1000 + SIGTERM);
  EXPECT_EQ(run_sh(dir, "kill -KILL $$").status, 1000 + SIGKILL);
  EXPECT_EQ(run_sh(dir, "kill -SEGV $$").status, 1000 + SIGSEGV);
}

TEST(Run, MissingProgramsAreAsInAShell) {
  const TempDir dir;
  const auto no_bit = dir.write("no_bit", "#!/bin/sh\n");
  EXPECT_EQ(dftracer({"run", "--mode", "function", "--", "no-such-program-here"}).status, 127);
  EXPECT_EQ(dftracer({"run", "--mode", "function", "--", no_bit}).status, 126);
  EXPECT_EQ(dftracer({"run", "--mode", "function"}).status, 2);
  EXPECT_EQ(dftracer({"run", "--mode", "nonsense", "--", "true"}).status, 2);
}

TEST(Run, SetsTheVariablesAndMakesTheFolder) {
  const TempDir dir;
  const Said said =
      run_sh(dir,
             "echo $DFTRACER_ENABLE $DFTRACER_INIT $DFTRACER_LOG_FILE $DFTRACER_CRASH_SAFE "
             "$DFTRACER_INC_METADATA $DFTRACER_TIME_METRIC $DFTRACER_DATA_DIR $EXTRA; test -d " +
                 dir.path("t"),
             {"--crash-safe", "--no-metadata", "--time-metric", "ns", "--data-dir", "/a:/b", "--env", "EXTRA=x=y"});
  EXPECT_EQ(said.status, 0);
  EXPECT_EQ(said.out, "1 FUNCTION " + dir.path("t/x") + " 1 0 NS /a:/b x=y\n");
  EXPECT_TRUE(contains(said.err, "dftracer: no trace")) << said.err;
}

TEST(Run, AProgramWithoutDashesKeepsItsOwnOptions) {
  const Said said = dftracer({"run", "--mode", "function", "/bin/echo", "-n", "--json", "-o", "--", "x"});
  EXPECT_EQ(said.out, "--json -o -- x");  // echo takes -n
  EXPECT_EQ(said.status, 0);
}

TEST(Run, ReportsTheTracesThatAreNew) {
  const TempDir dir;
  mkdir(dir.path("t").c_str(), 0700);
  dir.write("t/x-old-app.pfw", our_trace(work(2, 2000, 1), 1));
  dir.write("made", our_trace(work(2, 2000, 1) + work(3, 2010, 1), 2));
  const Said said = run_sh(dir, "cp " + dir.path("made") + " " + dir.path("t/x-new-app.pfw"));
  EXPECT_TRUE(contains(said.err, "dftracer: 1 trace: " + dir.path("t/x-new-app.pfw"))) << said.err;
  EXPECT_TRUE(contains(said.err, "2 events)")) << said.err;
  EXPECT_EQ(run_sh(dir, "cp " + dir.path("made") + " " + dir.path("t/x-newer-app.pfw"), {"-q"}).err, "");
}

TEST(Run, AFolderThatCannotBeMadeCostsOnlyTheTrace) {
  const TempDir dir;
  dir.write("file", "");
  const Said said = dftracer({"run", "-o", dir.path("file/t"), "--env", "EXTRA=1", "--", "/bin/sh", "-c",
                              "echo $EXTRA $DFTRACER_ENABLE $DFTRACER_LOG_FILE $LD_PRELOAD; exit 5"});
  const Said plain =
      run_program({"/bin/sh", "-c", "EXTRA=1; echo $EXTRA $DFTRACER_ENABLE $DFTRACER_LOG_FILE $LD_PRELOAD; exit 5"});
  EXPECT_EQ(said.status, 5);
  EXPECT_EQ(said.out, plain.out);
  EXPECT_EQ(said.err, "dftracer: cannot create " + dir.path("file") +
                          ": Not a directory: the program runs untraced; choose another place with -o PREFIX\n");
}

TEST(Run, ADeletedDirectoryCostsOnlyTheTraceOfARelativePrefix) {
  const TempDir dir;
  const auto run_there = [&](const std::string& prefix) {
    const std::string there = dir.path("gone");
    return run_program({"/bin/sh", "-c",
                        "mkdir " + there + "; cd " + there + "; rmdir " + there + "; exec " + DFT_TEST_COMMAND +
                            " run --mode function -o " + prefix + " -- /bin/sh -c 'echo ran; exit 5'"});
  };
  const Said said = run_there("traces/x");
  EXPECT_EQ(said.status, 5);
  EXPECT_EQ(said.out, "ran\n");
  EXPECT_TRUE(contains(said.err,
                       "dftracer: cannot tell where traces/x is: the current directory was deleted: the "
                       "program runs untraced; choose an absolute place with -o PREFIX\n"))
      << said.err;
  EXPECT_FALSE(contains(run_there(dir.path("t/x")).err, "cannot")) << said.err;
}

TEST(Run, CountsTheProcessesThatRecordedNothing) {
  const TempDir dir;
  // What the library does at the end of such a process.
  const std::string one = "printf . >> \"$DFTRACER_RUN_TALLY\"; ";
  const std::string keep_name = "echo \"$DFTRACER_RUN_TALLY\"; stat -c %a \"$DFTRACER_RUN_TALLY\"; ";
  const Said said = run_sh(dir, keep_name + one + one + one);
  EXPECT_TRUE(contains(said.err, "dftracer: 3 processes recorded nothing\n")) << said.err;
  const std::string file = said.out.substr(0, said.out.find('\n'));
  EXPECT_EQ(said.out, file + "\n600\n");
  EXPECT_NE(access(file.c_str(), F_OK), 0) << file;
  EXPECT_TRUE(contains(run_sh(dir, one).err, "dftracer: 1 process recorded nothing\n"));
  EXPECT_FALSE(contains(run_sh(dir, "true").err, "recorded nothing"));
  EXPECT_EQ(run_sh(dir, one + "kill -KILL $$").status, 1000 + SIGKILL);
}

TEST(Run, ForwardsSignalsOfOtherProcesses) {
  const TempDir dir;
  // The program says when it is ready through a FIFO; no time is assumed.
  const std::string fifo = dir.path("ready");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string script =
      dir.write("program.sh", "trap 'echo got; kill $s; exit 3' USR1; sleep 1000 & s=$!; echo > " + fifo +
                                  "; while :; do wait $s; done");
  const std::string outer = std::string(DFT_TEST_COMMAND) + " run --mode function -q -o " + dir.path("x") +
                            " -- /bin/sh " + script + " & pid=$!; read x < " + fifo +
                            "; kill -USR1 $pid; wait $pid; echo status $?";
  const Said said = run_program({"/bin/sh", "-c", outer});
  EXPECT_TRUE(contains(said.out, "got\nstatus 3\n")) << said.out << said.err;
}

TEST(Run, TheProgramGetsTheSignalDispositionsThatWeGot) {
  const TempDir dir;
  const Said said = run_sh(dir, "grep -E 'Sig(Blk|Ign)' /proc/self/status");
  const Said plain = run_program({"/bin/sh", "-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status"});
  EXPECT_EQ(said.out, plain.out);
}

TEST(ProgramCheck, StaticAndSetuidProgramsAreTold) {
  const TempDir dir;
  EXPECT_EQ(find_program("sh", "/nowhere:/bin").path, "/bin/sh");
  EXPECT_EQ(find_program("sh", "/nowhere:/bin").why_untraced, "");
  EXPECT_EQ(find_program("sh", "/nowhere").status, 127);
  // A static program: an ELF header with no segments at all names no loader.
  std::string elf(64, '\0');
  elf.replace(0, 7,
              std::string("\x7f"
                          "ELF\x02\x01\x01",
                          7));
  elf[54] = 56;  // size of a program header
  const auto path = dir.write("static", elf);
  chmod(path.c_str(), 0755);
  EXPECT_TRUE(contains(find_program(path, nullptr).why_untraced, "statically"));
}

TEST(Command, IsNotTracedByALibraryThatItsEnvironmentPreloads) {
#ifdef DFT_TEST_SANITIZED
  GTEST_SKIP() << "a sanitizer's runtime must be the first library";
#endif
  const TempDir dir;
  dir.write("t-app.pfw", our_trace(work(2, 2000, 1), 1));
  mkdir(dir.path("new").c_str(), 0700);
  const std::vector<std::string> traced = {"/usr/bin/env",
                                           std::string("LD_PRELOAD=") + DFT_TEST_PRELOAD,
                                           "DFTRACER_ENABLE=1",
                                           "DFTRACER_INIT=PRELOAD",
                                           "DFTRACER_LOG_FILE=" + dir.path("new/t"),
                                           "DFTRACER_RUN_TALLY=" + dir.write("tally", "")};
  auto arguments = traced;
  arguments.insert(arguments.end(), {DFT_TEST_COMMAND, "info", dir.path()});
  const Said said = run_program(arguments);
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(said.err, "");
  EXPECT_TRUE(std::filesystem::is_empty(dir.path("new")));
  EXPECT_EQ(read::test::slurp(dir.path("tally")), "");
  // The library was there: any other program is counted.
  arguments = traced;
  arguments.push_back("/bin/true");
  EXPECT_EQ(run_program(arguments).status, 0);
  EXPECT_NE(read::test::slurp(dir.path("tally")), "");
}

}  // namespace
}  // namespace dft::tools::test
