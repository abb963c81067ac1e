// Diagnostics against an independent implementation (tests/stats/diagnostics_reference.py) and against what
// is known in closed form.
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <random>

#include <adit/diagnostics.hpp>
#include <adit/error.hpp>

#include "posterior/diagnostics/distribution_quantiles.hpp"
#include "posterior/diagnostics/pareto.hpp"

namespace adit {
namespace {

using nlohmann::json;

const json& reference() {
  static const json cases = json::parse(std::ifstream(ADIT_DIAGNOSTICS_CASES));
  return cases;
}

double number(const json& entry) {
  if (entry.is_null()) return std::nan("");
  if (entry.is_string()) return entry == "inf" ? HUGE_VAL : -HUGE_VAL;
  return entry.get<double>();
}

std::vector<double> numbers(const json& entries) {
  std::vector<double> result;
  for (const json& entry : entries) result.push_back(number(entry));
  return result;
}

void expect_same(double got, double expected, double tolerance, const std::string& what) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(got)) << what << ": " << got << " instead of NaN";
  else if (std::isinf(expected))
    EXPECT_EQ(got, expected) << what;
  else
    EXPECT_NEAR(got, expected, tolerance * std::fabs(expected) + 1e-300) << what;
}

// --- Against the reference
// ----------------------------------------------------------------------------------

std::map<std::string, double> measure(ChainsView x) {
  return {{"r_hat", r_hat(x)},
          {"r_hat_plain", r_hat_plain(x)},
          {"ess_bulk", ess_bulk(x)},
          {"ess_tail", ess_tail(x)},
          {"ess_mean", ess_mean(x)},
          {"ess_quantile_0.3", ess_quantile(x, 0.3)},
          {"ess_quantile_0.8", ess_quantile(x, 0.8)},
          {"mcse_mean", mcse_mean(x)},
          {"mcse_sd", mcse_sd(x)},
          {"mcse_quantile_0.1", mcse_quantile(x, 0.1)},
          {"mcse_quantile_0.5", mcse_quantile(x, 0.5)},
          {"quantile_0.05", quantile(x.values, 0.05)},
          {"quantile_0.37", quantile(x.values, 0.37)},
          {"mad", median_absolute_deviation(x.values)},
          {"mean", summarise("x", x).mean},
          {"sd", summarise("x", x).sd},
          {"nested_2", x.chains % 2 ? 0 : nested_r_hat(x, 2)},
          {"nested_4", x.chains % 4 ? 0 : nested_r_hat(x, 4)}};
}

TEST(Reference, Chains) {
  for (const json& entry : reference()["chains"]) {
    const std::string name = entry["name"];
    const std::vector<double> values = numbers(entry["values"]);
    const ChainsView x{values, entry["chains"]};
    // An offset of 1e9 leaves seven digits to the reference, too.
    const double tolerance = name == "large_offset" ? 1e-5 : 1e-9;
    const std::map<std::string, double> got = measure(x);
    for (const auto& [what, expected] : entry["expect"].items())
      expect_same(got.at(what), number(expected), tolerance, name + " " + what);
    if (entry.contains("hdi_0.94")) {
      const auto [low, high] = highest_density_interval(values, 0.94);
      EXPECT_EQ(low, number(entry["hdi_0.94"][0])) << name;
      EXPECT_EQ(high, number(entry["hdi_0.94"][1])) << name;
    }
  }
}

// A summary shares its sorting; it must say what the functions say.
TEST(Reference, SummaryRows) {
  for (const json& entry : reference()["chains"]) {
    const std::string name = entry["name"];
    const std::vector<double> values = numbers(entry["values"]);
    const ChainsView x{values, entry["chains"]};
    const SummaryRow row = summarise(name, x);
    const auto got = measure(x);
    const auto expect = [&](double value, double expected, const char* what) {
      expect_same(value, expected, 1e-14, name + " " + what);
    };
    expect(row.mcse, got.at("mcse_mean"), "mcse");
    expect(row.mad, got.at("mad"), "mad");
    expect(row.q5, got.at("quantile_0.05"), "q5");
    expect(row.q50, quantile(values, 0.5), "q50");
    expect(row.q95, quantile(values, 0.95), "q95");
    expect(row.ess_bulk, got.at("ess_bulk"), "ess_bulk");
    expect(row.ess_tail, got.at("ess_tail"), "ess_tail");
    expect(row.r_hat, got.at("r_hat"), "r_hat");
  }
}

