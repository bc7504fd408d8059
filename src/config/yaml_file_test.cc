// SPDX-License-Identifier: MIT
#include "config/yaml_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "config/fake_environment.h"

namespace dft::config {
namespace {

std::string flat(std::string_view text) {
  const YamlFile file = parse_yaml(text);
  if (!file.error.empty()) return "error: " + file.error;
  std::string out;
  for (const YamlEntry& entry : file.entries) {
    out += std::to_string(entry.line) + ' ' + entry.key + '=';
    if (entry.is_null) out += "null";
    if (!entry.value.readable) out += "unreadable ";
    for (const std::string& item : entry.value.items) out += '[' + item + ']';
    out += (entry.is_null ? "" : entry.value.text) + '\n';
  }
  return out;
}

TEST(ParseYaml, GivesDottedKeysWithLines) {
  EXPECT_EQ(flat("enable: true\ntracer:\n  init: PRELOAD\n  data_dirs: [/a, \"/b c\"]\nfeatures:\n  io: {posix: no}\n"),
            "1 enable=true\n3 tracer.init=PRELOAD\n4 tracer.data_dirs=[/a][/b c]\n6 features.io.posix=no\n");
  EXPECT_EQ(flat("a:\n  - x\n  - y\nb: 1\n"), "2 a=[x][y]\n4 b=1\n");
  EXPECT_EQ(flat("a: {b: {}}\nc: 'q'\n"), "2 c=q\n");
  EXPECT_EQ(flat("a:\nb: ~\nc: ''\nd: null\n"), "1 a=null\n2 b=null\n3 c=\n4 d=null\n");
}

TEST(ParseYaml, AnEmptyFileHasNoKeysAndNoError) {
  for (const char* text : {"", "\n", "# nothing\n", "---\n", "~\n", "---\n...\n", "{}\n"}) EXPECT_EQ(flat(text), "");
}

TEST(ParseYaml, NeverFollowsAliases) {
  EXPECT_EQ(flat("a: &x 1\nb: *x\nc: [*x]\n"), "1 a=1\n2 b=unreadable *x\n3 c=unreadable \n");
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int j = 0; j < 8; ++j) bomb += ", " + last;
    bomb += "]\n";
  }
  const YamlFile file = parse_yaml(bomb);
  EXPECT_EQ(file.error, "");
  EXPECT_EQ(file.entries.size(), 40u);
}

TEST(ParseYaml, StructuresThatNoOptionHasMakeOneUnreadableValue) {
  EXPECT_EQ(flat("a: [1, [2, {b: 3}], 4]\nc: 5\n"), "1 a=unreadable [1][4]\n2 c=5\n");
}

TEST(ParseYaml, ErrorsNameTheLineAndDropAllKeys) {
  EXPECT_EQ(flat("enable: true\n- a\n").substr(0, 13), "error: line 2");
  EXPECT_EQ(flat("just text\n"), "error: line 1: a mapping of keys to values is expected");
  EXPECT_EQ(flat("- a\n"), "error: line 1: a mapping of keys to values is expected");
  EXPECT_EQ(flat("? [a]\n: b\n"), "error: line 1: a key must be plain text");
  EXPECT_EQ(flat("a: 1\n*x : 2\n").substr(0, 6), "error:");
  EXPECT_EQ(flat("a: \"open\n").substr(0, 6), "error:");
  EXPECT_EQ(flat("a:\tb\n\t- c\n").substr(0, 6), "error:");
}

TEST(ParseYaml, HostileTextEndsInAnError) {
  const std::string flow = "a: " + std::string(1'000'000, '[');
  EXPECT_EQ(flat(flow).substr(0, 6), "error:");
  const std::string maps = "a: " + std::string(1'000'000, '{');
  EXPECT_EQ(flat(maps).substr(0, 6), "error:");
  std::string steps;
  for (int i = 0; i < 1000; ++i) steps += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_EQ(flat(steps), "error: line 17: nested too deeply");
  std::string dashes = "a:\n";
  for (int i = 0; i < 50'000; ++i) dashes += "- ";
  EXPECT_EQ(flat(dashes).substr(0, 6), "error:");
  EXPECT_EQ(flat(std::string(300, 'k') + ": 1\n"), "error: line 1: a key is longer than 200 bytes");
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "k" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(flat(many), "error: line 10001: more keys than any configuration has");
  std::string garbage;
  unsigned state = 1;
  for (int i = 0; i < 4096; ++i) garbage += static_cast<char>((state = state * 1103515245u + 12345u) >> 16);
  EXPECT_EQ(flat(garbage).substr(0, 6), "error:");
  EXPECT_EQ(flat(std::string("a: \0b\n", 6)).substr(0, 6), "error:");
}

TEST(ReadYaml, TakesRegularFilesOnly) {
  const TemporaryFile file("enable: yes\n");
  EXPECT_EQ(read_yaml(file.path().c_str()).entries.size(), 1u);
  EXPECT_EQ(read_yaml("/").error, "not a regular file");
  EXPECT_EQ(read_yaml("/dev/zero").error, "not a regular file");
  EXPECT_EQ(read_yaml((file.path() + ".absent").c_str()).error, "No such file or directory");
  EXPECT_EQ(read_yaml((file.path() + "/x").c_str()).error, "Not a directory");
  EXPECT_EQ(read_yaml(std::string(10'000, 'x').c_str()).error, "File name too long");
}

TEST(ReadYaml, DoesNotWaitForAPipe) {
  const TemporaryFile file("");
  const std::string pipe = file.path() + ".pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(read_yaml(pipe.c_str()).error, "not a regular file");
  ::unlink(pipe.c_str());
}

TEST(ReadYaml, RefusesAHugeFileUnread) {
  const TemporaryFile file("enable: 1\n");
  ASSERT_EQ(::truncate(file.path().c_str(), off_t{1} << 40), 0);
  EXPECT_EQ(read_yaml(file.path().c_str()).error, "larger than 1 MiB");
}

}  // namespace
}  // namespace dft::config
