#include "stan/domains.hpp"

#include <array>
#include <cmath>
#include <unordered_map>

namespace adit::stan {

namespace {

Tensor domain_number(double x) { return full({}, x, DType::f64); }
Tensor domain_finite(const Tensor& x) { return abs(x) < domain_number(INFINITY); }

constexpr std::array element_domains{
    Domain{'n', "a number", [](double x) { return !std::isnan(x); },
           [](const Tensor& x) { return logical_not(is_nan(x)); }},
    Domain{'f', "finite", [](double x) { return std::isfinite(x); }, domain_finite},
    Domain{'0', "at least 0", [](double x) { return x >= 0; },
           [](const Tensor& x) { return x >= domain_number(0); }},
    Domain{'N', "at least 0", [](double x) { return x >= 0; },
           [](const Tensor& x) { return x >= domain_number(0); }},
    Domain{'p', "above 0", [](double x) { return x > 0; },
           [](const Tensor& x) { return x > domain_number(0); }},
    Domain{'+', "above 0 and finite", [](double x) { return x > 0 && std::isfinite(x); },
           [](const Tensor& x) { return logical_and(x > domain_number(0), domain_finite(x)); }},
    Domain{'1', "from 0 to 1", [](double x) { return x >= 0 && x <= 1; },
           [](const Tensor& x) { return logical_and(x >= domain_number(0), x <= domain_number(1)); }},
    Domain{'i', "above 0 and below 1", [](double x) { return x > 0 && x < 1; },
           [](const Tensor& x) { return logical_and(x > domain_number(0), x < domain_number(1)); }},
    Domain{'-', "at most 1", [](double x) { return !(x > 1); },
           [](const Tensor& x) { return logical_not(x > domain_number(1)); }},
    Domain{'m', "at least -1", [](double x) { return !(x < -1); },
           [](const Tensor& x) { return logical_not(x < domain_number(-1)); }},
    Domain{'a', "at least 1", [](double x) { return !(x < 1); },
           [](const Tensor& x) { return logical_not(x < domain_number(1)); }},
    Domain{'h', "from -1 to 1", [](double x) { return !(std::fabs(x) > 1); },
           [](const Tensor& x) { return logical_not(abs(x) > domain_number(1)); }},
    Domain{'G', "above 0", [](double x) { return !(x <= 0); },
           [](const Tensor& x) { return logical_not(x <= domain_number(0)); }},
    Domain{'H', "at least 0", [](double x) { return !(x < 0); },
           [](const Tensor& x) { return logical_not(x < domain_number(0)); }},
    Domain{'U', "from 0 to 1", [](double x) { return !(x < 0 || x > 1); },
           [](const Tensor& x) { return logical_not(logical_or(x<domain_number(0), x> domain_number(1))); }},
    Domain{'b', "0 or 1", [](double x) { return x == 0 || x == 1; },
           [](const Tensor& x) { return logical_or(x == domain_number(0), x == domain_number(1)); }},
    Domain{'g', "no pole of the gamma function", [](double x) { return !(x <= 0 && std::floor(x) == x); },
           [](const Tensor& x) { return logical_not(logical_and(x <= domain_number(0), floor(x) == x)); }},
    // From there on a draw may have no integer of 32 bits.
    Domain{'l', "below 20.79, the logarithm of 2^30", [](double x) { return x < 20.79441541679836; },
           [](const Tensor& x) { return x < domain_number(20.79441541679836); }},
    Domain{'B', "at least 0 and below 2^30", [](double x) { return x >= 0 && x < 0x1p30; },
           [](const Tensor& x) { return logical_and(x >= domain_number(0), x < domain_number(0x1p30)); }},
};

// By names, without the endings of densities. A row says what Stan throws for; a density's value outside of
// its support that merely has no density there is a dot.
constexpr std::array demand_rows{
    // Numbers.
    Demands{"beta", "1++", '1'},
    Demands{"beta_proportion", "1i+", '1'},
    Demands{"cauchy", "nf+"},
    Demands{"chi_square", "0+", '+'},
    Demands{"double_exponential", "ff+"},
    Demands{"exp_mod_normal", "nf++"},
    Demands{"exponential", "0+", '+'},
    Demands{"frechet", "p++", '+'},
    Demands{"gamma", "n++", '+'},
    Demands{"gumbel", "nfp"},
    Demands{"inv_chi_square", "n+", '+'},
    Demands{"inv_gamma", "n++", '+'},
    Demands{"logistic", "ff+"},
    Demands{"loglogistic", "0++", '+'},
    Demands{"lognormal", "0f+", '+'},
    Demands{"normal", "nfp"},
    Demands{"pareto", "n++", '+'},
    Demands{"pareto_type_2", "nf++", '.', 1, 0, true},
    Demands{"rayleigh", "pp", '+'},
    Demands{"scaled_inv_chi_square", "n++", '+'},
    Demands{"skew_double_exponential", "nf+1"},
    Demands{"skew_normal", "nfpf"},
    Demands{"std_normal", "n"},
    Demands{"student_t", "n+f+"},
    Demands{"uniform", "nff", '.', 1, 2},
    Demands{"von_mises", "ff0"},
    Demands{"weibull", "n++", '+'},
    Demands{"wiener", "n++1f000"},
    // Counts and classes.
    Demands{"bernoulli", "b1"},
    Demands{"bernoulli_logit", "bn"},
    Demands{"beta_binomial", ".N++"},
    Demands{"beta_neg_binomial", "0+++"},
    Demands{"binomial", "NN1", '.', 0, 1, true},
    Demands{"binomial_logit", "NNf", '.', 0, 1, true},
    Demands{"categorical", "ks"},
    Demands{"categorical_logit", "kf"},
    Demands{"discrete_range", "...", '.', 1, 2, true},
    Demands{"hypergeometric", ".NNN"},
    Demands{"neg_binomial", "0++"},
    Demands{"neg_binomial_2", "0++"},
    Demands{"neg_binomial_2_log", "0f+"},
    Demands{"ordered_logistic", "kfo"},
    Demands{"ordered_probit", "kfo"},
    Demands{"poisson", "00"},
    Demands{"poisson_log", "0n"},
    Demands{"yule_simon", "p+"},
    // Vectors and matrices.
    Demands{"dirichlet", "s+"},
    Demands{"dirichlet_multinomial", "0+"},
    Demands{"multinomial", "0s"},
    Demands{"multinomial_logit", "0f"},
    Demands{"multi_normal", "nfd"},
    Demands{"multi_normal_cholesky", "nf."},
    Demands{"multi_normal_prec", "nfd"},
    Demands{"multi_student_t", "n+fd"},
    Demands{"multi_student_t_cholesky", "n+f."},
    Demands{"multi_gp", "nd+"},
    Demands{"multi_gp_cholesky", "n.+"},
    Demands{"wishart", "ywd"},
    Demands{"inv_wishart", "ywd"},
    Demands{"wishart_cholesky", ".wL"},
    Demands{"inv_wishart_cholesky", ".wL"},
    Demands{"lkj_corr", "cp"},
    Demands{"lkj_corr_cholesky", "Lp"},
    Demands{"lkj_cov", "d.++"},
    Demands{"normal_id_glm", "n...+"},
    Demands{"neg_binomial_2_log_glm", "0...+"},
    Demands{"poisson_log_glm", "0..."},
    // Draws that take other arguments than their density, or demand more.
    Demands{"poisson_rng", "B"},
    Demands{"poisson_log_rng", "l"},
    Demands{"multinomial_rng", "sN"},
    Demands{"multinomial_logit_rng", "fN"},
    Demands{"dirichlet_multinomial_rng", "+N"},
    Demands{"lkj_corr_rng", "N+"},
    Demands{"lkj_corr_cholesky_rng", "N+"},
    // Functions; where a Gaussian process has two lists of points, its letters are those of the last
    // arguments.
    Demands{"hmm_marginal", ".ss"},
    Demands{"hmm_hidden_state_prob", ".ss"},
    Demands{"hmm_latent_rng", ".ss"},
    Demands{"cov_exp_quad", "n++", '.', -1, -1, false, true},
    Demands{"gp_exp_quad_cov", "n++", '.', -1, -1, false, true},
    Demands{"gp_exponential_cov", "n++", '.', -1, -1, false, true},
    Demands{"gp_matern32_cov", "n++", '.', -1, -1, false, true},
    Demands{"gp_matern52_cov", "n++", '.', -1, -1, false, true},
    Demands{"gp_periodic_cov", "n+++", '.', -1, -1, false, true},
    Demands{"gp_dot_prod_cov", "n0", '.', -1, -1, false, true},
    Demands{"cholesky_decompose", "d"},
    Demands{"eigenvalues_sym", "y"},
    Demands{"eigenvectors_sym", "y"},
    Demands{"eigendecompose_sym", "y"},
    Demands{"inverse_spd", "d"},
    Demands{"log_determinant_spd", "d"},
    Demands{"mdivide_left_spd", "d."},
    Demands{"mdivide_right_spd", ".d"},
    Demands{"quad_form_sym", "y."},
    Demands{"quantile", "n1"},
    Demands{"log_mix", "U.."},
    Demands{"acosh", "a"},
    Demands{"atanh", "h"},
    Demands{"gamma_p", "GH"},
    Demands{"gamma_q", "GH"},
    Demands{"inc_beta", "HHU"},
    Demands{"bessel_second_kind", ".H"},
    Demands{"modified_bessel_second_kind", ".H"},
    Demands{"choose", "0."},
    Demands{"falling_factorial", "n0"},
    Demands{"rising_factorial", "n0"},
    Demands{"inv_Phi", "1"},
    Demands{"std_normal_qf", "1"},
    Demands{"log1m", "-"},
    Demands{"log1p", "m"},
    Demands{"Phi", "n"},
    Demands{"owens_t", "nn"},
    Demands{"tgamma", "g"},
    Demands{"sort_asc", "n"},
    Demands{"sort_desc", "n"},
    Demands{"sort_indices_asc", "n"},
    Demands{"sort_indices_desc", "n"},
};

}  // namespace

const Domain* domain_of(char letter) {
  for (const Domain& domain : element_domains)
    if (domain.letter == letter) return &domain;
  return nullptr;
}

const Demands* demands_of(std::string_view name) {
  static const std::unordered_map<std::string_view, const Demands*> index = [] {
    std::unordered_map<std::string_view, const Demands*> found;
    for (const Demands& row : demand_rows) found.emplace(row.name, &row);
    return found;
  }();
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

bool is_structure(char letter) {
  return std::string_view("sodcLCyPuzZrq").find(letter) != std::string_view::npos;
}

Transform::Kind structure_of(char letter) {
  using Kind = Transform::Kind;
  switch (letter) {
    case 's': return Kind::simplex;
    case 'o': return Kind::ordered;
    case 'P': return Kind::positive_ordered;
    case 'u': return Kind::unit_vector;
    case 'z': return Kind::sum_to_zero_vector;
    case 'Z': return Kind::sum_to_zero_matrix;
    case 'd': return Kind::cov_matrix;
    case 'c': return Kind::corr_matrix;
    case 'L': return Kind::cholesky_factor_cov;
    case 'C': return Kind::cholesky_factor_corr;
    case 'r': return Kind::row_stochastic_matrix;
    case 'q': return Kind::column_stochastic_matrix;
    default: return Kind::none;
  }
}

char letter_of(Transform::Kind kind) {
  for (const char letter : std::string_view("soPuzZdcLCrq"))
    if (structure_of(letter) == kind) return letter;
  return '.';
}

bool promises(char promised, char demanded) {
  if (promised == demanded) return true;
  switch (demanded) {
    case '+':
    case '0': return promised == 'p';
    case 'y': return promised == 'd' || promised == 'c';
    case 'd': return promised == 'c';
    case 'L': return promised == 'C';
    case 'o': return promised == 'P';
    case 's': return promised == 'r';  // row by row
    default: return false;
  }
}

}  // namespace adit::stan
