// Locks on open files that the kernel keeps: it frees them when the last descriptor closes, however the process ended.
#pragma once
#include <cerrno>
#include <cmath>
#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#endif

#include "arguments.h"

namespace engine {
namespace {

#if defined(__linux__) && defined(F_OFD_SETLK)
// Locks of byte ranges reach other machines on network file systems, where those of flock may not.
struct flock wholeFile() {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return range;
}

int take(int descriptor) {
  auto range = wholeFile();
  return fcntl(descriptor, F_OFD_SETLK, &range) == 0 ? 0 : errno;
}

int look(int descriptor) {
  auto range = wholeFile();
  if (fcntl(descriptor, F_OFD_GETLK, &range) != 0) return errno;
  return range.l_type == F_UNLCK ? 0 : EAGAIN;
}
#elif !defined(_WIN32)
int take(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno; }

int look(int descriptor) {
  if (flock(descriptor, LOCK_SH | LOCK_NB) != 0) return errno;
  flock(descriptor, LOCK_UN);
  return 0;
}
#else
int take(int) { return ENOSYS; }
int look(int) { return ENOSYS; }
#endif

// (descriptor, whether to take the lock or only to look): 0 where it is free, else the system's number of the fault.
Napi::Value LockFile(Args info, State&) {
  const double descriptor = number(info, 0);
  if (!(descriptor >= 0) || descriptor != std::floor(descriptor) || descriptor > 2147483647.0) {
    throw KindError("a descriptor is a whole number from 0");
  }
  const int file = static_cast<int>(descriptor);
  const int fault = flag(info, 1) ? take(file) : look(file);
  // POSIX lets a system give either for a lock that another holds.
  return Napi::Number::New(info.Env(), fault == EACCES || fault == EWOULDBLOCK ? EAGAIN : fault);
}

}  // namespace
}  // namespace engine
