// Products with a graph that has few links: only what links carry is computed, 64 sentences at a time.
#pragma once
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "fused.h"

namespace hsn {
using namespace engine;
namespace {

// Where the links of a graph are: those from each symbol in one list, those to each symbol in another.
struct Links {
  at::Tensor starts, to, values;            // by source: [J + 1], [E], [E]
  at::Tensor backStarts, from, backPlaces;  // by target: [K + 1], [E], and where each is in the list by source [E]
  int64_t sources() const { return starts.size(0) - 1; }
  int64_t targets() const { return backStarts.size(0) - 1; }
  int64_t count() const { return to.size(0); }
};

// One of the two lists: for each of `size` symbols the symbols at the other end of its links.
struct LinkList {
  const int64_t* starts;
  const int32_t* ends;
  int64_t size;
};
LinkList bySource(const Links& links) {
  return {links.starts.data_ptr<int64_t>(), links.to.data_ptr<int32_t>(), links.sources()};
}
LinkList byTarget(const Links& links) {
  return {links.backStarts.data_ptr<int64_t>(), links.from.data_ptr<int32_t>(), links.targets()};
}

// Whether all of some numbers are from 0 to below a bound; a negative one is a very large one here.
ENGINE_CLONES bool allBelow(const int32_t* values, int64_t count, int64_t bound) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, static_cast<uint32_t>(values[i]));
  return count == 0 || largest < bound;
}

void checkList(const Named& starts, const Named& ends, int64_t others) {
  checkElements(starts, at::kLong, "int64");
  checkElements(ends, at::kInt, "int32");
  checkRank(starts, 1);
  checkRank(ends, 1);
  const int64_t count = starts.tensor.size(0), links = ends.tensor.size(0);
  TORCH_CHECK(count > 0 && starts.tensor.is_contiguous() && ends.tensor.is_contiguous(), "expects '", starts.name,
              "' and '", ends.name, "' as links() gives them");
  const int64_t* at = starts.tensor.data_ptr<int64_t>();
  bool fine = at[0] == 0 && at[count - 1] == links;
  for (int64_t i = 1; i < count; ++i) fine &= at[i] >= at[i - 1];
  TORCH_CHECK(fine && allBelow(ends.tensor.data_ptr<int32_t>(), links, others), "expects '", starts.name, "' and '",
              ends.name, "' as links() gives them");
}

// What links() gave, checked: nothing is read beyond its end, whatever is handed over.
Links linksOf(at::TensorList given) {
  TORCH_CHECK(given.size() == 6, "expects 'links' as links() gives them, got ", given.size(), " tensors");
  const Links links{given[0], given[1], given[2], given[3], given[4], given[5]};
  checkFloats({{"values", links.values}});
  TORCH_CHECK(links.starts.dim() == 1 && links.backStarts.dim() == 1, "expects 'links' as links() gives them");
  checkList({"starts", links.starts}, {"to", links.to}, links.targets());
  checkList({"backStarts", links.backStarts}, {"from", links.from}, links.sources());
  checkShape({"values", links.values}, {links.count()});
  checkShape({"from", links.from}, {links.count()});
  checkElements({"backPlaces", links.backPlaces}, at::kInt, "int32");
  checkShape({"backPlaces", links.backPlaces}, {links.count()});
  TORCH_CHECK(links.values.is_contiguous() && links.backPlaces.is_contiguous() &&
                  allBelow(links.backPlaces.data_ptr<int32_t>(), links.count(), links.count()),
              "expects 'backPlaces' as links() gives them");
  return links;
}

ENGINE_CLONES int64_t countLinks(const float* rows, int64_t count) {
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) found += rows[i] != 0;
  return found;
}

// The list by target from the one by source, in the order of sources.
void turnRound(const Links& links) {
  const int64_t* starts = links.starts.data_ptr<int64_t>();
  const int32_t* to = links.to.data_ptr<int32_t>();
  int64_t* backStarts = links.backStarts.data_ptr<int64_t>();
  std::fill(backStarts, backStarts + links.targets() + 1, 0);
  for (int64_t e = 0; e < links.count(); ++e) ++backStarts[to[e] + 1];
  for (int64_t k = 0; k < links.targets(); ++k) backStarts[k + 1] += backStarts[k];
  std::vector<int64_t> next(backStarts, backStarts + links.targets());
  int32_t *from = links.from.data_ptr<int32_t>(), *places = links.backPlaces.data_ptr<int32_t>();
  for (int64_t j = 0; j < links.sources(); ++j)
    for (int64_t e = starts[j]; e < starts[j + 1]; ++e) {
      const int64_t at = next[to[e]]++;
      from[at] = static_cast<int32_t>(j);
      places[at] = static_cast<int32_t>(e);
    }
}

