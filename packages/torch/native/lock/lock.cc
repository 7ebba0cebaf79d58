// Locks on open files that the kernel keeps: it frees them when the last descriptor closes, however the process ended.
// An addon of its own, without libtorch, which would take longer to load than what is done under most locks.
#include <node_api.h>

#include <cerrno>
#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#endif

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
napi_value LockFile(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value given[2], answer;
  int32_t descriptor;
  bool taking;
  if (napi_get_cb_info(env, info, &count, given, nullptr, nullptr) != napi_ok || count < 2 ||
      napi_get_value_int32(env, given[0], &descriptor) != napi_ok ||
      napi_get_value_bool(env, given[1], &taking) != napi_ok) {
    napi_throw_type_error(env, nullptr, "a descriptor and whether to take its lock");
    return nullptr;
  }
  const int fault = taking ? take(descriptor) : look(descriptor);
  // POSIX lets a system give either for a lock that another holds.
  napi_create_int32(env, fault == EACCES || fault == EWOULDBLOCK ? EAGAIN : fault, &answer);
  return answer;
}

}  // namespace

NAPI_MODULE_INIT() {
  napi_value function;
  napi_create_function(env, "lockFile", NAPI_AUTO_LENGTH, LockFile, nullptr, &function);
  napi_set_named_property(env, exports, "lockFile", function);
  return exports;
}
