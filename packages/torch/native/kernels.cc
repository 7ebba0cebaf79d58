// Fused operators of a training step, registered as hsn::name. Few sources: reading libtorch's headers is most of what
// compiling takes.
#include <torch/library.h>

#include "divergence.h"
#include "dropout.h"
#include "likelihood.h"
#include "pairs.h"

namespace hsn {

TORCH_LIBRARY(hsn, m) {
  m.def("dropout(Tensor x, float p, Generator? generator, int offset=0) -> Tensor", dropout);
  m.def("add_dropout(Tensor base, Tensor x, float p, Generator? generator, int offset=0) -> Tensor", addDropout);
  m.def("relu_dropout(Tensor x, float p, Generator? generator, int offset=0) -> Tensor", reluDropout);
  m.def("cross_entropy(Tensor logits, Tensor targets) -> Tensor", crossEntropy);
  m.def("gelu(Tensor x) -> Tensor", gelu);
  m.def("pairs(Tensor left, Tensor right, Tensor weight) -> Tensor", pairs);
  m.def("deep_pairs(Tensor left, Tensor right, Tensor[] layers, int rows) -> Tensor", deepPairs);
  m.def("walk_divergence(Tensor rows, Tensor ratio, Tensor weight, Tensor source, Tensor prior) -> Tensor",
        walkDivergence);
}

}  // namespace hsn
