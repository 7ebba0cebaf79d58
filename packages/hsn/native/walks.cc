// What only Hidden Schema Networks need of kernels, registered as hsn::name.
#include <torch/library.h>

#include "best-step.h"
#include "divergence.h"
#include "mean-step.h"
#include "pairs.h"
#include "steps.h"

namespace hsn {

TORCH_LIBRARY(hsn, m) {
  m.def("pairs(Tensor left, Tensor right, Tensor weight) -> Tensor", pairs);
  m.def("deep_pairs(Tensor left, Tensor right, Tensor[] layers, int rows) -> Tensor", deepPairs);
  m.def("walk_divergence(Tensor rows, Tensor ratio, Tensor weight, Tensor source, Tensor prior) -> Tensor",
        walkDivergence);
  m.def("links(Tensor rows, int most) -> Tensor[]", findLinks);
  m.def("carry(Tensor x, Tensor rows, Tensor[] links, bool back) -> Tensor", carry);
  m.def("walk_step(Tensor position, Tensor weights, Tensor sums, Tensor rows, Tensor[] links) -> (Tensor, Tensor)",
        walkStep);
  m.def("link_means(Tensor left, Tensor right, Tensor[] links) -> Tensor", linkMeans);
  m.def("mean_products(Tensor left, Tensor right, Tensor[] links) -> Tensor", meanProducts);
  m.def("link_divergence(Tensor ratio, Tensor weight, Tensor source, Tensor prior, Tensor[] links) -> Tensor",
        linkDivergence);
  m.def("mean_step(Tensor rows, Tensor ratio, Tensor weight, Tensor prior) -> (Tensor, Tensor)", meanStep);
  m.def("best_step(Tensor scores, Tensor links) -> (Tensor, Tensor)", bestStep);
}

}  // namespace hsn