TEST(Reference, AutocorrelationAndEnergy) {
  int seen = 0;
  for (const json& entry : reference()["chains"]) {
    if (!entry.contains("e_bfmi") || entry["name"] == "large_offset" || entry["name"] == "one_far_away")
      continue;
    const std::string name = entry["name"];
    Draws draws;
    draws.stats.energy = numbers(entry["values"]);
    draws.chains = entry["chains"];
    draws.draws = static_cast<int64_t>(draws.stats.energy.size()) / draws.chains;
    const std::vector<double> got = e_bfmi(draws);
    ASSERT_EQ(got.size(), entry["e_bfmi"].size());
    for (size_t i = 0; i < got.size(); ++i) expect_same(got[i], number(entry["e_bfmi"][i]), 1e-10, name);
    if (entry["autocorrelation"].is_null()) continue;
    const std::vector<double> expected = numbers(entry["autocorrelation"]);
    const std::span<const double> first(draws.stats.energy.data(), static_cast<size_t>(draws.draws));
    const std::vector<double> rho = autocorrelation(first, static_cast<int64_t>(expected.size()) - 1);
    ASSERT_EQ(rho.size(), expected.size());
    for (size_t lag = 0; lag < rho.size(); ++lag)
      EXPECT_NEAR(rho[lag], expected[lag], 1e-10) << name << " lag " << lag;
    ++seen;
  }
  EXPECT_GT(seen, 20);
}

TEST(Reference, LooAndWaic) {
  for (const json& entry : reference()["loo"]) {
    const std::string name = entry["name"];
    Draws draws;
    draws.chains = entry["chains"];
    draws.draws = entry["draws"];
    const DrawsVariable likelihood{"y", {entry["observations"].get<int64_t>()}, {}, numbers(entry["values"])};
    const Loo loo = psis_loo(draws, likelihood);
    expect_same(loo.elpd, entry["elpd"], 1e-9, name + " elpd");
    expect_same(loo.p_loo, entry["p_loo"], 1e-8, name + " p_loo");
    expect_same(loo.se, entry["se"], 1e-9, name + " se");
    expect_same(loo.looic, -2 * entry["elpd"].get<double>(), 1e-9, name + " looic");
    expect_same(loo.k_threshold, entry["threshold"], 1e-12, name + " threshold");
    EXPECT_EQ(loo.bad, entry["bad"].get<int64_t>()) << name;
    for (size_t i = 0; i < loo.pointwise.size(); ++i) {
      expect_same(loo.pointwise[i], entry["pointwise"][i], 1e-9, name + " pointwise");
      expect_same(loo.pareto_k[i], number(entry["k"][i]), 1e-8, name + " k");
    }
    const Waic information = waic(draws, likelihood);
    expect_same(information.elpd, entry["waic_elpd"], 1e-10, name + " waic elpd");
    expect_same(information.p_waic, entry["p_waic"], 1e-10, name + " p_waic");
    expect_same(information.se, entry["waic_se"], 1e-9, name + " waic se");
    EXPECT_EQ(information.waic, -2 * information.elpd);
  }
}

TEST(Reference, Functions) {
  for (const json& entry : reference()["scores"])
    expect_same(diagnostics::normal_quantile(entry["p"]), entry["z"], 1e-14, entry.dump());
  for (const json& entry : reference()["betas"])
    expect_same(diagnostics::beta_quantile(entry["p"], entry["a"], entry["b"]), entry["x"], 1e-11,
                entry.dump());
  for (const json& entry : reference()["fits"]) {
    const diagnostics::ParetoFit fit = diagnostics::fit_pareto(numbers(entry["values"]));
    expect_same(fit.shape, entry["shape"], 1e-9, "shape");
    expect_same(fit.scale, entry["scale"], 1e-9, "scale");
  }
}

// --- Known in closed form
// -----------------------------------------------------------------------------------

std::vector<double> autoregressive(int64_t chains, int64_t length, double phi, uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  for (int64_t c = 0; c < chains; ++c) {
    double state = normal(bits);
    for (int64_t i = 0; i < length; ++i) {
      values.push_back(state);
      state = phi * state + std::sqrt(1 - phi * phi) * normal(bits);
    }
  }
  return values;
}

