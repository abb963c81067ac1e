// Densities that factorise matrices: Gaussian processes, and a normal distribution of vectors with an LKJ
// prior.
#include "models/models.hpp"

namespace adit::bench {

namespace {

// --- Gaussian processes of one dimension ---

constexpr int64_t many = 64, few = 40;
constexpr double jitter = 1e-4;  // f32 factorises with it too

Data process_data(int64_t points, bool counts) {
  Source source(static_cast<uint64_t>(points) + (counts ? 1000 : 0));
  std::vector<double> x, y;
  for (int64_t i = 0; i < points; ++i) {
    x.push_back(rounded(10 * (double(i) + source.uniform()) / double(points)));
    const double f = std::sin(x.back()) + 0.3 * std::cos(2.3 * x.back());
    y.push_back(counts ? source.poisson(std::exp(1 + f)) : rounded(source.normal(f, 0.3)));
  }
  Data data;
  data.add_number("row_count", double(points), Kind::whole);
  data.add("x", x);
  data.add("y", y, counts ? Kind::whole : Kind::real);
  return data;
}

// alpha^2 exp(-(x_i - x_j)^2 / (2 rho^2)) with `ridge` added along the diagonal
Tensor covariance(const Tensor& x, const Tensor& alpha, const Tensor& rho, const Tensor& ridge) {
  const int64_t n = x.dim(0);
  const Tensor apart = reshape(x, {n, 1}) - reshape(x, {1, n});
  return square(alpha) * exp(-0.5 * square(apart / rho)) + ridge * eye(n, n, DType::f64);
}

Data gp_marginal_data() { return process_data(many, false); }
Model gp_marginal(const Data& data) {
  Model model("gp_marginal");
  const Tensor x = model.data("x", data["x"]);
  const Tensor rho = model.sample("rho", inv_gamma(5, 5)), alpha = model.sample("alpha", half_normal(1));
  const Tensor sigma = model.sample("sigma", half_normal(1));
  const Tensor factor = cholesky(covariance(x, alpha, rho, square(sigma) + jitter));
  model.observe("y", multi_normal_cholesky(zeros({many}, DType::f64), factor), data["y"]);
  return model;
}

Tensor latent_process(Model& model, const Data& data, int64_t points) {
  const Tensor x = model.data("x", data["x"]);
  const Tensor rho = model.sample("rho", inv_gamma(5, 5)), alpha = model.sample("alpha", half_normal(1));
  const Tensor z = model.sample("z", normal(0, 1), {points});
  return dot(cholesky(covariance(x, alpha, rho, tensor(jitter))), z);
}

Data gp_latent_data() { return process_data(many, false); }
Model gp_latent(const Data& data) {
  Model model("gp_latent");
  const Tensor f = latent_process(model, data, many);
  const Tensor sigma = model.sample("sigma", half_normal(1));
  model.observe("y", normal(f, sigma), data["y"]);
  return model;
}

Data gp_poisson_data() { return process_data(few, true); }
Model gp_poisson(const Data& data) {
  Model model("gp_poisson");
  const Tensor f = latent_process(model, data, few);
  const Tensor a = model.sample("a", normal(0, 2));
  model.observe("y", poisson_log(a + f), data["y"]);
  return model;
}

// --- Vectors of eight with correlations ---

constexpr int64_t size = 8, vectors = 500;

Data correlated_data() {
  Source source(8500);
  const std::vector<double> load = source.normals(size, 0, 0.7);
  std::vector<double> y;
  for (int64_t i = 0; i < vectors; ++i) {
    const double common = source.normal();
    for (int64_t j = 0; j < size; ++j)
      y.push_back(rounded(0.3 * double(j) + (0.5 + 0.1 * double(j)) *
                                                (load[static_cast<size_t>(j)] * common + source.normal())));
  }
  Data data;
  data.add_number("row_count", vectors, Kind::whole);
  data.add_number("column_count", size, Kind::whole);
  data.add("y", y, {vectors, size});
  return data;
}

Model correlated(const Data& data) {
  Model model("correlated");
  const Tensor mu = model.sample("mu", normal(0, 5), {size});
  const Tensor tau = model.sample("tau", half_normal(2), {size});
  const Tensor factor = model.sample("factor", lkj_corr_cholesky(size, 2));
  model.observe("y", multi_normal_cholesky(mu, reshape(tau, {size, 1}) * factor), data["y"]);
  return model;
}

}  // namespace

std::vector<BenchModel> process_models() {
  return {{"gp_marginal", many, true, gp_marginal_data, gp_marginal},
          {"gp_latent", many, true, gp_latent_data, gp_latent},
          {"gp_poisson", few, true, gp_poisson_data, gp_poisson},
          {"correlated", vectors, true, correlated_data, correlated}};
}

}  // namespace adit::bench
