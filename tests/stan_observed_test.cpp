// Statements `y ~ distribution(...)` of data: log likelihoods and predictive draws without a word in the
// program.
#include <cmath>
#include <gtest/gtest.h>

#include <adit/sample.hpp>
#include <adit/stan.hpp>
#include <adit/tensor.hpp>

#include "seeds.hpp"

namespace adit::test {
namespace {

const char* const data =
    R"({"N": 6, "x": [1, 2, 3, 4, 5, 6], "y": [1.5, 1, 3, 4.5, 5, 7], "k": [0, 1, 3, 2, 4, 9]})";

Model model_of(const std::string& text) {
  set_default_device(Device::open("cpu"));
  return StanProgram::from_text("m", text).bind_json(data).model;
}

std::string program(const std::string& statements, const std::string& rest = "") {
  return "data { int N; vector[N] x; vector[N] y; array[N] int k; }\n"
         "parameters { real a; real b; real<lower=0> sigma; }\n"
         "model { a ~ normal(0, 1); b ~ normal(0, 1); sigma ~ exponential(1);\n" +
         statements + "}\n" + rest;
}

SampleOptions quick() {
  SampleOptions options;
  options.device = "cpu";
  options.chains = 2;
  options.warmup = 200;
  options.draws = 500;
  options.log_likelihood = options.posterior_predictive = true;
  return options;
}

template <class Variable>
const Variable& named(const std::vector<Variable>& list, const std::string& name) {
  for (const Variable& one : list)
    if (one.name == name) return one;
  throw Error(ErrorKind::not_found, "no " + name);
}

TEST(StanObserved, LogLikelihoodsAreThoseOfGeneratedQuantities) {
  const Draws draws =
      sample(model_of(program("y ~ normal(a + b * x, sigma);\n"
                              "for (n in 1:N) k[n] ~ poisson_log(a + 0.5 * b * x[n]);\n",
                              "generated quantities { vector[N] of_y; vector[N] of_k;\n"
                              "for (n in 1:N) { of_y[n] = normal_lpdf(y[n] | a + b * x[n], sigma);\n"
                              "of_k[n] = poisson_log_lpmf(k[n] | a + 0.5 * b * x[n]); } }\n")),
             quick());
  ASSERT_EQ(draws.log_likelihood.size(), 2u);
  for (const char* name : {"y", "k"}) {
    const DrawsVariable &found = named(draws.log_likelihood, name),
                        &want = named(draws.variables, std::string("of_") + name);
    ASSERT_EQ(to_string(found.shape), "[6]");
    ASSERT_EQ(found.values.size(), want.values.size());
    for (size_t i = 0; i < want.values.size(); ++i) ASSERT_NEAR(found.values[i], want.values[i], 1e-9) << i;
  }
  EXPECT_EQ(named(draws.observed, "k").values, (std::vector<double>{0, 1, 3, 2, 4, 9}));
  // Of new data: their mean is that of what they are drawn around.
  const DrawsVariable &drawn = named(draws.posterior_predictive, "y"), &a = named(draws.variables, "a"),
                      &b = named(draws.variables, "b");
  double mean = 0, want = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    mean += drawn.values[6 * i + 3];
    want += a.values[i] + 4 * b.values[i];
  }
  EXPECT_NEAR(mean / 1000, want / 1000, 0.3);
  for (const double count : named(draws.posterior_predictive, "k").values)
    EXPECT_TRUE(count >= 0 && count == std::round(count)) << count;
}

struct Way {
  const char* statements;  // of the likelihood of y, and how its elements are distributed
  const char* density;
};

// In whatever parts and order statements speak of all elements: together they are one likelihood.
TEST(StanObserved, PartsAndStepsAreOneLikelihood) {
  const Way ways[] = {
      {"real m = 0; for (n in 1:N) { y[n] ~ normal(m, sigma); m = a + 0.5 * tanh(b * m); }",
       "real m = 0; for (n in 1:N) { of_y[n] = normal_lpdf(y[n] | m, sigma); m = a + 0.5 * tanh(b * m); }"},
      {"real m = a; y[1] ~ normal(a, 2 * sigma);\n"
       "for (n in 2:N) { m = a + b * m; y[n] ~ student_t(4, m, sigma); }",
       "real m = a; of_y[1] = normal_lpdf(y[1] | a, 2 * sigma);\n"
       "for (n in 2:N) { m = a + b * m; of_y[n] = student_t_lpdf(y[n] | 4, m, sigma); }"},
      {"for (n in 1:N) y[N - n + 1] ~ normal(a + b * n, sigma);",
       "for (n in 1:N) of_y[N - n + 1] = normal_lpdf(y[N - n + 1] | a + b * n, sigma);"},
      {"y[{2, 4}] ~ normal(a, sigma); y[1] ~ normal(b, sigma); y[3] ~ normal(0, sigma);\n"
       "y[5:] ~ normal(a * b, sigma);",
       "for (n in 1:N) of_y[n] = normal_lpdf(y[n] | n == 1 ? b : n == 3 ? 0 : n < 5 ? a : a * b, sigma);"},
      {"for (n in 1:N) if (k[n] > 2) y[n] ~ normal(a, sigma); else y[n] ~ normal(b, sigma);",
       "for (n in 1:N) of_y[n] = normal_lpdf(y[n] | k[n] > 2 ? a : b, sigma);"}};
  uint64_t number = 0;
  for (const int64_t repeats : {1, 5})  // few rounds are written out, many become steps
    for (const Way& way : ways) {
      if (!is_in_share(number++, 3)) continue;
      const std::string data_of = repeats == 1 ? data : [] {
        std::string x, y, k;
        for (int i = 0; i < 30; ++i) {
          const std::string comma = i > 0 ? "," : "";
          x += comma + std::to_string(i), y += comma + std::to_string(i % 7),
              k += comma + std::to_string(i % 5);
        }
        return R"({"N": 30, "x": [)" + x + R"(], "y": [)" + y + R"(], "k": [)" + k + "]}";
      }();
      set_default_device(Device::open("cpu"));
      SampleOptions options = quick();
      options.warmup = 100, options.draws = 50;
      const Draws draws =
          sample(StanProgram::from_text(
                     "m", program(way.statements, std::string("generated quantities { vector[N] of_y; {") +
                                                      way.density + "} }\n"))
                     .bind_json(data_of)
                     .model,
                 options);
      ASSERT_EQ(draws.log_likelihood.size(), 1u) << way.statements;
      const DrawsVariable &found = draws.log_likelihood[0], &want = named(draws.variables, "of_y");
      ASSERT_EQ(found.shape, want.shape) << way.statements;
      ASSERT_EQ(found.values.size(), want.values.size()) << way.statements;
      for (size_t i = 0; i < want.values.size(); ++i)
        ASSERT_NEAR(found.values[i], want.values[i], 1e-9 * (1 + std::fabs(want.values[i])))
            << way.statements << i;
      EXPECT_EQ(named(draws.posterior_predictive, "y").values.size(), want.values.size()) << way.statements;
    }
}

// What covers a variable in part, or not alone, is no likelihood of it.
TEST(StanObserved, OtherStatementsAreTermsAlone) {
  const char* const others[] = {"y[2:N] ~ normal(a, sigma);",
                                "for (n in 2:N) y[n] ~ normal(a, sigma);",
                                "y ~ normal(a, sigma); y ~ normal(b, sigma);",
                                "y ~ normal(a, sigma); y ~ normal(b, sigma); y ~ normal(b, sigma);",
                                "y ~ normal(a, sigma) T[0, ];",
                                "y - x ~ normal(a, sigma);",
                                "target += normal_lpdf(y | a, sigma);",
                                "for (n in 1:N) if (a > 0) y[n] ~ normal(a, sigma);",
                                "y ~ multi_normal(rep_vector(a, N), identity_matrix(N));"};
  for (const char* statement : others) {
    SampleOptions options = quick();
    try {
      sample(model_of(program(statement)), options);
      ADD_FAILURE() << statement;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("expected a model with observations"), std::string::npos)
          << statement << ": " << error.what();
    }
    options.log_likelihood = options.posterior_predictive = false;
    options.warmup = options.draws = 20;
    EXPECT_EQ(sample(model_of(program(statement)), options).draws, 20) << statement;
  }
}

}  // namespace
}  // namespace adit::test