TEST(Analytic, EffectiveSizeOfAutoregression) {
  for (const double phi : {0.0, 0.5, 0.9, -0.5}) {
    const std::vector<double> values = autoregressive(16, 20000, phi, 7);
    const double expected = 16 * 20000 * (1 - phi) / (1 + phi);
    EXPECT_NEAR(ess_mean({values, 16}) / expected, 1, 0.04) << phi;
    EXPECT_NEAR(ess_bulk({values, 16}) / expected, 1, 0.04) << phi;
    EXPECT_NEAR(mcse_mean({values, 16}) * std::sqrt(expected), 1, 0.03) << phi;
    EXPECT_NEAR(r_hat({values, 16}), 1, 0.002) << phi;
  }
}

TEST(Analytic, IndependentDraws) {
  const std::vector<double> values = autoregressive(128, 320, 0, 8);
  EXPECT_NEAR(ess_bulk({values, 128}) / 40960, 1, 0.05);
  EXPECT_NEAR(ess_tail({values, 128}) / 40960, 1, 0.07);
  // The error of a normal sample's sd is sd / sqrt(2 N), of its median sd sqrt(pi / 2 N).
  EXPECT_NEAR(mcse_sd({values, 128}) * std::sqrt(2 * 40960.0), 1, 0.05);
  EXPECT_NEAR(mcse_quantile({values, 128}, 0.5) * std::sqrt(2 * 40960.0 / std::numbers::pi), 1, 0.1);
  const auto [low, high] = highest_density_interval(values, 0.9);
  EXPECT_NEAR(low, -1.645, 0.06);
  EXPECT_NEAR(high, 1.645, 0.06);
  EXPECT_NEAR(median_absolute_deviation(values), 1, 0.02);
}

// Chains of variance 1 with means 0 and d: B / n = 2 d^2 / 3 over the six halves ... of which two are
// shifted.
TEST(Analytic, ShiftedChains) {
  std::vector<double> values = autoregressive(4, 5000, 0, 9);
  for (int64_t i = 0; i < 5000; ++i) values[i] += 2;
  const double between = 4.0 * 2 * 6 / (8 * 7);  // variance of 2, 2, 0, 0, 0, 0, 0, 0
  EXPECT_NEAR(r_hat_plain({values, 4}), std::sqrt(1 + between), 0.01);
  EXPECT_GT(r_hat({values, 4}), 1.2);
  EXPECT_LT(ess_bulk({values, 4}), 30);
}

// The same centre and different widths: only the folded R-hat sees it.
TEST(Analytic, WiderChain) {
  std::vector<double> values = autoregressive(4, 2000, 0, 10);
  for (int64_t i = 0; i < 2000; ++i) values[i] *= 5;
  EXPECT_LT(r_hat_plain({values, 4}), 1.01);
  EXPECT_GT(r_hat({values, 4}), 1.05);
}

TEST(Analytic, NestedRHat) {
  // Two superchains of 500 single draws each, from one distribution and from two.
  std::vector<double> values = autoregressive(1000, 1, 0, 11);
  EXPECT_NEAR(nested_r_hat({values, 1000}, 2), 1, 0.01);
  for (int64_t i = 0; i < 500; ++i) values[i] += 3;
  EXPECT_NEAR(nested_r_hat({values, 1000}, 2), std::sqrt(1 + 4.5), 0.1);
  EXPECT_THROW(nested_r_hat({values, 1000}, 3), Error);
}

// Quantiles of a Pareto tail: weights u^-k have the shape k.
TEST(Analytic, ParetoShape) {
  std::mt19937_64 bits(12);
  std::uniform_real_distribution<double> uniform(1e-12, 1);
  for (const double k : {0.2, 0.5, 0.9, 1.4}) {
    std::vector<double> weights(100000);
    for (double& weight : weights) weight = -k * std::log(uniform(bits));
    EXPECT_NEAR(diagnostics::smooth_weights(weights, 1), k, 0.1) << k;
    EXPECT_NEAR(diagnostics::log_sum_exp(weights), 0, 1e-12);
  }
  // Bounded weights.
  std::vector<double> weights(100000);
  for (double& weight : weights) weight = std::log(uniform(bits));
  EXPECT_LT(diagnostics::smooth_weights(weights, 1), 0);
}

