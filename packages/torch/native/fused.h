// What the fused operators share. They are registered with libtorch as engine::name and called like its own.
#pragma once
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include "checks.h"
#include "vectors.h"

namespace engine {

using Variables = torch::autograd::variable_list;
using Context = torch::autograd::AutogradContext;
using torch::autograd::Function;

// Elements a thread takes at least.
constexpr int64_t kGrain = 32768;

// How many items a thread takes at least, each of so much work.
inline int64_t grainOf(int64_t work) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, work)); }

// A seed for one dropout mask, drawn from an explicit generator.
inline int64_t drawSeed(c10::optional<at::Generator> generator) {
  TORCH_CHECK(generator.has_value(), "expects a generator to draw what dropout keeps");
  at::NoGradGuard guard;
  return at::empty({1}, at::kLong).random_(generator).item<int64_t>();
}

// What a gradient needs to draw a mask again.
inline void saveDrop(Context* ctx, double p, int64_t seed, int64_t offset) {
  ctx->saved_data["p"] = p;
  ctx->saved_data["seed"] = seed;
  ctx->saved_data["offset"] = offset;
}

inline Drop dropOf(double p, int64_t seed, int64_t offset) { return p > 0 ? Drop(p, seed, offset) : Drop(); }

inline Drop savedDrop(Context* ctx) {
  auto& saved = ctx->saved_data;
  return dropOf(saved["p"].toDouble(), saved["seed"].toInt(), saved["offset"].toInt());
}

}  // namespace engine
