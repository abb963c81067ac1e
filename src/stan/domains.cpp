#include "stan/domains.hpp"

#include <array>
#include <cmath>
#include <unordered_map>

namespace adit::stan {

namespace {

Tensor domain_number(double x) { return full({}, x, DType::f64); }
Tensor domain_finite(const Tensor& x) { return abs(x) < domain_number(INFINITY); }

constexpr double least_of_lambert = -0.36787944117144233;  // -1/e

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
    Domain{'x', "at most 0", [](double x) { return x <= 0; },
           [](const Tensor& x) { return x <= domain_number(0); }},
    Domain{'M', "at least -1", [](double x) { return x >= -1; },
           [](const Tensor& x) { return x >= domain_number(-1); }},
    Domain{'j', "above -1 and below 1", [](double x) { return std::fabs(x) < 1; },
           [](const Tensor& x) { return abs(x) < domain_number(1); }},
    Domain{'e', "at least -1/e", [](double x) { return x >= least_of_lambert; },
           [](const Tensor& x) { return x >= domain_number(least_of_lambert); }},
    Domain{'E', "from -1/e to 0", [](double x) { return x >= least_of_lambert && x <= 0; },
           [](const Tensor& x) {
             return logical_and(x >= domain_number(least_of_lambert), x <= domain_number(0));
           }},
    Domain{'t', "from 0 to 2", [](double x) { return !(x < 0 || x > 2); },
           [](const Tensor& x) { return logical_not(logical_or(x<domain_number(0), x> domain_number(2))); }},
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

}  // namespace

const Domain* domain_of(char letter) {
  for (const Domain& domain : element_domains)
    if (domain.letter == letter) return &domain;
  return nullptr;
}

const Demands* demands_of(std::string_view name) {
  static const std::unordered_map<std::string_view, const Demands*> index = [] {
    std::unordered_map<std::string_view, const Demands*> found;
    for (const Demands& row : all_demands()) found.emplace(row.name, &row);
    return found;
  }();
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

std::string_view name_of_family(std::string_view name) {
  for (const std::string_view ending : {"_lpdf", "_lpmf", "_lccdf", "_lcdf", "_cdf", "_rng", "_log"})
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  return name;
}

bool is_structure(char letter) {
  return std::string_view("sodcLCyPuzZrqST").find(letter) != std::string_view::npos;
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
    case 'S': return promised == 'd' || promised == 'c';
    case 'T': return promised == 'L' || promised == 'C';
    case 'L': return promised == 'C';
    case 'o': return promised == 'P';
    case 's': return promised == 'r';  // row by row
    default: return false;
  }
}

}  // namespace adit::stan
