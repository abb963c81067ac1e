// Mixtures: three normal distributions, and Poisson counts with too many zeros.
#include "models/models.hpp"

namespace adit::bench {

namespace {

constexpr int64_t points = 1000, parts = 3;

Data mixture_data() {
  Source source(1003);
  std::vector<double> y;
  for (int64_t i = 0; i < points; ++i) {
    const double u = source.uniform();
    y.push_back(rounded(u < 0.3   ? source.normal(-3, 1)
                        : u < 0.8 ? source.normal(0.5, 0.8)
                                  : source.normal(4, 1.2)));
  }
  Data data;
  data.add_number("row_count", points, Kind::whole);
  data.add("y", y);
  return data;
}

Model mixture_of_three(const Data& data) {
  Model model("mixture");
  const Tensor weight = model.sample("weight", dirichlet(tensor({2.0, 2.0, 2.0})));
  const Tensor mu = model.parameter("mu", constraint::ordered(), {parts});
  model.add_log_density("mu_prior", normal(0, 5).log_density(mu));
  const Tensor sigma = model.sample("sigma", half_normal(2), {parts});
  std::vector<Distribution> components;
  for (int64_t k = 0; k < parts; ++k)
    components.push_back(normal(reshape(slice(mu, {k}, {1}), {}), reshape(slice(sigma, {k}, {1}), {})));
  model.observe("y", mixture(weight, components), data["y"]);
  return model;
}

constexpr int64_t counted = 2000, causes = 3;

Data zero_inflated_data() {
  Source source(20003);
  const std::vector<double> x = source.normals(counted * causes), b = {0.5, -0.3, 0.2}, g = {0.6, 0.4, 0};
  std::vector<double> y;
  for (int64_t i = 0; i < counted; ++i) {
    const bool is_zero = source.bernoulli(-0.7 + row_times(x, i, g)) == 1;
    y.push_back(is_zero ? 0 : source.poisson(std::exp(0.8 + row_times(x, i, b))));
  }
  Data data;
  data.add_number("row_count", counted, Kind::whole);
  data.add_number("column_count", causes, Kind::whole);
  data.add("x", x, {counted, causes});
  data.add("y", y, Kind::whole);
  return data;
}

Model zero_inflated(const Data& data) {
  Model model("zero_inflated");
  const Tensor x = model.data("x", data["x"]);
  const Tensor a = model.sample("a", normal(0, 2)), b = model.sample("b", normal(0, 1), {causes});
  const Tensor c = model.sample("c", normal(0, 2)), g = model.sample("g", normal(0, 1), {causes});
  const Tensor eta = a + dot(x, b), rate = exp(eta), logit = c + dot(x, g);
  const auto log_mass = [=](const Tensor& y) {
    // log(p + (1 - p) exp(-rate)) and log(1 - p) + log of Poisson's mass
    const Tensor zero = log_sigmoid(logit) + softplus(-logit - rate);
    const Tensor count = log_sigmoid(-logit) + y * eta - rate - lgamma(y + 1.0);
    return select(y == 0.0, zero, count);
  };
  model.observe("y", custom("zero_inflated_poisson", log_mass, constraint::integer(0)), data["y"]);
  return model;
}

}  // namespace

std::vector<BenchModel> mixture_models() {
  return {{"mixture", points, false, mixture_data, mixture_of_three},
          {"zero_inflated", counted, false, zero_inflated_data, zero_inflated}};
}

}  // namespace adit::bench
