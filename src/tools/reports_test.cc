// SPDX-License-Identifier: MIT
// summary, info and cat on traces made here.
#include <gtest/gtest.h>

#include "tools/command_for_test.h"

namespace dft::tools::test {
namespace {

using read::test::event_line;
using read::test::gzip;
using read::test::TempDir;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string io_line(std::uint64_t id, const std::string& name, std::uint64_t ts, std::uint64_t dur, int tid,
                    const std::string& args) {
  return R"({"id":)" + std::to_string(id) + R"(,"name":")" + name + R"(","cat":"POSIX","type":3,"pid":7,"tid":)" +
         std::to_string(tid) + R"(,"ts":)" + std::to_string(ts) + R"(,"dur":)" + std::to_string(dur) + R"(,"ph":1)" +
         (args.empty() ? "" : R"(,"args":{"hhash":"2a702c695247d487",)" + args + "}") + "}\n";
}

TEST(Summary, RowsHoldCountsTimesAndSelfTime) {
  const TempDir dir;
  const auto file = dir.write(
      "t.pfw", our_trace(work(2, 2000, 10, "inner") + work(3, 2020, 30, "inner") + work(4, 1900, 200, "outer"), 3));
  const Said said = dftracer({"summary", "--json", file});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(contains(
      said.out,
      R"({"type":"CPP_APP","cat":"CPP_APP","name":"outer","count":1,"total_us":200,"self_us":160,"min_us":200,"mean_us":200,"p50_us":200,"p99_us":200,"max_us":200})"))
      << said.out;
  EXPECT_TRUE(contains(said.out, R"("name":"inner","count":2,"total_us":40,"self_us":40,"min_us":10,"mean_us":20,)"))
      << said.out;
  EXPECT_FALSE(contains(said.out, R"("name":"start")")) << "life-cycle events are no work";
}

TEST(Summary, TwoThreadsReadingAtOnceAreBusyOnce) {
  const TempDir dir;
  const auto file = dir.write("t.pfw", our_trace(io_line(2, "read", 2000, 100000, 7, R"("ret":1048576)") +
                                                     io_line(3, "read", 2000, 100000, 8, R"("ret":1048576)"),
                                                 2));
  const Said said = dftracer({"summary", "--json", file});
  EXPECT_TRUE(contains(said.out, R"("total_us":200000,)")) << said.out;
  EXPECT_TRUE(contains(said.out, R"("bytes":2097152,"bandwidth":10485760,"busy_us":100000})")) << said.out;
}

TEST(Summary, SaysWhichSettingIsMissing) {
  const TempDir dir;
  const auto file = dir.write("t.pfw", our_trace(io_line(2, "read", 2000, 10, 7, ""), 1));
  const Said said = dftracer({"summary", file});
  EXPECT_EQ(said.status, 0);
  EXPECT_TRUE(contains(said.out, "1 I/O event without args")) << said.out;
  EXPECT_TRUE(contains(said.out, "DFTRACER_INC_METADATA=1"));
}

TEST(Summary, LossesComeFirst) {
  const TempDir dir;
  const std::string loss =
      R"({"name":"loss","cat":"dftracer","type":1,"pid":7,"tid":7,"ph":4,"args":{"hhash":"2a702c695247d487","cause":"buffer_full","count":3,"bytes":100}})"
      "\n";
  const auto file = dir.write("t.pfw", our_trace(loss + work(2, 2000, 10), 1));
  for (const char* command : {"summary", "info"}) {
    const Said said = dftracer({command, file});
    EXPECT_EQ(said.out.find("LOST: 3 events, 100 B (buffer_full)"), 0u) << said.out;
    EXPECT_TRUE(contains(dftracer({command, "--json", file}).out, R"("cause":"buffer_full","records":1,"count":3)"));
  }
}

TEST(Summary, CallsLeftOutByChoiceAreNotCalledLost) {
  const TempDir dir;
  const std::string quiet =
      R"({"name":"loss","cat":"dftracer","type":14,"pid":7,"tid":7,"ph":4,"args":{"hhash":"2a702c695247d487","cause":"api_quiet","detail":"runtime queries"}})"
      "\n";
  const auto file = dir.write("t.pfw", our_trace(quiet + work(2, 2000, 10), 1));
  const Said said = dftracer({"summary", file});
  EXPECT_EQ(said.out.find("LEFT OUT: by choice, runtime queries\n"), 0u) << said.out;
  EXPECT_FALSE(contains(said.out, "LOST"));
  const Said valid = dftracer({"validate", "--strict-loss", file});
  EXPECT_EQ(valid.status, 0) << valid.out;
  EXPECT_TRUE(contains(valid.out, "t.pfw: valid (")) << valid.out;
}

TEST(Summary, LongListsOfCallsLeftOutAreShortened) {
  const TempDir dir;
  const std::string quiet =
      R"({"name":"loss","cat":"dftracer","type":14,"pid":7,"tid":7,"ph":4,"args":{"hhash":"2a702c695247d487","cause":"api_quiet","detail":"runtime queries (cudaGetDevice, cudaSetDevice, )" +
      std::string(300, 'x') +
      R"(); driver calls; DFTRACER_CUDA_API=all records them"}})"
      "\n";
  const auto file = dir.write("t.pfw", our_trace(quiet + work(2, 2000, 10), 1));
  const Said said = dftracer({"summary", file});
  EXPECT_EQ(said.out.find("LEFT OUT: by choice, runtime queries (cudaGetDevice, cudaSetDevice, ...; "
                          "DFTRACER_CUDA_API=all records them\n"),
            0u)
      << said.out;
}

