// Gradient clipping.
#ifndef SLACKLINE_KERNELS_CLIP_H_
#define SLACKLINE_KERNELS_CLIP_H_

#include <span>
#include <string_view>
#include <vector>

#include "slackline/parameters.h"

namespace slackline {

// Scales a gradient whose Euclidean norm exceeds `norm` down to it.
//   none:   nothing happens.
//   global: one norm over all tensors and rows (Pascanu et al., ICML 2013; torch clip_grad_norm_
//           without its 1e-6).
//   tensor: every tensor, and all touched rows of every table, by their own norm.
// A gradient that is not finite stays as it is. REQUIRES how to be one of these and norm > 0;
// dense.size() == spec.dense_elements().
void ClipGradient(std::string_view how, float norm, const ParameterSpec& spec,
                  std::span<float> dense, std::vector<Rows>& rows);

}  // namespace slackline

#endif  // SLACKLINE_KERNELS_CLIP_H_
