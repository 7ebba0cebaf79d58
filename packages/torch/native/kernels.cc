// Fused operators of a training step, registered as engine::name. Few sources: reading libtorch's headers is most of
// what compiling takes.
#include <torch/library.h>

#include "attention.h"
#include "dropout.h"
#include "encoder-layer.h"
#include "likelihood.h"
#include "linear.h"

namespace engine {

TORCH_LIBRARY(engine, m) {
  m.def("dropout(Tensor x, float p, Generator? generator, int offset=0) -> Tensor", dropout);
  m.def("add_dropout(Tensor base, Tensor x, float p, Generator? generator, int offset=0) -> Tensor", addDropout);
  m.def("relu_dropout(Tensor x, float p, Generator? generator, int offset=0) -> Tensor", reluDropout);
  m.def("cross_entropy(Tensor logits, Tensor targets) -> Tensor", crossEntropy);
  m.def("gelu(Tensor x) -> Tensor", gelu);
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
  m.def("pack_linear(Tensor weight, Tensor? bias, int precision) -> Tensor[]", packLinear);
  m.def("packed_linear(Tensor x, Tensor data, Tensor table, int outputs, int activation=0) -> Tensor", packedLinear);
  m.def(
      "encoder_layer(Tensor x, Tensor ends, Tensor[] weights, int heads, int hidden, int activation, float epsilon, "
      "Tensor? relative=None) -> Tensor",
      encoderLayer);
  m.def("unit_text_means(Tensor x, Tensor ends) -> Tensor", unitTextMeans);
  m.def("few_linear(Tensor x, Tensor weight, Tensor? bias=None) -> Tensor", fewLinear);
}

}  // namespace engine