// y_i ~ normal(mu, 1), mu ~ normal(0, 10): the posterior and every leave-one-out density are normal.
struct Conjugate {
  std::vector<double> y;
  Draws draws;
  DrawsVariable likelihood;
  double mean_without(size_t i) const {
    double sum = 0;
    for (size_t j = 0; j < y.size(); ++j) sum += j == i ? 0 : y[j];
    return sum / precision_without();
  }
  double precision_without() const { return static_cast<double>(y.size()) - 1 + 0.01; }
};

double normal_density(double x, double mean, double variance) {
  return -0.5 * (x - mean) * (x - mean) / variance - 0.5 * std::log(2 * std::numbers::pi * variance);
}

Conjugate conjugate_model() {
  Conjugate model;
  std::mt19937_64 bits(13);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 30; ++i) model.y.push_back(1.5 + normal(bits));
  double sum = 0;
  for (const double y : model.y) sum += y;
  const double precision = 30 + 0.01;
  model.draws.chains = 4;
  model.draws.draws = 5000;
  model.likelihood = {"y", {30}, {}, {}};
  for (int i = 0; i < 20000; ++i) {
    const double mu = sum / precision + normal(bits) / std::sqrt(precision);
    for (const double y : model.y) model.likelihood.values.push_back(normal_density(y, mu, 1));
  }
  return model;
}

// What R's loo 2.5.1 gives, whose tail is rounded up: psis(log_ratios, r_eff) with 61 and 82 of 409 ratios.
TEST(Reference, SmoothedWeightsOfLoo) {
  struct Case {
    double efficiency, shape, first, largest, centre, squares;
  };
  for (const Case& at : {Case{1, -0.319796884019412, -6.18892729322281, -4.14098170976425, 203.592693722046,
                              0.00783827198850194},
                         Case{0.5, -0.247311929789596, -6.19182983509636, -4.1438842516378, 203.530135270742,
                              0.00775610073363273}}) {
    std::vector<double> weights;
    for (int i = 1; i <= 409; ++i) weights.push_back(3 * std::sin(i * i * 0.7) + 0.5 * std::cos(3.0 * i));
    EXPECT_NEAR(diagnostics::smooth_weights(weights, at.efficiency), at.shape, 1e-9);
    EXPECT_NEAR(weights[0], at.first, 1e-10);
    EXPECT_NEAR(*std::max_element(weights.begin(), weights.end()), at.largest, 1e-10);
    double centre = 0, squares = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      centre += std::exp(weights[i]) * static_cast<double>(i + 1);
      squares += std::exp(2 * weights[i]);
    }
    EXPECT_NEAR(centre, at.centre, 1e-8);
    EXPECT_NEAR(squares, at.squares, 1e-12);
  }
}

// What R's loo 2.5.1 gives for chains of different correlation:
//
//   walk <- function(chain, a) { x <- numeric(100); at <- 0
//     for (t in 1:100) { i <- (chain - 1) * 100 + t; at <- a * at + sin(i * i * 0.7); x[t] <- at }; x }
//   x <- sapply(1:4, walk, a); ll <- array(0, c(100, 4, 3)); y <- c(0.5, 2, 4)
//   for (k in 1:3) ll[, , k] <- -0.5 * (y[k] - x)^2
//   loo(ll, r_eff = apply(exp(ll), 3, posterior::ess_basic) / 400)
//
// ess_basic halves chains, as loo's own relative_eff and ArviZ do today; loo 2.5.1 left them whole. By that
// the tails of the last two cases have one draw more, and elpd is -14.30397 and -16.32924.
TEST(Reference, LooOfChains) {
  struct Case {
    double a, elpd, p_loo, shapes[3];
  };
  for (const Case& at :
       {Case{0.8, -23.349724644746, 17.7231813928738, {0.687090580499186, 1.0397292663359, 1.76839284038548}},
        Case{0.3,
             -15.0267621111335,
             7.56699220175759,
             {-0.123048300234522, 0.0663664112044375, 0.392976830020858}},
        Case{
            0, -14.3045579811524, 6.5661951755945, {-1.27686421172362, -1.25323752850126, -1.16084719069431}},
        Case{-0.5,
             -16.3321691035363,
             9.12379865367075,
             {-0.0282479838050855, 0.243735108047551, 0.485300719166404}}}) {
    Draws draws;
    draws.chains = 4;
    draws.draws = 100;
    DrawsVariable likelihood{"y", {3}, {}, {}};
    double x = 0;
    for (int i = 1; i <= 400; ++i) {
      x = (i % 100 == 1 ? 0 : at.a * x) + std::sin(i * i * 0.7);
      for (const double y : {0.5, 2.0, 4.0}) likelihood.values.push_back(-0.5 * (y - x) * (y - x));
    }
    const Loo loo = psis_loo(draws, likelihood);
    EXPECT_NEAR(loo.elpd, at.elpd, 1e-8) << at.a;
    EXPECT_NEAR(loo.p_loo, at.p_loo, 1e-8) << at.a;
    for (size_t k = 0; k < 3; ++k) EXPECT_NEAR(loo.pareto_k[k], at.shapes[k], 1e-8) << at.a;
  }
}

