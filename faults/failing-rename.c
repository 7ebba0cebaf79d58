// Loaded before libc: the n-th rename below a folder fails with an I/O error, as on a disk that is going.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int rename(const char *from, const char *to) {
  static int count = 0;
  const char *folder = getenv("FAIL_BELOW");
  const char *at = getenv("FAIL_AT");
  if (folder && at && strstr(to, folder) && __sync_add_and_fetch(&count, 1) == atoi(at)) {
    errno = EIO;
    return -1;
  }
  int (*real)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
  return real(from, to);
}
