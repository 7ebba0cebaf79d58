// The fused operators, registered as hsn::name. One source: reading libtorch's headers is most of what compiling takes.
#include <torch/library.h>

#include "attention.h"
#include "best-step.h"
#include "divergence.h"
#include "dropout.h"
#include "likelihood.h"
#include "pairs.h"

namespace hsn {

TORCH_LIBRARY(hsn, m) {
  m.def("attention(Tensor query, Tensor key, Tensor value, Tensor? mask=None, float p=0, Generator? generator=None, int offset=0) -> Tensor", attention);
  m.def("self_attention(Tensor packed, int heads, Tensor? mask=None, float p=0, Generator? generator=None, int offset=0) -> Tensor", selfAttention);
  m.def("dropout(Tensor x, float p, Generator? generator, int offset=0) -> Tensor", dropout);
  m.def("add_dropout(Tensor base, Tensor x, float p, Generator? generator, int offset=0) -> Tensor", addDropout);
  m.def("relu_dropout(Tensor x, float p, Generator? generator, int offset=0) -> Tensor", reluDropout);
  m.def("cross_entropy(Tensor logits, Tensor targets) -> Tensor", crossEntropy);
  m.def("gelu(Tensor x) -> Tensor", gelu);
  m.def("pairs(Tensor left, Tensor right, Tensor weight) -> Tensor", pairs);
  m.def("deep_pairs(Tensor left, Tensor right, Tensor[] layers, int rows) -> Tensor", deepPairs);
  m.def("best_step(Tensor scores, Tensor links) -> (Tensor, Tensor)", bestStep);
  m.def("walk_divergence(Tensor rows, Tensor ratio, Tensor weight, Tensor source, Tensor prior) -> Tensor", walkDivergence);
}

}  // namespace hsn
