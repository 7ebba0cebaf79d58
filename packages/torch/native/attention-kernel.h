// Attention of one head: small products of matrices, softmax and dropout without leaving the caches.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "vectors.h"

namespace engine {
namespace {

// A matrix inside a tensor: element (r, c) at data[r·row + c·column].
struct Matrix {
  const float* data;
  int64_t row;
  int64_t column;
};

template <int Rows, int Blocks>
ENGINE_INLINE void multiplyTile(const Matrix& a, const float* b, int64_t ldb, float* c, int64_t ldc, int64_t inner,
                                bool add) {
  Floats sums[Rows][Blocks];
  for (int r = 0; r < Rows; ++r)
    for (int n = 0; n < Blocks; ++n) sums[r][n] = add ? load(c + r * ldc + n * kLanes) : Floats{};
  for (int64_t k = 0; k < inner; ++k) {
    Floats right[Blocks];
    for (int n = 0; n < Blocks; ++n) right[n] = load(b + k * ldb + n * kLanes);
    for (int r = 0; r < Rows; ++r) {
      const Floats left = spread(a.data[r * a.row + k * a.column]);
      for (int n = 0; n < Blocks; ++n) sums[r][n] += left * right[n];
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int n = 0; n < Blocks; ++n) store(c + r * ldc + n * kLanes, sums[r][n]);
}

template <int Blocks>
ENGINE_INLINE void multiplyPanel(const Matrix& a, const float* b, int64_t ldb, float* c, int64_t ldc, int64_t rows,
                                 int64_t inner, bool add) {
  int64_t r = 0;
  for (; r + 6 <= rows; r += 6)
    multiplyTile<6, Blocks>({a.data + r * a.row, a.row, a.column}, b, ldb, c + r * ldc, ldc, inner, add);
  for (; r + 3 <= rows; r += 3)
    multiplyTile<3, Blocks>({a.data + r * a.row, a.row, a.column}, b, ldb, c + r * ldc, ldc, inner, add);
  for (; r < rows; ++r)
    multiplyTile<1, Blocks>({a.data + r * a.row, a.row, a.column}, b, ldb, c + r * ldc, ldc, inner, add);
}

// Not inlined: five products in two functions would be compiled for three processors each.
// C (+)= A·B for C with a number of columns that 16 divides, columns of B and C side by side.
ENGINE_CLONES void multiply(const Matrix& a, const float* b, int64_t ldb, float* c, int64_t ldc, int64_t rows,
                            int64_t inner, int64_t columns, bool add) {
  int64_t n = 0;
  for (; n + 4 * kLanes <= columns; n += 4 * kLanes) multiplyPanel<4>(a, b + n, ldb, c + n, ldc, rows, inner, add);
  for (; n + 2 * kLanes <= columns; n += 2 * kLanes) multiplyPanel<2>(a, b + n, ldb, c + n, ldc, rows, inner, add);
  for (; n < columns; n += kLanes) multiplyPanel<1>(a, b + n, ldb, c + n, ldc, rows, inner, add);
}

// Sizes and places of one call: B sentences, H query heads over G key heads, T queries, S keys, width d.
struct Shape {
  int64_t sentences, heads, groups, queries, keys, width, padded;
};

struct Strides {
  int64_t sentence, head, row;
};

struct Heads {
  const float *query, *key, *value;
  Strides q, k, v;
};

inline const float* at(const float* data, const Strides& s, int64_t sentence, int64_t head) {
  return data + sentence * s.sentence + head * s.head;
}

// Room for one head: its scores, their gradient, and keys or values turned round.
struct Room {
  std::vector<float> scores, gradient, turned;
  explicit Room(const Shape& s)
      : scores(s.queries * s.padded), gradient(s.queries * s.padded), turned(s.width * s.padded) {}
};

// [S, d] → [d, S padded to 16], zero in the padding.
ENGINE_INLINE void turn(const float* from, int64_t row, const Shape& s, float* to) {
  int64_t r = 0;
  for (; r + 4 <= s.keys; r += 4) {
    int64_t c = 0;
    for (; c + 4 <= s.width; c += 4) turnFour(from + r * row + c, row, to + c * s.padded + r, s.padded);
    for (; c < s.width; ++c)
      for (int64_t n = r; n < r + 4; ++n) to[c * s.padded + n] = from[n * row + c];
  }
  for (; r < s.padded; ++r)
    for (int64_t c = 0; c < s.width; ++c) to[c * s.padded + r] = r < s.keys ? from[r * row + c] : 0;
}

// The softmax of scale·row, in place. Padding is as a masked key; a row that has nothing else is not a number, as in
// libtorch. Rows are written and read as whole vectors: a load that spans two stores waits for both.
ENGINE_INLINE void softmaxRow(float* row, int64_t count, int64_t padded, float scale) {
  constexpr float lowest = -std::numeric_limits<float>::infinity();
  const Ints lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  Floats top = spread(lowest);
  for (int64_t i = 0; i < padded; i += kLanes) {
    const Floats x = lanes < static_cast<int32_t>(count - i) ? load(row + i) * scale : spread(lowest);
    store(row + i, x);
    top = larger(top, x);
  }
  const Floats most = spread(largest(top));
  Floats sum = {};
  for (int64_t i = 0; i < padded; i += kLanes) {
    const Floats e = exponential(load(row + i) - most);
    store(row + i, e);
    sum += e;
  }
  const Floats inverse = spread(1.0f / total(sum));
  for (int64_t i = 0; i < padded; i += kLanes) store(row + i, load(row + i) * inverse);
}

struct Mask {
  const float* data = nullptr;
  int64_t sentence = 0, head = 0, row = 0, column = 0;
};

ENGINE_CLONES void forwardHead(const Shape& s, const Heads& x, const Mask& mask, const Drop drop, int64_t b, int64_t h,
                               Room& room, float* weights, float* out, int64_t outRow) {
  const int64_t g = h / (s.heads / s.groups);
  float* scores = room.scores.data();
  turn(at(x.key, x.k, b, g), x.k.row, s, room.turned.data());
  multiply({at(x.query, x.q, b, h), x.q.row, 1}, room.turned.data(), s.padded, scores, s.padded, s.queries, s.width,
           s.padded, false);
  const float scale = 1.0f / std::sqrt(static_cast<float>(s.width));
  const int64_t first = (b * s.heads + h) * s.queries * s.keys;
  for (int64_t t = 0; t < s.queries; ++t) {
    float* row = scores + t * s.padded;
    const float* added = mask.data ? mask.data + b * mask.sentence + h * mask.head + t * mask.row : nullptr;
    if (added && mask.column == 1) {
      for (int64_t i = 0; i < s.keys; ++i) row[i] = row[i] * scale + added[i];
    } else if (added) {
      for (int64_t i = 0; i < s.keys; ++i) row[i] = row[i] * scale + added[i * mask.column];
    }
    softmaxRow(row, s.keys, s.padded, added ? 1.0f : scale);
    if (weights) std::memcpy(weights + t * s.keys, row, s.keys * sizeof(float));
    if (drop.threshold > 0)
      for (int64_t i = 0; i < s.keys; ++i) row[i] *= drop.at(first + t * s.keys + i);
  }
  multiply({scores, s.padded, 1}, at(x.value, x.v, b, g), x.v.row, out, outRow, s.queries, s.keys, s.width, false);
}

struct HeadGradients {
  float *query, *key, *value;
  int64_t queryRow, keyRow, valueRow;
};

ENGINE_CLONES void backwardHead(const Shape& s, const Heads& x, const Drop drop, int64_t b, int64_t h, Room& room,
                                const float* weights, const float* above, int64_t aboveRow, const HeadGradients& d,
                                bool add) {
  const int64_t g = h / (s.heads / s.groups);
  float *dropped = room.scores.data(), *gradient = room.gradient.data();
  const int64_t first = (b * s.heads + h) * s.queries * s.keys;
  turn(at(x.value, x.v, b, g), x.v.row, s, room.turned.data());
  multiply({above, aboveRow, 1}, room.turned.data(), s.padded, gradient, s.padded, s.queries, s.width, s.padded, false);
  const float scale = 1.0f / std::sqrt(static_cast<float>(s.width));
  for (int64_t t = 0; t < s.queries; ++t) {
    const float* p = weights + t * s.keys;
    float *kept = dropped + t * s.padded, *slope = gradient + t * s.padded;
    for (int64_t i = 0; i < s.keys; ++i) {
      const float factor = drop.threshold > 0 ? drop.at(first + t * s.keys + i) : 1.0f;
      kept[i] = p[i] * factor;
      slope[i] *= factor;
    }
    float mean = 0;
    for (int64_t i = 0; i < s.keys; ++i) mean += p[i] * slope[i];
    for (int64_t i = 0; i < s.keys; ++i) slope[i] = scale * p[i] * (slope[i] - mean);
  }
  multiply({dropped, 1, s.padded}, above, aboveRow, d.value, d.valueRow, s.keys, s.queries, s.width, add);
  multiply({gradient, s.padded, 1}, at(x.key, x.k, b, g), x.k.row, d.query, d.queryRow, s.queries, s.keys, s.width,
           false);
  multiply({gradient, 1, s.padded}, at(x.query, x.q, b, h), x.q.row, d.key, d.keyRow, s.keys, s.queries, s.width, add);
}

}  // namespace
}  // namespace engine
