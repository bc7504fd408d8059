// SPDX-License-Identifier: MIT
// Each test runs in a child, since a library that was opened once stays mapped.
#include "sources/gpu/cupti/library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

namespace dft::gpu::cupti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCupti12 = DFT_FAKE_DIR "/libfake_cupti12.so";  // version 24
constexpr const char* kCupti13 = DFT_FAKE_DIR "/libfake_cupti13.so";  // version 130001
constexpr const char* kLacking = DFT_FAKE_DIR "/libfake_lacking.so";
constexpr const char* kCupti132 = DFT_FAKE_DIR "/libfake_cupti13_2.so";  // crashes when it is called without a driver
constexpr const char* kMute = DFT_FAKE_DIR "/libfake_mute.so";           // does not say its version
constexpr const char* kDriver12 = DFT_FAKE_DIR "/libfake_driver12.so";   // 12.4

class LibraryTest : public testing::Test {
 protected:
  LibraryTest() {
    std::string name = testing::TempDir() + "dft-cupti-XXXXXX";
    root_ = fs::canonical(mkdtemp(name.data())).string();
  }
  ~LibraryTest() override { fs::remove_all(root_); }

  std::string put(const char* library, const std::string& place) {
    const fs::path file = root_ + "/" + place;
    fs::create_directories(file.parent_path());
    fs::copy_file(library, file);
    return file.string();
  }
  std::string at(const std::string& place) const { return root_ + "/" + place; }

  // Runs `check` in a child; its text, empty when all is well, is what the child says.
  static std::string in_child(const std::function<std::string()>& check) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      const std::string text = check();
      const bool said = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
      _exit(said ? 0 : 1);
    }
    ::close(ends[1]);
    std::string text;
    char part[512];
    for (ssize_t n; (n = ::read(ends[0], part, sizeof(part))) > 0;) text.append(part, static_cast<std::size_t>(n));
    ::close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return text;
  }

  // "<origin> <path> <version>", or "none: <tried>".
  static std::string found(const Search& search, const Mapped* mapped = nullptr) {
    Library library;
    if (!(mapped != nullptr ? open_library(search, *mapped, &library) : open_library(search, &library))) {
      return std::string("none: ") + library.tried.c_str();
    }
    return std::string(origin_text(library.origin)) + " " + library.path.c_str() + " " +
           std::to_string(library.version.api());
  }

  std::string root_;
};

Mapped with_runtime(const std::string& path) {
  Mapped mapped;
  mapped.runtime.assign(path);
  return mapped;
}

TEST_F(LibraryTest, TheMappedCopyWinsOverTheOneThatIsNamed) {
  const std::string mapped = put(kCupti12, "app/libcupti.so.12");
  const std::string named = put(kCupti13, "named/libcupti.so.13");
  EXPECT_EQ(in_child([&] {
              if (dlopen(mapped.c_str(), RTLD_NOW) == nullptr) return std::string(dlerror());
              return found({named.c_str(), nullptr, nullptr});
            }),
            "mapped by the process " + mapped + " 24");
}

TEST_F(LibraryTest, AMappedCopyWithAHashInItsNameIsSeen) {
  const std::string mapped = put(kCupti12, "torch/lib/libcupti-53ba2d9c.so.12");
  EXPECT_EQ(in_child([&] {
              if (dlopen(mapped.c_str(), RTLD_NOW) == nullptr) return std::string(dlerror());
              return found({});
            }),
            "mapped by the process " + mapped + " 24");
}

TEST_F(LibraryTest, ThePathMayBeTheLibraryOrItsFolderOrARoot) {
  const std::string file = put(kCupti13, "cuda/lib64/libcupti.so.13");
  for (const char* path : {"cuda/lib64/libcupti.so.13", "cuda/lib64", "cuda"}) {
    const std::string place = at(path);
    EXPECT_EQ(in_child([&] {
                return found({place.c_str(), nullptr, nullptr});
              }),
              "DFTRACER_CUPTI_PATH " + file + " 130001");
  }
}

TEST_F(LibraryTest, APathWithoutCuptiIsNotReplacedByAnotherPlace) {
  put(kCupti13, "home/lib64/libcupti.so.13");
  const std::string home = at("home");
  for (const char* path : {"nothing", "nothing/libcupti.so"}) {
    fs::create_directories(at("nothing"));
    const std::string place = at(path);
    const std::string said = in_child([&] { return found({place.c_str(), home.c_str(), home.c_str()}); });
    EXPECT_EQ(said.rfind("none: " + place + ": ", 0), 0u) << said;
    EXPECT_EQ(said.find("home"), std::string::npos) << said;
  }
}

TEST_F(LibraryTest, BesideTheRuntimeTheSameReleaseIsTaken) {
  const std::string file = put(kCupti12, "cuda/lib64/libcupti.so.12");
  put(kCupti13, "cuda/lib64/libcupti.so.13");
  const Mapped mapped = with_runtime(at("cuda/lib64/libcudart.so.12"));
  const std::string home = at("cuda");
  EXPECT_EQ(in_child([&] {
              return found({nullptr, home.c_str(), nullptr}, &mapped);
            }),
            "of the mapped libcudart " + file + " 24");
}

TEST_F(LibraryTest, AWheelOfTheRuntimeLeadsToTheWheelOfCupti) {
  const std::string file = put(kCupti12, "nvidia/cuda_cupti/lib/libcupti.so.12");
  fs::create_directories(at("nvidia/cuda_runtime/lib"));
  const Mapped mapped = with_runtime(at("nvidia/cuda_runtime/lib/libcudart.so.12"));
  EXPECT_EQ(in_child([&] {
              std::string text = found({}, &mapped);
              return text.replace(text.find("/cuda_runtime/lib/../.."), 23, "");
            }),
            "of the mapped libcudart " + file + " 24");
}