// The links of a matrix [J, K], where it is not zero; nothing where there are more than `most`.
std::vector<at::Tensor> findLinks(const at::Tensor& given, int64_t most) {
  checkFloats({{"rows", given}});
  checkRank({"rows", given}, 2);
  const auto rows = readable(given.detach());
  const int64_t J = rows.size(0), K = rows.size(1);
  const float* row = rows.data_ptr<float>();
  const int64_t count = countLinks(row, J * K);
  if (count > most || count > std::numeric_limits<int32_t>::max()) return {};
  const auto longs = rows.options().dtype(at::kLong), ints = rows.options().dtype(at::kInt);
  // One place more than there are links: each number is written where the next link goes, and stays if it is one.
  const auto to = at::empty({count + 1}, ints), values = at::empty({count + 1}, rows.options());
  const Links links{at::empty({J + 1}, longs), to.narrow(0, 0, count),   values.narrow(0, 0, count),
                    at::empty({K + 1}, longs), at::empty({count}, ints), at::empty({count}, ints)};
  int64_t* starts = links.starts.data_ptr<int64_t>();
  int32_t* ends = to.data_ptr<int32_t>();
  float* value = values.data_ptr<float>();
  int64_t e = starts[0] = 0;
  for (int64_t j = 0; j < J; ++j) {
    for (int64_t k = 0; k < K; ++k, ++row) {
      ends[e] = static_cast<int32_t>(k);
      value[e] = *row;
      e += *row != 0;
    }
    starts[j + 1] = e;
  }
  turnRound(links);
  return {links.starts, links.to, links.values, links.backStarts, links.from, links.backPlaces};
}

// Values in the order of the list by target.
at::Tensor backValues(const Links& links, const at::Tensor& values) {
  auto out = at::empty_like(values);
  const float* in = values.data_ptr<float>();
  const int32_t* places = links.backPlaces.data_ptr<int32_t>();
  float* to = out.data_ptr<float>();
  for (int64_t e = 0; e < links.count(); ++e) to[e] = in[places[e]];
  return out;
}

// A matrix [J, K] at its links, scaled, in the order of the list by source. [E]
at::Tensor atLinks(const Links& links, const at::Tensor& matrix, float scale) {
  const auto list = bySource(links);
  auto out = at::empty({links.count()}, matrix.options());
  const float* row = matrix.data_ptr<float>();
  float* to = out.data_ptr<float>();
  for (int64_t j = 0; j < list.size; ++j, row += links.targets())
    for (int64_t e = list.starts[j]; e < list.starts[j + 1]; ++e) to[e] = scale * row[list.ends[e]];
  return out;
}

// Sentences of a block: as many floats of one symbol lie side by side.
constexpr int64_t kBlock = 64;
constexpr int64_t kVectors = kBlock / kLanes;

// Symbols that are turned round together.
constexpr int64_t kTile = 64;

int64_t blocksOf(int64_t sentences) { return (sentences + kBlock - 1) / kBlock; }
int64_t tilesOf(int64_t symbols) { return (symbols + kTile - 1) / kTile; }

// Four rows of four numbers, turned round.
ENGINE_INLINE void turnFour(const float* in, int64_t row, float* out, int64_t outRow) {
  Four a, b, c, d;
  std::memcpy(&a, in, sizeof a);
  std::memcpy(&b, in + row, sizeof b);
  std::memcpy(&c, in + 2 * row, sizeof c);
  std::memcpy(&d, in + 3 * row, sizeof d);
  for (int64_t i = 0; i < 4; ++i) {
    const Four column = {a[i], b[i], c[i], d[i]};
    std::memcpy(out + i * outRow, &column, sizeof column);
  }
}

