// Links of pairs of symbols without the network's activations in memory, with their own gradient.
#pragma once
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include "fused.h"

namespace hsn {
using namespace engine;
namespace {

// The network over pairs with one hidden layer, y_ij = Σ_h w_h relu(a_ih + b_jh), without its K²·H activations.

ENGINE_CLONES void pairRow(const float* a, const float* b, const float* w, float* out, int64_t columns, int64_t width) {
  for (int64_t j = 0; j < columns; ++j) {
    const float* row = b + j * width;
    Floats sum = {};
    int64_t h = 0;
    for (; h + kLanes <= width; h += kLanes) sum += load(w + h) * larger(Floats{}, load(a + h) + load(row + h));
    float rest = 0;
    for (; h < width; ++h) rest += w[h] * std::max(a[h] + row[h], 0.0f);
    out[j] = total(sum) + rest;
  }
}

// Hidden units whose gradients are made together; units share nothing, so threads do not meet.
constexpr int64_t kUnits = 2 * kLanes;

// Some units of all rows side by side, with zeros for units that are not there: they add nothing.
std::vector<float> unitsOf(const float* x, int64_t rows, int64_t width, int64_t first) {
  std::vector<float> out(rows * kUnits);
  const int64_t count = std::min(kUnits, width - first);
  for (int64_t i = 0; i < rows; ++i) std::copy_n(x + i * width + first, count, out.data() + i * kUnits);
  return out;
}
void putUnits(const std::vector<float>& from, int64_t rows, int64_t width, int64_t first, float* x) {
  const int64_t count = std::min(kUnits, width - first);
  for (int64_t i = 0; i < rows; ++i) std::copy_n(from.data() + i * kUnits, count, x + i * width + first);
}

// Two vectors of units stay in registers while a row meets all columns.
ENGINE_CLONES void pairGradient(const float* a, const float* b, const float* w, const float* above, float* da,
                                float* __restrict db, float* dw, int64_t rows, int64_t columns) {
  const Floats none = {}, w0 = load(w), w1 = load(w + kLanes);
  Floats dw0 = {}, dw1 = {};
  for (int64_t i = 0; i < rows; ++i) {
    const Floats a0 = load(a + i * kUnits), a1 = load(a + i * kUnits + kLanes);
    Floats da0 = {}, da1 = {};
    for (int64_t j = 0; j < columns; ++j) {
      const float g = above[i * columns + j];
      const float* right = b + j * kUnits;
      float* dright = db + j * kUnits;
      const Floats sum0 = a0 + load(right), sum1 = a1 + load(right + kLanes);
      const Floats slope0 = sum0 <= none ? none : g * w0, slope1 = sum1 <= none ? none : g * w1;
      da0 += slope0;
      da1 += slope1;
      store(dright, load(dright) + slope0);
      store(dright + kLanes, load(dright + kLanes) + slope1);
      dw0 += g * (sum0 <= none ? none : sum0);
      dw1 += g * (sum1 <= none ? none : sum1);
    }
    store(da + i * kUnits, da0);
    store(da + i * kUnits + kLanes, da1);
  }
  store(dw, dw0);
  store(dw + kLanes, dw1);
}

struct Pairs : Function<Pairs> {
  static at::Tensor forward(Context* ctx, const at::Tensor& left, const at::Tensor& right, const at::Tensor& weight) {
    const auto a = readable(left), b = readable(right), w = readable(weight);
    const int64_t rows = a.size(0), columns = b.size(0), width = a.size(1);
    auto out = at::empty({rows, columns}, a.options());
    const float *pa = a.data_ptr<float>(), *pb = b.data_ptr<float>(), *pw = w.data_ptr<float>();
    float* to = out.data_ptr<float>();
    at::parallel_for(0, rows, grainOf(columns * width), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) pairRow(pa + i * width, pb, pw, to + i * columns, columns, width);
    });
    ctx->save_for_backward({a, b, w});
    return out;
  }
  static Variables backward(Context* ctx, Variables given) {
    const auto saved = ctx->get_saved_variables();
    const auto &a = saved[0], &b = saved[1], &w = saved[2];
    const auto above = incoming(given[0], {a.size(0), b.size(0)}).contiguous();
    auto da = at::zeros_like(a), db = at::zeros_like(b), dw = at::zeros_like(w);
    const int64_t rows = a.size(0), columns = b.size(0), width = a.size(1);
    const float *pa = a.data_ptr<float>(), *pb = b.data_ptr<float>(), *pw = w.data_ptr<float>(),
                *g = above.data_ptr<float>();
    float *ga = da.data_ptr<float>(), *gb = db.data_ptr<float>(), *gw = dw.data_ptr<float>();
    at::parallel_for(0, (width + kUnits - 1) / kUnits, 1, [&](int64_t begin, int64_t end) {
      for (int64_t first = begin * kUnits; first < std::min(width, end * kUnits); first += kUnits) {
        const auto left = unitsOf(pa, rows, width, first), right = unitsOf(pb, columns, width, first),
                   out = unitsOf(pw, 1, width, first);
        std::vector<float> dleft(left.size()), dright(right.size()), dout(out.size());
        pairGradient(left.data(), right.data(), out.data(), g, dleft.data(), dright.data(), dout.data(), rows, columns);
        putUnits(dleft, rows, width, first, ga);
        putUnits(dright, columns, width, first, gb);
        putUnits(dout, 1, width, first, gw);
      }
    });
    return {da, db, dw};
  }
};

