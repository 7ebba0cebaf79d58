// What follows a linear layer in the same pass, and linear layers of few rows, where no gradient is asked for.
// Otherwise libtorch's own operators are called, which record theirs.
#pragma once
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>

#include "fused.h"

namespace engine {
namespace {

// Whether the kernels here can read these; all others go through libtorch's own operators.
bool plainFloats(std::initializer_list<at::Tensor> tensors) {
  for (const auto& x : tensors)
    if (!inMemory(x) || x.scalar_type() != at::kFloat || x.is_neg() || !x.is_contiguous()) return false;
  return true;
}

void checkLinear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  checkRank({"weight", weight}, 2);
  checkAlike({{"x", x}, {"weight", weight}});
  TORCH_CHECK(x.dim() > 0 && x.size(-1) == weight.size(1), "expects 'x' of rows of ", weight.size(1), ", got ",
              x.sizes());
  if (!bias.defined()) return;
  checkAlike({{"x", x}, {"bias", bias}});
  checkShape({"bias", bias}, {weight.size(0)});
}

ENGINE_CLONES void biasGelu(float* row, const float* bias, int64_t width, bool tanh) {
  for (int64_t i = 0; i < width; i += kLanes) {
    const Floats x = load(row + i) + load(bias + i);
    store(row + i, tanh ? x * gate(x) : geluByError(x));
  }
}

ENGINE_CLONES void biasAddNorm(float* row, const float* bias, const float* base, const float* weight,
                               const float* shift, int64_t width, float epsilon) {
  Floats sum = {};
  for (int64_t i = 0; i < width; i += kLanes) {
    const Floats x = load(row + i) + load(bias + i) + load(base + i);
    store(row + i, x);
    sum += x;
  }
  const float mean = total(sum) / static_cast<float>(width);
  Floats squares = {};
  for (int64_t i = 0; i < width; i += kLanes) {
    const Floats x = load(row + i) - mean;
    squares += x * x;
  }
  const float scale = 1.0f / std::sqrt(total(squares) / static_cast<float>(width) + epsilon);
  for (int64_t i = 0; i < width; i += kLanes)
    store(row + i, (load(row + i) - mean) * scale * load(weight + i) + load(shift + i));
}

// libtorch's own GELU by the error function. Its gradient in 1.13 reads an incoming one that does not lie in one piece
// wrongly, so it is given one that does.
at::Tensor erfGelu(const at::Tensor& x) {
  auto y = at::gelu(x.contiguous(), "none");
  if (y.requires_grad()) y.register_hook([](const at::Tensor& above) { return above.contiguous(); });
  return y;
}

// gelu(x·Wᵀ + b)
at::Tensor linearGelu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, bool tanh) {
  checkLinear(x, weight, bias);
  const int64_t width = weight.size(0);
  if (recorded({x, weight, bias}) || autocasting() || !plainFloats({bias}) || width % kLanes != 0) {
    const auto product = at::linear(x, weight, bias);
    return tanh ? at::gelu(product, "tanh") : erfGelu(product);
  }
  auto out = at::linear(x, weight).contiguous();
  if (out.numel() == 0) return out;
  float* data = out.data_ptr<float>();
  const float* added = bias.data_ptr<float>();
  at::parallel_for(0, out.numel() / width, grainOf(width), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) biasGelu(data + n * width, added, width, tanh);
  });
  return out;
}

// The layer norm of base + x·Wᵀ + b
at::Tensor linearNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, const at::Tensor& base,
                      const at::Tensor& scale, const at::Tensor& shift, double epsilon) {
  checkLinear(x, weight, bias);
  checkAlike({{"x", x}, {"base", base}, {"scale", scale}, {"shift", shift}});
  const int64_t width = weight.size(0);
  checkShape({"scale", scale}, {width});
  checkShape({"shift", shift}, {width});
  auto shape = x.sizes().vec();
  shape.back() = width;
  const bool fits = plainFloats({bias, base, scale, shift}) && width % kLanes == 0 && base.sizes() == shape;
  if (recorded({x, weight, bias, base, scale, shift}) || autocasting() || !fits || base.numel() == 0)
    return at::layer_norm(base.add(at::linear(x, weight, bias)), {width}, scale, shift, epsilon);
  auto out = at::linear(x, weight).contiguous();
  float* data = out.data_ptr<float>();
  const float *added = bias.data_ptr<float>(), *from = base.data_ptr<float>(), *factor = scale.data_ptr<float>(),
              *offset = shift.data_ptr<float>();
  at::parallel_for(0, out.numel() / width, grainOf(width), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n)
      biasAddNorm(data + n * width, added, from + n * width, factor, offset, width, static_cast<float>(epsilon));
  });
  return out;
}

// Few rows times a large matrix: what counts is to read the matrix once, where sgemm copies it first.

constexpr int64_t kMostRows = 8;

struct FewRows {
  const float *x, *weight, *bias;
  float* y;
  int64_t inputs, outputs;
};

