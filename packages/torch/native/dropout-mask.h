// Masks of dropout on devices that have no kernel of ours.
#pragma once
#include <ATen/ops/arange.h>

#include "fused.h"

namespace engine {
namespace {

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

}  // namespace
}  // namespace engine
