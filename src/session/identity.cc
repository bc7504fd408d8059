// SPDX-License-Identifier: MIT
#include "session/identity.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include <cctype>

#include "base/hash.h"
#include "base/raw_io.h"

namespace dft::session {

namespace raw = base::raw;

namespace {

constexpr std::size_t kExecNameLimit = 127;

std::string read_file(const char* path) {
  std::string content;
  const int fd = raw::open(path, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return content;
  char piece[4096];
  long size = 0;
  while ((size = raw::read(fd, piece, sizeof piece)) > 0) content.append(piece, static_cast<std::size_t>(size));
  raw::close(fd);
  return content;
}

std::string_view basename_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_digits(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
  }
  return true;
}

// `env`, `python`, `python3`, `python3.11`
bool is_launcher(std::string_view name) {
  if (name == "env" || name == "python") return true;
  if (name.substr(0, 6) != "python") return false;
  const std::string_view version = name.substr(6);
  const std::size_t dot = version.find('.');
  if (dot == std::string_view::npos) return is_digits(version);
  return is_digits(version.substr(0, dot)) && is_digits(version.substr(dot + 1));
}

}  // namespace

std::string exec_name(const std::vector<std::string>& arguments) {
  bool spawned = false;
  for (const std::string& argument : arguments) {
    if (argument.empty() || argument[0] == '-') continue;
    const std::string_view name = basename_of(argument);
    if (name.empty() || is_launcher(name)) continue;
    if (argument.find("multiprocessing") != std::string::npos) {
      spawned = true;
      continue;
    }
    return std::string(name.substr(0, kExecNameLimit));
  }
  return spawned ? "DEFAULT-spawn" : "DEFAULT";
}

Identity read_identity() {
  Identity identity;
  struct utsname names;
  if (raw::call(SYS_uname, reinterpret_cast<long>(&names)) == 0) identity.host = names.nodename;
  const std::string command = read_file("/proc/self/cmdline");
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < command.size();) {
    std::size_t end = command.find('\0', at);
    if (end == std::string::npos) end = command.size();
    arguments.push_back(command.substr(at, end - at));
    if (!identity.command.empty() || at != 0) identity.command += ';';
    identity.command += arguments.back();
    at = end + 1;
  }
  identity.exec_name = exec_name(arguments);
  char directory[4096];
  if (current_directory(directory, sizeof directory)) identity.cwd = directory;
  return identity;
}

Rank rank_from_launcher(const char* (*lookup)(const char* name)) {
  Rank rank;
  const auto take = [&](const char* name) {
    const char* value = lookup(name);
    if (rank.known || value == nullptr || !is_digits(value)) return;
    rank = {true, value, name};
  };
  if (lookup("LOCAL_RANK") != nullptr) take("RANK");
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "FLUX_TASK_RANK", "SLURM_PROCID"}) {
    take(name);
  }
  return rank;
}

bool current_directory(char* out, std::size_t size) {
  // The kernel writes "(unreachable)/..." for what lies outside the root.
  if (raw::getcwd(out, size) > 0 && out[0] == '/') return true;
  out[0] = '\0';
  return false;
}

std::string make_absolute(std::string_view path, std::string_view directory) {
  if (!path.empty() && path[0] == '/') return std::string(path);
  if (directory.empty()) return {};
  while (path.substr(0, 2) == "./") {
    path.remove_prefix(2);
    while (!path.empty() && path[0] == '/') path.remove_prefix(1);
  }
  std::string absolute(directory);
  if (absolute.back() != '/') absolute += '/';
  absolute += path;
  return absolute;
}

std::string strip_extension(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string_view::npos ? 0 : slash + 1;
  for (const std::string_view extension : {".pfw.gz", ".pfw"}) {
    const std::size_t length = path.size() - name;
    if (length > extension.size() && path.substr(path.size() - extension.size()) == extension) {
      return std::string(path.substr(0, path.size() - extension.size()));
    }
  }
  const std::size_t dot = path.rfind('.');
  const bool has_extension = dot != std::string_view::npos && dot > name;
  return std::string(has_extension ? path.substr(0, dot) : path);
}

std::string trace_stem(std::string_view absolute_prefix, const Identity& identity, int pid, std::string_view suffix) {
  const std::string whole = identity.exec_name + "-" + identity.host + "-" + std::to_string(pid);
  std::string stem(absolute_prefix);
  stem += '-';
  stem += base::string_hash(whole).view();
  stem += '-';
  stem += suffix;
  return stem;
}

}  // namespace dft::session
