// The divergence of aggregated walks in one pass over K×K matrices, with its own gradient.
#pragma once
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>

#include "links.h"

namespace hsn {
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

// A row in pieces of 16 columns, the last one padded with zeros: `body` gets the pieces, their place and their length.
template <typename Body>
ENGINE_INLINE void inPieces(const StepRow& x, int64_t count, const Body& body) {
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes) body(load(x.rows + k), load(x.ratio + k), load(x.prior + k), k, kLanes);
  if (k == count) return;
  float in[3][kLanes] = {};
  const size_t bytes = (count - k) * sizeof(float);
  std::memcpy(in[0], x.rows + k, bytes);
  std::memcpy(in[1], x.ratio + k, bytes);
  std::memcpy(in[2], x.prior + k, bytes);
  body(load(in[0]), load(in[1]), load(in[2]), k, count - k);
}
ENGINE_INLINE void put(float* at, const Floats& value, int64_t count) {
  std::memcpy(at, &value, (count == kLanes ? kLanes : count) * sizeof(float));
}

// log m − s − p
ENGINE_INLINE Floats logRatio(const StepRow& x, const Floats& m, const Floats& p) {
  return logarithm(larger(m, spread(kFloor))) - x.source - p;
}

ENGINE_CLONES void stepRow(const StepRow& x, int64_t count, float* term, float* walkedMass) {
  Floats terms = {}, mass = {};
  inPieces(x, count, [&](const Floats& r, const Floats& m, const Floats& p, int64_t, int64_t) {
    const Floats walked = r * m;
    terms += walked * logRatio(x, m, p);
    mass += walked;
  });
  *term = total(terms);
  *walkedMass = total(mass);
}

struct StepSlopes {
  Floats ratio, rows, prior;
};
ENGINE_INLINE StepSlopes slopesOf(const StepRow& x, float scale, const Floats& r, const Floats& m, const Floats& p) {
  const Floats log = logRatio(x, m, p);
  // The logarithm has no slope at its floor.
  const Floats slope = log + (m >= spread(kFloor) ? spread(1.0f) : Floats{});
  return {scale * r * (m == m ? slope : m), scale * m * log, -scale * r * m};
}

ENGINE_CLONES void stepGradient(const StepRow& x, int64_t count, float above, const StepGradients& d) {
  inPieces(x, count, [&](const Floats& r, const Floats& m, const Floats& p, int64_t k, int64_t length) {
    const auto slopes = slopesOf(x, above * x.weight, r, m, p);
    put(d.ratio + k, slopes.ratio, length);
    if (d.rows) put(d.rows + k, slopes.rows, length);
    if (d.prior) put(d.prior + k, slopes.prior, length);
  });
}

// Rows of one length [J, K], or lists of links one after the other, [E] in all, that begin at `starts` [J + 1].
struct StepInputs {
  at::Tensor rows, ratio, weight, source, prior, starts;
  int64_t count() const { return weight.size(0); }
  int64_t start(int64_t j) const { return starts.defined() ? starts.data_ptr<int64_t>()[j] : j * rows.size(1); }
  int64_t length(int64_t j) const { return start(j + 1) - start(j); }
  int64_t grain() const { return grainOf(rows.numel() / std::max<int64_t>(1, count())); }
  StepRow row(int64_t j) const {
    const int64_t at = start(j);
    return {rows.data_ptr<float>() + at, ratio.data_ptr<float>() + at, prior.data_ptr<float>() + at,
            weight.data_ptr<float>()[j], source.data_ptr<float>()[j]};
  }
};

// Terms and masses of all rows. [2, J]
at::Tensor stepSums(const StepInputs& x) {
  const int64_t count = x.count();
  auto sums = at::empty({2, count}, x.rows.options());
  float* out = sums.data_ptr<float>();
  at::parallel_for(0, count, x.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) stepRow(x.row(j), x.length(j), out + j, out + count + j);
  });
  return sums;
}

// Where lists begin, if there are lists: no argument that has a gradient.
struct Starts {
  at::Tensor starts;
};

struct WalkDivergence : Function<WalkDivergence> {
  static at::Tensor forward(Context* ctx, const at::Tensor& rows, const at::Tensor& ratio, const at::Tensor& weight,
                            const at::Tensor& source, const at::Tensor& prior, const Starts& lists) {
    const StepInputs x{
        readable(rows), readable(ratio), readable(weight), readable(source), readable(prior.expand_as(rows)),
        lists.starts};
    const auto sums = stepSums(x);
    ctx->saved_data["rows"] = rows.requires_grad();
    ctx->saved_data["prior"] = prior.requires_grad();
    ctx->save_for_backward({x.rows, x.ratio, x.weight, x.source, prior, sums, lists.starts});
    return sums[0].mul(x.weight).sum();
  }
  static Variables backward(Context* ctx, Variables above) {
    const auto s = ctx->get_saved_variables();
    const StepInputs x{s[0], s[1], s[2], s[3], readable(s[4].expand_as(s[0])), s[6]};
    auto dratio = at::empty_like(x.ratio);
    auto drows = ctx->saved_data["rows"].toBool() ? at::empty_like(x.rows) : at::Tensor();
    auto dprior = ctx->saved_data["prior"].toBool() ? at::empty_like(x.rows) : at::Tensor();
    const auto g = incoming(above[0], {}).item<float>();
    const auto place = [](const at::Tensor& y, int64_t at) { return y.defined() ? y.data_ptr<float>() + at : nullptr; };
    at::parallel_for(0, x.count(), x.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        const int64_t at = x.start(j);
        stepGradient(x.row(j), x.length(j), g, {place(dratio, at), place(drows, at), place(dprior, at)});
      }
    });
    const auto sums = s[5];
    const auto toPrior = dprior.defined() ? dprior.sum_to_size(s[4].sizes()) : dprior;
    return {drows, dratio, sums[0].mul(g), sums[1].mul(x.weight).mul(-g), toPrior, at::Tensor()};
  }
};

void checkStep(const at::Tensor& rows, const at::Tensor& ratio, const at::Tensor& weight, const at::Tensor& source,
               const at::Tensor& prior, int64_t count) {
  checkFloats({{"rows", rows}, {"ratio", ratio}, {"weight", weight}, {"source", source}, {"prior", prior}});
  checkShape({"ratio", ratio}, rows.sizes());
  checkShape({"weight", weight}, {count});
  checkShape({"source", source}, {count});
}

at::Tensor walkDivergence(const at::Tensor& rows, const at::Tensor& ratio, const at::Tensor& weight,
                          const at::Tensor& source, const at::Tensor& prior) {
  checkFloats({{"rows", rows}});
  checkRank({"rows", rows}, 2);
  checkStep(rows, ratio, weight, source, prior, rows.size(0));
  return WalkDivergence::apply(rows, ratio, weight, source, prior, Starts{});
}

// The same over links alone, in the order of the list by source.
at::Tensor linkDivergence(const at::Tensor& ratio, const at::Tensor& weight, const at::Tensor& source,
                          const at::Tensor& prior, at::TensorList given) {
  const auto links = linksOf(given);
  checkStep(links.values, ratio, weight, source, prior, links.sources());
  return WalkDivergence::apply(links.values, ratio, weight, source, prior, Starts{links.starts});
}

}  // namespace
}  // namespace hsn