// Outputs from `begin` to `end`, weight [out, in].
template <int Rows>
ENGINE_INLINE void outIn(const FewRows& p, int64_t begin, int64_t end) {
  for (int64_t o = begin; o < end; ++o) {
    const float* w = p.weight + o * p.inputs;
    Floats sums[Rows] = {};
    int64_t k = 0;
    for (; k + kLanes <= p.inputs; k += kLanes) {
      const Floats some = load(w + k);
      for (int r = 0; r < Rows; ++r) sums[r] += some * load(p.x + r * p.inputs + k);
    }
    for (int r = 0; r < Rows; ++r) {
      float sum = total(sums[r]) + (p.bias ? p.bias[o] : 0.0f);
      for (int64_t i = k; i < p.inputs; ++i) sum += w[i] * p.x[r * p.inputs + i];
      p.y[r * p.outputs + o] = sum;
    }
  }
}

// The same for weight [in, out]: its rows are added up, four at a time.
template <int Rows>
ENGINE_INLINE void inOut(const FewRows& p, int64_t begin, int64_t end) {
  for (int r = 0; r < Rows; ++r)
    for (int64_t o = begin; o < end; ++o) p.y[r * p.outputs + o] = p.bias ? p.bias[o] : 0.0f;
  constexpr int64_t together = 4;
  for (int64_t i = 0; i < p.inputs; i += together) {
    const int64_t count = std::min(together, p.inputs - i);
    float factor[Rows][together] = {};
    const float* w[together];
    for (int64_t n = 0; n < together; ++n) {
      w[n] = p.weight + (i + std::min(n, count - 1)) * p.outputs;
      for (int r = 0; r < Rows && n < count; ++r) factor[r][n] = p.x[r * p.inputs + i + n];
    }
    for (int64_t o = begin; o + kLanes <= end; o += kLanes) {
      const Floats a = load(w[0] + o), b = load(w[1] + o), c = load(w[2] + o), d = load(w[3] + o);
      for (int r = 0; r < Rows; ++r) {
        float* y = p.y + r * p.outputs + o;
        store(y, load(y) + a * factor[r][0] + b * factor[r][1] + c * factor[r][2] + d * factor[r][3]);
      }
    }
    for (int64_t o = begin + (end - begin) / kLanes * kLanes; o < end; ++o)
      for (int r = 0; r < Rows; ++r)
        for (int64_t n = 0; n < count; ++n) p.y[r * p.outputs + o] += w[n][o] * factor[r][n];
  }
}

template <int Rows>
ENGINE_INLINE void fewOf(const FewRows& p, bool turned, int64_t begin, int64_t end) {
  if (turned)
    inOut<Rows>(p, begin, end);
  else
    outIn<Rows>(p, begin, end);
}

// For 1, 2, 4 or 8 rows.
ENGINE_CLONES void fewRows(const FewRows p, int64_t rows, bool turned, int64_t begin, int64_t end) {
  switch (rows) {
    case 1: return fewOf<1>(p, turned, begin, end);
    case 2: return fewOf<2>(p, turned, begin, end);
    case 4: return fewOf<4>(p, turned, begin, end);
    default: return fewOf<8>(p, turned, begin, end);
  }
}

// x·Wᵀ + b. The weight may lie turned round, as GPT-2 keeps it.
at::Tensor fewLinear(const at::Tensor& given, const at::Tensor& weight, const c10::optional<at::Tensor>& bias) {
  const auto b = bias.value_or(at::Tensor());
  checkLinear(given, weight, b);
  const int64_t inputs = weight.size(1), outputs = weight.size(0);
  const bool turned = !weight.is_contiguous();
  const int64_t rows = inputs == 0 ? 0 : given.numel() / inputs;
  const bool fits = rows > 0 && rows <= kMostRows && plainFloats({turned ? weight.transpose(0, 1) : weight}) &&
                    (!b.defined() || plainFloats({b}));
  if (!fits || recorded({given, weight, b}) || autocasting()) return at::linear(given, weight, bias);
  const int64_t made = rows <= 2 ? rows : rows <= 4 ? 4 : kMostRows;
  auto shape = given.sizes().vec();
  shape.back() = outputs;
  const auto x = readable(at::constant_pad_nd(given.reshape({rows, inputs}), {0, 0, 0, made - rows}));
  auto y = at::empty({made, outputs}, x.options());
  const float* added = b.defined() ? b.data_ptr<float>() : nullptr;
  const FewRows parts{x.data_ptr<float>(), weight.data_ptr<float>(), added, y.data_ptr<float>(), inputs, outputs};
  // Whole vectors of outputs for each thread.
  const int64_t blocks = (outputs + kLanes - 1) / kLanes;
  at::parallel_for(0, blocks, grainOf(kLanes * inputs), [&](int64_t begin, int64_t end) {
    fewRows(parts, made, turned, begin * kLanes, std::min(outputs, end * kLanes));
  });
  return y.narrow(0, 0, rows).reshape(shape);
}

}  // namespace
}  // namespace engine
