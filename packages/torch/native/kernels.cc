// Fused operators of a training step, registered as engine::name. Few sources: reading libtorch's headers is most of
// what compiling takes.
#include <torch/library.h>

#include "dropout.h"
#include "likelihood.h"

namespace engine {

TORCH_LIBRARY(engine, m) {
  m.def("dropout(Tensor x, float p, Generator? generator, int offset=0) -> Tensor", dropout);
  m.def("add_dropout(Tensor base, Tensor x, float p, Generator? generator, int offset=0) -> Tensor", addDropout);
  m.def("relu_dropout(Tensor x, float p, Generator? generator, int offset=0) -> Tensor", reluDropout);
  m.def("cross_entropy(Tensor logits, Tensor targets) -> Tensor", crossEntropy);
  m.def("gelu(Tensor x) -> Tensor", gelu);
}

}  // namespace engine
