// Scaled dot-product attention in one pass over the heads, with its own gradient. libtorch without MKL multiplies
// batches of small matrices one operator call at a time, and copies heads apart and together again.
#pragma once
#include <ATen/ops/empty_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>

#include <array>

#include "attention-kernel.h"
#include "fused.h"

namespace engine {
namespace {

Strides stridesOf(const at::Tensor& x) { return {x.stride(0), x.stride(1), x.stride(2)}; }

Shape shapeOf(const at::Tensor& q, const at::Tensor& k) {
  const int64_t keys = k.size(2);
  return {q.size(0), q.size(1), k.size(1), q.size(2), keys, q.size(3), (keys + kLanes - 1) / kLanes * kLanes};
}

Heads headsOf(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  return {q.data_ptr<float>(), k.data_ptr<float>(), v.data_ptr<float>(), stridesOf(q), stridesOf(k), stridesOf(v)};
}

// Beyond, the product of queries and keys is more than an index can be.
constexpr int64_t kMostRowsOfHead = int64_t{1} << 30;

void checkHeads(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  checkFloats({{"query", q}, {"key", k}, {"value", v}});
  checkRank({"query", q}, 4);
  checkRank({"key", k}, 4);
  checkShape({"key", k}, {q.size(0), k.size(1), k.size(2), q.size(3)});
  checkShape({"value", v}, k.sizes());
  const int64_t heads = q.size(1), groups = k.size(1);
  TORCH_CHECK(groups > 0 ? heads % groups == 0 : heads == 0, "expects heads of queries that heads of keys divide, got ",
              heads, " and ", groups);
  TORCH_CHECK(q.size(3) % kLanes == 0, "expects heads of a width that ", kLanes, " divides, got ", q.size(3));
  TORCH_CHECK(q.size(2) <= kMostRowsOfHead && k.size(2) <= kMostRowsOfHead, "expects at most ", kMostRowsOfHead,
              " queries and keys, got ", q.size(2), " and ", k.size(2));
}

// By libtorch's own operators: where a size is zero there is nothing to compute, but a record to keep.
at::Tensor attendNothing(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const int64_t shared = k.size(1) == 0 ? 1 : q.size(1) / k.size(1);
  const auto keys = k.repeat_interleave(shared, 1), values = v.repeat_interleave(shared, 1);
  return at::softmax(at::matmul(q, keys.transpose(2, 3)), 3).matmul(values);
}

at::Tensor rowsTogether(const at::Tensor& given) {
  const auto x = given.resolve_neg();
  return x.stride(3) == 1 ? x : x.contiguous();
}

// [B, H, T, d] in memory as [B, T, H, d], which joins the heads without a copy.
at::Tensor roomFor(int64_t sentences, int64_t heads, int64_t rows, int64_t width, const at::Tensor& like) {
  return at::empty({sentences, rows, heads, width}, like.options()).transpose(1, 2);
}

Mask maskOf(const at::Tensor& mask) {
  if (!mask.defined()) return {};
  return {mask.data_ptr<float>(), mask.stride(0), mask.stride(1), mask.stride(2), mask.stride(3)};
}

// Some heads a task, so that threads share out what is worth sharing.
int64_t grain(const Shape& s) {
  return std::max<int64_t>(1, 65536 / std::max<int64_t>(1, s.queries * s.keys * s.width));
}

std::pair<at::Tensor, at::Tensor> attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                         const at::Tensor& mask, const Drop& drop, bool keepWeights) {
  const Shape s = shapeOf(q, k);
  const Heads x = headsOf(q, k, v);
  const Mask added = maskOf(mask);
  auto out = roomFor(s.sentences, s.heads, s.queries, s.width, q);
  auto weights = keepWeights ? at::empty({s.sentences, s.heads, s.queries, s.keys}, q.options()) : at::Tensor();
  float* written = out.data_ptr<float>();
  float* kept = keepWeights ? weights.data_ptr<float>() : nullptr;
  at::parallel_for(0, s.sentences * s.heads, grain(s), [&](int64_t begin, int64_t end) {
    Room room(s);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t b = i / s.heads, h = i % s.heads;
      forwardHead(s, x, added, drop, b, h, room, kept ? kept + i * s.queries * s.keys : nullptr,
                  written + (b * s.queries * s.heads + h) * s.width, s.heads * s.width);
    }
  });
  return {out, weights};
}

void attendBackward(const at::Tensor& above, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                    const at::Tensor& weights, const Drop& drop, at::Tensor& dq, at::Tensor& dk, at::Tensor& dv) {
  const Shape s = shapeOf(q, k);
  const Heads x = headsOf(q, k, v);
  const Strides from = stridesOf(above), toQ = stridesOf(dq), toK = stridesOf(dk), toV = stridesOf(dv);
  const float *g = above.data_ptr<float>(), *p = weights.data_ptr<float>();
  float *gq = dq.data_ptr<float>(), *gk = dk.data_ptr<float>(), *gv = dv.data_ptr<float>();
  const int64_t shared = s.heads / s.groups;
  at::parallel_for(0, s.sentences * s.groups, grain(s), [&](int64_t begin, int64_t end) {
    Room room(s);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t b = i / s.groups, group = i % s.groups;
      for (int64_t n = 0; n < shared; ++n) {
        const int64_t h = group * shared + n;
        const HeadGradients d{gq + b * toQ.sentence + h * toQ.head,
                              gk + b * toK.sentence + group * toK.head,
                              gv + b * toV.sentence + group * toV.head,
                              toQ.row,
                              toK.row,
                              toV.row};
        backwardHead(s, x, drop, b, h, room, p + (b * s.heads + h) * s.queries * s.keys, at(g, from, b, h), from.row, d,
                     n > 0);
      }
    }
  });
}

