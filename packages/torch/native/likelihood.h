// Cross-entropy over a vocabulary, and GPT-2's GELU, in one pass each way.
#pragma once
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty_like.h>

#include "fused.h"

namespace engine {
namespace {

// Rows with this target count for nothing, as in libtorch.
constexpr int64_t kIgnored = -100;

// log Σ exp of a row.
ENGINE_CLONES float logSum(const float* row, int64_t count) {
  Floats top = spread(row[0]);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) top = larger(top, load(row + i));
  float most = largest(top);
  for (int64_t n = i; n < count; ++n) most = std::max(most, row[n]);
  Floats sums = {};
  for (i = 0; i + kLanes <= count; i += kLanes) {
    const Floats x = load(row + i) - most;
    sums += exponential(x);
  }
  float sum = total(sums);
  for (; i < count; ++i) sum += std::exp(row[i] - most);
  return most + std::log(sum);
}

ENGINE_CLONES void softmaxTimes(const float* row, float logTotal, float scale, float* out, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Floats x = load(row + i) - logTotal;
    store(out + i, exponential(x) * scale);
  }
  for (; i < count; ++i) out[i] = std::exp(row[i] - logTotal) * scale;
}

struct CrossEntropy : Function<CrossEntropy> {
  static at::Tensor forward(Context* ctx, const at::Tensor& given, const at::Tensor& targets) {
    const auto logits = readable(given);
    const int64_t rows = logits.size(0), count = logits.size(1);
    auto losses = at::empty({rows}, logits.options()), totals = at::empty({rows}, logits.options());
    const float* x = logits.data_ptr<float>();
    const int64_t* wanted = targets.data_ptr<int64_t>();
    float *loss = losses.data_ptr<float>(), *sum = totals.data_ptr<float>();
    at::parallel_for(0, rows, grainOf(count), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        sum[n] = logSum(x + n * count, count);
        loss[n] = wanted[n] == kIgnored ? 0.0f : sum[n] - x[n * count + wanted[n]];
      }
    });
    ctx->save_for_backward({logits, targets, totals});
    return losses;
  }
  static Variables backward(Context* ctx, Variables given) {
    const auto saved = ctx->get_saved_variables();
    const auto &logits = saved[0], &targets = saved[1], &totals = saved[2];
    const int64_t rows = logits.size(0), count = logits.size(1);
    const auto above = incoming(given[0], {rows}).contiguous();
    auto gradient = at::empty_like(logits);
    const float *x = logits.data_ptr<float>(), *sum = totals.data_ptr<float>(), *g = above.data_ptr<float>();
    const int64_t* wanted = targets.data_ptr<int64_t>();
    float* out = gradient.data_ptr<float>();
    at::parallel_for(0, rows, grainOf(count), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const float scale = wanted[n] == kIgnored ? 0.0f : g[n];
        softmaxTimes(x + n * count, sum[n], scale, out + n * count, count);
        // Checked in the forward pass; memory that was changed since must not be written past.
        const bool inside = wanted[n] >= 0 && wanted[n] < count;
        if (scale != 0.0f && inside) out[n * count + wanted[n]] -= scale;
      }
    });
    return {gradient, at::Tensor()};
  }
};

at::Tensor crossEntropy(const at::Tensor& logits, const at::Tensor& targets) {
  checkFloats({{"logits", logits}});
  checkElements({"targets", targets}, at::kLong, "int64");
  checkRank({"logits", logits}, 2);
  checkShape({"targets", targets}, {logits.size(0)});
  const auto wanted = targets.contiguous();
  const int64_t* target = wanted.data_ptr<int64_t>();
  for (int64_t n = 0; n < wanted.size(0); ++n)
    TORCH_CHECK(target[n] == kIgnored || (target[n] >= 0 && target[n] < logits.size(1)), "target ", target[n],
                " is not one of ", logits.size(1), " classes");
  if (logits.numel() == 0) return at::cross_entropy_loss(logits, wanted, {}, at::Reduction::None, kIgnored);
  return CrossEntropy::apply(logits, wanted);
}

ENGINE_INLINE Floats geluSlope(const Floats& x) {
  const Floats s = gate(x);
  return s + x * s * (1.0f - s) * kTwice * (1.0f + 3.0f * kCubic * x * x);
}

// Whole vectors; the rest goes through one that is padded.
template <bool Gradient>
ENGINE_INLINE void geluBlock(const float* x, const float* above, float* out) {
  const Floats v = load(x);
  const Floats y = Gradient ? geluSlope(v) * load(above) : v * gate(v);
  store(out, v == v ? y : v);
}

template <bool Gradient>
ENGINE_INLINE void geluAll(const float* x, const float* above, float* out, int64_t begin, int64_t end) {
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) geluBlock<Gradient>(x + i, above + i, out + i);
  if (i == end) return;
  float rest[3][kLanes] = {};
  std::memcpy(rest[0], x + i, (end - i) * sizeof(float));
  std::memcpy(rest[1], above + i, (end - i) * sizeof(float));
  geluBlock<Gradient>(rest[0], rest[1], rest[2]);
  std::memcpy(out + i, rest[2], (end - i) * sizeof(float));
}

ENGINE_CLONES void geluRange(const float* x, float* out, int64_t begin, int64_t end) {
  geluAll<false>(x, x, out, begin, end);
}
ENGINE_CLONES void geluGradient(const float* x, const float* above, float* out, int64_t begin, int64_t end) {
  geluAll<true>(x, above, out, begin, end);
}

struct Gelu : Function<Gelu> {
  static at::Tensor forward(Context* ctx, const at::Tensor& given) {
    const auto x = readable(given);
    auto out = at::empty_like(x);
    const float* from = x.data_ptr<float>();
    float* to = out.data_ptr<float>();
    at::parallel_for(0, x.numel(), 16384, [&](int64_t begin, int64_t end) { geluRange(from, to, begin, end); });
    ctx->save_for_backward({x});
    return out;
  }
  static Variables backward(Context* ctx, Variables given) {
    const auto x = ctx->get_saved_variables()[0], above = incoming(given[0], x.sizes()).contiguous();
    auto out = at::empty_like(x);
    const float *from = x.data_ptr<float>(), *g = above.data_ptr<float>();
    float* to = out.data_ptr<float>();
    at::parallel_for(0, x.numel(), 16384, [&](int64_t begin, int64_t end) { geluGradient(from, g, to, begin, end); });
    return {out};
  }
};

at::Tensor gelu(const at::Tensor& x) {
  checkFloats({{"x", x}});
  return Gelu::apply(x);
}

}  // namespace
}  // namespace engine
