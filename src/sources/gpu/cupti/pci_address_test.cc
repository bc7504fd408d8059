// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/pci_address.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace dft::gpu::cupti {
namespace {

constexpr unsigned char kSecond[16] = {0x5e, 0x1f, 0x00, 0x0a, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0xff};

TEST(PciAddress, IsThatOfTheGpuWithTheUuid) {
  std::string name = testing::TempDir() + "dft-pci-XXXXXX";
  const std::filesystem::path root = mkdtemp(name.data());
  const char* const uuids[] = {"GPU-5e1f000a-0102-0304-0506-0708090a0bfe", "GPU-5e1f000a-0102-0304-0506-0708090a0bff"};
  const char* const places[] = {"0000:1b:00.0", "0000:43:00.0"};
  for (int i : {0, 1}) {
    std::filesystem::create_directories(root / places[i]);
    std::ofstream(root / places[i] / "information") << "Model: \t\t NVIDIA H200\nIRQ:   \t\t 217\nGPU UUID: \t "
                                                    << uuids[i] << "\nBus Location: \t " << places[i] << "\n";
  }
  std::filesystem::create_directories(root / "0000:99:00.0");  // shows nothing
  EXPECT_STREQ(pci_address_of(kSecond, root.c_str()).text, "0000:43:00.0");
  std::filesystem::remove_all(root / places[1]);
  EXPECT_STREQ(pci_address_of(kSecond, root.c_str()).text, "");
  std::filesystem::remove_all(root);
  EXPECT_STREQ(pci_address_of(kSecond, root.c_str()).text, "");
}

}  // namespace
}  // namespace dft::gpu::cupti
