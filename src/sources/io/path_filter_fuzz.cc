// SPDX-License-Identifier: MIT
// Purpose: any bytes as a path: its normalised name obeys the rules of names, however little memory there is, and the
//          filter decides as the slow rule does.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sources/io/path_filter.h"
#include "sources/io/path_name.h"

namespace {

using namespace dft::io;

constexpr std::string_view kIncludes[] = {"/a", "/a/b/c", "/data", "/data/x/y", "/a/bb", "/dev/shm/a"};
constexpr std::string_view kExcludes[] = {"/a/b", "/a/b/c/d", "/data/x", "/database"};

void require(bool holds) {
  if (!holds) std::abort();
}

bool covers(std::string_view entry, std::string_view path) {
  return path.substr(0, entry.size()) == entry && (path.size() == entry.size() || path[entry.size()] == '/');
}

bool wanted(std::string_view path) {
  std::size_t best = 0;
  bool traced = false;
  for (const std::string_view entry : kIncludes) {
    if (covers(entry, path) && entry.size() > best) best = entry.size(), traced = true;
  }
  for (const std::string_view entry : kExcludes) {
    if (covers(entry, path) && entry.size() >= best) best = entry.size(), traced = false;
  }
  return traced;
}

void check_name(std::string_view name) {
  require(!name.empty() && name.front() == '/');
  require(name == "/" || name.back() != '/');
  const std::string whole = std::string(name) + "/";
  require(name == "/" || whole.find("//") == std::string::npos);
  require(whole.find("/./") == std::string::npos && whole.find("/../") == std::string::npos);
}

const PathFilter& the_filter() {
  static PathFilter filter;
  static const bool configured =
      filter.configure({kIncludes, std::size(kIncludes)}, {kExcludes, std::size(kExcludes)}, false, "/a/run");
  require(configured);
  return filter;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = "/" + std::string(reinterpret_cast<const char*>(data), size);
  std::string memory(path.size() + kCutMark.size() + 1, '#');
  NameWriter name(memory.data(), memory.size());
  name.add(path);
  require(!name.cut());
  check_name(name.view());
  if (plainly_normal(path)) require(name.view() == path);

  std::string again(memory.size(), '#');
  NameWriter same(again.data(), again.size());
  same.add(name.view());
  require(same.view() == name.view());

  std::string little(size % 40 + kCutMark.size() + 1, '#');
  NameWriter tight(little.data(), little.size());
  tight.add(path);
  require(tight.view().size() <= little.size());
  require(tight.cut() || tight.view() == name.view());

  const FilterVerdict verdict = the_filter().look(name.view());
  const bool exempt = name.view().find(".so") != std::string_view::npos || name.view().substr(0, 6) == "/a/run";
  require(verdict.traced == wanted(name.view()) || (exempt && !verdict.traced));
  require(!verdict.traced || verdict.below);
  the_filter().look(path);  // not normalised: any answer, no crash
  return 0;
}