// out[j, i] = in[i, j] for some rows and columns of both.
ENGINE_CLONES void turnTile(const float* in, int64_t row, int64_t rows, int64_t columns, float* out, int64_t outRow) {
  const int64_t wholeRows = rows / 4 * 4, wholeColumns = columns / 4 * 4;
  for (int64_t i = 0; i < wholeRows; i += 4)
    for (int64_t j = 0; j < wholeColumns; j += 4) turnFour(in + i * row + j, row, out + j * outRow + i, outRow);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i < wholeRows ? wholeColumns : 0; j < columns; ++j) out[j * outRow + i] = in[i * row + j];
}

// [B, K] → [blocks, K, 64], with zeros for sentences that are not there.
at::Tensor blocked(const at::Tensor& x) {
  const int64_t B = x.size(0), K = x.size(1), tiles = tilesOf(K), blocks = blocksOf(B);
  auto out =
      B % kBlock == 0 ? at::empty({blocks, K, kBlock}, x.options()) : at::zeros({blocks, K, kBlock}, x.options());
  const float* in = x.data_ptr<float>();
  float* to = out.data_ptr<float>();
  at::parallel_for(0, blocks * tiles, grainOf(kBlock * kTile), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i / tiles * kBlock, k = i % tiles * kTile;
      turnTile(in + first * K + k, K, std::min(kBlock, B - first), std::min(kTile, K - k),
               to + (i / tiles * K + k) * kBlock, kBlock);
    }
  });
  return out;
}

// Σ_e values_e x[ends_e] over the links of some symbols, for a block of sentences. [count, 64]
ENGINE_CLONES void gatherBlock(const LinkList& list, const float* values, const float* x, int64_t first, int64_t count,
                               float* out) {
  for (int64_t k = first; k < first + count; ++k, out += kBlock) {
    Floats sum[kVectors] = {};
    for (int64_t e = list.starts[k]; e < list.starts[k + 1]; ++e) {
      const Floats v = spread(values[e]);
      const float* row = x + list.ends[e] * kBlock;
      for (int64_t i = 0; i < kVectors; ++i) sum[i] += v * load(row + i * kLanes);
    }
    for (int64_t i = 0; i < kVectors; ++i) store(out + i * kLanes, sum[i]);
  }
}

// y_bk = Σ over links of k: values x_b,end, with x in blocks of `sentences` sentences. [B, K]
at::Tensor gathered(const LinkList& list, const at::Tensor& values, const at::Tensor& blocks, int64_t sentences) {
  const int64_t K = list.size, tiles = tilesOf(K), others = blocks.size(1);
  auto out = at::empty({sentences, K}, blocks.options());
  const float *in = blocks.data_ptr<float>(), *v = values.data_ptr<float>();
  float* to = out.data_ptr<float>();
  const int64_t work = kBlock * std::max<int64_t>(kTile, values.numel() / std::max<int64_t>(1, tiles));
  at::parallel_for(0, blocks.size(0) * tiles, grainOf(work), [&](int64_t begin, int64_t end) {
    float tile[kTile * kBlock];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t block = i / tiles, k = i % tiles * kTile, count = std::min(kTile, K - k);
      gatherBlock(list, v, in + block * others * kBlock, k, count, tile);
      turnTile(tile, kBlock, count, std::min(kBlock, sentences - block * kBlock), to + block * kBlock * K + k, K);
    }
  });
  return out;
}

// x·R along links, or x·Rᵀ back along them, R having the given values at its links. [B, J] → [B, K]
at::Tensor carried(const Links& links, const at::Tensor& values, const at::Tensor& x, bool back) {
  const auto blocks = blocked(x);
  if (back) return gathered(bySource(links), values, blocks, x.size(0));
  return gathered(byTarget(links), backValues(links, values), blocks, x.size(0));
}

// Σ_b left_bj right_bk of the links of some sources, added to what is there.
ENGINE_CLONES void linkSums(const LinkList& list, const float* left, const float* right, int64_t begin, int64_t end,
                            float* out) {
  for (int64_t j = begin; j < end; ++j) {
    const float* a = left + j * kBlock;
    for (int64_t e = list.starts[j]; e < list.starts[j + 1]; ++e) {
      const float* b = right + list.ends[e] * kBlock;
      Floats sum = {};
      for (int64_t i = 0; i < kVectors; ++i) sum += load(a + i * kLanes) * load(b + i * kLanes);
      out[e] += total(sum);
    }
  }
}

}  // namespace
}  // namespace hsn
