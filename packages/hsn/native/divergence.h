// The divergence of aggregated walks in one pass over K×K matrices, with its own gradient.
#pragma once
#include <ATen/ops/empty_like.h>

#include "fused.h"

namespace hsn {
using namespace engine;
namespace {

// One step's divergence of aggregated walks, Σ_jk w_j R_jk m_jk (log m_jk − s_j − p_jk), with log 0 at a floor.

constexpr float kFloor = 1e-30f;

struct StepRow {
  const float *rows, *ratio, *prior;
  float weight, source;
};

struct StepGradients {
  float *ratio, *rows, *prior;
};

// Adds up a row's terms and its mass, 16 columns at a time; the rest of a row is padded by hand.
ENGINE_INLINE void stepBlock(const StepRow& x, const float* rows, const float* ratio, const float* prior, Floats& terms,
                             Floats& mass) {
  const Floats m = load(ratio), walked = load(rows) * m;
  terms += walked * (logarithm(larger(m, spread(kFloor))) - x.source - load(prior));
  mass += walked;
}

ENGINE_CLONES void stepRow(const StepRow& x, int64_t count, float* term, float* walkedMass) {
  Floats terms = {}, mass = {};
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes) stepBlock(x, x.rows + k, x.ratio + k, x.prior + k, terms, mass);
  if (k < count) {
    float rest[3][kLanes] = {};
    const size_t bytes = (count - k) * sizeof(float);
    std::memcpy(rest[0], x.rows + k, bytes);
    std::memcpy(rest[1], x.ratio + k, bytes);
    std::memcpy(rest[2], x.prior + k, bytes);
    stepBlock(x, rest[0], rest[1], rest[2], terms, mass);
  }
  *term = total(terms);
  *walkedMass = total(mass);
}

ENGINE_CLONES void stepGradient(const StepRow& x, int64_t count, float above, const StepGradients& d) {
  const float scale = above * x.weight;
  for (int64_t first = 0; first < count; first += kLanes) {
    const int64_t length = std::min(kLanes, count - first);
    float in[3][kLanes] = {}, out[3][kLanes];
    std::memcpy(in[0], x.rows + first, length * sizeof(float));
    std::memcpy(in[1], x.ratio + first, length * sizeof(float));
    std::memcpy(in[2], x.prior + first, length * sizeof(float));
    const Floats r = load(in[0]), m = load(in[1]);
    const Floats log = logarithm(larger(m, spread(kFloor))) - x.source - load(in[2]);
    // The logarithm has no slope at its floor.
    const Floats slope = log + (m >= spread(kFloor) ? spread(1.0f) : Floats{});
    store(out[0], scale * r * (m == m ? slope : m));
    store(out[1], scale * m * log);
    store(out[2], -scale * r * m);
    std::memcpy(d.ratio + first, out[0], length * sizeof(float));
    if (d.rows) std::memcpy(d.rows + first, out[1], length * sizeof(float));
    if (d.prior) std::memcpy(d.prior + first, out[2], length * sizeof(float));
  }
}

struct StepInputs {
  at::Tensor rows, ratio, weight, source, prior;
  StepRow row(int64_t j) const {
    const int64_t K = rows.size(1);
    return {rows.data_ptr<float>() + j * K, ratio.data_ptr<float>() + j * K, prior.data_ptr<float>() + j * K,
            weight.data_ptr<float>()[j], source.data_ptr<float>()[j]};
  }
};

// Terms and masses of all rows. [2, J]
at::Tensor stepSums(const StepInputs& x) {
  const int64_t count = x.rows.size(0);
  auto sums = at::empty({2, count}, x.rows.options());
  float* out = sums.data_ptr<float>();
  at::parallel_for(0, count, grainOf(x.rows.size(1)), [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) stepRow(x.row(j), x.rows.size(1), out + j, out + count + j);
  });
  return sums;
}

struct WalkDivergence : Function<WalkDivergence> {
  static at::Tensor forward(Context* ctx, const at::Tensor& rows, const at::Tensor& ratio, const at::Tensor& weight,
                            const at::Tensor& source, const at::Tensor& prior) {
    const StepInputs x{readable(rows), readable(ratio), readable(weight), readable(source),
                       readable(prior.expand_as(rows))};
    const auto sums = stepSums(x);
    ctx->saved_data["rows"] = rows.requires_grad();
    ctx->saved_data["prior"] = prior.requires_grad();
    ctx->save_for_backward({x.rows, x.ratio, x.weight, x.source, prior, sums});
    return sums[0].mul(x.weight).sum();
  }
  static Variables backward(Context* ctx, Variables above) {
    const auto s = ctx->get_saved_variables();
    const StepInputs x{s[0], s[1], s[2], s[3], readable(s[4].expand_as(s[0]))};
    auto dratio = at::empty_like(x.ratio);
    auto drows = ctx->saved_data["rows"].toBool() ? at::empty_like(x.rows) : at::Tensor();
    auto dprior = ctx->saved_data["prior"].toBool() ? at::empty_like(x.rows) : at::Tensor();
    const auto g = incoming(above[0], {}).item<float>();
    const int64_t count = x.rows.size(0), K = x.rows.size(1);
    at::parallel_for(0, count, grainOf(K), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        const StepGradients d{dratio.data_ptr<float>() + j * K,
                              drows.defined() ? drows.data_ptr<float>() + j * K : nullptr,
                              dprior.defined() ? dprior.data_ptr<float>() + j * K : nullptr};
        stepGradient(x.row(j), K, g, d);
      }
    });
    const auto sums = s[5];
    const auto toPrior = dprior.defined() ? dprior.sum_to_size(s[4].sizes()) : dprior;
    return {drows, dratio, sums[0].mul(g), sums[1].mul(x.weight).mul(-g), toPrior};
  }
};

at::Tensor walkDivergence(const at::Tensor& rows, const at::Tensor& ratio, const at::Tensor& weight,
                          const at::Tensor& source, const at::Tensor& prior) {
  checkFloats({{"rows", rows}, {"ratio", ratio}, {"weight", weight}, {"source", source}, {"prior", prior}});
  checkRank({"rows", rows}, 2);
  checkShape({"ratio", ratio}, rows.sizes());
  checkShape({"weight", weight}, {rows.size(0)});
  checkShape({"source", source}, {rows.size(0)});
  return WalkDivergence::apply(rows, ratio, weight, source, prior);
}

}  // namespace
}  // namespace hsn
