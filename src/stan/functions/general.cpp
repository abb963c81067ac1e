#include <vector>

#include "stan/functions/rows.hpp"

namespace adit::stan {

std::span<const GeneralFunction> general_functions() {
  static const std::vector<GeneralFunction> all = [] {
    std::vector<GeneralFunction> joined;
    for (const auto part :
         {reduction_functions(), product_functions(), factor_functions(), inverse_functions(),
          eigen_functions(), decomposition_functions(), sparse_functions(), kernel_functions(),
          order_functions(), normal_vector_functions(), simplex_functions(), class_functions(),
          matrix_density_functions(), glm_functions(), chain_functions(), hypergeometric_functions(),
          state_space_functions(), transform_functions(), quantile_functions()})
      joined.insert(joined.end(), part.begin(), part.end());
    return joined;
  }();
  return all;
}

}  // namespace adit::stan