TEST_F(LibraryTest, ToolkitsUpTo101HaveItBelowExtras) {
  const std::string file = put(kCupti12, "cuda/extras/CUPTI/lib64/libcupti.so.10.1");
  fs::create_directories(at("cuda/lib64"));
  const Mapped mapped = with_runtime(at("cuda/lib64/libcudart.so.10.1"));
  EXPECT_EQ(in_child([&] { return found({}, &mapped); }),
            "of the mapped libcudart " + at("cuda/lib64/../extras/CUPTI/lib64/libcupti.so.10.1") + " 24");
  const std::string home = at("cuda");
  EXPECT_EQ(in_child([&] { return found({nullptr, home.c_str(), nullptr}); }), "CUDA_HOME " + file + " 24");
}

TEST_F(LibraryTest, NoneNewerThanTheDriverIsTakenWhereAnOlderOneIs) {
  const std::string file = put(kCupti12, "cuda/lib64/libcupti.so.12");
  put(kCupti13, "cuda/lib64/libcupti.so.13");
  const std::string driver = put(kDriver12, "driver/libcuda.so.1");
  const std::string home = at("cuda");
  EXPECT_EQ(in_child([&] {
              if (dlopen(driver.c_str(), RTLD_NOW) == nullptr) return std::string(dlerror());
              return found({nullptr, home.c_str(), nullptr});
            }),
            "CUDA_HOME " + file + " 24");
  EXPECT_EQ(in_child([&] {
              return found({nullptr, home.c_str(), nullptr});
            }),
            "CUDA_HOME " + at("cuda/lib64/libcupti.so.13") + " 130001");
}

TEST_F(LibraryTest, ALibraryThatLacksAFunctionIsPassedOverWithTheReason) {
  put(kLacking, "old/lib64/libcupti.so.12");
  const std::string file = put(kCupti13, "new/lib64/libcupti.so.13");
  const std::string old = at("old"), build = at("new/lib64");
  const Mapped mapped = with_runtime(at("old/lib64/libcudart.so.12"));
  const std::string said = in_child([&] {
    Library library;
    open_library({nullptr, nullptr, build.c_str()}, mapped, &library);
    return std::string(library.tried.c_str());
  });
  EXPECT_NE(said.find("lacks cuptiSetThreadIdType"), std::string::npos) << said;
}

TEST_F(LibraryTest, CuptiThatCrashesBeforeCudaIsUpIsNotCalledUntilThen) {
  const std::string file = put(kCupti132, "cuda/lib64/libcupti.so.13");
  const std::string driver = put(kDriver12, "driver/libcuda.so.1");
  put(kCupti13, "build/libcupti.so.13");
  const std::string home = at("cuda"), build = at("build");
  EXPECT_EQ(in_child([&] {
              Library library;
              const Search search{nullptr, home.c_str(), build.c_str()};
              if (open_library(search, &library) || library.handle != nullptr) return std::string("was opened");
              if (!library.waits_for_driver) return std::string("does not wait: ") + library.tried.c_str();
              if (dlopen(driver.c_str(), RTLD_NOW) == nullptr) return std::string(dlerror());
              if (!open_library(search, &library)) return std::string("still not: ") + library.tried.c_str();
              return std::string(library.path.c_str()) + " " + std::to_string(library.version.api());
            }),
            file + " 130201");
}

TEST_F(LibraryTest, CuptiThatDoesNotSayItsVersionIsTakenAsTheWorst) {
  const std::string file = put(kMute, "libcupti.so.13");
  EXPECT_EQ(in_child([&] { return found({file.c_str(), nullptr, nullptr}); }), "DFTRACER_CUPTI_PATH " + file + " 0");
  EXPECT_FALSE(Version(0).may_refuse_buffers());
  EXPECT_FALSE(Version(0).may_share());
}

TEST_F(LibraryTest, ThePlaceOfTheBuildIsTheLast) {
  const std::string file = put(kCupti13, "build/lib/libcupti.so.13");
  const std::string build = at("build/lib");
  const std::string said = in_child([&] { return found({nullptr, nullptr, build.c_str()}); });
  // A machine with CUPTI in the loader's path finds that one before.
  EXPECT_TRUE(said == "the toolkit of the build " + file + " 130001" || said.rfind("the loader's path ", 0) == 0)
      << said;
}

TEST_F(LibraryTest, TheDriverIsSeenWhenItIsMapped) {
  const std::string driver = put(kDriver12, "driver/libcuda.so.1");
  EXPECT_FALSE(driver_is_mapped());
  EXPECT_EQ(in_child([&] {
              dlopen(driver.c_str(), RTLD_NOW);
              return std::string(driver_is_mapped() ? "seen" : "not seen");
            }),
            "seen");
}

TEST(Functions, TheTableHoldsWhatTheLibraryExports) {
  void* handle = dlopen(kCupti12, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  Functions functions;
  EXPECT_EQ(load_functions(handle, &functions), nullptr);
  EXPECT_EQ(reinterpret_cast<void*>(functions.enable), dlsym(handle, "cuptiActivityEnable"));
  EXPECT_EQ(functions.subscribe_v2, nullptr);
  EXPECT_EQ(functions.graph_id, nullptr);
}

TEST(Tried, ALongListIsCut) {
  Tried tried;
  for (int i = 0; i < 100; ++i) tried.note("/a/long/place/that/is/not/there", "cannot be opened");
  EXPECT_LT(std::string_view(tried.c_str()).size(), 1024u);
}

}  // namespace
}  // namespace dft::gpu::cupti
