// SPDX-License-Identifier: MIT
#include "tools/program_check.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

namespace dft::tools {
namespace {

namespace fs = std::filesystem;

// A dynamic program names its loader; without one nothing can be preloaded.
bool is_static_elf(int fd) {
  Elf64_Ehdr header{};
  if (::pread(fd, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) return false;
  if (header.e_ident[EI_MAG0] != ELFMAG0 || header.e_ident[EI_MAG1] != ELFMAG1 || header.e_ident[EI_MAG2] != ELFMAG2 ||
      header.e_ident[EI_MAG3] != ELFMAG3) {
    return false;
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) return false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    const auto at = static_cast<off_t>(header.e_phoff + i * sizeof segment);
    if (::pread(fd, &segment, sizeof segment, at) != static_cast<ssize_t>(sizeof segment)) return false;
    if (segment.p_type == PT_INTERP) return false;
  }
  return true;
}

bool is_other_class(int fd) {
  unsigned char ident[EI_NIDENT] = {};
  if (::pread(fd, ident, sizeof ident, 0) != static_cast<ssize_t>(sizeof ident)) return false;
  return ident[EI_MAG0] == ELFMAG0 && ident[EI_MAG1] == ELFMAG1 && ident[EI_CLASS] == ELFCLASS32;
}

std::string why_untraced(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "";
  if ((info.st_mode & S_ISUID) != 0 && info.st_uid != ::geteuid()) {
    return "it has the setuid bit, so the loader ignores LD_PRELOAD";
  }
  if ((info.st_mode & S_ISGID) != 0 && info.st_gid != ::getegid()) {
    return "it has the setgid bit, so the loader ignores LD_PRELOAD";
  }
  if (::geteuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
    return "it has file capabilities, so the loader ignores LD_PRELOAD";
  }
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  std::string why;
  if (is_static_elf(fd)) why = "it is linked statically (no PT_INTERP), so nothing can be preloaded into it";
  if (is_other_class(fd)) why = "it is a 32-bit program and the library is not";
  ::close(fd);
  return why;
}

}  // namespace

Program find_program(const std::string& name, const char* search_path) {
  Program program;
  const auto usable = [&](const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return false;
    if (S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0) return true;
    program.status = 126;
    return false;
  };
  if (name.find('/') != std::string::npos) {
    if (usable(name)) program.path = name;
  } else if (!name.empty()) {
    std::istringstream folders(search_path != nullptr ? search_path : "/bin:/usr/bin");
    for (std::string folder; program.path.empty() && std::getline(folders, folder, ':');) {
      const std::string path = (folder.empty() ? "." : folder) + "/" + name;
      if (usable(path)) program.path = path;
    }
  }
  if (program.path.empty()) {
    if (program.status == 0) program.status = 127;
    return program;
  }
  program.status = 0;
  program.why_untraced = why_untraced(program.path);
  return program;
}

namespace {
// pip puts the command into <environment>/bin and the libraries into the package.
std::string find_in_python_package(const fs::path& environment, const std::string& file_name) {
  std::error_code error;
  for (const char* libdir : {"lib", "lib64"}) {
    for (fs::directory_iterator at(environment / libdir, error), end; !error && at != end; at.increment(error)) {
      if (at->path().filename().string().rfind("python3.", 0) != 0) continue;
      for (const char* packages : {"site-packages", "dist-packages"}) {
        const fs::path path = at->path() / packages / "dftracer" / "lib64" / file_name;
        if (fs::exists(path, error)) return fs::weakly_canonical(path, error).string();
      }
    }
  }
  return "";
}
}  // namespace

std::string find_library(const std::string& file_name) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return "";
  const fs::path folder = self.parent_path();
#ifdef DFT_LIBDIR
  const char* const installed = "../" DFT_LIBDIR;
#else
  const char* const installed = "../lib";
#endif
  // Installed beside bin/, else in the build tree: <build>/lib beside <build>/bin or <build>/src/tools.
  for (const char* place : {installed, "../lib", "../lib64", "../../lib", "."}) {
    const fs::path path = folder / place / file_name;
    if (fs::exists(path, error)) return fs::weakly_canonical(path, error).string();
  }
  return find_in_python_package(folder.parent_path(), file_name);
}

}  // namespace dft::tools
