// What fused operators demand of their arguments: checked here, before any of their memory is read.
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cmath>
#include <initializer_list>

namespace engine {

// An argument with the name that messages call it by.
struct Named {
  const char* name;
  const at::Tensor& tensor;
};
using Arguments = std::initializer_list<Named>;

inline const char* elementName(const at::Tensor& x) {
  switch (x.scalar_type()) {
    case at::kFloat: return "float32";
    case at::kDouble: return "float64";
    case at::kHalf: return "float16";
    case at::kBFloat16: return "bfloat16";
    case at::kLong: return "int64";
    case at::kInt: return "int32";
    case at::kBool: return "bool";
    default: return c10::toString(x.scalar_type());
  }
}

// Whether an argument has elements in the memory of this process, one after another or by strides.
inline bool inMemory(const at::Tensor& x) {
  return x.defined() && x.device().is_cpu() && x.layout() == at::kStrided && !x._is_zerotensor();
}

inline void checkElements(const Named& given, at::ScalarType type, const char* name) {
  TORCH_CHECK(inMemory(given.tensor), "expects '", given.name, "' as a dense tensor on the CPU");
  TORCH_CHECK(given.tensor.scalar_type() == type, "expects '", given.name, "' of ", name, ", got ",
              elementName(given.tensor));
}
inline void checkFloats(Arguments given) {
  for (const auto& each : given) checkElements(each, at::kFloat, "float32");
}

// Whether libtorch chooses the type of products' elements: as autocast_mode.h asks, which takes 5 s to read.
inline bool autocasting() {
  return !c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutocastCPU) ||
         !c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutocastCUDA);
}

// Arguments for libtorch's own operators, which take many types of elements, but one for all.
inline void checkAlike(Arguments given) {
  const auto& first = *given.begin();
  for (const auto& each : given) {
    TORCH_CHECK(each.tensor.device() == first.tensor.device(), "expects '", each.name, "' on ", first.tensor.device(),
                " as '", first.name, "' is, got ", each.tensor.device());
    TORCH_CHECK(each.tensor.scalar_type() == first.tensor.scalar_type() || autocasting(), "expects '", each.name,
                "' of ", elementName(first.tensor), " as '", first.name, "' is, got ", elementName(each.tensor));
  }
}

inline void checkRank(const Named& given, int64_t rank) {
  TORCH_CHECK(given.tensor.dim() == rank, "expects '", given.name, "' of ", rank, " dimensions, got ",
              given.tensor.sizes());
}
inline void checkShape(const Named& given, at::IntArrayRef shape) {
  TORCH_CHECK(given.tensor.sizes() == shape, "expects '", given.name, "' of shape ", shape, ", got ",
              given.tensor.sizes());
}

inline void checkDropout(double p, int64_t offset) {
  TORCH_CHECK(p >= 0 && p <= 1, "expects a probability 'p' from 0 to 1, got ", p);
  TORCH_CHECK(offset >= 0, "expects an 'offset' from 0, got ", offset);
}

// The elements as they count, one after another; the tensor itself where it is so already.
inline at::Tensor readable(const at::Tensor& x) { return x.resolve_neg().contiguous(); }

// Gradients of fused operators are numbers without a record: a second one would be lost in silence.
inline void checkFirstGradient() {
  TORCH_CHECK(!at::GradMode::is_enabled(), "expects no second gradient (createGraph) of a fused operator");
}

// A gradient as autograd hands it on: expanded or turned round as may be.
inline at::Tensor incoming(const at::Tensor& above) {
  checkFirstGradient();
  checkFloats({{"gradient", above}});
  return above.resolve_neg();
}
inline at::Tensor incoming(const at::Tensor& above, at::IntArrayRef shape) {
  checkShape({"gradient", above}, shape);
  return incoming(above);
}

// Whether autograd will ask for a gradient of any of these.
inline bool recorded(std::initializer_list<at::Tensor> tensors) {
  if (!at::GradMode::is_enabled()) return false;
  for (const auto& x : tensors)
    if (x.defined() && x.requires_grad()) return true;
  return false;
}

}  // namespace engine