TEST(Analytic, LooOfAConjugateModel) {
  const Conjugate model = conjugate_model();
  const Loo loo = psis_loo(model.draws, model.likelihood);
  double exact = 0, all = 0;
  for (const double y : model.y) all += y;
  double exact_p = 0;
  for (size_t i = 0; i < model.y.size(); ++i) {
    const double density =
        normal_density(model.y[i], model.mean_without(i), 1 + 1 / model.precision_without());
    exact += density;
    exact_p += normal_density(model.y[i], all / 30.01, 1 + 1 / 30.01) - density;
    EXPECT_NEAR(loo.pointwise[i], density, 0.01) << i;
    EXPECT_LT(loo.pareto_k[i], 0.5);
  }
  EXPECT_NEAR(loo.elpd, exact, 0.05);
  EXPECT_NEAR(loo.p_loo, exact_p, 0.05);
  EXPECT_EQ(loo.bad, 0);
  EXPECT_EQ(loo.k_threshold, 0.7);
  const Waic information = waic(model.draws, model.likelihood);
  EXPECT_NEAR(information.elpd, loo.elpd, 0.05);
  EXPECT_NEAR(information.p_waic, loo.p_loo, 0.1);
}

// --- Summaries and warnings
// ---------------------------------------------------------------------------------

// Four chains of a scalar, a vector and a matrix, each element on its own scale.
Draws healthy_run(int64_t chains = 4, int64_t length = 500) {
  Draws draws;
  draws.model = "healthy";
  draws.chains = chains;
  draws.draws = length;
  draws.warmup = 1000;
  const auto make = [&](const std::string& name, const Shape& shape, double offset) {
    DrawsVariable variable{name, shape, {}, {}};
    const int64_t size = variable.size(), total = chains * length;
    variable.values.resize(static_cast<size_t>(total * size));
    for (int64_t e = 0; e < size; ++e) {
      const std::vector<double> values =
          autoregressive(chains, length, 0.2, 100 + static_cast<uint64_t>(offset) + e);
      for (int64_t i = 0; i < total; ++i)
        variable.values[i * size + e] =
            offset + static_cast<double>(e) + 0.01 * static_cast<double>(e + 1) * values[i];
    }
    draws.variables.push_back(std::move(variable));
  };
  make("mu", {}, 3);
  make("theta", {11}, 100);
  make("L", {2, 2}, 200);
  draws.stats.lp = autoregressive(chains, length, 0, 1);
  draws.stats.energy = autoregressive(chains, length, 0, 2);
  const std::vector<double> zeros(static_cast<size_t>(chains * length));
  draws.stats.accept_stat = autoregressive(chains, length, 0, 3);
  draws.stats.step_size = draws.stats.divergent = zeros;
  draws.stats.tree_depth.assign(zeros.size(), 3);
  draws.stats.n_leapfrog.assign(zeros.size(), 7);
  return draws;
}

bool any_contains(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  return all;
}

std::vector<std::string> warnings_of(const Draws& draws) { return warnings(draws, summary(draws)); }

