// A step of the batch's mean walk in one pass over K×K matrices: what it costs, and where it leads.
#pragma once
#include <tuple>

#include "divergence.h"

namespace hsn {
namespace {

// Rows whose arrivals are added up by themselves: the sum is the same on any number of threads.
constexpr int64_t kGroup = 64;

ENGINE_INLINE Floats some(const float* at, int64_t count) {
  if (count == kLanes) return load(at);
  Floats out = {};
  std::memcpy(&out, at, count * sizeof(float));
  return out;
}
// Σ_k R m (log m − p) of a row, whose source is 0, and w R m added to the arrivals.
ENGINE_CLONES void meanRow(const StepRow& x, int64_t count, float* term, float* arrived) {
  Floats terms = {};
  inPieces(x, count, [&](const Floats& r, const Floats& m, const Floats& p, int64_t k, int64_t length) {
    const Floats walked = r * m;
    terms += walked * logRatio(x, m, p);
    put(arrived + k, some(arrived + k, length) + x.weight * walked, length);
  });
  *term = total(terms);
}

// `toward` is the gradient of the arrivals; the row's own weight gets Σ_k R m toward_k besides its term.
ENGINE_CLONES void meanGradient(const StepRow& x, int64_t count, float above, const float* toward,
                                const StepGradients& d, float* reached) {
  Floats sum = {};
  inPieces(x, count, [&](const Floats& r, const Floats& m, const Floats& p, int64_t k, int64_t length) {
    const auto slopes = slopesOf(x, above * x.weight, r, m, p);
    const Floats h = some(toward + k, length), pulled = x.weight * h;
    put(d.ratio + k, slopes.ratio + r * pulled, length);
    if (d.rows) put(d.rows + k, slopes.rows + m * pulled, length);
    if (d.prior) put(d.prior + k, slopes.prior, length);
    sum += r * m * h;
  });
  *reached = total(sum);
}

// Σ_jk w_j R_jk m_jk (log m_jk − p_jk), and Σ_j w_j R_jk m_jk [K].
struct MeanStep : Function<MeanStep> {
  static Variables forward(Context* ctx, const at::Tensor& rows, const at::Tensor& ratio, const at::Tensor& weight,
                           const at::Tensor& prior) {
    const auto w = readable(weight);
    const StepInputs x{readable(rows), readable(ratio), w, at::zeros_like(w), readable(prior.expand_as(rows)), {}};
    const int64_t J = x.count(), K = rows.size(1), groups = (J + kGroup - 1) / kGroup;
    auto terms = at::empty({J}, w.options()), arrived = at::zeros({groups, K}, w.options());
    float *term = terms.data_ptr<float>(), *sums = arrived.data_ptr<float>();
    at::parallel_for(0, groups, grainOf(kGroup * K), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin * kGroup; j < std::min(J, end * kGroup); ++j)
        meanRow(x.row(j), K, term + j, sums + j / kGroup * K);
    });
    ctx->saved_data["rows"] = rows.requires_grad();
    ctx->saved_data["prior"] = prior.requires_grad();
    ctx->save_for_backward({x.rows, x.ratio, x.weight, x.source, prior, terms});
    return {terms.dot(w), arrived.sum(0)};
  }
  static Variables backward(Context* ctx, Variables above) {
    const auto s = ctx->get_saved_variables();
    const StepInputs x{s[0], s[1], s[2], s[3], readable(s[4].expand_as(s[0])), {}};
    const int64_t K = x.rows.size(1);
    auto dratio = at::empty_like(x.ratio), reached = at::empty_like(x.weight);
    auto drows = ctx->saved_data["rows"].toBool() ? at::empty_like(x.rows) : at::Tensor();
    auto dprior = ctx->saved_data["prior"].toBool() ? at::empty_like(x.rows) : at::Tensor();
    const auto g = incoming(above[0], {}).item<float>();
    const auto toward = incoming(above[1], {K}).contiguous();
    const auto place = [](const at::Tensor& y, int64_t at) { return y.defined() ? y.data_ptr<float>() + at : nullptr; };
    at::parallel_for(0, x.count(), x.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j)
        meanGradient(x.row(j), K, g, toward.data_ptr<float>(),
                     {place(dratio, j * K), place(drows, j * K), place(dprior, j * K)}, place(reached, j));
    });
    const auto toPrior = dprior.defined() ? dprior.sum_to_size(s[4].sizes()) : dprior;
    return {drows, dratio, s[5].mul(g).add(reached), toPrior};
  }
};

std::tuple<at::Tensor, at::Tensor> meanStep(const at::Tensor& rows, const at::Tensor& ratio, const at::Tensor& weight,
                                            const at::Tensor& prior) {
  checkFloats({{"rows", rows}});
  checkRank({"rows", rows}, 2);
  checkStep(rows, ratio, weight, weight, prior, rows.size(0));
  const auto out = MeanStep::apply(rows, ratio, weight, prior);
  return {out[0], out[1]};
}

}  // namespace
}  // namespace hsn