TEST(Summary, GpuLanesHaveTheirNames) {
  const TempDir dir;
  const std::string lane = R"("type":14,"pid":7,"tid":1073741825,)";
  const auto file = dir.write(
      "t.pfw",
      our_trace(R"({"name":"thread_name","cat":"dftracer",)" + lane +
                    R"("ph":4,"args":{"hhash":"2a702c695247d487","name":"GPU 0 stream 7","value":"thread_name"}})"
                    "\n" +
                    R"({"id":2,"name":"k","cat":"CUDA_KERNEL",)" + lane +
                    R"("ts":2000,"dur":10,"ph":1,"args":{"hhash":"2a702c695247d487"}})"
                    "\n",
                1));
  EXPECT_TRUE(contains(dftracer({"summary", file}).out, "\nGPU 0 stream 7    7  1073741825       1  10.00 us\n"))
      << dftracer({"summary", file}).out;
  EXPECT_TRUE(contains(dftracer({"summary", "--json", file}).out,
                       R"({"pid":7,"tid":1073741825,"count":1,"busy_us":10,"name":"GPU 0 stream 7"})"));
}

TEST(Summary, GpuLanesAreBusyTimeNotNesting) {
  const TempDir dir;
  const auto kernel = [](std::uint64_t id, std::uint64_t ts, std::uint64_t dur, const char* more) {
    return R"({"id":)" + std::to_string(id) +
           R"(,"name":"k","cat":"CUDA_KERNEL","type":14,"pid":7,"tid":1073741825,"ts":)" + std::to_string(ts) +
           R"(,"dur":)" + std::to_string(dur) + R"(,"ph":1,"args":{"hhash":"2a702c695247d487")" + more + "}}\n";
  };
  const auto file = dir.write(
      "t.pfw",
      our_trace(kernel(2, 2000, 10, "") + kernel(3, 2005, 10, "") + kernel(4, 3000, 0, R"(,"dur_ns":700)"), 3));
  const Said said = dftracer({"summary", "--json", file});
  EXPECT_TRUE(contains(said.out, R"("total_us":20.7,"self_us":20.7,)")) << said.out;
  EXPECT_TRUE(contains(said.out, R"("lanes":[{"pid":7,"tid":1073741825,"count":3,"busy_us":15.7}])")) << said.out;
}

