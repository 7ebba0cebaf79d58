// What only Hidden Schema Networks need of kernels, registered as hsn::name.
#include <torch/library.h>

#include "best-step.h"
#include "divergence.h"
#include "pairs.h"

namespace hsn {

TORCH_LIBRARY(hsn, m) {
  m.def("pairs(Tensor left, Tensor right, Tensor weight) -> Tensor", pairs);
  m.def("deep_pairs(Tensor left, Tensor right, Tensor[] layers, int rows) -> Tensor", deepPairs);
  m.def("walk_divergence(Tensor rows, Tensor ratio, Tensor weight, Tensor source, Tensor prior) -> Tensor",
        walkDivergence);
  m.def("best_step(Tensor scores, Tensor links) -> (Tensor, Tensor)", bestStep);
}

}  // namespace hsn
