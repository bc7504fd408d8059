// SPDX-License-Identifier: MIT
// The source with its thread over the stand-in for rocprofiler-sdk, where things go wrong. Every case runs over several
// releases of it.
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "hip_replay.h"

namespace dft::gpu {
namespace {

class HipFaults : public HipReplay {};
INSTANTIATE_TEST_SUITE_P(, HipFaults, testing::Values(kSdk05, kSdk06, kSdk10, kSdk13),
                         [](const auto& release) { return std::string("Sdk") + release.param.name; });

// ------------------------------------------------------------------------------------------------------------- order

TEST_P(HipFaults, EveryRecordArrivesFromSixtyFourThreads) {
  begin("", only({"HIP_RUNTIME_API", "KERNEL_DISPATCH"}));
  ASSERT_TRUE(tool_.running);
  symbol();
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([this] {
      for (int j = 0; j < 100; ++j) launch();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(hip_source.flush(20 * kSecond));
  const auto lines = end();
  EXPECT_EQ(count(lines, kScale), 6400u);
  EXPECT_EQ(count(lines, R"("cat":"HIP_RUNTIME_API")"), 6400u);
  EXPECT_EQ(count(lines, "clock_suspect"), 0u);
  EXPECT_EQ(lost(lines, "gpu_dropped") + lost(lines, "gpu_undecodable"), 0u);
}

TEST_P(HipFaults, RecordsThatComeInReverseAreAllThere) {
  begin("shuffle=1");
  symbol();
  for (int i = 0; i < 50; ++i) launch();
  const auto lines = end();
  EXPECT_EQ(count(lines, kScale), 50u);
  EXPECT_EQ(count(lines, "clock_suspect"), 0u);
}

TEST_P(HipFaults, AKernelThatComesBeforeItsSymbolGetsItsName) {
  begin("no_flush=1");
  launch();
  EXPECT_TRUE(hip_source.flush(20 * kSecond));
  symbol();
  EXPECT_TRUE(hip_source.flush(20 * kSecond));
  const auto lines = end();
  EXPECT_EQ(count(lines, kScale), 1u);
  EXPECT_EQ(count(lines, R"("cat":"KERNEL_DISPATCH")"), 1u);
}

TEST_P(HipFaults, AKernelWhoseSymbolNeverComesIsRecorded) {
  begin();
  launch(12345);
  const auto lines = end();
  EXPECT_EQ(count(lines, R"("cat":"KERNEL_DISPATCH")"), 1u);
  EXPECT_EQ(number_after(first(lines, R"("cat":"KERNEL_DISPATCH")"), "kernel_id"), 12345u);
}

TEST_P(HipFaults, AKernelKeepsItsNameWhenItsCodeIsUnloaded) {
  begin("no_flush=1");
  char name[] = "_ZN5train5scaleIfEEvPT_i.kd";
  sdk_.symbol(true, 7, name);
  launch();
  sdk_.symbol(false, 7, name);
  std::memset(name, '?', sizeof name - 1);  // the code object's memory is gone
  EXPECT_EQ(count(end(), kScale), 1u);
}

TEST_P(HipFaults, AStreamsAddressMayBeUsedAgain) {
  begin("", only({"HIP_RUNTIME_API", "KERNEL_DISPATCH", "HIP_STREAM"}));
  symbol();
  for (const std::uint64_t id : {1, 2}) {
    sdk_.stream(1, 0, id, 0x5000);
    sdk_.stream(3, 1, id, 0x5000);
    launch();
    sdk_.stream(3, 2, id, 0x5000);
    sdk_.stream(2, 0, id, 0x5000);
  }
  launch();  // no stream is set
  std::multiset<std::uint64_t> streams;
  const auto lines = end();
  for (const std::string& line : lines) {
    if (line.find(kScale) != std::string::npos) streams.insert(number_after(line, "stream_id"));
  }
  const std::uint64_t none = ~std::uint64_t{0};
  const auto expected =
      is_1() ? std::multiset<std::uint64_t>{1, 2, none} : std::multiset<std::uint64_t>{none, none, none};
  EXPECT_EQ(streams, expected);
}

// -------------------------------------------------------------------------------------------------------------- loss

TEST_P(HipFaults, DropsAreSaidAsTheyGrow) {
  begin("no_flush=1");
  symbol();
  std::uint64_t dropped = 0;
  for (const std::uint64_t more : {5, 0, 2}) {
    sdk_.drop("KERNEL_DISPATCH", more);  // the library's count never falls
    dropped += more;
    launch();
    EXPECT_TRUE(hip_source.flush(20 * kSecond));
  }
  const auto lines = end();
  EXPECT_EQ(lost(lines, "gpu_dropped"), dropped);
  EXPECT_EQ(count(lines, kScale), 3u);
}

TEST_P(HipFaults, BuffersAfterTheEndAreCountedAndLeftAlone) {
  begin("late=1");
  symbol();
  launch();
  EXPECT_EQ(count(end(), kScale), 0u);  // nothing could be flushed
  sdk_.finalize();                      // delivers now: nobody decodes it, nothing breaks
  begin();
  const auto lines = end();
  EXPECT_EQ(count(lines, R"("cause":"gpu_late")"), 1u);
}

TEST_P(HipFaults, BuffersBetweenTheLibrarysEndAndOursAreRecorded) {
  begin("late=1");
  symbol();
  launch();
  sdk_.finalize();
  const auto lines = end();
  EXPECT_EQ(count(lines, kScale), 1u);
  EXPECT_EQ(count(lines, R"("name":"hipModuleLaunchKernel","cat":"HIP_RUNTIME_API")"), 1u);
}

TEST_P(HipFaults, TheLibraryMayEndFirst) {
  begin("no_flush=1");
  symbol();
  launch();
  EXPECT_TRUE(hip_source.flush(20 * kSecond));
  sdk_.finalize();
  const auto lines = end();
  EXPECT_EQ(count(lines, kScale), 1u);
  EXPECT_EQ(sdk_.counters().active, 0u);
}

TEST_P(HipFaults, StopAloneRecordsEverythingAndSwitchesOff) {
  begin("no_flush=1");
  symbol();
  launch();
  EXPECT_EQ(count(end(), kScale), 1u);
  EXPECT_EQ(sdk_.counters().active, 0u);
  const std::uint64_t delivered = sdk_.counters().delivered;
  launch();  // untraced
  sdk_.deliver();
  EXPECT_EQ(sdk_.counters().delivered, delivered);
}

// -------------------------------------------------------------------------------------------------------------- time

TEST_P(HipFaults, TimesThatCannotBeAreFlagged) {
  begin("zero_every=5 zero_end_every=3 reversed_every=2");
  symbol();
  for (int i = 0; i < 30; ++i) {
    Event e = dispatch(7);
    e.begin -= 2000;  // so that begin and end differ by more than the stand-in's own time
    e.end -= 1000;
    sdk_.emit(e);
  }
  const auto lines = end();
  EXPECT_EQ(count(lines, kScale), 30u);
  EXPECT_EQ(count(lines, R"("clock_suspect":"zero")"), 6u);
  EXPECT_EQ(count(lines, R"("clock_suspect":"zero_end")"), 8u);
  EXPECT_EQ(count(lines, R"("clock_suspect":"reversed")"), 8u);
}

TEST_P(HipFaults, TimesLieBetweenReadingsOfTheTraceClock) {
  const base::Ticks before = base::clock_now();
  begin();
  symbol();
  launch();
  const auto lines = end();
  const base::Ticks after = base::clock_now();
  EXPECT_EQ(count(lines, kScale), 1u);
  for (const record::CopiedRecord& record : drained_.records) {
    if (record.header().kind != model::RecordKind::kEvent) continue;
    EXPECT_GE(record.header().begin, before);
    EXPECT_LE(record.header().end, after);
  }
}

// --------------------------------------------------------------------------------------------------------------- ABI

TEST_P(HipFaults, UnknownKindsAndSizesAreCountedAndNothingElseIsLost) {
  begin("no_flush=1");
  symbol();
  launch();
  struct {
    std::uint64_t size;
    std::uint32_t kind;
    std::int32_t operation;
    unsigned char rest[5000];
  } record = {48, 120, 0, {}};
  sdk_.emit_raw(120, &record, 48);  // a kind of the future
  record.kind = sdk_.kind_number("KERNEL_DISPATCH");
  for (const std::uint64_t size : {std::uint64_t{16}, std::uint64_t{100}, std::uint64_t{0}, ~std::uint64_t{0}}) {
    record.size = size;  // shorter than it can be, or no size at all
    sdk_.emit_raw(record.kind, &record, 184);
  }
  launch();
  const auto lines = end();
  EXPECT_EQ(count(lines, kScale), 2u);
  EXPECT_EQ(lost(lines, "gpu_undecodable"), 5u);
  EXPECT_GE(count(lines, R"("cause":"gpu_undecodable")"), 1u);
}

TEST_P(HipFaults, ARecordThatHasGrownIsReadAsFarAsItIsKnown) {
  if (!is_1()) GTEST_SKIP() << "the releases before 1.0 are finished";
  begin();
  symbol();
  Event e = dispatch(7);
  sdk_.emit(e);
  std::vector<unsigned char> longer(200, 0);
  const std::uint64_t size = longer.size();
  const std::uint32_t kind = sdk_.kind_number("KERNEL_DISPATCH");
  const std::int32_t complete = 2;
  const std::uint64_t kernel = 7, agent = standin::kGpuAgent;
  std::memcpy(&longer[0], &size, 8);
  std::memcpy(&longer[8], &kind, 4);
  std::memcpy(&longer[12], &complete, 4);
  std::memcpy(&longer[40], &e.begin, 8);
  std::memcpy(&longer[48], &e.end, 8);
  std::memcpy(&longer[64], &agent, 8);
  std::memcpy(&longer[80], &kernel, 8);
  sdk_.emit_raw(kind, longer.data(), longer.size());
  EXPECT_EQ(count(end(), kScale), 2u);
}

TEST_P(HipFaults, ARefusedKindSwitchesOffItselfOnly) {
  begin("fail=SCRATCH_MEMORY");
  ASSERT_TRUE(tool_.running);
  symbol();
  launch();
  const auto lines = end();
  EXPECT_EQ(count(lines, R"("category":"SCRATCH_MEMORY")"), 1u) << first(lines, "gpu_status");
  EXPECT_NE(first(lines, R"("state":"partial")").find(R"("category":"SCRATCH_MEMORY")"), std::string::npos);
  EXPECT_EQ(count(lines, kScale), 1u);
}

// Asked for the driver's events on such a machine, the library would end the process.
TEST_P(HipFaults, TheDriversEventsAreLeftOutWhereItsDeviceCannotBeOpened) {
  Settings settings;
  settings.amd_device = "/";
  begin("", settings);
  ASSERT_TRUE(tool_.running);
  symbol();
  launch();
  EXPECT_FALSE(sdk_.traces("PAGE_MIGRATION") || sdk_.traces("KFD_EVENT_PAGE_FAULT"));
  const auto lines = end();
  EXPECT_NE(first(lines, R"("state":"partial")").find(R"("category":"PAGE_MIGRATION")"), std::string::npos);
  EXPECT_EQ(count(lines, kScale), 1u);
}

TEST_P(HipFaults, ALibraryThatRefusesEverythingIsSaid) {
  for (const char* what : {"create_context", "create_buffer", "start"}) {
    SCOPED_TRACE(what);
    begin(std::string("fail=") + what);
    EXPECT_FALSE(tool_.running);
    launch();
    const auto lines = end();
    const std::string status = first(lines, "gpu_status");
    EXPECT_NE(status.find(R"("state":"off")"), std::string::npos) << status;
    EXPECT_NE(status.find(R"("code_name":"ROCPROFILER_STATUS_ERROR")"), std::string::npos) << status;
    EXPECT_EQ(count(lines, "KERNEL_DISPATCH"), 0u);
  }
}

TEST_P(HipFaults, WithoutExternalIdsEverythingButTheStreamIsThere) {
  begin("fail=external");
  ASSERT_TRUE(tool_.running);
  symbol();
  launch();
  EXPECT_EQ(count(end(), kScale), 1u);
}

// -------------------------------------------------------------------------------------------------------- life cycle

TEST_P(HipFaults, InitializedTwiceItIsThereOnce) {
  begin("initialize_twice=1");
  ASSERT_TRUE(tool_.running);
  symbol();
  launch();
  const auto lines = end();
  EXPECT_EQ(count(lines, kScale), 1u);
  EXPECT_EQ(sdk_.counters().contexts, 1u);
}

TEST_P(HipFaults, AfterTheConfigurationIsLockedItSaysSo) {
  prepare("locked=1", {});
  sdk_.attach(kTools, 1);
  EXPECT_EQ(tool_.asked, 0);
  EXPECT_EQ(initialize(nullptr, nullptr), 0);  // as a start that comes too late
  EXPECT_FALSE(tool_.running);
  const std::string status = first(end(), "gpu_status");
  EXPECT_NE(status.find("ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED"), std::string::npos) << status;
}

int other_initialized = 0;
void* configure_other(std::uint32_t, const char*, std::uint32_t, void*) {
  static rocprof::ConfigureResult result = {sizeof result,
                                            [](void (*)(), void*) {
                                              ++other_initialized;
                                              return 0;
                                            },
                                            nullptr, nullptr};
  return &result;
}

TEST_P(HipFaults, AnotherToolMayBeThereToo) {
  prepare("", {});
  other_initialized = 0;
  const standin::Configure both[] = {configure_other, configure};
  sdk_.attach(both, 2);
  ASSERT_TRUE(tool_.running);
  symbol();
  launch();
  EXPECT_EQ(count(end(), kScale), 1u);
  EXPECT_EQ(other_initialized, 1);
}

TEST_P(HipFaults, ASecondRecordingTakesTheSameContext) {
  begin();
  symbol();
  launch();
  EXPECT_EQ(count(end(), kScale), 1u);
  drained_.begin({});
  ASSERT_TRUE(hip_source.start(tool_.settings, *tool_.backend));
  launch();
  const auto lines = end();  // of both
  EXPECT_EQ(count(lines, kScale), 2u);
  EXPECT_EQ(sdk_.counters().contexts, 1u);
}

TEST_P(HipFaults, AForkedChildNeverCallsTheLibrary) {
  begin("late=1");
  symbol();
  launch();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    hip_source.in_forked_child();
    hip_source.flush(kSecond);
    hip_source.stop();
    if (hip_source.start(tool_.settings, *tool_.backend)) _exit(1);
    // What the application may do: the library delivers what it holds, the parent's records too.
    sdk_.deliver_late();
    launch();
    _exit(hip_source.running() ? 2 : 0);  // the stand-in would end the child with 99
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  sdk_.finalize();
  const auto lines = end();
  EXPECT_EQ(count(lines, kScale), 1u);
}

}  // namespace
}  // namespace dft::gpu
