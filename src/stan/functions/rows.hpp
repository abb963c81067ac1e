// The tables of functions by topic; densities.cpp and general.cpp put them together.
#pragma once

#include "stan/functions/table.hpp"

namespace adit::stan {

std::span<const UnivariateDensity> real_densities();      // of all numbers
std::span<const UnivariateDensity> skew_densities();      // of all numbers, and of angles
std::span<const UnivariateDensity> positive_densities();  // the gamma family and others from 0 on
std::span<const UnivariateDensity> tail_densities();      // by powers of x
std::span<const UnivariateDensity> interval_densities();
std::span<const UnivariateDensity> trial_densities();    // successes among trials
std::span<const UnivariateDensity> count_densities();    // 0, 1, 2, ...
std::span<const UnivariateDensity> passage_densities();  // of times at which a process reaches a bound

std::span<const GeneralFunction> reduction_functions();
std::span<const GeneralFunction> product_functions();
std::span<const GeneralFunction> factor_functions();
std::span<const GeneralFunction> inverse_functions();  // of general square matrices
std::span<const GeneralFunction> eigen_functions();
std::span<const GeneralFunction> decomposition_functions();
std::span<const GeneralFunction> sparse_functions();
std::span<const GeneralFunction> kernel_functions();
std::span<const GeneralFunction> order_functions();
std::span<const GeneralFunction> normal_vector_functions();
std::span<const GeneralFunction> simplex_functions();
std::span<const GeneralFunction> class_functions();
std::span<const GeneralFunction> matrix_density_functions();
std::span<const GeneralFunction> glm_functions();
std::span<const GeneralFunction> chain_functions();
std::span<const GeneralFunction> hypergeometric_functions();
std::span<const GeneralFunction> state_space_functions();
std::span<const GeneralFunction> transform_functions();
std::span<const GeneralFunction> quantile_functions();

// Maps of declared bounds, element by element (transforms.cpp).
Tensor lower_bound_constrain(const Tensor& u, const Tensor& low);
Tensor lower_bound_log_determinant(const Tensor& u, const Tensor& low);
Tensor lower_bound_unconstrain(const Tensor& x, const Tensor& low);
Tensor upper_bound_constrain(const Tensor& u, const Tensor& high);
Tensor upper_bound_log_determinant(const Tensor& u, const Tensor& high);
Tensor upper_bound_unconstrain(const Tensor& x, const Tensor& high);
Tensor lower_upper_bound_constrain(const Tensor& u, const Tensor& low, const Tensor& high);
Tensor lower_upper_bound_log_determinant(const Tensor& u, const Tensor& low, const Tensor& high);
Tensor lower_upper_bound_unconstrain(const Tensor& x, const Tensor& low, const Tensor& high);
Tensor offset_multiplier_constrain(const Tensor& u, const Tensor& offset, const Tensor& scale);
Tensor offset_multiplier_log_determinant(const Tensor& u, const Tensor& offset, const Tensor& scale);
Tensor offset_multiplier_unconstrain(const Tensor& x, const Tensor& offset, const Tensor& scale);

// log densities that generalised linear models share.
Tensor log_normal(const Tensor& x, const Tensor& mu, const Tensor& sigma);
Tensor log_bernoulli_logit(const Tensor& x, const Tensor& logit);
Tensor log_binomial_logit(const Tensor& x, const Tensor& count, const Tensor& logit);
Tensor log_poisson_log(const Tensor& x, const Tensor& log_rate);
Tensor log_neg_binomial_2_log(const Tensor& x, const Tensor& log_mean, const Tensor& phi);

}  // namespace adit::stan
