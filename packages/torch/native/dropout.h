// Dropout in one pass, alone or with what stands before it; each with its own gradient.
#pragma once
#include "fused.h"

namespace engine {
namespace {

// Its mask is never stored: the gradient draws it again from the seed.

// By value: behind a reference the compiler fears that writing changes it, and does not vectorise.
ENGINE_CLONES void dropRange(const float* x, const float* base, float* out, int64_t begin, int64_t end,
                             const Drop drop) {
  if (base) {
    for (int64_t i = begin; i < end; ++i) out[i] = base[i] + x[i] * drop.at(i);
  } else {
    for (int64_t i = begin; i < end; ++i) out[i] = x[i] * drop.at(i);
  }
}

at::Tensor dropped(const at::Tensor& given, const at::Tensor& base, const Drop& drop) {
  const auto x = readable(given);
  auto out = at::empty(x.sizes(), x.options());
  const float *from = x.data_ptr<float>(), *under = base.defined() ? base.data_ptr<float>() : nullptr;
  float* to = out.data_ptr<float>();
  at::parallel_for(0, x.numel(), kGrain,
                   [&](int64_t begin, int64_t end) { dropRange(from, under, to, begin, end, drop); });
  return out;
}

struct Dropout : Function<Dropout> {
  static at::Tensor forward(Context* ctx, const at::Tensor& x, double p, int64_t seed, int64_t offset) {
    saveDrop(ctx, p, seed, offset);
    return dropped(x, at::Tensor(), Drop(p, seed, offset));
  }
  static Variables backward(Context* ctx, Variables above) {
    return {dropped(incoming(above[0]), at::Tensor(), savedDrop(ctx)), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

at::Tensor dropout(const at::Tensor& x, double p, c10::optional<at::Generator> generator, int64_t offset) {
  checkFloats({{"x", x}});
  checkDropout(p, offset);
  return Dropout::apply(x, p, drawSeed(generator), offset);
}

struct AddDropout : Function<AddDropout> {
  static at::Tensor forward(Context* ctx, const at::Tensor& base, const at::Tensor& x, double p, int64_t seed,
                            int64_t offset) {
    saveDrop(ctx, p, seed, offset);
    return dropped(x, readable(base), Drop(p, seed, offset));
  }
  static Variables backward(Context* ctx, Variables above) {
    const auto g = incoming(above[0]);
    return {g, dropped(g, at::Tensor(), savedDrop(ctx)), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

at::Tensor addDropout(const at::Tensor& base, const at::Tensor& x, double p, c10::optional<at::Generator> generator,
                      int64_t offset) {
  checkFloats({{"base", base}, {"x", x}});
  checkDropout(p, offset);
  if (base.sizes() != x.sizes()) return base.add(Dropout::apply(x, p, drawSeed(generator), offset));
  return AddDropout::apply(base, x, p, drawSeed(generator), offset);
}

ENGINE_CLONES void reluDropRange(const float* x, float* out, int64_t begin, int64_t end, const Drop drop) {
  for (int64_t i = begin; i < end; ++i) out[i] = (x[i] <= 0 ? 0.0f : x[i]) * drop.at(i);
}

ENGINE_CLONES void reluDropGradient(const float* above, const float* y, float* out, int64_t begin, int64_t end,
                                    float scale) {
  for (int64_t i = begin; i < end; ++i) out[i] = y[i] <= 0 ? 0.0f : above[i] * scale;
}

struct ReluDropout : Function<ReluDropout> {
  static at::Tensor forward(Context* ctx, const at::Tensor& given, double p, int64_t seed, int64_t offset) {
    const auto x = readable(given);
    auto out = at::empty(x.sizes(), x.options());
    const Drop drop(p, seed, offset);
    const float* from = x.data_ptr<float>();
    float* to = out.data_ptr<float>();
    at::parallel_for(0, x.numel(), kGrain,
                     [&](int64_t begin, int64_t end) { reluDropRange(from, to, begin, end, drop); });
    ctx->saved_data["scale"] = static_cast<double>(drop.scale);
    ctx->save_for_backward({out});
    return out;
  }
  static Variables backward(Context* ctx, Variables given) {
    const auto y = ctx->get_saved_variables()[0];
    const auto above = incoming(given[0], y.sizes()).contiguous();
    auto out = at::empty(y.sizes(), y.options());
    const auto scale = static_cast<float>(ctx->saved_data["scale"].toDouble());
    const float *g = above.data_ptr<float>(), *kept = y.data_ptr<float>();
    float* to = out.data_ptr<float>();
    at::parallel_for(0, y.numel(), kGrain,
                     [&](int64_t begin, int64_t end) { reluDropGradient(g, kept, to, begin, end, scale); });
    return {out, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

at::Tensor reluDropout(const at::Tensor& x, double p, c10::optional<at::Generator> generator, int64_t offset) {
  checkFloats({{"x", x}});
  checkDropout(p, offset);
  return ReluDropout::apply(x, p, drawSeed(generator), offset);
}

}  // namespace
}  // namespace engine
