// SPDX-License-Identifier: MIT
#include <cerrno>

#include "sources/io/posix.gen.h"
#include "sources/io/stdio.gen.h"
#include "sources/io/wrappers_for_test.h"

namespace dft::io {
namespace {

using StreamsTest = WrappersTest;

TEST_F(StreamsTest, BytesAreBytesWhateverTheItems) {
  FILE* stream = wrap_fopen(path("a").c_str(), "w+");
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(wrap_fwrite("0123456789", 2, 5, stream), 5u);
  EXPECT_EQ(wrap_fputs("line\n", stream), 1);
  EXPECT_EQ(wrap_fprintf(stream, "%d %.1f %s %lld", 42, 2.5, "text", 1LL << 40), 25);
  EXPECT_EQ(wrap_fputc('c', stream), 'c');
  wrap_rewind(stream);
  char data[64];
  EXPECT_EQ(wrap_fread(data, 4, 2, stream), 2u);
  EXPECT_STREQ(wrap_fgets(data, sizeof data, stream), "89line\n");
  int number = 0;
  double real_number = 0;
  EXPECT_EQ(wrap___isoc99_fscanf(stream, "%d %lf", &number, &real_number), 2);
  EXPECT_EQ(number, 42);
  EXPECT_EQ(real_number, 2.5);
  EXPECT_EQ(wrap_fclose(stream), 0);
  const struct {
    const char* name;
    long bytes;
  } wanted[] = {{"fwrite", 10}, {"fputs", 5}, {"fprintf", 25}, {"fputc", 1}, {"fread", 8}, {"fgets", 7}};
  for (const auto& one : wanted) {
    ASSERT_EQ(named(one.name).size(), 1u) << one.name;
    EXPECT_EQ(named(one.name)[0].number("bytes"), one.bytes) << one.name;
    EXPECT_EQ(named(one.name)[0].file, path("a")) << one.name;
    EXPECT_EQ(named(one.name)[0].category, "STDIO");
  }
  EXPECT_EQ(named("fwrite")[0].number("ret"), 5);
  EXPECT_EQ(named("fscanf")[0].text("symbol"), "__isoc99_fscanf");
  EXPECT_EQ(named("fopen")[0].text("mode"), "w+");
}

TEST_F(StreamsTest, TheEndOfAFileIsNoFailureAndABadStreamIsOne) {
  wrap_close(wrap_open(path("a").c_str(), O_CREAT | O_RDWR, 0600));
  FILE* stream = wrap_fopen(path("a").c_str(), "r");
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(wrap_fgetc(stream), EOF);
  EXPECT_EQ(wrap_fputc('x', stream), EOF);
  EXPECT_EQ(errno, EBADF);
  wrap_fclose(stream);
  EXPECT_FALSE(named("fgetc")[0].has("errno"));
  EXPECT_EQ(named("fgetc")[0].number("bytes"), 0);
  EXPECT_EQ(named("fputc")[0].number("errno"), EBADF);
}

TEST_F(StreamsTest, TheDescriptorOfAStreamHasItsFile) {
  FILE* stream = wrap_fopen(path("a").c_str(), "w");
  EXPECT_EQ(wrap_write(fileno(stream), "x", 1), 1);
  wrap_fclose(stream);
  EXPECT_EQ(named("write")[0].file, path("a"));
}

TEST_F(StreamsTest, AStreamOnADescriptorHasItsFile) {
  const int fd = wrap_open(path("a").c_str(), O_CREAT | O_RDWR, 0600);
  FILE* stream = wrap_fdopen(fd, "w");
  EXPECT_EQ(wrap_fputs("x", stream), 1);
  EXPECT_EQ(wrap_fclose(stream), 0);
  EXPECT_EQ(wrap_write(fd, "x", 1), -1);
  EXPECT_EQ(named("fputs")[0].file, path("a"));
  EXPECT_TRUE(named("write").empty());
}

TEST_F(StreamsTest, AReopenedStreamHasTheNewFile) {
  FILE* stream = wrap_fopen(path("a").c_str(), "w");
  stream = wrap_freopen(path("b").c_str(), "w", stream);
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(wrap_fputs("x", stream), 1);
  wrap_fclose(stream);
  EXPECT_EQ(named("freopen")[0].file, path("a"));
  EXPECT_EQ(named("freopen")[0].hashed("path_hash"), path("b"));
  EXPECT_EQ(named("fputs")[0].file, path("b"));
}

TEST_F(StreamsTest, MemoryIsTracedWhenEverythingIs) {
  char memory[32];
  FILE* stream = wrap_fmemopen(memory, sizeof memory, "w");
  EXPECT_EQ(wrap_fputs("unseen", stream), 1);
  wrap_fclose(stream);
  IoConfig all;
  ASSERT_TRUE(start_io(all));
  char* text = nullptr;
  std::size_t size = 0;
  stream = wrap_open_memstream(&text, &size);
  EXPECT_EQ(wrap_fputs("seen", stream), 1);
  wrap_fclose(stream);
  free(text);
  ASSERT_EQ(named("fputs").size(), 1u);
  EXPECT_EQ(named("fputs")[0].number("bytes"), 4);
  EXPECT_EQ(named("fputs")[0].file, "stdio:[memory]");
}

TEST_F(StreamsTest, EachCategoryCanBeOffAloneAndFilesStayKnown) {
  IoConfig config;
  config.stdio = false;
  start(config);
  FILE* stream = wrap_fopen(path("a").c_str(), "w");
  EXPECT_EQ(wrap_fputs("x", stream), 1);
  EXPECT_EQ(wrap_write(fileno(stream), "x", 1), 1);
  wrap_fclose(stream);
  ASSERT_EQ(events().size(), 1u);
  EXPECT_EQ(events()[0].name, "write");
  EXPECT_EQ(events()[0].file, path("a"));
}

}  // namespace
}  // namespace dft::io
