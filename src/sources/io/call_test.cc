// SPDX-License-Identifier: MIT
#include "sources/io/call.h"

#include <aio.h>

#include <cerrno>
#include <cstring>

#include "sources/io/posix.gen.h"
#include "sources/io/wrappers_for_test.h"

namespace dft::io {
namespace {

TEST_F(WrappersTest, AnEventHasFileArgsAndResult) {
  const std::string a = path("a");
  const int fd = wrap_open(a.c_str(), O_CREAT | O_RDWR, 0640);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(wrap_write(fd, "0123456789", 10), 10);
  char data[16];
  EXPECT_EQ(wrap_pread64(fd, data, 16, 4), 6);
  EXPECT_EQ(wrap_close(fd), 0);
  ASSERT_EQ(events().size(), 4u);
  for (const Event& event : events()) {
    EXPECT_EQ(event.file, a);
    EXPECT_EQ(event.category, "POSIX");
    EXPECT_FALSE(event.has("errno"));
    EXPECT_LE(event.record->header().begin, event.record->header().end);
  }
  const Event& open = events()[0];
  EXPECT_EQ(open.name, "open");
  EXPECT_EQ(open.number("flags"), O_CREAT | O_RDWR);
  EXPECT_EQ(open.number("mode"), 0640);
  EXPECT_EQ(open.number("ret"), fd);
  EXPECT_FALSE(open.has("symbol"));
  const Event& pread = events()[2];
  EXPECT_EQ(pread.name, "pread");
  EXPECT_EQ(pread.text("symbol"), "pread64");
  EXPECT_EQ(pread.number("count"), 16);
  EXPECT_EQ(pread.number("offset"), 4);
  EXPECT_EQ(pread.number("ret"), 6);
}

TEST_F(WrappersTest, WithoutCreationThereIsNoMode) {
  EXPECT_EQ(wrap_open(path("none").c_str(), O_RDONLY), -1);
  EXPECT_EQ(wrap_openat(AT_FDCWD, path("none").c_str(), O_RDONLY), -1);
  ASSERT_EQ(events().size(), 2u);
  for (const Event& event : events()) EXPECT_FALSE(event.has("mode"));
}

TEST_F(WrappersTest, FailureCarriesErrnoAndLeavesIt) {
  errno = 0;
  EXPECT_EQ(wrap_open(path("none").c_str(), O_RDONLY), -1);
  EXPECT_EQ(errno, ENOENT);
  const int fd = wrap_open(path("a").c_str(), O_CREAT | O_WRONLY, 0600);
  char data[4];
  EXPECT_EQ(wrap_read(fd, data, 4), -1);
  EXPECT_EQ(errno, EBADF);
  errno = 77;
  EXPECT_EQ(wrap_write(fd, "x", 1), 1);
  EXPECT_EQ(errno, 77);
  EXPECT_EQ(wrap_posix_fallocate(fd, -1, 1), EINVAL);
  EXPECT_EQ(errno, 77);
  wrap_close(fd);
  EXPECT_EQ(named("open")[0].number("errno"), ENOENT);
  EXPECT_EQ(named("read")[0].number("errno"), EBADF);
  EXPECT_EQ(named("read")[0].number("ret"), -1);
  EXPECT_EQ(named("posix_fallocate")[0].number("errno"), EINVAL);
}

TEST_F(WrappersTest, BadPointersReachTheKernelAndNothingElse) {
  const auto* wild = reinterpret_cast<const char*>(8);
  struct stat out;
  for (const char* bad : {wild, static_cast<const char*>(nullptr)}) {
    errno = 0;
    EXPECT_EQ(wrap_open(bad, O_RDONLY), -1);
    EXPECT_EQ(errno, EFAULT);
    EXPECT_EQ(wrap_stat(bad, &out), -1);
    EXPECT_EQ(errno, EFAULT);
    EXPECT_EQ(wrap_chdir(bad), -1);
    EXPECT_EQ(errno, EFAULT);
  }
  const int fd = wrap_open(path("a").c_str(), O_CREAT | O_RDWR, 0600);
  EXPECT_EQ(wrap_readv(fd, reinterpret_cast<const struct iovec*>(8), 2), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(wrap_rename(path("a").c_str(), wild), -1);
  EXPECT_EQ(errno, EFAULT);
  wrap_close(fd);
  ASSERT_EQ(named("readv").size(), 1u);
  EXPECT_EQ(named("readv")[0].number("errno"), EFAULT);
  EXPECT_FALSE(named("readv")[0].has("count"));
}

TEST_F(WrappersTest, TextsOfAFailedCallAreReadOnlyWhereTheyCanBe) {
  const auto* wild = reinterpret_cast<const char*>(8);
  const std::string absent = path("absent");
  EXPECT_EQ(wrap_link(absent.c_str(), wild), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(wrap_rename(absent.c_str(), wild), -1);
  EXPECT_EQ(wrap_linkat(AT_FDCWD, wild, AT_FDCWD, absent.c_str(), -1), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(wrap_link(absent.c_str(), path("other").c_str()), -1);
  EXPECT_EQ(wrap_memfd_create(wild, ~0U), -1);
  ASSERT_EQ(named("link").size(), 2u);
  EXPECT_EQ(named("link")[0].file, absent);
  EXPECT_EQ(named("link")[0].number("errno"), ENOENT);
  EXPECT_EQ(named("link")[0].hashed("newpath_hash"), "");
  EXPECT_EQ(named("link")[1].hashed("newpath_hash"), path("other"));
}

TEST_F(WrappersTest, VectorCallsHaveTheSumOfWhatWasAsked) {
  const int fd = wrap_open(path("a").c_str(), O_CREAT | O_RDWR, 0600);
  char data[] = "0123456789";
  struct iovec parts[2] = {{data, 3}, {data + 3, 5}};
  EXPECT_EQ(wrap_pwritev(fd, parts, 2, 0), 8);
  EXPECT_EQ(wrap_preadv2(fd, parts, 2, 4, 0), 4);
  wrap_close(fd);
  EXPECT_EQ(named("pwritev")[0].number("count"), 8);
  EXPECT_EQ(named("preadv2")[0].number("count"), 8);
  EXPECT_EQ(named("preadv2")[0].number("ret"), 4);
  EXPECT_EQ(named("preadv2")[0].number("offset"), 4);
}

TEST_F(WrappersTest, WhatIsNotTracedLeavesNothing) {
  const int fd = wrap_open("/dev/null", O_WRONLY);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(wrap_write(fd, "x", 1), 1);
  EXPECT_EQ(wrap_close(fd), 0);
  struct stat out;
  EXPECT_EQ(wrap_stat("/", &out), 0);
  EXPECT_TRUE(events().empty());
}

TEST_F(WrappersTest, AnEventBetweenTwoPathsIsTracedWhenOneIs) {
  const int fd = wrap_open(path("a").c_str(), O_CREAT | O_RDWR, 0600);
  wrap_close(fd);
  EXPECT_EQ(wrap_rename("/dev/none", path("b").c_str()), -1);
  EXPECT_EQ(wrap_rename(path("a").c_str(), path("b").c_str()), 0);
  ASSERT_EQ(named("rename").size(), 2u);
  EXPECT_EQ(named("rename")[0].file, "/dev/none");
  EXPECT_EQ(named("rename")[1].file, path("a"));
  EXPECT_EQ(named("rename")[1].hashed("newpath_hash"), path("b"));
}

TEST_F(WrappersTest, AtCallsNameTheFileBelowTheDirectory) {
  ASSERT_EQ(wrap_mkdir(path("d").c_str(), 0700), 0);
  const int dir = wrap_open(path("d").c_str(), O_RDONLY | O_DIRECTORY);
  const int fd = wrap_openat(dir, "../d/in", O_CREAT | O_WRONLY, 0600);
  ASSERT_GE(fd, 0);
  struct stat out;
  EXPECT_EQ(wrap_fstatat(fd, "", &out, AT_EMPTY_PATH), 0);
  wrap_close(fd);
  wrap_close(dir);
  EXPECT_EQ(named("openat")[0].file, path("d/in"));
  EXPECT_EQ(named("openat")[0].number("dirfd"), dir);
  EXPECT_EQ(named("fstatat")[0].file, path("d/in"));
}

TEST_F(WrappersTest, DuplicatesMeanTheSameFileAndClosedNumbersNone) {
  const int fd = wrap_open(path("a").c_str(), O_CREAT | O_RDWR, 0600);
  const int other = wrap_open("/dev/null", O_WRONLY);
  const int copies[] = {wrap_dup(fd), wrap_fcntl(fd, F_DUPFD_CLOEXEC, 100), wrap_dup2(fd, other), wrap_dup3(fd, 90, 0)};
  for (const int copy : copies) {
    ASSERT_GE(copy, 0);
    EXPECT_EQ(wrap_write(copy, "x", 1), 1);
  }
  EXPECT_EQ(wrap_close_range(90, 100, 0), 0);
  EXPECT_EQ(wrap_write(90, "x", 1), -1);
  EXPECT_EQ(wrap_close(copies[0]), 0);
  EXPECT_EQ(wrap_write(copies[0], "x", 1), -1);
  EXPECT_EQ(wrap_close(fd), 0);
  EXPECT_EQ(wrap_close(other), 0);
  EXPECT_EQ(named("write").size(), 4u);
  for (const Event& event : named("write")) EXPECT_EQ(event.file, path("a"));
}

TEST_F(WrappersTest, FcntlHandsOnAnyCommandWithItsArgument) {
  int ends[2];
  ASSERT_EQ(wrap_pipe(ends), 0);
  EXPECT_EQ(wrap_fcntl(ends[1], F_SETPIPE_SZ, 1 << 17), 1 << 17);
  EXPECT_EQ(wrap_fcntl(ends[1], F_GETPIPE_SZ), 1 << 17);
  wrap_close(ends[0]);
  wrap_close(ends[1]);
}

TEST_F(WrappersTest, AFileWithoutANameHasItsModeAndTheKernelsName) {
  const int fd = wrap_open(folder_.c_str(), O_TMPFILE | O_RDWR, 0604);
  if (fd < 0) GTEST_SKIP() << "no O_TMPFILE here";
  struct stat out;
  EXPECT_EQ(fstat(fd, &out), 0);
  EXPECT_EQ(out.st_mode & 0777, 0604u);
  wrap_close(fd);
  EXPECT_EQ(named("open")[0].file.rfind(folder_ + "/#", 0), 0u) << named("open")[0].file;
}

TEST_F(WrappersTest, MappingsKnowTheirFile) {
  const int fd = wrap_open(path("a").c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_EQ(wrap_ftruncate(fd, 8192), 0);
  void* map = wrap_mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ASSERT_NE(map, MAP_FAILED);
  wrap_close(fd);
  EXPECT_EQ(wrap_msync(static_cast<char*>(map) + 4096, 4096, MS_ASYNC), 0);
  EXPECT_EQ(wrap_munmap(map, 8192), 0);
  EXPECT_EQ(wrap_munmap(map, 8192), 0);  // of nothing
  for (const char* name : {"mmap", "msync", "munmap"}) {
    ASSERT_EQ(named(name).size(), 1u) << name;
    EXPECT_EQ(named(name)[0].file, path("a"));
  }
  EXPECT_EQ(named("mmap")[0].number("length"), 8192);
  EXPECT_EQ(named("mmap")[0].number("address"), static_cast<long>(bits_of(map)));
}

TEST_F(WrappersTest, APausedThreadIsUnseenAndTouchesNoTable) {
  const int fd = wrap_open(path("a").c_str(), O_CREAT | O_RDWR, 0600);
  pause_io();
  EXPECT_EQ(wrap_write(fd, "x", 1), 1);
  const int spare = dup(fd);
  EXPECT_EQ(wrap_close(fd), 0);  // as a child of vfork would: the parent's descriptor lives on
  ASSERT_EQ(dup2(spare, fd), fd);
  resume_io();
  EXPECT_EQ(wrap_write(fd, "x", 1), 1);
  wrap_close(fd);
  close(spare);
  EXPECT_EQ(named("write").size(), 1u);
  EXPECT_EQ(named("close").size(), 1u);
}

TEST_F(WrappersTest, WhileOffNothingIsRecorded) {
  stop_io();
  const int fd = wrap_open(path("a").c_str(), O_CREAT | O_RDWR, 0600);
  EXPECT_EQ(wrap_write(fd, "x", 1), 1);
  EXPECT_EQ(wrap_close(fd), 0);
  EXPECT_TRUE(events().empty());
}

TEST_F(WrappersTest, WithoutMetadataEventsHaveNoArgs) {
  IoConfig config;
  config.args = false;
  start(config);
  wrap_close(wrap_open(path("a").c_str(), O_CREAT | O_RDWR, 0600));
  ASSERT_EQ(events().size(), 2u);
  EXPECT_FALSE(events()[0].has("fhash"));
  EXPECT_FALSE(events()[0].has("ret"));
}

TEST(Bindings, EveryRowIsWhole) {
  for (const BindingList list : {posix_bindings(), stdio_bindings()}) {
    ASSERT_GT(list.count, 100u);
    for (std::size_t i = 0; i < list.count; ++i) {
      ASSERT_NE(list.rows[i].name, nullptr);
      EXPECT_NE(list.rows[i].wrapper, nullptr) << list.rows[i].name;
      EXPECT_NE(list.rows[i].real, nullptr) << list.rows[i].name;
    }
  }
}

// As when another thread is told of the end before the call returns, and frees the block.
int starts_and_frees(struct aiocb* control) {
  std::memset(control, 0xff, sizeof *control);
  return 0;
}
int starts_and_frees_all(int, struct aiocb* const* list, int count, struct sigevent*) {
  for (int i = 0; i < count; ++i) starts_and_frees(list[i]);
  return 0;
}

TEST_F(WrappersTest, ABlockOfATransferIsReadBeforeTheCall) {
  const int fd = wrap_open(path("a").c_str(), O_CREAT | O_RDWR, 0600);
  fn_aio_write.real.store(reinterpret_cast<void*>(&starts_and_frees));
  fn_lio_listio.real.store(reinterpret_cast<void*>(&starts_and_frees_all));
  struct aiocb blocks[40] = {};
  struct aiocb* list[40];
  for (int i = 0; i < 40; ++i) {
    blocks[i].aio_fildes = fd;
    blocks[i].aio_nbytes = 100;
    blocks[i].aio_offset = i;
    blocks[i].aio_lio_opcode = LIO_READ;
    list[i] = &blocks[i];
  }
  EXPECT_EQ(wrap_aio_write(list[7]), 0);
  blocks[7] = blocks[8];
  EXPECT_EQ(wrap_lio_listio(LIO_NOWAIT, list, 40, nullptr), 0);
  fn_aio_write.real.store(nullptr);
  fn_lio_listio.real.store(nullptr);
  ASSERT_EQ(events().size(), 1u + 1 + 40 + 1);
  EXPECT_EQ(events()[1].name, "aio_write");
  EXPECT_EQ(events()[1].number("count"), 100);
  EXPECT_EQ(events()[1].number("offset"), 7);
  for (int i = 0; i < 40; ++i) {
    const Event& event = events()[2 + static_cast<std::size_t>(i)];
    EXPECT_EQ(event.name, "aio_read");
    EXPECT_EQ(event.file, path("a"));
    EXPECT_EQ(event.number("count"), 100);
    EXPECT_EQ(event.number("offset"), i == 7 ? 8 : i);
  }
}

}  // namespace
}  // namespace dft::io
