// One pass of Adam (or AdamW) over all parameters that have a gradient; libtorch 1.13 has no fused CPU form.
#pragma once
#include <ATen/Parallel.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>

#include <algorithm>

#include "arguments.h"
#include "checks.h"
#include "vectors.h"

namespace engine {
namespace {

struct AdamSettings {
  double rate, beta1, beta2, epsilon, decay, correction1, correction2;
  bool decoupled;
};

template <typename T>
ENGINE_CLONES void adamRange(T* w, const T* g, T* m, T* v, int64_t begin, int64_t end, const AdamSettings& s) {
  const T beta1 = s.beta1, beta2 = s.beta2, keep1 = 1 - s.beta1, keep2 = 1 - s.beta2, epsilon = s.epsilon;
  const T shrink = s.decoupled ? 1 - s.rate * s.decay : 1, l2 = s.decoupled ? 0 : s.decay;
  const T step = s.rate / s.correction1, root = 1 / std::sqrt(s.correction2);
  for (int64_t i = begin; i < end; ++i) {
    const T gradient = g[i] + l2 * w[i];
    m[i] = beta1 * m[i] + keep1 * gradient;
    v[i] = beta2 * v[i] + keep2 * gradient * gradient;
    w[i] = shrink * w[i] - step * m[i] / (std::sqrt(v[i]) * root + epsilon);
  }
}

// What one update reads and writes.
struct AdamUpdate {
  at::Tensor weight, gradient, first, second;
};

template <typename T>
void adamTensor(const AdamUpdate& x, const AdamSettings& s) {
  T *w = x.weight.data_ptr<T>(), *m = x.first.data_ptr<T>(), *v = x.second.data_ptr<T>();
  const T* g = x.gradient.data_ptr<T>();
  at::parallel_for(0, x.weight.numel(), 32768,
                   [&](int64_t begin, int64_t end) { adamRange<T>(w, g, m, v, begin, end, s); });
}

// The same by libtorch's own operators, all weights at once: on a graphics card each is one kernel.
void adamByOperators(const std::vector<AdamUpdate>& updates, const AdamSettings& s) {
  std::vector<at::Tensor> w, g, m, v;
  for (const auto& x : updates) {
    w.push_back(x.weight);
    g.push_back(x.gradient);
    m.push_back(x.first);
    v.push_back(x.second);
  }
  if (w.empty()) return;
  if (!s.decoupled && s.decay != 0) g = at::_foreach_add(g, w, s.decay);
  at::_foreach_mul_(m, s.beta1);
  at::_foreach_add_(m, g, 1 - s.beta1);
  at::_foreach_mul_(v, s.beta2);
  at::_foreach_addcmul_(v, g, g, 1 - s.beta2);
  auto roots = at::_foreach_sqrt(v);
  at::_foreach_mul_(roots, 1 / std::sqrt(s.correction2));
  at::_foreach_add_(roots, s.epsilon);
  if (s.decoupled && s.decay != 0) at::_foreach_mul_(w, 1 - s.rate * s.decay);
  at::_foreach_addcdiv_(w, m, roots, -s.rate / s.correction1);
}

// Off the CPU libtorch's operators check the rest.
void checkAlikeUpdate(const AdamUpdate& x) {
  for (const Named& each : {Named{"gradient", x.gradient}, Named{"first", x.first}, Named{"second", x.second}}) {
    checkAlike({{"weight", x.weight}, each});
    checkShape(each, x.weight.sizes());
  }
}

void checkUpdate(const AdamUpdate& x) {
  TORCH_CHECK(inMemory(x.weight) && (x.weight.scalar_type() == at::kFloat || x.weight.scalar_type() == at::kDouble),
              "expects 'weight' of float32 or float64 on the CPU, got ", elementName(x.weight), " on ",
              x.weight.device());
  for (const Named& each :
       {Named{"weight", x.weight}, Named{"gradient", x.gradient}, Named{"first", x.first}, Named{"second", x.second}}) {
    checkElements(each, x.weight.scalar_type(), elementName(x.weight));
    checkShape(each, x.weight.sizes());
    TORCH_CHECK(each.tensor.is_contiguous() && !each.tensor.is_neg(), "expects '", each.name,
                "' with its elements one after another");
  }
}

struct Extent {
  const char *begin, *end;
  bool written;
};

// Memory that one tensor of a step writes must be no other's: what is written first would be read as what was before.
void checkApart(const std::vector<AdamUpdate>& updates) {
  std::vector<Extent> extents;
  extents.reserve(4 * updates.size());
  const auto add = [&](const at::Tensor& x, bool written) {
    if (x.numel() == 0) return;
    const auto* begin = static_cast<const char*>(x.data_ptr());
    extents.push_back({begin, begin + x.nbytes(), written});
  };
  for (const auto& x : updates) {
    add(x.weight, true);
    add(x.first, true);
    add(x.second, true);
    add(x.gradient, false);
  }
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  const char *written = nullptr, *read = nullptr;  // how far memory goes that was seen so far
  for (const auto& x : extents) {
    TORCH_CHECK(x.begin >= written && (!x.written || x.begin >= read),
                "expects weights and moments that share no memory, got some that do");
    auto& reaches = x.written ? written : read;
    reaches = std::max(reaches, x.end);
  }
}

bool onCpu(const std::vector<AdamUpdate>& updates) {
  return std::all_of(updates.begin(), updates.end(), [](const auto& x) { return x.weight.device().is_cpu(); });
}

// Every update of a step, all of them checked before the first is made.
std::vector<AdamUpdate> adamUpdates(Args info, State& state) {
  const auto weights = tensorsOf(info[0], state), first = tensorsOf(info[1], state), second = tensorsOf(info[2], state);
  TORCH_CHECK(first.size() == weights.size() && second.size() == weights.size(),
              "expects two moments for each weight, got ", first.size(), " and ", second.size(), " for ",
              weights.size());
  std::vector<AdamUpdate> updates;
  for (size_t i = 0; i < weights.size(); ++i) {
    TORCH_CHECK(weights[i].defined(), "expects a tensor as weight ", i, ", got none");
    const auto& gradient = weights[i].grad();
    if (!gradient.defined()) continue;
    TORCH_CHECK(first[i].defined() && second[i].defined(), "expects two moments of weight ", i, ", got fewer");
    updates.push_back({weights[i], readable(gradient), first[i], second[i]});
    if (weights[i].device().is_cpu())
      checkUpdate(updates.back());
    else
      checkAlikeUpdate(updates.back());
  }
  if (onCpu(updates)) checkApart(updates);
  return updates;
}

Napi::Value AdamStep(Args info, State& state) {
  at::NoGradGuard guard;
  const double rate = number(info, 3), beta1 = number(info, 4), beta2 = number(info, 5), count = number(info, 8);
  const AdamSettings settings{rate,
                              beta1,
                              beta2,
                              number(info, 6),
                              number(info, 7),
                              1 - std::pow(beta1, count),
                              1 - std::pow(beta2, count),
                              flag(info, 9)};
  const auto updates = adamUpdates(info, state);
  if (!flag(info, 10) || !onCpu(updates)) {
    adamByOperators(updates, settings);
    return Napi::Number::New(info.Env(), static_cast<double>(updates.size()));
  }
  for (const auto& x : updates) {
    if (x.weight.scalar_type() == at::kDouble) {
      adamTensor<double>(x, settings);
    } else {
      adamTensor<float>(x, settings);
    }
    for (const auto& changed : {x.weight, x.first, x.second}) changed.unsafeGetTensorImpl()->bump_version();
  }
  return Napi::Number::New(info.Env(), static_cast<double>(updates.size()));
}

}  // namespace
}  // namespace engine
