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
  const float x = c[0] > c[2] ? c[0] : c[2], y = c[1] > c[3] ? c[1] : c[3];
  return x > y ? x : y;
}

// e^x to about one unit in the last place: x = n·log 2 + r, and a polynomial in r.
ENGINE_INLINE Floats exponential(const Floats& given) {
  Floats x = larger(given, spread(-87.3f));
  x = x < spread(88.7f) ? x : spread(88.7f);
  const Floats shifted = x * 1.44269504088896341f + 12582912.0f;  // rounds to a whole number in the low bits
  const Floats n = shifted - 12582912.0f;
  const Floats r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  Floats p = spread(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const Ints power = (__builtin_convertvector(n, Ints) + 127) << 23;
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

ENGINE_INLINE Floats gate(const Floats& x) { return 1.0f / (1.0f + exponential(-kTwice * (x + kCubic * x * x * x))); }

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

// erf to 2e-7 (Abramowitz and Stegun, 7.1.26).
ENGINE_INLINE Floats errorFunction(const Floats& x) {
  const Floats size = magnitude(x), t = 1.0f / (1.0f + 0.3275911f * size);
  Floats p = spread(1.061405429f);
  p = p * t - 1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t - 0.284496736f;
  p = p * t + 0.254829592f;
  return signedAs(1.0f - p * t * exponential(-size * size), x);
}

// x·Φ(x), of which what is no number stays none.
ENGINE_INLINE Floats geluByError(const Floats& x) {
  return 0.5f * x * (1.0f + errorFunction(x * 0.70710678118654752f));
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