void checkPairs(const at::Tensor& left, const at::Tensor& right) {
  checkRank({"left", left}, 2);
  checkRank({"right", right}, 2);
  checkShape({"right", right}, {right.size(0), left.size(1)});
}

at::Tensor pairs(const at::Tensor& left, const at::Tensor& right, const at::Tensor& weight) {
  checkFloats({{"left", left}, {"right", right}, {"weight", weight}});
  checkPairs(left, right);
  checkShape({"weight", weight}, {left.size(1)});
  return Pairs::apply(left, right, weight);
}

// The same with further layers: some rows at a time, computed again for the gradient. Weights and biases come packed
// into one vector, layer by layer; layer n goes from widths[n] to widths[n + 1].

using Widths = std::vector<int64_t>;

at::Tensor deepSlice(const at::Tensor& left, const at::Tensor& right, const at::Tensor& packed, const Widths& widths) {
  auto x = left.unsqueeze(1).add(right.unsqueeze(0));
  int64_t at = 0;
  for (size_t n = 0; n + 1 < widths.size(); ++n) {
    const int64_t in = widths[n], out = widths[n + 1];
    const auto weight = packed.narrow(0, at, in * out).view({out, in}), bias = packed.narrow(0, at + in * out, out);
    x = at::linear(x.relu(), weight, bias);
    at += (in + 1) * out;
  }
  return x.squeeze(2);
}

at::Tensor leaf(const at::Tensor& x) { return x.detach().requires_grad_(); }

struct DeepPairs : Function<DeepPairs> {
  static at::Tensor forward(Context* ctx, const at::Tensor& left, const at::Tensor& right, const at::Tensor& packed,
                            Widths widths, int64_t rows) {
    ctx->save_for_backward({left, right, packed});
    ctx->saved_data["widths"] = widths;
    ctx->saved_data["rows"] = rows;
    std::vector<at::Tensor> parts;
    for (const auto& part : left.split(rows)) parts.push_back(deepSlice(part, right, packed, widths));
    return at::cat(parts);
  }
  static Variables backward(Context* ctx, Variables above) {
    checkFirstGradient();
    const auto saved = ctx->get_saved_variables();
    const auto widths = ctx->saved_data["widths"].toIntVector();
    const auto rows = ctx->saved_data["rows"].toInt();
    auto right = at::zeros_like(saved[1]), packed = at::zeros_like(saved[2]);
    std::vector<at::Tensor> lefts;
    const auto slopes = above[0].split(rows), parts = saved[0].split(rows);
    for (size_t i = 0; i < parts.size(); ++i) {
      const Variables inputs{leaf(parts[i]), leaf(saved[1]), leaf(saved[2])};
      at::AutoGradMode recording(true);
      const auto found =
          torch::autograd::grad({deepSlice(inputs[0], inputs[1], inputs[2], widths)}, inputs, {slopes[i]});
      lefts.push_back(found[0]);
      at::NoGradGuard guard;
      right.add_(found[1]);
      packed.add_(found[2]);
    }
    return {at::cat(lefts), right, packed, at::Tensor(), at::Tensor()};
  }
};

at::Tensor deepPairs(const at::Tensor& left, const at::Tensor& right, at::TensorList layers, int64_t rows) {
  TORCH_CHECK(rows > 0, "expects 'rows' from 1, got ", rows);
  TORCH_CHECK(!layers.empty() && layers.size() % 2 == 0, "expects a weight and a bias for each layer, got ",
              layers.size(), " tensors");
  checkPairs(left, right);
  Widths widths{left.size(1)};
  std::vector<at::Tensor> flat;
  for (size_t i = 0; i < layers.size(); i += 2) {
    checkAlike({{"left", left}, {"right", right}, {"weight", layers[i]}, {"bias", layers[i + 1]}});
    checkRank({"weight", layers[i]}, 2);
    checkShape({"weight", layers[i]}, {layers[i].size(0), widths.back()});
    checkShape({"bias", layers[i + 1]}, {layers[i].size(0)});
    widths.push_back(layers[i].size(0));
    flat.push_back(layers[i].reshape(-1));
    flat.push_back(layers[i + 1]);
  }
  TORCH_CHECK(widths.back() == 1, "expects a last layer of width 1, got ", widths.back());
  return DeepPairs::apply(left, right, at::cat(flat), widths, rows);
}

}  // namespace
}  // namespace hsn