TEST(Summary, CountersAndAggregatedRecordsAreCounted) {
  const TempDir dir;
  const auto untimed = [](const char* name, int phase, const std::string& args) {
    return std::string(R"({"name":")") + name + R"(","cat":"SYS","type":3,"pid":7,"tid":7,"ts":5,"ph":)" +
           std::to_string(phase) + R"(,"args":{"hhash":"2a702c695247d487",)" + args + "}}\n";
  };
  const std::string lines = untimed("cpu", 2, R"("user":1)") + untimed("cpu", 2, R"("user":2)") +
                            untimed("read", 3, R"("dft_cnt":30)") + untimed("read", 3, R"("dft_cnt":12)");
  const auto file = dir.write("t.pfw", our_trace(work(2, 2000, 10) + lines, 1));
  const Said said = dftracer({"summary", "--json", file});
  EXPECT_TRUE(contains(
      said.out,
      R"("untimed":[{"kind":"counter","type":"LIBC_IO","cat":"SYS","name":"cpu","records":2},{"kind":"aggregated","type":"LIBC_IO","cat":"SYS","name":"read","records":2,"events":42}])"))
      << said.out << said.err;
  const Said only = dftracer({"summary", "--name", "cpu", file});
  EXPECT_EQ(only.status, 0) << only.err;
  EXPECT_TRUE(contains(only.out, "counter              2")) << only.out;
}

TEST(Summary, SortTopAndCsv) {
  const TempDir dir;
  const auto file =
      dir.write("t.pfw", our_trace(work(2, 2000, 10, "a,b") + work(3, 2020, 1, "c") + work(4, 2030, 1, "c"), 3));
  const Said csv = dftracer({"summary", "--csv", "--sort", "count", "--top", "1", file});
  EXPECT_TRUE(contains(csv.out, "type,cat,name,count,total_us")) << csv.out;
  EXPECT_TRUE(contains(csv.out, "CPP_APP,CPP_APP,c,2,2,2,1,1,1,1,1,,,\n")) << csv.out;
  EXPECT_FALSE(contains(csv.out, "\"a,b\""));
  EXPECT_TRUE(contains(dftracer({"summary", "--csv", file}).out, "CPP_APP,CPP_APP,\"a,b\",1,10,"));
}

TEST(Filters, ChooseByEveryProperty) {
  const TempDir dir;
  const auto file =
      dir.write("t.pfw", our_trace(work(2, 2000, 10, "alpha") +
                                       io_line(3, "read", 500000, 10, 9, R"("fhash":"4a40025765d5119b","ret":1)") +
                                       work(4, 900000, 10, "beta"),
                                   3));
  const auto names = [&](std::vector<std::string> filter) {
    filter.insert(filter.begin(), {"cat", "--raw", file});
    const Said said = dftracer(filter);
    std::string found;
    for (const char* name : {"start", "alpha", "read", "beta"}) {
      if (contains(said.out, std::string("\"name\":\"") + name + "\"")) found += std::string(name) + " ";
    }
    return found;
  };
  EXPECT_EQ(names({}), "start alpha read beta ");
  EXPECT_EQ(names({"--name", "a*"}), "alpha ");
  EXPECT_EQ(names({"--name", "alpha", "--name", "b?ta"}), "alpha beta ");
  EXPECT_EQ(names({"--cat", "POSIX"}), "read ");
  EXPECT_EQ(names({"--type", "LIBC_IO"}), "read ");
  EXPECT_EQ(names({"--type", "9"}), "alpha beta ");
  EXPECT_EQ(names({"--tid", "9"}), "read ");
  EXPECT_EQ(names({"--pid", "8"}), "");
  EXPECT_EQ(names({"--file", "/tmp/*"}), "read ");
  EXPECT_EQ(names({"--file", "/home/*"}), "");
  EXPECT_EQ(names({"--from", "100ms"}), "read beta ");
  EXPECT_EQ(names({"--from", "100ms", "--to", "0.6s"}), "read ");
  EXPECT_EQ(names({"--to", "2005"}), "start alpha ");
}

TEST(Cat, ResolvesHashesAlsoOfOtherFilesAndBehindTheirUse) {
  const TempDir dir;
  dir.write("a.pfw", our_trace(io_line(2, "read", 2000, 10, 7, R"("fhash":"23219fed97d4efd0","ret":1)"), 1));
  dir.write(
      "b.pfw",
      R"({"name":"FH","cat":"dftracer","type":1,"pid":8,"tid":8,"ph":4,"args":{"hhash":"2a702c695247d487","name":"/srv/\"x\"","value":"23219fed97d4efd0"}})"
      "\n");
  const Said said = dftracer({"cat", "--name", "read", dir.path()});
  EXPECT_TRUE(contains(said.out, "LIBC_IO/POSIX read fhash=/srv/\"x\" ret=1\n")) << said.out;
  const Said json = dftracer({"cat", "--json", "--name", "read", dir.path()});
  EXPECT_TRUE(contains(json.out, R"("args":{"hhash":"corona211","fhash":"/srv/\"x\"","ret":1}})")) << json.out;
}

