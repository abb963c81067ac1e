// Laplace's approximation: the normal distribution with a mode and the curvature there.
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <random>

#include <adit/sample_memory.hpp>

#include "optimize/direction.hpp"
#include "sample/predictive.hpp"

namespace adit {

using namespace optimizing;
using stats::ModelState;

namespace {

// Standard normals by Marsaglia's polar method: the same on every system.
class Normals {
 public:
  explicit Normals(uint64_t seed) : bits_(seed) {}
  double next() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    while (true) {
      const double x = uniform(), y = uniform(), r = x * x + y * y;
      if (r >= 1 || r == 0) continue;
      const double scale = std::sqrt(-2 * std::log(r) / r);
      spare_ = y * scale;
      has_spare_ = true;
      return x * scale;
    }
  }

 private:
  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-52 - 1; }
  std::mt19937_64 bits_;
  double spare_ = 0;
  bool has_spare_ = false;
};

void expect_room(const Model& model, const LaplaceOptions& options) {
  SampleOptions as_draws;
  as_draws.chains = 1;
  as_draws.warmup = 0;
  as_draws.draws = options.draws;
  const SampleMemory needed = memory_of(model, as_draws);
  const double points = 16.0 * static_cast<double>(model.size()) * static_cast<double>(options.draws);
  const double most = points + std::max(needed.sampling, needed.saving), left = memory_left();
  if (most > left)
    throw Error(
        ErrorKind::out_of_memory,
        fmt::format("[laplace] draws: expected draws that fit into {:.1f} GB of memory, got {}, {:.1f} GB",
                    left / 1e9, options.draws, most / 1e9));
}

void check_laplace(const Model& of, const Optimum& mode, const LaplaceOptions& options) {
  const ModelState& model = stats::state_of(of);
  expect_parameters("laplace", model);
  constexpr int64_t most = int64_t{1} << 30;
  if (options.draws < 1 || options.draws > most)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[laplace] draws: expected 1 to 2^30, got {}", options.draws));
  bool is_finite = std::ssize(mode.point) == model.size;
  for (const double x : mode.point) is_finite = is_finite && std::isfinite(x);
  if (!is_finite)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[laplace] mode: expected a point of {} finite numbers, as {} has, got {}{}",
                            model.size, model.name, mode.point.size(),
                            std::ssize(mode.point) == model.size ? ", not all of them finite" : ""));
  expect_room(of, options);
}

// The variable with the direction that is not curved downwards, as far as the diagonal tells.
std::string flattest(const ModelState& model, const std::vector<double>& hessian) {
  const auto d = static_cast<size_t>(model.size);
  for (const auto& variable : model.variables)
    for (int64_t i = 0; i < variable.size; ++i)
      if (const auto k = static_cast<size_t>(variable.offset + i); !(hessian[k * d + k] > 0))
        return fmt::format(" along {}", variable.name);
  return "";
}

}  // namespace

Laplace laplace_draws(const Model& of, const Optimum& mode, const LaplaceOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const ModelState& model = stats::state_of(of);
  check_laplace(of, mode, options);
  const LogDensity density(model, options.jacobian, open_for_f64(options.device));
  const auto d = static_cast<size_t>(model.size);
  Laplace found;
  found.hessian = density.hessian(mode.point);
  for (double& x : found.hessian) x = -x;
  const std::vector<double> lower = cholesky_of(found.hessian, d);
  if (lower.empty())
    throw Error(ErrorKind::bad_argument,
                fmt::format("[laplace] mode: expected a point where the log density is curved downwards in "
                            "every direction, got one where it is not{}",
                            flattest(model, found.hessian)));
  Normals normals(options.seed);
  std::vector<double> points, z(d), gradients;
  points.reserve(static_cast<size_t>(options.draws) * d);
  for (int64_t i = 0; i < options.draws; ++i) {
    double squares = 0;
    for (double& x : z) squares += std::pow(x = normals.next(), 2);
    solve_upper(lower, z);
    for (size_t k = 0; k < d; ++k) points.push_back(mode.point[k] + z[k]);
    found.log_q.push_back(-squares / 2);
  }
  density.at_many(points, found.draws.stats.lp, gradients);
  Draws& draws = found.draws;
  draws.model = model.name;
  draws.chains = 1;
  draws.draws = options.draws;
  draws.seed = options.seed;
  draws.device = density.device()->info().id;
  draws.coordinates = sampling::coordinates_of(model);
  draws.variables = constrain(of, points, 1, options.seed, options.device);
  draws.seconds.total = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return found;
}

}  // namespace adit
