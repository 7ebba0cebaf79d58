// A step of walks with its own gradient: products with the graph, along its links where they are few, and one pass over
// what sentences hold before and after each.
#pragma once
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <tuple>

#include "links.h"

namespace hsn {
namespace {

// How much longer a number takes along a link than in a product of whole matrices, as measured.
constexpr int64_t kLinkCost = 3;

// Products with a graph's matrix R [J, K]: along its links where they are given and few, else with the whole of it.
struct Roads {
  at::Tensor rows;
  std::vector<at::Tensor> given;
  Links links;

  Roads(const at::Tensor& matrix, std::vector<at::Tensor> found) : rows(matrix), given(std::move(found)) {
    if (!given.empty()) links = linksOf(given);
  }
  bool few(int64_t sentences) const {
    return !given.empty() && kLinkCost * blocksOf(sentences) * kBlock * links.count() < sentences * rows.numel();
  }
  at::Tensor along(const at::Tensor& x) const {
    return few(x.size(0)) ? carried(links, links.values, x, false) : at::mm(x, rows);
  }
  at::Tensor back(const at::Tensor& x) const {
    return few(x.size(0)) ? carried(links, links.values, x, true) : at::mm(x, rows.t());
  }
};

Roads roadsOf(const at::Tensor& rows, at::TensorList given) {
  const Roads roads(rows, given.vec());
  if (!given.empty())
    TORCH_CHECK(roads.links.sources() == rows.size(0) && roads.links.targets() == rows.size(1),
                "expects 'links' of 'rows' ", rows.sizes(), ", got those of ", roads.links.sources(), " × ",
                roads.links.targets());
  return roads;
}

// Links found in a matrix are part of what is kept for its gradient.
void keep(Context* ctx, Variables tensors, const Roads& roads) {
  ctx->saved_data["links"] = roads.given;
  ctx->saved_data["toRows"] = roads.rows.requires_grad();
  tensors.push_back(roads.rows);
  ctx->save_for_backward(tensors);
}
Roads kept(Context* ctx, const Variables& saved) {
  return Roads(saved.back(), ctx->saved_data["links"].toTensorVector());
}

void checkMatrix(const at::Tensor& rows) {
  checkFloats({{"rows", rows}});
  checkRank({"rows", rows}, 2);
}

// x·R, or x·Rᵀ.
struct Carry : Function<Carry> {
  static at::Tensor forward(Context* ctx, const at::Tensor& given, const at::Tensor&, const Roads& roads, bool back) {
    const auto x = readable(given);
    ctx->saved_data["back"] = back;
    keep(ctx, {x}, roads);
    return back ? roads.back(x) : roads.along(x);
  }
  static Variables backward(Context* ctx, Variables given) {
    const auto saved = ctx->get_saved_variables();
    const auto roads = kept(ctx, saved);
    const bool back = ctx->saved_data["back"].toBool();
    const auto above = incoming(given[0]).contiguous();
    const auto& x = saved[0];
    auto drows = at::Tensor();
    if (ctx->saved_data["toRows"].toBool()) drows = back ? at::mm(above.t(), x) : at::mm(x.t(), above);
    return {back ? roads.along(above) : roads.back(above), drows, at::Tensor(), at::Tensor()};
  }
};

at::Tensor carry(const at::Tensor& x, const at::Tensor& rows, at::TensorList links, bool back) {
  checkFloats({{"x", x}});
  checkRank({"x", x}, 2);
  checkMatrix(rows);
  checkShape({"x", x}, {x.size(0), rows.size(back ? 1 : 0)});
  return Carry::apply(x, rows, roadsOf(rows, links), back);
}

using Pass = void (*)(const float* const* in, float* const* out, int64_t begin, int64_t end);

// One pass over numbers that lie in the same places of several tensors.
void pass(Pass body, std::initializer_list<at::Tensor> in, std::initializer_list<at::Tensor> out) {
  std::vector<const float*> from;
  std::vector<float*> to;
  for (const auto& x : in) from.push_back(x.defined() ? x.data_ptr<float>() : nullptr);
  for (const auto& x : out) to.push_back(x.data_ptr<float>());
  at::parallel_for(0, out.begin()->numel(), kGrain,
                   [&](int64_t begin, int64_t end) { body(from.data(), to.data(), begin, end); });
}

ENGINE_CLONES void divide(const float* const* in, float* const* out, int64_t begin, int64_t end) {
  const float *a = in[0], *b = in[1];
  float* __restrict y = out[0];
  for (int64_t i = begin; i < end; ++i) y[i] = a[i] / b[i];
}
ENGINE_CLONES void multiply(const float* const* in, float* const* out, int64_t begin, int64_t end) {
  const float *a = in[0], *b = in[1];
  float* __restrict y = out[0];
  for (int64_t i = begin; i < end; ++i) y[i] = a[i] * b[i];
}
// g·a and g·b
ENGINE_CLONES void multiplyBoth(const float* const* in, float* const* out, int64_t begin, int64_t end) {
  const float *g = in[0], *a = in[1], *b = in[2];
  float* __restrict x = out[0], * __restrict y = out[1];
  for (int64_t i = begin; i < end; ++i) {
    const float above = g[i];
    x[i] = above * a[i];
    y[i] = above * b[i];
  }
}
// Of leaving = position / D: what reaches position and D, given g and, where there is one, another gradient of leaving.
ENGINE_CLONES void leavingGradient(const float* const* in, float* const* out, int64_t begin, int64_t end) {
  const float *g = in[0], *other = in[1], *leaving = in[2], *D = in[3];
  float* __restrict dposition = out[0], * __restrict dD = out[1];
  for (int64_t i = begin; i < end; ++i) {
    const float share = (other ? g[i] + other[i] : g[i]) / D[i];
    dposition[i] = share;
    dD[i] = -share * leaving[i];
  }
}

// leaving = position / D and next = f ∘ (leaving·R): a step of the paper's form (Eq. 6).
struct WalkStep : Function<WalkStep> {
  static Variables forward(Context* ctx, const at::Tensor& givenPosition, const at::Tensor& givenWeights,
                           const at::Tensor& givenSums, const at::Tensor&, const Roads& roads) {
    const auto position = readable(givenPosition), weights = readable(givenWeights), sums = readable(givenSums);
    auto leaving = at::empty_like(position);
    pass(divide, {position, sums}, {leaving});
    const auto arriving = roads.along(leaving);
    auto next = at::empty_like(arriving);
    pass(multiply, {arriving, weights}, {next});
    ctx->set_materialize_grads(false);
    keep(ctx, {weights, sums, leaving, arriving}, roads);
    return {next, leaving};
  }
  static Variables backward(Context* ctx, Variables above) {
    const auto saved = ctx->get_saved_variables();
    const auto roads = kept(ctx, saved);
    const auto &weights = saved[0], &sums = saved[1], &leaving = saved[2], &arriving = saved[3];
    auto dposition = at::empty_like(leaving), dsums = at::empty_like(leaving);
    const auto other = above[1].defined() ? incoming(above[1]).contiguous() : above[1];
    if (!above[0].defined()) {
      pass(leavingGradient, {other, at::Tensor(), leaving, sums}, {dposition, dsums});
      return {dposition, at::Tensor(), dsums, at::Tensor(), at::Tensor()};
    }
    auto darriving = at::empty_like(arriving), dweights = at::empty_like(arriving);
    pass(multiplyBoth, {incoming(above[0]).contiguous(), weights, arriving}, {darriving, dweights});
    const auto drows = ctx->saved_data["toRows"].toBool() ? at::mm(leaving.t(), darriving) : at::Tensor();
    pass(leavingGradient, {roads.back(darriving), other, leaving, sums}, {dposition, dsums});
    return {dposition, dweights, dsums, drows, at::Tensor()};
  }
};

std::tuple<at::Tensor, at::Tensor> walkStep(const at::Tensor& position, const at::Tensor& weights,
                                            const at::Tensor& sums, const at::Tensor& rows, at::TensorList links) {
  checkFloats({{"position", position}, {"weights", weights}, {"sums", sums}});
  checkRank({"position", position}, 2);
  checkMatrix(rows);
  checkShape({"position", position}, {position.size(0), rows.size(0)});
  checkShape({"sums", sums}, position.sizes());
  checkShape({"weights", weights}, {position.size(0), rows.size(1)});
  const auto out = WalkStep::apply(position, weights, sums, rows, roadsOf(rows, links));
  return {out[0], out[1]};
}

// Links as they were given, if they were, and as they were found to be right: no argument that has a gradient.
struct Between {
  std::vector<at::Tensor> given;
  Links links;
};
Between linksBetween(at::TensorList given, const at::Tensor& left, const at::Tensor& right) {
  if (given.empty()) return {};
  const auto links = linksOf(given);
  TORCH_CHECK(links.sources() == left.size(1) && links.targets() == right.size(1), "expects 'links' from ",
              left.size(1), " to ", right.size(1), " symbols, got ", links.sources(), " × ", links.targets());
  return {given.vec(), links};
}

// (1/B) Σ_b left_bj right_bk at the links alone, in the order of the list by source. [E]
struct LinkMeans : Function<LinkMeans> {
  static at::Tensor forward(Context* ctx, const at::Tensor& left, const at::Tensor& right, const Between& between) {
    const auto& links = between.links;
    const auto a = blocked(readable(left)), b = blocked(readable(right));
    auto out = at::zeros({links.count()}, a.options());
    const auto list = bySource(links);
    const int64_t J = links.sources(), step = J * kBlock, others = links.targets() * kBlock;
    const float *pa = a.data_ptr<float>(), *pb = b.data_ptr<float>();
    float* to = out.data_ptr<float>();
    at::parallel_for(0, J, grainOf(links.count() * left.size(0) / std::max<int64_t>(1, J)),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t block = 0; block < a.size(0); ++block)
                         linkSums(list, pa + block * step, pb + block * others, begin, end, to);
                     });
    ctx->saved_data["links"] = between.given;
    ctx->saved_data["sentences"] = left.size(0);
    ctx->save_for_backward({a, b});
    return out.div_(left.size(0));
  }
  static Variables backward(Context* ctx, Variables above) {
    const auto saved = ctx->get_saved_variables();
    const auto links = linksOf(ctx->saved_data["links"].toTensorVector());
    const int64_t sentences = ctx->saved_data["sentences"].toInt();
    const auto g = incoming(above[0], {links.count()}).div(sentences).contiguous();
    return {gathered(bySource(links), g, saved[1], sentences),
            gathered(byTarget(links), backValues(links, g), saved[0], sentences), at::Tensor()};
  }
};

