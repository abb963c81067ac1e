#include <limits>

#include "stats/rows.hpp"

namespace adit::test {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<BadCall> bad_location_scale(const std::string& name, const std::string& location,
                                        const std::string& scale) {
  return {{{0, -1}, "[" + name + "] " + scale + ": expected a positive number, got -1"},
          {{0, 0}, "[" + name + "] " + scale + ": expected a positive number, got 0"},
          {{0, infinite}, "[" + name + "] " + scale + ": expected a positive number, got inf"},
          {{nan, 1}, "[" + name + "] " + location + ": expected a finite number, got nan"}};
}

std::vector<BadCall> bad_pair(const std::string& name, const std::string& first, const std::string& second) {
  return {{{-2, 1}, "[" + name + "] " + first + ": expected a positive number, got -2"},
          {{1, nan}, "[" + name + "] " + second + ": expected a positive number, got nan"}};
}

std::vector<BadCall> bad_scale(const std::string& name, const std::string& scale) {
  return {{{-0.5}, "[" + name + "] " + scale + ": expected a positive number, got -0.5"}};
}

template <Distribution (*make)(Parameter)>
Distribution of_one(const Parameters& p) {
  return make(p.at(0));
}
template <Distribution (*make)(Parameter, Parameter)>
Distribution of_two(const Parameters& p) {
  return make(p.at(0), p.at(1));
}

}  // namespace

std::vector<Row> continuous_rows() {
  return {{"normal", of_two<normal>, bad_location_scale("normal", "mu", "sigma")},
          {"half_normal", of_one<half_normal>, bad_scale("half_normal", "sigma")},
          {"lognormal", of_two<lognormal>, bad_location_scale("lognormal", "mu", "sigma")},
          {"student_t",
           [](const Parameters& p) { return student_t(p.at(0), p.at(1), p.at(2)); },
           {{{0, 0, 1}, "[student_t] nu: expected a positive number, got 0"},
            {{1, infinite, 1}, "[student_t] mu: expected a finite number, got inf"},
            {{1, 0, -1}, "[student_t] sigma: expected a positive number, got -1"}}},
          {"cauchy", of_two<cauchy>, bad_location_scale("cauchy", "location", "scale")},
          {"half_cauchy", of_one<half_cauchy>, bad_scale("half_cauchy", "scale")},
          {"exponential", of_one<exponential>, bad_scale("exponential", "rate")},
          {"gamma", of_two<gamma>, bad_pair("gamma", "shape", "rate")},
          {"inv_gamma", of_two<inv_gamma>, bad_pair("inv_gamma", "shape", "scale")},
          {"beta", of_two<beta>, bad_pair("beta", "a", "b")},
          {"uniform",
           of_two<uniform>,
           {{{1, 1}, "[uniform] high: expected above low, 1, got 1"},
            {{0, infinite}, "[uniform] high: expected a finite number, got inf"}}},
          {"laplace", of_two<laplace>, bad_location_scale("laplace", "mu", "scale")},
          {"logistic", of_two<logistic>, bad_location_scale("logistic", "mu", "scale")},
          {"weibull", of_two<weibull>, bad_pair("weibull", "shape", "scale")},
          {"truncated_normal",
           [](const Parameters& p) { return truncated_normal(p.at(0), p.at(1), p.at(2), p.at(3)); },
           {{{0, 1, 2, 1}, "[truncated_normal] high: expected above low, 2, got 1"},
            {{0, 1, nan, 1}, "[truncated_normal] low: expected a number, got nan"},
            {{0, 0, 0, 1}, "[truncated_normal] sigma: expected a positive number, got 0"}}}};
}

}  // namespace adit::test
