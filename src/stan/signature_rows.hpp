// Rows of the table by topic (signature_*.cpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stan/signature.hpp"

namespace adit::stan {

struct Topic {
  const char* title;
  std::vector<Signature> rows;
};
// In the order of the page.
const std::vector<Topic>& topics();

std::span<const Signature> constant_rows();
std::span<const Signature> unary_rows();
std::span<const Signature> binary_rows();
std::span<const Signature> special_rows();
std::span<const Signature> passage_rows();  // distribution functions without a family's endings
std::span<const Signature> integer_rows();
std::span<const Signature> reduction_rows();
std::span<const Signature> array_rows();
std::span<const Signature> matrix_rows();
std::span<const Signature> linear_rows();
std::span<const Signature> covariance_rows();
std::span<const Signature> multivariate_rows();
std::span<const Signature> glm_rows();
std::span<const Signature> markov_rows();
std::span<const Signature> higher_rows();
std::span<const Signature> old_rows();

// A univariate distribution, of which each suffix gives a row.
struct Family {
  const char* name;
  const char* outcome;     // word of x
  const char* parameters;  // words
  const char* suffixes;    // "lpdf lcdf lccdf cdf rng"
  const char* doc;         // "normal distribution with location and scale"
};
std::span<const Family> continuous_families();
std::span<const Family> positive_families();
std::span<const Family> discrete_families();
// The maps of constrained declarations: simplex_constrain, simplex_jacobian, simplex_unconstrain, ...
std::vector<Signature> transform_rows();
std::vector<Signature> rows_of(std::span<const Family> families);

}  // namespace adit::stan