struct Attention : Function<Attention> {
  static at::Tensor forward(Context* ctx, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                            const c10::optional<at::Tensor>& mask, double p, int64_t seed, int64_t offset) {
    const auto q = rowsTogether(query), k = rowsTogether(key), v = rowsTogether(value);
    const bool recorded = query.requires_grad() || key.requires_grad() || value.requires_grad();
    auto [out, weights] = attend(q, k, v, mask.value_or(at::Tensor()), dropOf(p, seed, offset), recorded);
    if (recorded) ctx->save_for_backward({q, k, v, weights});
    saveDrop(ctx, p, seed, offset);
    return out;
  }
  static Variables backward(Context* ctx, Variables above) {
    const auto saved = ctx->get_saved_variables();
    const auto &q = saved[0], &k = saved[1], &v = saved[2];
    auto dq = roomFor(q.size(0), q.size(1), q.size(2), q.size(3), q);
    auto dk = roomFor(k.size(0), k.size(1), k.size(2), k.size(3), k);
    auto dv = roomFor(k.size(0), k.size(1), k.size(2), k.size(3), v);
    attendBackward(rowsTogether(incoming(above[0], q.sizes())), q, k, v, saved[3], savedDrop(ctx), dq, dk, dv);
    return {dq, dk, dv, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

// Queries, keys and values side by side, as one projection gives them: [B, T, 3·H·d] → three of [B, H, T, d].
std::array<at::Tensor, 3> apart(const at::Tensor& packed, int64_t heads) {
  const auto x =
      packed.view({packed.size(0), packed.size(1), 3, heads, packed.size(2) / (3 * heads)}).permute({2, 0, 3, 1, 4});
  return {x[0], x[1], x[2]};
}

struct SelfAttention : Function<SelfAttention> {
  static at::Tensor forward(Context* ctx, const at::Tensor& packed, int64_t heads,
                            const c10::optional<at::Tensor>& mask, double p, int64_t seed, int64_t offset) {
    const auto x = readable(packed);
    const auto parts = apart(x, heads);
    auto [out, weights] = attend(parts[0], parts[1], parts[2], mask.value_or(at::Tensor()), dropOf(p, seed, offset),
                                 packed.requires_grad());
    if (packed.requires_grad()) ctx->save_for_backward({x, weights});
    ctx->saved_data["heads"] = heads;
    saveDrop(ctx, p, seed, offset);
    return out;
  }
  static Variables backward(Context* ctx, Variables above) {
    const auto saved = ctx->get_saved_variables();
    const auto heads = ctx->saved_data["heads"].toInt();
    const auto gradient = at::empty_like(saved[0]);
    const auto x = apart(saved[0], heads);
    auto d = apart(gradient, heads);
    attendBackward(rowsTogether(incoming(above[0], x[0].sizes())), x[0], x[1], x[2], saved[1], savedDrop(ctx), d[0],
                   d[1], d[2]);
    return {gradient, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

c10::optional<at::Tensor> spreadMask(const c10::optional<at::Tensor>& mask, at::IntArrayRef shape) {
  if (!mask) return mask;
  checkFloats({{"mask", *mask}});
  TORCH_CHECK(!recorded({*mask}), "expects a 'mask' without a gradient, got one that requires it");
  return mask->resolve_neg().expand(shape);
}

int64_t seedOf(double p, const c10::optional<at::Generator>& generator, int64_t offset) {
  checkDropout(p, offset);
  return p > 0 ? drawSeed(generator) : 0;
}

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const c10::optional<at::Tensor>& mask, double p, c10::optional<at::Generator> generator,
                     int64_t offset) {
  checkHeads(query, key, value);
  const auto added = spreadMask(mask, {query.size(0), query.size(1), query.size(2), key.size(2)});
  const int64_t seed = seedOf(p, generator, offset);
  if (query.numel() == 0 || key.numel() == 0) return attendNothing(query, key, value);
  return Attention::apply(query, key, value, added, p, seed, offset);
}

at::Tensor selfAttention(const at::Tensor& packed, int64_t heads, const c10::optional<at::Tensor>& mask, double p,
                         c10::optional<at::Generator> generator, int64_t offset) {
  checkFloats({{"packed", packed}});
  checkRank({"packed", packed}, 3);
  TORCH_CHECK(heads > 0, "expects 'heads' from 1, got ", heads);
  TORCH_CHECK(packed.size(2) % (3 * heads) == 0, "expects rows of 3 times ", heads, " heads, got ", packed.size(2));
  const int64_t sentences = packed.size(0), rows = packed.size(1), width = packed.size(2) / 3;
  TORCH_CHECK(width / heads % kLanes == 0, "expects heads of a width that ", kLanes, " divides, got ", width / heads);
  TORCH_CHECK(rows <= kMostRowsOfHead, "expects at most ", kMostRowsOfHead, " rows, got ", rows);
  const auto added = spreadMask(mask, {sentences, heads, rows, rows});
  const int64_t seed = seedOf(p, generator, offset);
  if (packed.numel() == 0) {
    const auto parts = apart(packed.contiguous(), heads);
    return attendNothing(parts[0], parts[1], parts[2]).transpose(1, 2).reshape({sentences, rows, width});
  }
  const auto out = SelfAttention::apply(packed, heads, added, p, seed, offset);
  return out.transpose(1, 2).reshape({sentences, rows, width});
}

}  // namespace
}  // namespace engine
