// Regressions with a matrix: the horseshoe, and two whose data are large.
#include "models/models.hpp"

namespace adit::bench {

namespace {

enum class Outcome : uint8_t { yes_or_no, number };

Data regression_data(int64_t rows, const std::vector<double>& w, Outcome outcome) {
  Source source(static_cast<uint64_t>(rows));
  const auto columns = static_cast<int64_t>(w.size());
  const std::vector<double> x = source.normals(rows * columns);
  std::vector<double> y;
  for (int64_t i = 0; i < rows; ++i) {
    const double mean = 0.5 + row_times(x, i, w);
    y.push_back(outcome == Outcome::number ? rounded(mean + source.normal()) : source.bernoulli(mean));
  }
  Data data;
  data.add_number("row_count", double(rows), Kind::whole);
  data.add_number("column_count", double(columns), Kind::whole);
  data.add("x", x, {rows, columns});
  data.add("y", y, outcome == Outcome::number ? Kind::real : Kind::whole);
  return data;
}

// --- Few of many coefficients matter ---

constexpr int64_t sparse_rows = 300, sparse_columns = 150;

Data horseshoe_data() {
  std::vector<double> w(sparse_columns, 0);
  for (size_t j = 0; j < 8; ++j) w[j * 17] = j % 2 ? -1.5 : 2;
  return regression_data(sparse_rows, w, Outcome::number);
}

Model horseshoe(const Data& data) {
  Model model("horseshoe");
  const Tensor x = model.data("x", data["x"]);
  const Tensor a = model.sample("a", normal(0, 2)), sigma = model.sample("sigma", half_normal(2));
  const Tensor tau = model.sample("tau", half_cauchy(0.05));
  const Tensor lambda = model.sample("lambda", half_cauchy(1), {sparse_columns});
  const Tensor z = model.sample("z", normal(0, 1), {sparse_columns});
  model.observe("y", normal(a + dot(x, tau * lambda * z), sigma), data["y"]);
  return model;
}

// --- Many rows ---

constexpr int64_t logistic_rows = 20000, logistic_columns = 64;
constexpr int64_t linear_rows = 500000, linear_columns = 16;

std::vector<double> weights(int64_t columns, double scale) {
  Source source(static_cast<uint64_t>(columns));
  return source.normals(columns, 0, scale);
}

Data logistic_data() {
  return regression_data(logistic_rows, weights(logistic_columns, 0.2), Outcome::yes_or_no);
}
Model logistic_large(const Data& data) {
  Model model("logistic_large");
  const Tensor x = model.data("x", data["x"]);
  const Tensor a = model.sample("a", normal(0, 2)), b = model.sample("b", normal(0, 1), {logistic_columns});
  model.observe("y", bernoulli_logit(a + dot(x, b)), data["y"]);
  return model;
}

Data linear_data() { return regression_data(linear_rows, weights(linear_columns, 0.5), Outcome::number); }
Model linear_large(const Data& data) {
  Model model("linear_large");
  const Tensor x = model.data("x", data["x"]);
  const Tensor a = model.sample("a", normal(0, 2)), b = model.sample("b", normal(0, 1), {linear_columns});
  const Tensor sigma = model.sample("sigma", half_normal(1));
  model.observe("y", normal(a + dot(x, b), sigma), data["y"]);
  return model;
}

}  // namespace

std::vector<BenchModel> regression_models() {
  return {{"horseshoe", sparse_rows, false, horseshoe_data, horseshoe},
          {"logistic_large", logistic_rows, false, logistic_data, logistic_large},
          {"linear_large", linear_rows, false, linear_data, linear_large}};
}

}  // namespace adit::bench
