// Fused operators around products of matrices, registered as engine::name.
#include <torch/library.h>

#include "attention.h"
#include "linear.h"

namespace engine {

TORCH_LIBRARY_FRAGMENT(engine, m) {
  m.def(
      "attention(Tensor query, Tensor key, Tensor value, Tensor? mask=None, float p=0, Generator? generator=None, int "
      "offset=0) -> Tensor",
      attention);
  m.def(
      "self_attention(Tensor packed, int heads, Tensor? mask=None, float p=0, Generator? generator=None, int offset=0) "
      "-> Tensor",
      selfAttention);
  m.def("linear_gelu(Tensor x, Tensor weight, Tensor bias, bool tanh) -> Tensor", linearGelu);
  m.def(
      "linear_norm(Tensor x, Tensor weight, Tensor bias, Tensor base, Tensor scale, Tensor shift, float epsilon) -> "
      "Tensor",
      linearNorm);
  m.def("erf_gelu(Tensor x) -> Tensor", erfGelu);
  m.def("few_linear(Tensor x, Tensor weight, Tensor? bias=None) -> Tensor", fewLinear);
}

}  // namespace engine
