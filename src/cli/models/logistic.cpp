// Logistic regressions: y_i ~ bernoulli_logit(a + X_i b), with made-up X and coefficients of 0.5 z.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/models/models.hpp"
#include "cli/models/source.hpp"

namespace adit::examples {

namespace {

struct Data {
  std::vector<double> x;  // row after row
  std::vector<int64_t> y;
};

Data made_up_regression(uint64_t seed, int64_t rows, int64_t columns, double intercept) {
  Source source(seed);
  const auto slopes = normals(source, columns, 0, 0.5);
  const auto x = normals(source, rows * columns, 0, 1);
  std::vector<int64_t> y;
  for (size_t i = 0; i < static_cast<size_t>(rows); ++i) {
    double logit = intercept;
    for (size_t j = 0; j < slopes.size(); ++j) logit += x[i * slopes.size() + j] * slopes[j];
    y.push_back(source.uniform() < 1 / (1 + std::exp(-logit)) ? 1 : 0);
  }
  return {x, y};
}

// alpha = 0.5; and the size that samplers are compared on, a = 0.
Data small_data() { return made_up_regression(21, 500, 20, 0.5); }
Data large_data() { return made_up_regression(26, 1000, 25, 0); }

// As a data file of Stan has it.
std::string as_json(const Data& data, size_t columns) {
  std::string rows;
  for (size_t i = 0; i < data.x.size(); i += columns)
    rows += fmt::format("{}[{}]", i ? "," : "",
                        fmt::join(data.x.begin() + static_cast<int64_t>(i),
                                  data.x.begin() + static_cast<int64_t>(i + columns), ","));
  return fmt::format(R"({{"N": {}, "K": {}, "X": [{}], "y": [{}]}})", data.y.size(), columns, rows,
                     fmt::join(data.y, ","));
}

}  // namespace

std::string logistic_data() { return as_json(small_data(), 20); }
std::string logistic_large_data() { return as_json(large_data(), 25); }

// alpha, beta_j ~ normal(0, 10); 500 rows of 20, alpha = 0.5.
Model logistic() {
  const Data data = small_data();
  Model model("logistic");
  const Plate predictor = model.plate("predictor", 20);
  const Tensor x = model.data("X", tensor(data.x, {500, 20}));
  const Tensor alpha = model.sample("alpha", normal(0, 10));
  const Tensor beta = model.sample("beta", normal(0, 10), {predictor});
  model.observe("y", bernoulli_logit(alpha + dot(x, beta)), tensor(data.y));
  return model;
}

// a ~ normal(0, 5), be_j ~ normal(0, 1); 1,000 rows of 25, a = 0: the size that samplers are compared on.
Model logistic_large() {
  const Data data = large_data();
  Model model("logistic_large");
  const Plate predictor = model.plate("predictor", 25);
  const Tensor x = model.data("X", tensor(data.x, {1000, 25}));
  const Tensor a = model.sample("a", normal(0, 5));
  const Tensor be = model.sample("be", normal(0, 1), {predictor});
  model.observe("y", bernoulli_logit(a + dot(x, be)), tensor(data.y));
  return model;
}

}  // namespace adit::examples