TEST(Summary, RowsAndTable) {
  const Draws draws = healthy_run();
  const Summary all = summary(draws);
  ASSERT_EQ(all.stats.size(), 7u);
  ASSERT_EQ(all.parameters.size(), 16u);
  EXPECT_EQ(all.parameters[0].name, "mu");
  EXPECT_EQ(all.parameters[11].name, "theta[11]");
  EXPECT_EQ(all.parameters[14].name, "L[2,1]");
  // Each element's own draws, scale and place.
  for (int64_t e = 0; e < 11; ++e) {
    const std::vector<double> values = element_draws(draws, draws.variable("theta"), e);
    const SummaryRow row = summarise("x", {values, 4});
    EXPECT_EQ(all.parameters[1 + e].mean, row.mean);
    EXPECT_EQ(all.parameters[1 + e].ess_tail, row.ess_tail);
    EXPECT_NEAR(row.mean, 100 + static_cast<double>(e), 0.02);
    EXPECT_NEAR(row.sd, 0.01 * static_cast<double>(e + 1), 0.01);
  }
  const std::string table = format_summary(draws, all);
  for (const char* word :
       {"healthy", "4 chains: each with iter=1500; warmup=1000; thin=1; 500 iterations saved.", "lp__",
        "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__", "L[1,2]",
        "R_hat"})
    EXPECT_NE(table.find(word), std::string::npos) << word << "\n" << table;
  const size_t header = table.find("Mean"), last = table.find("R_hat");
  const std::string line = table.substr(header, last + 5 - header);
  size_t at = 0;
  for (const char* word :
       {"Mean", "MCSE", "StdDev", "MAD", "5%", "50%", "95%", "ESS_bulk", "ESS_tail", "R_hat"}) {
    const size_t found = line.find(word, at);
    ASSERT_NE(found, std::string::npos) << word;
    at = found + 1;
  }
}

TEST(Summary, NumbersAsText) {
  Draws draws = healthy_run(1, 4);
  draws.variables.resize(1);
  Summary all;
  all.parameters.push_back({"x", 4.4149, 0.0012345, 9.96, 1e9, -0.5, 123456.7, 3e-7, 1234.4, 12.34, 1.0049});
  const auto cells = [&](int significant) {
    const std::string table = format_summary(draws, all, significant);
    const size_t at = table.find("\nx ") + 1;
    return table.substr(at, table.find('\n', at) - at);
  };
  EXPECT_EQ(cells(2), "x   4.4  0.0012      10  1.0e+09  -0.50  123457  3.0e-07      1234        12   1.00");
  EXPECT_EQ(cells(3),
            "x  4.41  0.00123    9.96  1.00e+09  -0.500  123457  3.00e-07      1234      12.3   1.00");
}

TEST(Summary, BadSizes) {
  Draws draws = healthy_run();
  draws.variables[1].values.pop_back();
  EXPECT_THROW(summary(draws), Error);
  EXPECT_THROW(draws.variable("nobody"), Error);
  EXPECT_THROW(element_draws(draws, draws.variables[0], 1), Error);
  EXPECT_THROW(r_hat({draws.stats.lp, 3}), Error);
  EXPECT_THROW(r_hat({draws.stats.lp, 0}), Error);
  EXPECT_THROW(quantile(draws.stats.lp, 1.5), Error);
  EXPECT_THROW(highest_density_interval(draws.stats.lp, 0), Error);
  EXPECT_EQ(autocorrelation(std::vector<double>{1, 2, 4}, 9).size(), 3u);
  EXPECT_TRUE(autocorrelation({}, 5).empty());
  EXPECT_THROW(autocorrelation({}, -1), Error);
  EXPECT_TRUE(std::isnan(r_hat({})));
  EXPECT_TRUE(std::isnan(ess_bulk({})));
  EXPECT_TRUE(std::isnan(mcse_mean({})));
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
  const Summary nothing = summary(Draws{});
  EXPECT_TRUE(nothing.parameters.empty());
  EXPECT_FALSE(format_summary(Draws{}, nothing).empty());
  EXPECT_FALSE(diagnose(Draws{}, nothing).empty());
}

TEST(Warnings, NoneForAHealthyRun) {
  for (const int64_t chains : {1, 4, 300}) {
    const Draws draws = healthy_run(chains, chains == 300 ? 100 : 2000);
    const auto texts = warnings_of(draws);
    EXPECT_TRUE(texts.empty()) << chains << ": " << joined(texts);
    EXPECT_NE(diagnose(draws, summary(draws)).find("No problems found."), std::string::npos);
  }
}

TEST(Warnings, DivergencesAndDepth) {
  Draws draws = healthy_run();
  for (int i = 0; i < 7; ++i) draws.stats.divergent[i * 100] = 1;
  draws.stats.tree_depth[5] = 10;
  EXPECT_EQ(draws.divergences(), 7u);
  const auto texts = warnings_of(draws);
  ASSERT_EQ(texts.size(), 2u) << joined(texts);
  EXPECT_TRUE(any_contains(texts, "7 of 2,000 transitions (0.35%) ended with a divergence")) << joined(texts);
  EXPECT_TRUE(any_contains(texts, "1 of 2,000 transitions (0.05%) reached the limit of 10")) << joined(texts);
  EXPECT_NE(diagnose(draws, summary(draws)).find("Problems:"), std::string::npos);
}

