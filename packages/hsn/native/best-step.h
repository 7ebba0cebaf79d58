// The best step to each symbol, a product of matrices in which sums are largest values: walks are traced back by it.
#pragma once
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/max.h>

#include <limits>
#include <tuple>

#include "fused.h"

namespace hsn {
using namespace engine;
namespace {

// best[k] = max_j score[j] + links[j, k] for 16 symbols k from `first` on, and the smallest j that reaches it.
ENGINE_INLINE void bestBlock(const float* score, const float* links, int64_t sources, int64_t row, float* best,
                             float* from) {
  Floats top = spread(score[0]) + load(links), source = {};
  for (int64_t j = 1; j < sources; ++j) {
    const Floats reached = spread(score[j]) + load(links + j * row);
    source = reached > top ? spread(static_cast<float>(j)) : source;
    top = larger(reached, top);
  }
  store(best, top);
  store(from, source);
}

// `links` has rows padded to whole vectors.
ENGINE_CLONES void bestSteps(const float* score, const float* links, int64_t sources, int64_t targets, int64_t row,
                             float* best, int64_t* from) {
  float some[2][kLanes];
  for (int64_t first = 0; first < targets; first += kLanes) {
    bestBlock(score, links + first, sources, row, some[0], some[1]);
    const int64_t count = std::min(kLanes, targets - first);
    for (int64_t i = 0; i < count; ++i) {
      best[first + i] = some[0][i];
      from[first + i] = static_cast<int64_t>(some[1][i]);
    }
  }
}

// Whether sums of two cannot be other than numbers or −∞: the comparisons here know no others.
ENGINE_CLONES bool comparable(const float* x, int64_t count) {
  bool all = true;
  for (int64_t i = 0; i < count; ++i) all &= x[i] < std::numeric_limits<float>::infinity();
  return all;
}

// Up to here a float32 counts sources one by one.
constexpr int64_t kMostSources = int64_t{1} << 24;

// Scores [B, J] and log links [J, K] → the best of J ways to each of K symbols, and where it comes from. Two of [B, K]
std::tuple<at::Tensor, at::Tensor> bestStep(const at::Tensor& givenScores, const at::Tensor& givenLinks) {
  checkFloats({{"scores", givenScores}, {"links", givenLinks}});
  checkRank({"scores", givenScores}, 2);
  checkRank({"links", givenLinks}, 2);
  checkShape({"links", givenLinks}, {givenScores.size(1), givenLinks.size(1)});
  const auto scores = readable(givenScores);
  const int64_t sentences = scores.size(0), sources = scores.size(1), targets = givenLinks.size(1);
  TORCH_CHECK(sources > 0, "expects 'scores' of one source or more, got ", scores.sizes());
  const int64_t row = (targets + kLanes - 1) / kLanes * kLanes;
  const auto links = readable(at::constant_pad_nd(givenLinks, {0, row - targets}));
  const float *score = scores.data_ptr<float>(), *link = links.data_ptr<float>();
  if (recorded({givenScores, givenLinks}) || sources > kMostSources || !comparable(score, scores.numel()) ||
      !comparable(link, links.numel()))
    return at::max(givenScores.unsqueeze(2).add(givenLinks), 1);
  auto best = at::empty({sentences, targets}, scores.options());
  auto from = at::empty({sentences, targets}, scores.options().dtype(at::kLong));
  float* reached = best.data_ptr<float>();
  int64_t* source = from.data_ptr<int64_t>();
  at::parallel_for(0, sentences, grainOf(sources * row), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      bestSteps(score + b * sources, link, sources, targets, row, reached + b * targets, source + b * targets);
  });
  return {best, from};
}

}  // namespace
}  // namespace hsn