TEST(Cat, EndsQuietlyWhenItsReaderGoes) {
  const TempDir dir;
  std::string body;
  for (std::uint64_t id = 2; id < 50000; ++id) body += work(id, 2000 + id, 1);
  const auto file = dir.write("t.pfw.gz", gzip(our_trace(body, 49998), true));
  const Said said = run_program({"/bin/sh", "-c", std::string(DFT_TEST_COMMAND) + " cat " + file + " | head -n 1"});
  EXPECT_EQ(said.status, 0);
  EXPECT_EQ(said.err, "");
  EXPECT_TRUE(contains(said.out, "start"));
}

TEST(Reports, DamageIsNamedWhatCanBeReadIsPrintedAndTheStatusIsOne) {
  const TempDir dir;
  const std::string whole = gzip(our_trace(work(2, 2000, 10), 1), true) + gzip("x", true);
  const auto file = dir.write("t.pfw.gz", whole.substr(0, whole.size() - 4));
  for (const char* command : {"summary", "info", "cat"}) {
    const Said said = dftracer({command, file});
    EXPECT_EQ(said.status, 1) << command;
    EXPECT_FALSE(said.out.empty()) << command;
    EXPECT_TRUE(contains(said.err, "dftracer: " + file + ": the file ends inside a gzip member")) << said.err;
  }
}

TEST(Reports, NothingFoundIsStatusOneWithALine) {
  const TempDir dir;
  const auto file = dir.write("t.pfw", our_trace(work(2, 2000, 10), 1));
  for (const char* command : {"summary", "info", "cat"}) {
    const Said said = dftracer({command, "--name", "nothing", file});
    EXPECT_EQ(said.status, 1) << command;
    EXPECT_EQ(said.err.find("dftracer: "), 0u) << command;
  }
  EXPECT_EQ(dftracer({"summary", dir.path("absent")}).status, 1);
}

TEST(Usage, IsStatusTwo) {
  EXPECT_EQ(dftracer({}).status, 2);
  EXPECT_EQ(dftracer({"nonsense"}).status, 2);
  EXPECT_EQ(dftracer({"cat"}).status, 2);
  EXPECT_EQ(dftracer({"cat", "--from", "yesterday", DFT_TEST_TRACES}).status, 2);
  EXPECT_EQ(dftracer({"cat", "--raw", "--json", DFT_TEST_TRACES}).status, 2);
  EXPECT_EQ(dftracer({"--help"}).status, 0);
  EXPECT_EQ(dftracer({"--version"}).status, 0);
  for (const char* command : {"run", "info", "validate", "summary", "cat", "config", "recover", "completion"}) {
    const Said said = dftracer({command, "--help"});
    EXPECT_EQ(said.status, 0) << command;
    EXPECT_TRUE(contains(said.out, "--help")) << command;
  }
}

TEST(Usage, AMistakeIsOneLineThatNamesTheCommandAndWhereToLook) {
  const std::string traces = DFT_TEST_TRACES;
  const std::vector<std::vector<std::string>> mistakes = {{},
                                                          {"--bogus"},
                                                          {"cat"},
                                                          {"recover"},
                                                          {"completion"},
                                                          {"completion", "tcsh"},
                                                          {"config", "--bogus"},
                                                          {"cat", "--raw", "--json", traces},
                                                          {"cat", "--pid", "abc", traces},
                                                          {"summary", "--sort", "colour", traces},
                                                          {"summary", "--csv", "--json", traces},
                                                          {"info", "--jobs", "0", traces},
                                                          {"run", "--mode", "sideways", "--", "true"}};
  for (const auto& mistake : mistakes) {
    const Said said = dftracer(mistake);
    const std::string command = mistake.empty() || mistake[0][0] == '-' ? "dftracer" : "dftracer " + mistake[0];
    EXPECT_EQ(said.status, 2) << command;
    EXPECT_EQ(said.out, "") << command;
    EXPECT_EQ(said.err.find(mistake.empty() || mistake[0][0] == '-' ? "dftracer: " : "dftracer: " + mistake[0] + ": "),
              0u)
        << said.err;
    EXPECT_EQ(said.err.find('\n'), said.err.size() - 1) << said.err;
    EXPECT_TRUE(contains(said.err, "`" + command + " --help`")) << said.err;
  }
}

