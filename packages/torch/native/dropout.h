// Dropout in one pass, alone or with what stands before it; each with its own gradient.
#pragma once
#include <ATen/ops/arange.h>

#include "fused.h"

namespace engine {
namespace {

// Its mask is never stored: the gradient draws it again from the seed.

// The same mask by libtorch's own operators, for devices that have no kernel here. Whole numbers wrap as in C.
at::Tensor maskOn(at::Device device, at::IntArrayRef shape, const Drop& drop) {
  const auto options = at::TensorOptions().dtype(at::kLong).device(device);
  const auto whole = [](uint64_t bits) { return at::Scalar(static_cast<int64_t>(bits)); };
  // Shifts of signed numbers fill in their sign, which the mask takes away.
  const auto mixed = [&](const at::Tensor& z, int64_t shift, uint64_t factor) {
    return z.bitwise_xor(z.bitwise_right_shift(shift).bitwise_and_(whole(~uint64_t{0} >> shift))).mul_(whole(factor));
  };
  auto z = at::arange(c10::multiply_integers(shape), options).add_(whole(drop.offset));
  z.mul_(whole(kHashStep)).add_(whole(drop.seed));
  z = mixed(mixed(z, 30, kHashFirst), 27, kHashSecond);
  const auto kept = z.bitwise_right_shift_(32).bitwise_and_(whole(0xffffffffU)).ge(whole(drop.threshold));
  return kept.to(at::kFloat).mul_(drop.scale).reshape(shape);
}

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
