// What the two forms of the multivariate normal distribution share.
#pragma once

#include "stats/distribution/common.hpp"

namespace adit::stats {

// mean [..., K] and square matrices [..., K, K], as f64; throws where the shapes do not fit.
struct MeanAndMatrix {
  Tensor mean, matrix;
};
MeanAndMatrix mean_and_matrix(std::string_view where, const Tensor& mean, std::string_view argument,
                              const Tensor& matrix);
// By the Cholesky factor of the covariance and its diagonal, as an argument by the name of the matrix.
Distribution normal_of_factor(const std::string& name, const NamedParameter& mean, const Tensor& factor,
                              const NamedParameter& diagonal);
// Of square matrices, along the last axis.
Tensor diagonal_of(const Tensor& matrices);
// On and below the diagonal; zero above it.
Tensor lower_part(const Tensor& matrices);

}  // namespace adit::stats
