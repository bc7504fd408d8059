/* SPDX-License-Identifier: MIT */
/* libc's asynchronous transfers: a write of 8 bytes at 16; a list of a write of 4 at 0 and a read of 4 at 16; a sync.
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

static ssize_t result_of(struct aiocb* block) {
  const struct aiocb* list[] = {block};
  while (aio_error(block) == EINPROGRESS) aio_suspend(list, 1, NULL);
  return aio_return(block);
}

int main(void) {
  char out[] = "01234567", in[4];
  const int fd = open("file", O_CREAT | O_RDWR, 0600);
  struct aiocb one = {.aio_fildes = fd, .aio_buf = out, .aio_nbytes = 8, .aio_offset = 16};
  if (aio_write(&one) != 0 || result_of(&one) != 8) return 1;
  struct aiocb first = {.aio_fildes = fd, .aio_buf = out, .aio_nbytes = 4, .aio_lio_opcode = LIO_WRITE};
  struct aiocb second = {
      .aio_fildes = fd, .aio_buf = in, .aio_nbytes = 4, .aio_offset = 16, .aio_lio_opcode = LIO_READ};
  struct aiocb* list[] = {&first, &second};
  if (lio_listio(LIO_WAIT, list, 2, NULL) != 0 || result_of(&first) != 4 || result_of(&second) != 4) return 2;
  struct aiocb sync = {.aio_fildes = fd};
  if (aio_fsync(O_SYNC, &sync) != 0 || result_of(&sync) != 0) return 3;
  return close(fd);
}
