// Series: AR(2), stochastic volatility in both forms, GARCH(1,1), and a hidden Markov model.
#include <adit/control.hpp>

#include "models/models.hpp"

namespace adit::bench {

namespace {

Tensor part(const Tensor& x, int64_t start, int64_t length) { return slice(x, {start}, {length}); }

// --- AR(2), given the first two values; slices, no loop ---

constexpr int64_t ar_length = 2000;

Data ar2_data() {
  Source source(2000);
  std::vector<double> y = {0, 0};
  for (size_t t = 2; t < size_t(ar_length); ++t)
    y.push_back(rounded(0.2 + 0.6 * y[t - 1] + 0.25 * y[t - 2] + source.normal(0, 0.5)));
  Data data;
  data.add_number("row_count", ar_length, Kind::whole);
  data.add("y", y);
  return data;
}

Model ar2(const Data& data) {
  Model model("ar2");
  const Tensor y = model.data("series", data["y"]);
  const Tensor c = model.sample("c", normal(0, 1));
  const Tensor first = model.sample("first", normal(0, 0.5)), second = model.sample("second", normal(0, 0.5));
  const Tensor sigma = model.sample("sigma", half_normal(1));
  const int64_t n = ar_length - 2;
  const Tensor mean = c + first * part(y, 1, n) + second * part(y, 0, n);
  model.observe("y", normal(mean, sigma), part(data["y"], 2, n));
  return model;
}

// --- Stochastic volatility: log variances h follow an AR(1) about mu ---

constexpr int64_t days = 1000;

Data volatility_data() {
  Source source(1000);
  const double mu = -1, phi = 0.95, sigma = 0.25;
  double h = mu + source.normal(0, sigma / std::sqrt(1 - phi * phi));
  std::vector<double> y;
  for (int64_t t = 0; t < days; ++t) {
    if (t > 0) h = mu + phi * (h - mu) + source.normal(0, sigma);
    y.push_back(rounded(source.normal(0, std::exp(h / 2))));
  }
  Data data;
  data.add_number("row_count", days, Kind::whole);
  data.add("y", y);
  return data;
}

struct Volatility {
  Tensor mu, phi, sigma;
};
Volatility volatility_variables(Model& model) {
  return {model.sample("mu", normal(0, 3)), model.sample("phi", uniform(-1, 1)),
          model.sample("sigma", half_normal(1))};
}

Model volatility_centred(const Data& data) {
  Model model("volatility_centred");
  const auto [mu, phi, sigma] = volatility_variables(model);
  const Tensor h = model.parameter("h", constraint::real(), {days});
  model.add_log_density("h_first", normal(mu, sigma * rsqrt(1 - square(phi))).log_density(part(h, 0, 1)));
  const Tensor mean = mu + phi * (part(h, 0, days - 1) - mu);
  model.add_log_density("h_next", normal(mean, sigma).log_density(part(h, 1, days - 1)));
  model.observe("y", normal(0, exp(h / 2)), data["y"]);
  return model;
}

Model volatility_noncentred(const Data& data) {
  Model model("volatility_noncentred");
  const auto [mu, phi_, sigma] = volatility_variables(model);
  const Tensor phi = phi_;
  const Tensor z = model.sample("z", normal(0, 1), {days});
  const Tensor first = part(z, 0, 1) * rsqrt(1 - square(phi));
  const auto follow = [&](const Tensors& carry, const Tensors& slices) {
    const Tensor next = phi * carry[0] + slices[0];
    return Step{{next}, {next}};
  };
  const Step rest = scan(follow, {reshape(first, {})}, {part(z, 1, days - 1)});
  const Tensor h = mu + sigma * concatenate({first, rest.outputs[0]});
  model.observe("y", normal(0, exp(h / 2)), data["y"]);
  return model;
}

// --- GARCH(1,1): the variance follows from the day before ---

Data garch_data() {
  Source source(1111);
  double variance = 1;
  std::vector<double> y = {rounded(source.normal(0.1, 1))};
  for (int64_t t = 1; t < days; ++t) {
    const double miss = y.back() - 0.1;
    variance = 0.1 + 0.2 * miss * miss + 0.7 * variance;
    y.push_back(rounded(source.normal(0.1, std::sqrt(variance))));
  }
  Data data;
  data.add_number("row_count", days, Kind::whole);
  data.add_number("first_variance", 1);
  data.add("y", y);
  return data;
}

Model garch(const Data& data) {
  Model model("garch");
  const Tensor y = model.data("series", data["y"]),
               start = model.data("first_variance", data["first_variance"]);
  const Tensor mu = model.sample("mu", normal(0, 2));
  const Tensor base = model.sample("base", half_normal(1));
  const Tensor news = model.sample("news", uniform(0, 1));
  // Flat below 1 - news, so that the series is stationary.
  const Tensor memory = model.parameter("memory", constraint::interval(0, 1 - news));
  const auto follow = [&](const Tensors& carry, const Tensors& slices) {
    const Tensor next = base + news * square(slices[0] - mu) + memory * carry[0];
    return Step{{next}, {next}};
  };
  const Step rest = scan(follow, {start}, {part(y, 0, days - 1)});
  const Tensor variance = concatenate({reshape(start, {1}), rest.outputs[0]});
  model.observe("y", normal(mu, sqrt(variance)), data["y"]);
  return model;
}

// --- A hidden Markov model of three states, by the forward algorithm ---

constexpr int64_t states = 3, times = 800;

Data hmm_data() {
  Source source(3800);
  const double stay[] = {0.9, 0.85, 0.9}, mean[] = {-2, 0, 3}, spread[] = {0.7, 0.5, 1};
  size_t state = 0;
  std::vector<double> y;
  for (int64_t t = 0; t < times; ++t) {
    if (t > 0 && source.uniform() > stay[state]) state = (state + (source.uniform() < 0.5 ? 1 : 2)) % 3;
    y.push_back(rounded(source.normal(mean[state], spread[state])));
  }
  Data data;
  data.add_number("row_count", times, Kind::whole);
  data.add("y", y);
  return data;
}

Model hmm(const Data& data) {
  Model model("hmm");
  const Tensor y = model.data("series", data["y"]);
  const Tensor chance = model.sample("chance", dirichlet(tensor({2.0, 2.0, 2.0})), {states});
  const Tensor mu = model.parameter("mu", constraint::ordered(), {states});
  model.add_log_density("mu_prior", normal(0, 3).log_density(mu));
  const Tensor sigma = model.sample("sigma", half_normal(1), {states});
  const Tensor log_chance = log(chance);
  const Tensor seen = normal(mu, sigma).log_density(broadcast_to(reshape(y, {times, 1}), {times, states}));
  const auto forward = [&](const Tensors& carry, const Tensors& slices) {
    const Tensor next = logsumexp(reshape(carry[0], {states, 1}) + log_chance, {0}) + slices[0];
    return Step{{next}, {}};
  };
  // All states are alike at first; log(1/3) is a constant and left out.
  const Tensor first = reshape(slice(seen, {0, 0}, {1, states}), {states});
  const Step last = scan(forward, {first}, {slice(seen, {1, 0}, {times - 1, states})});
  model.add_log_density("forward", logsumexp(last.carry[0]));
  return model;
}

}  // namespace

std::vector<BenchModel> series_models() {
  return {{"ar2", ar_length, false, ar2_data, ar2},
          {"volatility_centred", days, false, volatility_data, volatility_centred},
          {"volatility_noncentred", days, false, volatility_data, volatility_noncentred},
          {"garch", days, false, garch_data, garch},
          {"hmm", times, false, hmm_data, hmm}};
}

}  // namespace adit::bench
