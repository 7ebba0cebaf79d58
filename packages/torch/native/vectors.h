// Small vector code shared by the fused kernels: 16 floats at a time in the compiler's own vector types, which every
// processor can run and AVX-512 runs in one instruction.
#pragma once
#include <cstdint>
#include <cstring>

// Vector code for the processor at hand, chosen when the addon loads.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ENGINE_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ENGINE_CLONES
#endif
#define ENGINE_INLINE inline __attribute__((always_inline))
// Vectors are never passed between functions, all of which are inlined: how they would be does not matter.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace engine {

constexpr int64_t kLanes = 16;
typedef float Floats __attribute__((vector_size(64)));
typedef int32_t Ints __attribute__((vector_size(64)));

ENGINE_INLINE Floats load(const float* at) {
  Floats out;
  std::memcpy(&out, at, sizeof out);
  return out;
}
ENGINE_INLINE void store(float* at, const Floats& value) { std::memcpy(at, &value, sizeof value); }
ENGINE_INLINE Floats spread(float value) { return Floats{} + value; }
ENGINE_INLINE Floats larger(const Floats& a, const Floats& b) { return a > b ? a : b; }

typedef float Eight __attribute__((vector_size(32)));
typedef float Four __attribute__((vector_size(16)));

// Halves against halves: as few steps as there can be, one after the other.
template <typename Half, typename Whole>
ENGINE_INLINE void halves(const Whole& value, Half& low, Half& high) {
  std::memcpy(&low, &value, sizeof low);
  std::memcpy(&high, reinterpret_cast<const char*>(&value) + sizeof low, sizeof high);
}

ENGINE_INLINE float total(const Floats& value) {
  Eight a, b;
  halves(value, a, b);
  a += b;
  Four c, d;
  halves(a, c, d);
  c += d;
  return (c[0] + c[2]) + (c[1] + c[3]);
}
ENGINE_INLINE float largest(const Floats& value) {
  Eight a, b;
  halves(value, a, b);
  a = a > b ? a : b;
  Four c, d;
  halves(a, c, d);
  c = c > d ? c : d;
  // Without branches, which cannot be foretold.
  const Four e = {c[2], c[3], c[0], c[1]};
  c = c > e ? c : e;
  const Four f = {c[1], c[0], c[3], c[2]};
  c = c > f ? c : f;
  return c[0];
}

// Four rows of four numbers, turned round.
ENGINE_INLINE void turnFour(const float* from, int64_t row, float* to, int64_t column) {
  Four a, b, c, d;
  std::memcpy(&a, from, sizeof a);
  std::memcpy(&b, from + row, sizeof b);
  std::memcpy(&c, from + 2 * row, sizeof c);
  std::memcpy(&d, from + 3 * row, sizeof d);
  for (int n = 0; n < 4; ++n) {
    const Four turned = {a[n], b[n], c[n], d[n]};
    std::memcpy(to + n * column, &turned, sizeof turned);
  }
}

// e^x to 1e-7, and 1e-8 more for each unit of x; zero from -88 on, infinite from 88.4 to 89, beyond which it is not
// asked for. What is no number stays none. x·log2 e = n + f with f from -½ to ½, and a polynomial for 2^f.
ENGINE_INLINE Floats exponential(const Floats& given) {
  constexpr float log2e = 1.44269504088896341f, whole = 12582912.0f;  // rounds, with n in the low bits
  const Floats least = spread(-88.0f), x = least > given ? least : given;
  const Floats shifted = x * log2e + whole, f = x * log2e - (shifted - whole);
  Floats p = spread(1.3276470967e-3f);
  p = p * f + 9.6755415963e-3f;
  p = p * f + 5.5507132790e-2f;
  p = p * f + 2.4022119719e-1f;
  p = p * f + 6.9314696706e-1f;
  p = p * f + 1.0f;
  Ints power;
  std::memcpy(&power, &shifted, sizeof power);
  power = (power + 127) << 23;
  Floats scale;
  std::memcpy(&scale, &power, sizeof scale);
  return p * scale;
}

