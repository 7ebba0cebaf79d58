// Included before every source of the packaged engine, so that what a newer system compiles loads on glibc 2.28 and the
// libstdc++ of its time (GLIBCXX_3.4.25). Each entry replaces one symbol that came later; `npm run package` refuses an
// engine that still needs a newer one.
#pragma once
#if defined(__linux__)

#include <bits/atomic_futex.h>

#include <chrono>

// The first version of glibc for this processor, whose symbols every later one still has.
#if defined(__x86_64__)
#define HSN_FIRST_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define HSN_FIRST_GLIBC "GLIBC_2.17"
#else
#error "the engine is packaged for x86-64 and aarch64"
#endif
#define HSN_OLD_SYMBOL(name) __asm__(".symver " #name "," #name "@" HSN_FIRST_GLIBC)

// Moved from libdl and libpthread into libc in 2.34 under new versions; pow has a second version without errno
// since 2.29.
HSN_OLD_SYMBOL(dlopen);
HSN_OLD_SYMBOL(dlsym);
HSN_OLD_SYMBOL(dlerror);
HSN_OLD_SYMBOL(pthread_once);
HSN_OLD_SYMBOL(pow);

// Since 2.32 libstdc++ asks it whether counters of references may be changed without atomic operations: never, here.
extern "C" {
extern char __libc_single_threaded __attribute__((visibility("hidden")));
char __libc_single_threaded __attribute__((weak)) = 0;
}

// Waiting until a time of the steady clock, new in libstdc++ 11: until the same time of the system's clock, as before.
__attribute__((weak)) bool std::__atomic_futex_unsigned_base::_M_futex_wait_until_steady(unsigned* address,
                                                                                         unsigned value, bool limited,
                                                                                         chrono::seconds s,
                                                                                         chrono::nanoseconds ns) {
  using namespace std::chrono;
  if (!limited) return _M_futex_wait_until(address, value, false, s, ns);
  const auto left = nanoseconds(s) + ns - steady_clock::now().time_since_epoch();
  const auto until = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()) + left;
  const auto whole = duration_cast<seconds>(until);
  return _M_futex_wait_until(address, value, true, whole, until - whole);
}

#endif
