// SPDX-License-Identifier: MIT
// Files by the C++ library: streams, and whole files by std::filesystem.
#include <filesystem>
#include <fstream>
#include <string>

int main() {
  std::ofstream("made") << std::string(20000, 'x') << "\n";
  std::string line;
  std::ifstream in("made");
  while (std::getline(in, line)) {
    if (line.size() != 20000) return 1;
  }
  std::filesystem::copy_file("made", "copy");
  std::filesystem::rename("copy", "moved");
  std::filesystem::resize_file("moved", 5);
  return std::filesystem::remove("moved") ? 0 : 2;
}