// Who has a dense metric already is not told to use one.
TEST(Warnings, AdviceFitsTheMetric) {
  Draws draws = healthy_run();
  draws.stats.tree_depth[5] = 10;
  std::vector<double>& values = draws.variables[0].values;
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<double>(i) * 1e-3) + 1e-3 * values[i];
  for (const std::string metric : {"diag", "diag_e", "dense", "dense_e"}) {
    draws.metric = metric;
    const auto texts = warnings_of(draws);
    EXPECT_TRUE(any_contains(texts, "reached the limit of 10")) << joined(texts);
    EXPECT_TRUE(any_contains(texts, "effective sample size")) << joined(texts);
    EXPECT_EQ(any_contains(texts, "se a dense metric"), metric.starts_with("diag")) << joined(texts);
    EXPECT_EQ(any_contains(texts, "(a dense metric, a better"), metric.starts_with("diag")) << joined(texts);
  }
}

TEST(Warnings, Energy) {
  Draws draws = healthy_run();
  const std::vector<double> slow = autoregressive(1, 500, 0.97, 5);
  std::copy(slow.begin(), slow.end(), draws.stats.energy.begin() + 1000);
  const auto texts = warnings_of(draws);
  ASSERT_EQ(texts.size(), 1u) << joined(texts);
  EXPECT_TRUE(any_contains(texts, "E-BFMI is below 0.3 in chain 3 (")) << joined(texts);
}

TEST(Warnings, ConstantAndNotFinite) {
  Draws draws = healthy_run();
  // The upper triangle of a factor is constant by nature, a whole variable is not.
  for (int64_t i = 0; i < 2000; ++i) draws.variables[2].values[i * 4 + 1] = 0;
  EXPECT_TRUE(warnings_of(draws).empty());
  std::fill(draws.variables[0].values.begin(), draws.variables[0].values.end(), 0.3);
  draws.variables[1].values[3] = std::nan("");
  const auto texts = warnings_of(draws);
  ASSERT_EQ(texts.size(), 2u) << joined(texts);
  EXPECT_TRUE(any_contains(texts, "mu is the same in every draw"));
  EXPECT_TRUE(any_contains(texts, "not finite: theta[4]"));
  const std::vector<double> both{INFINITY, -INFINITY};
  EXPECT_TRUE(std::isnan(summarise("x", {both, 1}).mean));
}

TEST(Warnings, OneChainElsewhere) {
  Draws draws = healthy_run();
  for (int64_t i = 1000; i < 1500; ++i) draws.variables[0].values[i] += 1;  // 100 sd
  for (int64_t i = 1000; i < 1500; ++i) draws.stats.lp[i] -= 40;
  const auto texts = warnings_of(draws);
  EXPECT_TRUE(any_contains(texts, "R-hat is above 1.01 for mu ("));
  EXPECT_TRUE(any_contains(texts, "1 of 4 chains sits elsewhere"));
  EXPECT_TRUE(any_contains(texts, "chain 3 has mu around 4.00 instead of 3.00 (lp__ averages -40"))
      << joined(texts);
  EXPECT_TRUE(
      any_contains(texts, "effective sample size (the smaller of bulk and tail) is below 400 for mu"));
}

// One chain of a thousand hardly moves R-hat, and must be seen all the same.
TEST(Warnings, OneOfAThousandChains) {
  Draws draws = healthy_run(1000, 200);
  for (int64_t i = 0; i < 200; ++i) draws.variables[1].values[(700 * 200 + i) * 11 + 4] -= 0.15;  // 3 sd
  auto texts = warnings_of(draws);
  ASSERT_EQ(texts.size(), 1u) << joined(texts);
  EXPECT_TRUE(any_contains(texts, "1 of 1,000 chains sits elsewhere")) << joined(texts);
  EXPECT_TRUE(any_contains(texts, "chain 701 has theta[5] around")) << joined(texts);
  // A chain that never moved.
  draws = healthy_run(100, 50);
  for (DrawsVariable& variable : draws.variables)
    for (int64_t i = 0; i < 50 * variable.size(); ++i)
      variable.values[50 * 9 * variable.size() + i] =
          variable.values[50 * 9 * variable.size() + i % variable.size()];
  texts = warnings_of(draws);
  EXPECT_TRUE(any_contains(texts, "chain 10 never moved"));
}