// (1/B) leftᵀ·right, for use where it is multiplied by a matrix with these links: its gradient is read there alone. [J,
// K]
struct MeanProducts : Function<MeanProducts> {
  static at::Tensor forward(Context* ctx, const at::Tensor& givenLeft, const at::Tensor& givenRight,
                            const Between& between) {
    const auto left = readable(givenLeft), right = readable(givenRight);
    ctx->saved_data["links"] = between.given;
    ctx->save_for_backward({left, right});
    return scaledProduct(left.t(), right, left.size(0));
  }
  static Variables backward(Context* ctx, Variables above) {
    const auto saved = ctx->get_saved_variables();
    const auto &left = saved[0], &right = saved[1];
    const int64_t B = left.size(0);
    const auto g = incoming(above[0], {left.size(1), right.size(1)});
    const auto given = ctx->saved_data["links"].toTensorVector();
    if (given.empty()) return {scaledProduct(right, g.t(), B), scaledProduct(left, g, B), at::Tensor()};
    const auto links = linksOf(given);
    const auto values = atLinks(links, g.contiguous(), 1.0f / static_cast<float>(B));
    return {carried(links, values, right, true), carried(links, values, left, false), at::Tensor()};
  }
  static at::Tensor scaledProduct(const at::Tensor& a, const at::Tensor& b, int64_t divisor) {
    return at::addmm(at::empty({a.size(0), b.size(1)}, a.options()), a, b, 0, 1.0 / static_cast<double>(divisor));
  }
};

void checkSides(const at::Tensor& left, const at::Tensor& right) {
  checkFloats({{"left", left}, {"right", right}});
  checkRank({"left", left}, 2);
  checkRank({"right", right}, 2);
  checkShape({"right", right}, {left.size(0), right.size(1)});
  TORCH_CHECK(left.size(0) > 0, "expects 'left' of one sentence or more, got ", left.sizes());
}

at::Tensor meanProducts(const at::Tensor& left, const at::Tensor& right, at::TensorList links) {
  checkSides(left, right);
  return MeanProducts::apply(left, right, linksBetween(links, left, right));
}

at::Tensor linkMeans(const at::Tensor& left, const at::Tensor& right, at::TensorList links) {
  checkSides(left, right);
  TORCH_CHECK(!links.empty(), "expects 'links' as links() gives them, got none");
  return LinkMeans::apply(left, right, linksBetween(links, left, right));
}

}  // namespace
}  // namespace hsn
