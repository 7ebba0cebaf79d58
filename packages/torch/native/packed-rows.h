// Rows of float32 as the narrower numbers that products of packed weights read: bfloat16, or bytes. See packed.h.
#pragma once
#include <cmath>
#include <limits>

#include "vectors.h"

namespace engine {
namespace {

typedef uint16_t Halves __attribute__((vector_size(32)));
typedef uint8_t Bytes __attribute__((vector_size(16)));

// The nearest bfloat16, ties to even; not a number stays so.
ENGINE_INLINE uint16_t halved(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (x != x) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// [rows, width] → [rows, to], zero after the last.
ENGINE_CLONES void halveRows(const float* x, int64_t rows, int64_t width, uint16_t* out, int64_t to) {
  typedef uint32_t Words __attribute__((vector_size(64)));
  for (int64_t r = 0; r < rows; ++r, x += width, out += to) {
    int64_t i = 0;
    for (; i + kLanes <= width; i += kLanes) {
      const Floats some = load(x + i);
      Words bits;
      std::memcpy(&bits, &some, sizeof bits);
      const Words nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
      const Halves made = __builtin_convertvector(some == some ? nearest : bits >> 16 | 0x40, Halves);
      std::memcpy(out + i, &made, sizeof made);
    }
    for (; i < width; ++i) out[i] = halved(x[i]);
    for (; i < to; ++i) out[i] = 0;
  }
}

// Bytes q of each row with x ≈ low + scale·q.
struct ByteRows {
  uint8_t* bytes;
  float *scale, *low;
};

struct Range {
  float low, high;
  bool numbers;  // all of them
};

ENGINE_INLINE Range rangeOf(const float* x, int64_t width) {
  constexpr float infinite = std::numeric_limits<float>::infinity();
  Range range{infinite, -infinite, true};
  Floats low = spread(infinite), high = spread(-infinite);
  Ints strange = {};
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    const Floats some = load(x + i);
    low = some < low ? some : low;
    high = larger(some, high);
    strange |= some != some;
  }
  for (int n = 0; n < kLanes; ++n) range.numbers = range.numbers && strange[n] == 0;
  if (i > 0) range = {-largest(-low), largest(high), range.numbers};
  for (; i < width; ++i) {
    range.low = x[i] < range.low ? x[i] : range.low;
    range.high = x[i] > range.high ? x[i] : range.high;
    range.numbers = range.numbers && x[i] == x[i];
  }
  return range;
}

// [rows, width] → [rows, to], zero after the last. A row that holds what is no finite number has a scale that is none.
ENGINE_CLONES void quantiseRows(const float* x, int64_t rows, int64_t width, const ByteRows out, int64_t to) {
  for (int64_t r = 0; r < rows; ++r, x += width) {
    const Range range = width > 0 ? rangeOf(x, width) : Range{0, 0, true};
    const float span = range.high - range.low;
    const bool fits = range.numbers && std::isfinite(span);
    uint8_t* bytes = out.bytes + r * to;
    out.low[r] = fits ? range.low : 0;
    out.scale[r] = fits ? span / 255 : std::numeric_limits<float>::quiet_NaN();
    const float times = fits && span > 0 ? 255 / span : 0;
    if (!fits || !std::isfinite(times)) {
      std::memset(bytes, 0, to);
      continue;
    }
    int64_t i = 0;
    for (; i + kLanes <= width; i += kLanes) {
      const Floats q = (load(x + i) - range.low) * times + 0.5f;
      const Bytes made = __builtin_convertvector(__builtin_convertvector(q < 255.0f ? q : spread(255.0f), Ints), Bytes);
      std::memcpy(bytes + i, &made, sizeof made);
    }
    for (; i < width; ++i) bytes[i] = static_cast<uint8_t>(std::min(255.0f, (x[i] - range.low) * times + 0.5f));
    std::memset(bytes + i, 0, to - i);
  }
}

}  // namespace
}  // namespace engine