// Heavy tails are not chains that sit elsewhere.
TEST(Warnings, HeavyTailsAreNotOutliers) {
  Draws draws = healthy_run(200, 50);
  std::mt19937_64 bits(17);
  std::cauchy_distribution<double> cauchy;
  for (double& value : draws.variables[0].values) value = cauchy(bits);
  EXPECT_FALSE(any_contains(warnings_of(draws), "elsewhere"));
}

// Many chains of few draws differ although nothing is wrong with them; the advice is another one.
TEST(Warnings, ManyShortChains) {
  const auto texts = warnings_of(healthy_run(400, 20));
  ASSERT_EQ(texts.size(), 1u) << joined(texts);
  EXPECT_TRUE(any_contains(texts, "though the effective sample sizes are large")) << joined(texts);
}

TEST(Warnings, TooFewDraws) {
  for (const int64_t length : {1, 2, 3, 5}) {
    const Draws draws = healthy_run(4, length);
    EXPECT_TRUE(any_contains(warnings_of(draws), "too few to tell")) << length;
  }
  Draws stopped = healthy_run();
  stopped.finished = false;
  EXPECT_TRUE(any_contains(warnings_of(stopped), "stopped before all draws were made"));
}

TEST(Warnings, SinglePrecision) {
  Draws draws = healthy_run();
  const auto told = [&] { return diagnose(draws, summary(draws)); };
  draws.precision = "f32";
  draws.device = "vulkan:7";
  EXPECT_EQ(told().find("Single precision"), std::string::npos);  // nobody looked
  draws.energy_error = 0.5;
  EXPECT_TRUE(any_contains(warnings_of(draws), "Run in double precision (--precision f64)."));
  EXPECT_EQ(told().find("in warm-up"), std::string::npos);
  draws.energy_error_before = draws.gradient_error_before = 0.25;
  EXPECT_NE(told().find("(0.25 in warm-up)"), std::string::npos) << told();
  draws.wider = "mixed or f64";
  EXPECT_TRUE(any_contains(warnings_of(draws), "(--precision mixed or f64)."));
  draws.wider = "none";
  EXPECT_FALSE(any_contains(warnings_of(draws), "--precision"));
  EXPECT_TRUE(any_contains(warnings_of(draws), "vulkan:7 has no f64: run on another device"));
  // Gradients are f32 in mixed precision too, and are told where energies have no error at all.
  draws.wider = "mixed or f64";
  draws.energy_error = 0;
  draws.gradient_error = 0.4;
  EXPECT_TRUE(any_contains(warnings_of(draws), "gradients are off by up to 0.40"));
  EXPECT_TRUE(any_contains(warnings_of(draws), "(--precision f64)."));
}

TEST(Loo, BadInput) {
  Draws draws;
  draws.chains = 2;
  draws.draws = 8;
  DrawsVariable likelihood{"y", {2}, {}, std::vector<double>(32, -1.0)};
  // Too few draws for a tail: nothing is known about it.
  Loo loo = psis_loo(draws, likelihood);
  EXPECT_NEAR(loo.elpd, -2, 1e-12);
  EXPECT_TRUE(std::isinf(loo.pareto_k[0]));
  EXPECT_EQ(loo.bad, 2);
  // Equal weights are exact.
  draws.draws = 50;
  likelihood.values.assign(200, -1.0);
  loo = psis_loo(draws, likelihood);
  EXPECT_NEAR(loo.elpd, -2, 1e-12);
  EXPECT_EQ(loo.bad, 0);
  likelihood.values[4] = -HUGE_VAL;
  loo = psis_loo(draws, likelihood);
  EXPECT_TRUE(std::isnan(loo.pointwise[0]));
  EXPECT_NEAR(loo.pointwise[1], -1, 1e-12);
  EXPECT_EQ(loo.bad, 1);
  likelihood.values.pop_back();
  EXPECT_THROW(psis_loo(draws, likelihood), Error);
  EXPECT_THROW(waic(draws, likelihood), Error);
}

}  // namespace
}  // namespace adit