TEST(Info, TellsProcessHostFormatAndRealTraces) {
  const Said said = dftracer({"info", "--json", std::string(DFT_TEST_TRACES) + "/original-2.2-python-app.pfw.gz"});
  EXPECT_EQ(said.status, 0);
  EXPECT_TRUE(contains(said.out, R"("exec":"app.py","cmd":"/opt/venv/bin/python;app.py;x","host":"vm")")) << said.out;
  EXPECT_TRUE(contains(said.out, R"("format":"G3")"));
  EXPECT_TRUE(contains(said.out, R"({"type":6,"name":"PYTHON","cat":"COMPUTE","events":)")) << said.out;
}

TEST(FirstVersions, FilesAndHostsStandPlainlyInTheArgs) {
  const TempDir dir;
  const auto file = dir.write("g1.pfw",
                              "[\n  "
                              "{\"id\":\"0\",\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":\"100\",\"tid\":\"203\","
                              "\"ts\":\"17\",\"dur\":\"12\",\"ph\":\"X\","
                              "\"args\":{\"hostname\":\"n1\",\"fname\":\"/data/x\",\"ret\":\"4096\"}}\n]");
  EXPECT_TRUE(contains(dftracer({"info", "--json", file}).out, R"("host":"n1")"));
  EXPECT_TRUE(contains(dftracer({"cat", "--file", "/data/*", file}).out, "read"));
  EXPECT_EQ(dftracer({"cat", "--file", "/home/*", file}).status, 1);
}

TEST(Completion, IsAcceptedByTheShellAndKnowsEveryCommand) {
  const Said said = run_program(
      {"/bin/bash", "-c",
       "source <(" + std::string(DFT_TEST_COMMAND) +
           " completion bash) && COMP_WORDS=(dftracer '') COMP_CWORD=1 && _dftracer && echo ${COMPREPLY[*]}"});
  EXPECT_EQ(said.status, 0) << said.err;
  for (const char* command : {"run", "info", "validate", "summary", "cat", "config", "recover"}) {
    EXPECT_TRUE(contains(said.out, command)) << command;
  }
  EXPECT_TRUE(contains(dftracer({"completion", "zsh"}).out, "#compdef dftracer"));
}

// What bash offers behind these words, of which the last is still being typed.
std::string offered(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) line += " '" + word + "'";
  const Said said = run_program({"/bin/bash", "-c",
                                 "source <(" + std::string(DFT_TEST_COMMAND) + " completion bash) && COMP_WORDS=(" +
                                     line + ") COMP_CWORD=" + std::to_string(words.size() - 1) +
                                     " && { _dftracer; echo ${COMPREPLY[*]}; }"});
  EXPECT_EQ(said.status, 0) << said.err;
  return said.out;
}

TEST(Completion, OffersTheValuesOfAnOptionAndTheProgramsOfRun) {
  EXPECT_EQ(offered({"dftracer", "run", "--mode", ""}), "preload function hybrid\n");
  EXPECT_EQ(offered({"dftracer", "run", "--time-metric", "m"}), "ms\n");
  EXPECT_EQ(offered({"dftracer", "summary", "--sort", "p"}), "p99\n");
  EXPECT_EQ(offered({"dftracer", "completion", "z"}), "zsh\n");
  EXPECT_TRUE(contains(offered({"dftracer", "run", "-o", "t", "--", "bas"}), "bash"));
  EXPECT_EQ(offered({"dftracer", "run", "--", "prog", "--mo"}), "\n") << "its options are the program's own";
}

}  // namespace
}  // namespace dft::tools::test
