// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/places.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace dft::gpu::cupti {
namespace {

TEST(Places, ANameIsTheLibrarysOnlyWhenTheStemEndsThere) {
  for (const char* name : {"libcupti.so", "libcupti.so.12", "libcupti.so.11.8", "libcupti-53ba2d9c.so.11.8"}) {
    EXPECT_TRUE(is_library(name, "libcupti")) << name;
  }
  for (const char* name :
       {"libcupti_static.a", "libcuptiutil.so", "libcupti.a", "libcupti", "cupti.so", "libcupti-x", ""}) {
    EXPECT_FALSE(is_library(name, "libcupti")) << name;
  }
  EXPECT_TRUE(is_library("libcuda.so.1", "libcuda"));
  EXPECT_FALSE(is_library("libcudart.so.12", "libcuda"));
  EXPECT_FALSE(is_library("libcudadebugger.so.1", "libcuda"));
}

TEST(Places, TheVersionOfANameIsCountedAsCudaCounts) {
  EXPECT_EQ(version_in_name("libcudart.so.12"), 12000u);
  EXPECT_EQ(version_in_name("libcupti.so.11.8"), 11080u);
  EXPECT_EQ(version_in_name("libcupti.so.10.1.168"), 10010u);
  EXPECT_EQ(version_in_name("libcupti.so.2025.3.1"), 0u);
  EXPECT_EQ(version_in_name("libcupti.so"), 0u);
  EXPECT_EQ(version_in_name("libcupti.so.12.x"), 0u);
  EXPECT_EQ(version_in_name("libcupti.so.99999999999"), 0u);
}

TEST(Places, APathThatDoesNotFitIsEmptyAndNotCut) {
  Path path("/a");
  EXPECT_FALSE(path.append(std::string(kPathSize, 'x')));
  EXPECT_TRUE(path.empty());
  EXPECT_TRUE(path.assign("/b"));
  EXPECT_EQ(path.view(), "/b");
}

class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    std::string name = testing::TempDir() + "dft-places-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~FolderTest() override { std::filesystem::remove_all(folder_); }
  void put(const char* name) { std::ofstream(folder_ + "/" + name) << "x"; }
  std::string best(std::uint32_t wanted, std::uint32_t newest) {
    Path path;
    return find_in_folder(folder_, wanted, newest, &path) ? std::string(name_of(path.view())) : "none";
  }
  std::string folder_;
};

TEST_F(FolderTest, TheReleaseAskedForWinsThenTheNewestThatTheDriverTakes) {
  EXPECT_EQ(best(0, 0), "none");
  for (const char* name :
       {"libcupti.so.11.8", "libcupti.so.13", "libcupti.so.12", "libcupti_static.a", "libnvperf_host.so"})
    put(name);
  EXPECT_EQ(best(0, 0), "libcupti.so.13");
  EXPECT_EQ(best(12000, 0), "libcupti.so.12");
  EXPECT_EQ(best(11000, 13000), "libcupti.so.11.8");
  EXPECT_EQ(best(0, 12040), "libcupti.so.12");
  EXPECT_EQ(best(13000, 12040), "libcupti.so.12");
  EXPECT_EQ(best(0, 10020), "libcupti.so.11.8") << "too new for the driver, all of them: one must still say so";
}

TEST_F(FolderTest, AFolderOfManyFilesIsReadToItsEnd) {
  for (int i = 0; i < 500; ++i) put(("a-file-with-a-rather-long-name-" + std::to_string(i)).c_str());
  put("libcupti.so.12");
  EXPECT_EQ(best(0, 0), "libcupti.so.12");
}

TEST(Places, AFolderThatIsNotThereHoldsNone) {
  Path path;
  EXPECT_FALSE(find_in_folder("/no/such/folder", 0, 0, &path));
  EXPECT_FALSE(find_in_folder("", 0, 0, &path));
}

TEST(Places, ThisProcessHasNoCuda) {
  Mapped mapped;
  find_mapped(&mapped);
  EXPECT_TRUE(mapped.driver.empty());
  EXPECT_TRUE(mapped.cupti.empty());
}

}  // namespace
}  // namespace dft::gpu::cupti