// log x for normal positive x, to about one unit in the last place: x = m·2^e with m near 1, and a polynomial in m − 1.
ENGINE_INLINE Floats logarithm(const Floats& x) {
  Ints bits;
  std::memcpy(&bits, &x, sizeof bits);
  Ints exponent = (bits >> 23) - 126;
  bits = (bits & 0x007fffff) | 0x3f000000;
  Floats m;
  std::memcpy(&m, &bits, sizeof m);  // in [0.5, 1)
  const auto small = m < spread(0.707106781186547524f);
  exponent = small ? exponent - 1 : exponent;
  m = (small ? m + m : m) - 1.0f;
  const Floats e = __builtin_convertvector(exponent, Floats), z = m * m;
  Floats p = spread(7.0376836292e-2f);
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  p = p * m * z + e * -2.12194440e-4f - z * 0.5f;
  return m + p + e * 0.693359375f;
}

// x·σ(2u) with u = √(2/π)(x + 0.044715 x³), which is ½x(1 + tanh u).
constexpr float kTwice = 1.5957691216057308f, kCubic = 0.044715f;

ENGINE_INLINE Floats gate(const Floats& x) {
  const Floats y = -kTwice * (x + kCubic * x * x * x), most = spread(89.0f);
  return 1.0f / (1.0f + exponential(most < y ? most : y));
}

// x without its sign, and y with that of x: by bits, since compilers take comparisons apart lane by lane.
ENGINE_INLINE Floats magnitude(const Floats& x) {
  Ints bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits &= 0x7fffffff;
  Floats size;
  std::memcpy(&size, &bits, sizeof size);
  return size;
}

ENGINE_INLINE Floats signedAs(const Floats& y, const Floats& x) {
  Ints bits, of;
  std::memcpy(&bits, &y, sizeof bits);
  std::memcpy(&of, &x, sizeof of);
  bits ^= of & static_cast<int32_t>(0x80000000);
  Floats made;
  std::memcpy(&made, &bits, sizeof made);
  return made;
}

// x·Φ(x) to 3e-7 of x, of which what is no number stays none. ½ − |Φ(x) − ½| = ½·erfc(|x|/√2) is a polynomial in
// t = 1/(1 + p·|x|/√2), times e^(−x²/2) (Abramowitz and Stegun, 7.1.26).
ENGINE_INLINE Floats geluByError(const Floats& x) {
  const Floats t = 1.0f / (1.0f + 0.23164188f * magnitude(x));
  Floats p = spread(0.5307027145f);
  p = p * t - 0.7265760135f;
  p = p * t + 0.7107068705f;
  p = p * t - 0.142248368f;
  p = p * t + 0.127414796f;
  const Floats tail = p * t * exponential(-0.5f * x * x);
  return x * (0.5f + signedAs(0.5f - tail, x));
}

// splitmix64's finaliser: element i of a mask depends on (seed, i) alone, whatever the number of threads.
constexpr uint64_t kHashStep = 0x9e3779b97f4a7c15ULL, kHashFirst = 0xbf58476d1ce4e5b9ULL,
                   kHashSecond = 0x94d049bb133111ebULL;
ENGINE_INLINE uint32_t hashed(uint64_t seed, uint64_t i) {
  uint64_t z = seed + i * kHashStep;
  z = (z ^ (z >> 30)) * kHashFirst;
  z = (z ^ (z >> 27)) * kHashSecond;
  return static_cast<uint32_t>(z >> 32);
}

// Which elements dropout keeps, and how much larger it makes them. A process that holds some rows of a batch passes
// over the `offset` elements of those before.
struct Drop {
  uint64_t seed = 0;
  uint64_t offset = 0;
  uint32_t threshold = 0;
  float scale = 1;

  Drop() = default;
  Drop(double p, int64_t drawn, int64_t before)
      : seed(static_cast<uint64_t>(drawn)),
        offset(static_cast<uint64_t>(before)),
        threshold(static_cast<uint32_t>(p * 4294967296.0 < 4294967295.0 ? p * 4294967296.0 : 4294967295.0)),
        scale(p < 1 ? static_cast<float>(1.0 / (1.0 - p)) : 0.0f) {}

  // Factor of element i: 0 or 1/(1−p).
  ENGINE_INLINE float at(uint64_t i) const { return hashed(seed, offset + i) >= threshold ? scale : 0.0f; }
};

}  // namespace engine
