// Logistic regressions: y_i ~ bernoulli_logit(a + X_i b), with made-up X and coefficients of 0.5 z.
#include "cli/models/models.hpp"
#include "cli/models/source.hpp"

namespace adit::examples {

namespace {

struct Data {
  Tensor x, y;
};

Data made_up(uint64_t seed, int64_t rows, int64_t columns, double intercept) {
  Source source(seed);
  const auto slopes = normals(source, columns, 0, 0.5);
  const auto x = normals(source, rows * columns, 0, 1);
  std::vector<int64_t> y;
  for (size_t i = 0; i < static_cast<size_t>(rows); ++i) {
    double logit = intercept;
    for (size_t j = 0; j < slopes.size(); ++j) logit += x[i * slopes.size() + j] * slopes[j];
    y.push_back(source.uniform() < 1 / (1 + std::exp(-logit)) ? 1 : 0);
  }
  return {tensor(x, {rows, columns}), tensor(y)};
}

}  // namespace

// alpha, beta_j ~ normal(0, 10); 500 rows of 20, alpha = 0.5.
Model logistic() {
  const Data data = made_up(21, 500, 20, 0.5);
  Model model("logistic");
  const Plate predictor = model.plate("predictor", 20);
  const Tensor x = model.data("X", data.x);
  const Tensor alpha = model.sample("alpha", normal(0, 10));
  const Tensor beta = model.sample("beta", normal(0, 10), {predictor});
  model.observe("y", bernoulli_logit(alpha + dot(x, beta)), data.y);
  return model;
}

// a ~ normal(0, 5), be_j ~ normal(0, 1); 1,000 rows of 25, a = 0: the size that samplers are compared on.
Model logistic_large() {
  const Data data = made_up(26, 1000, 25, 0);
  Model model("logistic_large");
  const Plate predictor = model.plate("predictor", 25);
  const Tensor x = model.data("X", data.x);
  const Tensor a = model.sample("a", normal(0, 5));
  const Tensor be = model.sample("be", normal(0, 1), {predictor});
  model.observe("y", bernoulli_logit(a + dot(x, be)), data.y);
  return model;
}

}  // namespace adit::examples
