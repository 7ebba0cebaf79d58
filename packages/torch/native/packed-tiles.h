// Products of six rows with a panel of 64 columns that stay in registers, in three kinds of numbers. See packed.h.
#pragma once
#include <algorithm>
#include <cmath>

#include "vectors.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#define ENGINE_X86 1
#define ENGINE_BYTES __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define ENGINE_HALVES __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#endif

namespace engine {
namespace {

constexpr int64_t kBlocks = 4, kPanel = kBlocks * kLanes, kTileRows = 6;
// Rows that go through all panels together, at most: they stay in the second cache beside a panel.
constexpr int64_t kRowBlock = 144;

// Rows of a block where there are so many in all: blocks are alike, since a weight is read once for each.
inline int64_t blockOf(int64_t rows) {
  const int64_t blocks = std::max<int64_t>(1, (rows + kRowBlock - 1) / kRowBlock);
  return (rows + blocks * kTileRows - 1) / (blocks * kTileRows) * kTileRows;
}

enum class Activation : int64_t { none, gelu, tanhGelu, relu };

// Rows [M, units] and a packed weight, of which products go to `out` [M, outputs]. `table` has bias, scale and sum of
// each column; `scale` and `low` belong to rows of bytes: x ≈ low + scale·q.
struct Product {
  const int32_t* rows;
  int64_t units;
  const int32_t* packed;
  const float* table;
  int64_t columns;
  const float *scale, *low;
  float* out;
  int64_t outputs;
  Activation activation;
};

// What is no number stays none: both forms of GELU multiply x.
ENGINE_INLINE Floats activated(const Floats& x, Activation by) {
  if (by == Activation::relu) return x < Floats{} ? Floats{} : x;
  return by == Activation::tanhGelu ? x * gate(x) : geluByError(x);
}

ENGINE_INLINE Floats asFloats(const Floats& sum) { return sum; }
ENGINE_INLINE Floats asFloats(const Ints& sum) { return __builtin_convertvector(sum, Floats); }

// A tile's sums to numbers: scaled where they are of bytes, with bias, through the activation, into the rows of `out`.
template <int Rows, typename Sum>
ENGINE_INLINE void finish(const Product& p, const Sum (&sums)[Rows][kBlocks], int64_t row, int64_t panel) {
  const float* bias = p.table + panel * kPanel;
  const float *scale = bias + p.columns, *low = scale + p.columns;
  float cells[Rows * kPanel];
  for (int r = 0; r < Rows; ++r)
    for (int n = 0; n < kBlocks; ++n) {
      Floats y = asFloats(sums[r][n]);
      if (p.scale) y = y * (p.scale[row + r] * load(scale + n * kLanes)) + p.low[row + r] * load(low + n * kLanes);
      store(cells + r * kPanel + n * kLanes, y + load(bias + n * kLanes));
    }
  if (p.activation != Activation::none)
    for (int64_t i = 0; i < Rows * kPanel; i += kLanes) store(cells + i, activated(load(cells + i), p.activation));
  const int64_t first = panel * kPanel, count = std::min(kPanel, p.outputs - first);
  for (int r = 0; r < Rows; ++r) {
    float* to = p.out + (row + r) * p.outputs + first;
    // A size that is known is no call.
    if (count == kPanel)
      std::memcpy(to, cells + r * kPanel, kPanel * sizeof(float));
    else
      std::memcpy(to, cells + r * kPanel, count * sizeof(float));
  }
}

// Functions of one kind of numbers, for a processor (`Tile` and `Target`): `Step(sum, row's unit in all lanes, a
// column's unit in each)` adds a product.
#define ENGINE_PRODUCT(Name, Tile, Target, Sum, Step)                                                      \
  template <int Rows>                                                                                      \
  Tile ENGINE_INLINE void Name##Tile(const Product& p, int64_t row, int64_t panel) {                       \
    Sum sums[Rows][kBlocks] = {};                                                                          \
    const int32_t *a = p.rows + row * p.units, *b = p.packed + panel * p.units * kPanel;                   \
    for (int64_t k = 0; k < p.units; ++k) {                                                                \
      Ints right[kBlocks];                                                                                 \
      for (int n = 0; n < kBlocks; ++n) std::memcpy(&right[n], b + k * kPanel + n * kLanes, sizeof(Ints)); \
      for (int r = 0; r < Rows; ++r) {                                                                     \
        const Ints left = Ints{} + a[r * p.units + k];                                                     \
        for (int n = 0; n < kBlocks; ++n) sums[r][n] = Step(sums[r][n], left, right[n]);                   \
      }                                                                                                    \
    }                                                                                                      \
    finish<Rows>(p, sums, row, panel);                                                                     \
  }                                                                                                        \
  Target void Name(const Product& p, int64_t rows) {                                                       \
    const int64_t block = std::max<int64_t>(kTileRows, blockOf(rows));                                     \
    for (int64_t first = 0; first < rows; first += block) {                                                \
      const int64_t end = std::min(rows, first + block);                                                   \
      for (int64_t panel = 0; panel * kPanel < p.outputs; ++panel) {                                       \
        int64_t row = first;                                                                               \
        for (; row + kTileRows <= end; row += kTileRows) Name##Tile<kTileRows>(p, row, panel);             \
        switch (end - row) {                                                                               \
          case 5: Name##Tile<5>(p, row, panel); break;                                                     \
          case 4: Name##Tile<4>(p, row, panel); break;                                                     \
          case 3: Name##Tile<3>(p, row, panel); break;                                                     \
          case 2: Name##Tile<2>(p, row, panel); break;                                                     \
          case 1: Name##Tile<1>(p, row, panel); break;                                                     \
          default: break;                                                                                  \
        }                                                                                                  \
      }                                                                                                    \
    }                                                                                                      \
  }

template <typename To, typename From>
ENGINE_INLINE To bitsOf(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

ENGINE_INLINE Floats addFloats(const Floats& sum, const Ints& a, const Ints& b) {
  return sum + bitsOf<Floats>(a) * bitsOf<Floats>(b);
}

// A bfloat16 is the upper half of a float32.
ENGINE_INLINE Floats addHalvesAnywhere(const Floats& sum, const Ints& a, const Ints& b) {
  const Ints upper = Ints{} + static_cast<int32_t>(0xffff0000);
  return sum + bitsOf<Floats>(a << 16) * bitsOf<Floats>(b << 16) +
         bitsOf<Floats>(a & upper) * bitsOf<Floats>(b & upper);
}

// Bytes of rows count from 0, those of weights have a sign.
ENGINE_INLINE Ints addBytesAnywhere(const Ints& sum, const Ints& a, const Ints& b) {
  return sum + (a & 0xff) * ((b << 24) >> 24) + ((a >> 8) & 0xff) * ((b << 16) >> 24) +
         ((a >> 16) & 0xff) * ((b << 8) >> 24) + ((a >> 24) & 0xff) * (b >> 24);
}

ENGINE_PRODUCT(productOfFloats, , ENGINE_CLONES, Floats, addFloats)
ENGINE_PRODUCT(productOfHalvesAnywhere, , ENGINE_CLONES, Floats, addHalvesAnywhere)
ENGINE_PRODUCT(productOfBytesAnywhere, , ENGINE_CLONES, Ints, addBytesAnywhere)

#ifdef ENGINE_X86
ENGINE_BYTES ENGINE_INLINE Ints addBytes(const Ints& sum, const Ints& a, const Ints& b) {
  return (Ints)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
}
ENGINE_HALVES ENGINE_INLINE Floats addHalves(const Floats& sum, const Ints& a, const Ints& b) {
  return (Floats)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
}
ENGINE_PRODUCT(productOfBytes, ENGINE_BYTES, ENGINE_BYTES, Ints, addBytes)
ENGINE_PRODUCT(productOfHalves, ENGINE_HALVES, ENGINE_HALVES, Floats, addHalves)

// Whether this processor multiplies bytes, and bfloat16, by itself.
bool hasByteProducts() {
  static const bool has =
      __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return has;
}
bool hasHalfProducts() {
  static const bool has =
      __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return has;
}
#else
bool hasByteProducts() { return false; }
bool hasHalfProducts() { return false; }
void productOfBytes(const Product& p, int64_t rows) { productOfBytesAnywhere(p, rows); }
void productOfHalves(const Product& p, int64_t rows) { productOfHalvesAnywhere(p, rows); }
#endif

}  // namespace
}  // namespace engine
