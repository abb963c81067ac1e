// The built-in models: log densities against closed forms, gradients against finite differences, both
// precisions, many points at once.
#include <map>

#include <adit/sample.hpp>
#include <adit/transform.hpp>

#include "cli/models/models.hpp"
#include "devices.hpp"
#include "model_densities.hpp"
#include "stats/model_state.hpp"

namespace adit::test {
namespace {

// The numbers of an unconstrained point, taken one after the other.
class Point {
 public:
  explicit Point(const Numbers& u) : u_(u) {}
  double next() { return u_.at(at_++); }
  Numbers next(size_t count) {
    Numbers part;
    for (size_t i = 0; i < count; ++i) part.push_back(next());
    return part;
  }
  // A positive number, x = exp(u); its Jacobian is noted.
  double positive() {
    const double u = next();
    jacobian += u;
    return std::exp(u);
  }
  bool at_end() const { return at_ == u_.size(); }
  double jacobian = 0;

 private:
  const Numbers& u_;
  size_t at_ = 0;
};

Numbers data_of(const Model& model, const std::string& name) {
  for (const auto& d : stats::state_of(model).data)
    if (d.name == name) return as_type(d.value, DType::f64).to_vector<double>();
  ADD_FAILURE() << "no data named " << name;
  return {};
}

using Reference = double (*)(const Model&, Point&);

double eight_schools(const Model& m, Point& p, bool centred) {
  const Numbers y = data_of(m, "y"), sigma = data_of(m, "sigma");
  const double mu = p.next(), tau = p.positive();
  double lp = normal_lp(mu, 0, 5) + half_cauchy_lp(tau, 5);
  const Numbers z = p.next(8);
  for (size_t j = 0; j < 8; ++j) {
    const double theta = centred ? z[j] : mu + tau * z[j];
    lp += (centred ? normal_lp(z[j], mu, tau) : normal_lp(z[j], 0, 1)) + normal_lp(y[j], theta, sigma[j]);
  }
  return lp;
}
double radon(const Model& m, Point& p) {
  const Numbers u = data_of(m, "uranium"), floor = data_of(m, "floor"),
                county = data_of(m, "county_of_house"), y = data_of(m, "y");
  const double g0 = p.next(), g1 = p.next(), b = p.next(), sa = p.positive(), sy = p.positive();
  double lp = normal_lp(g0, 0, 10) + normal_lp(g1, 0, 10) + normal_lp(b, 0, 10) + half_cauchy_lp(sa, 5) +
              half_cauchy_lp(sy, 5);
  const Numbers z = p.next(85);
  for (const double v : z) lp += normal_lp(v, 0, 1);
  for (size_t i = 0; i < y.size(); ++i) {
    const auto c = static_cast<size_t>(county[i]);
    lp += normal_lp(y[i], g0 + g1 * u[c] + sa * z[c] + b * floor[i], sy);
  }
  return lp;
}
double simple(const Model& m, Point& p) {
  const double mu = p.next(), sigma = p.positive();
  double lp = normal_lp(mu, 0, 10) + exponential_lp(sigma, 1);
  for (const double y : data_of(m, "y")) lp += normal_lp(y, mu, sigma);
  return lp;
}
double medium(const Model& m, Point& p) {
  const double mu = p.next(), sigma = p.positive(), alpha = p.next(), beta = p.next(), noise = p.positive();
  double lp = normal_lp(mu, 0, 10) + exponential_lp(sigma, 1) + normal_lp(alpha, mu, sigma) +
              normal_lp(beta, mu, sigma) + exponential_lp(noise, 2);
  for (const double y : data_of(m, "y_alpha")) lp += normal_lp(y, alpha, noise);
  for (const double y : data_of(m, "y_beta")) lp += normal_lp(y, beta, noise);
  return lp;
}
double stress(const Model& m, Point& p) {
  const double mu = p.next(), sigma = p.positive();
  double lp = normal_lp(mu, 0, 10) + exponential_lp(sigma, 0.5);
  const Numbers group = p.next(3), noise{p.positive(), p.positive(), p.positive()}, y = data_of(m, "y");
  for (size_t i = 0; i < 3; ++i) lp += normal_lp(group[i], mu, sigma) + exponential_lp(noise[i], 1);
  for (size_t i = 0; i < y.size(); ++i) lp += normal_lp(y[i], group[i % 3], noise[i % 3]);
  return lp;
}
double funnel(const Model&, Point& p) {
  const double y = p.next();
  double lp = normal_lp(y, 0, 3);
  for (const double x : p.next(9)) lp += normal_lp(x, 0, std::exp(y / 2));
  return lp;
}
double regression(const Model& m, Point& p, size_t columns, double wide, double narrow) {
  const Numbers x = data_of(m, "X"), y = data_of(m, "y");
  const double a = p.next();
  const Numbers b = p.next(columns);
  double lp = normal_lp(a, 0, wide);
  for (const double v : b) lp += normal_lp(v, 0, narrow);
  for (size_t i = 0; i < y.size(); ++i) {
    double logit = a;
    for (size_t j = 0; j < columns; ++j) logit += x[i * columns + j] * b[j];
    lp += bernoulli_lp(y[i], logit);
  }
  return lp;
}
double volatility(const Model& m, Point& p) {
  const double sigma = p.positive(), nu = p.positive();
  const Numbers s = p.next(100), r = data_of(m, "r");
  double lp = exponential_lp(sigma, 50) + exponential_lp(nu, 0.1);
  for (size_t t = 0; t < 100; ++t)
    lp += normal_lp(s[t], t == 0 ? 0 : s[t - 1], sigma) + student_t_lp(r[t], nu, std::exp(s[t]));
  return lp;
}
double regime(const Model& m, Point& p) {
  const double mu_trend = p.next(), s_trend = p.positive(), mu_mr = p.next(), theta = p.positive(),
               s_mr = p.positive(), s_vol = p.positive(), w1 = p.next(), w2 = p.next();
  double lp = normal_lp(mu_trend, 0, 1) + half_cauchy_lp(s_trend, 1) + normal_lp(mu_mr, 0, 0.5) +
              half_cauchy_lp(theta, 1) + half_cauchy_lp(s_mr, 1) + half_cauchy_lp(s_vol, 2) +
              normal_lp(w1, 0, 1) + normal_lp(w2, 0, 1);
  const double whole = 1 + std::exp(w1) + std::exp(w2);
  for (const double y : data_of(m, "y"))
    lp += std::log((std::exp(normal_lp(y, 0, s_vol)) + std::exp(w1 + normal_lp(y, mu_trend, s_trend)) +
                    std::exp(w2 + normal_lp(y, 0, s_mr))) /
                   whole);
  return lp;
}

const std::map<std::string, Reference> references{
    {"eight_schools_centered", [](const Model& m, Point& p) { return eight_schools(m, p, true); }},
    {"eight_schools_noncentered", [](const Model& m, Point& p) { return eight_schools(m, p, false); }},
    {"radon", radon},
    {"simple", simple},
    {"medium", medium},
    {"stress", stress},
    {"funnel", funnel},
    {"logistic", [](const Model& m, Point& p) { return regression(m, p, 20, 10, 10); }},
    {"logistic_large", [](const Model& m, Point& p) { return regression(m, p, 25, 5, 1); }},
    {"sv", volatility},
    {"regime", regime}};

double reference_at(const Model& model, Reference reference, const Numbers& u) {
  Point point(u);
  const double lp = reference(model, point);
  EXPECT_TRUE(point.at_end());
  return lp + point.jacobian;
}

// The gradient at a point against differences of the closed form.
void expect_gradient(const Model& model, Reference reference, const Numbers& u) {
  const auto slope = grad([&](Tensor x) { return model.log_density(x); })(tensor(u)).to_vector<double>();
  ASSERT_EQ(slope.size(), u.size());
  for (size_t i = 0; i < u.size(); ++i) {
    const double step = 1e-5;
    Numbers up = u, down = u;
    up[i] += step;
    down[i] -= step;
    const double difference =
        (reference_at(model, reference, up) - reference_at(model, reference, down)) / (2 * step);
    EXPECT_NEAR(slope[i], difference, 1e-5 * (1 + std::abs(difference))) << "at " << i;
  }
}

class ExampleModels : public OnDevice {
 protected:
  void SetUp() override {
    on();
    set_default_device(Device::open(GetParam()));
  }
};

TEST_P(ExampleModels, DensitiesAndGradients) {
  const bool slow = on().info().kind == DeviceKind::software;
  for (const std::string& name : example_names()) {
    SCOPED_TRACE(name);
    if (slow && name != "eight_schools_noncentered" && name != "stress" && name != "regime") continue;
    const Model model = example_model(name);
    ASSERT_TRUE(references.contains(name));
    EXPECT_FALSE(example_doc(name).empty());
    for (const uint64_t seed : {1u, 2u, 3u}) {
      const Numbers u = random_point(model.size(), seed);
      const double want = reference_at(model, references.at(name), u);
      EXPECT_NEAR(density_at(model, u), want, 1e-12 * std::abs(want));
    }
    expect_gradient(model, references.at(name), random_point(model.size(), 4));
  }
}

TEST_P(ExampleModels, SinglePrecision) {
  for (const std::string name : {"eight_schools_noncentered", "simple", "stress", "sv", "regime"}) {
    SCOPED_TRACE(name);
    if (on().info().kind == DeviceKind::software && name == "sv") continue;
    const Model model = example_model(name);
    const Numbers u = random_point(model.size(), 5);
    const Tensor narrow = as_type(tensor(u), DType::f32).eval();
    const Tensor lp = model.log_density(narrow);
    EXPECT_EQ(lp.dtype(), DType::f32);
    const double want = density_at(model, u);
    EXPECT_NEAR(lp.item<float>(), want, 1e-5 * std::abs(want));
    const auto slope = grad([&](Tensor x) { return model.log_density(x); })(narrow).to_vector<float>();
    const auto wide = grad([&](Tensor x) { return model.log_density(x); })(tensor(u)).to_vector<double>();
    for (size_t i = 0; i < wide.size(); ++i) EXPECT_NEAR(slope[i], wide[i], 2e-4 * (1 + std::abs(wide[i])));
  }
}

// Many points at once: by at_points and by vmap, against a loop.
TEST_P(ExampleModels, ManyPoints) {
  const Model model = example_model("eight_schools_noncentered");
  Numbers all, want, theta;
  for (const uint64_t seed : {1u, 2u, 3u}) {
    const Numbers u = random_point(model.size(), seed);
    all.insert(all.end(), u.begin(), u.end());
    want.push_back(reference_at(model, references.at("eight_schools_noncentered"), u));
    for (size_t j = 0; j < 8; ++j) theta.push_back(u[0] + std::exp(u[1]) * u[2 + j]);
  }
  const Tensor points = tensor(all, {3, model.size()});
  const auto batched = vmap([&](Tensor u) { return model.log_density(u); })(points).to_vector<double>();
  const auto& state = stats::state_of(model);
  const Tensors kept = stats::at_points(
      state, {state.deterministics[0].value, state.terms.back().pointwise, state.data[0].placeholder},
      points);
  const auto values = kept[0].to_vector<double>();
  EXPECT_EQ(to_string(kept[0].shape()), "[3, 8]");
  EXPECT_EQ(to_string(kept[1].shape()), "[3, 8]");
  EXPECT_EQ(to_string(kept[2].shape()), "[3, 8]");  // the same for all, repeated
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(batched[i], want[i], 1e-12 * std::abs(want[i]));
  for (size_t i = 0; i < 24; ++i) EXPECT_NEAR(values[i], theta[i], 1e-14 * (1 + std::abs(theta[i])));
}

INSTANTIATE_TEST_SUITE_P(Examples, ExampleModels, testing::ValuesIn(device_ids()), test_name);

// What a reader of draws sees of a model.
std::string face_of(const Model& model) {
  const stats::ModelState& state = stats::state_of(model);
  std::string face = state.name + "\n";
  const auto add = [&](const auto& list) {
    for (const auto& one : list) {
      face += one.name + " " + to_string(one.shape);
      for (const std::string& dim : one.dims) face += " " + dim;
      face += "\n";
    }
  };
  add(state.variables);
  add(state.deterministics);
  add(state.observations);
  for (const auto& [name, plate] : state.plates) {
    face += name + " " + std::to_string(plate.size);
    for (const std::string& label : plate.coordinates) face += " " + label;
    face += "\n";
  }
  return face;
}

// The Stan programs of the command are the models in C++: names, axes, densities up to a constant (a half
// Cauchy is a Cauchy of positive numbers there), and the log likelihood and the values of every observation.
TEST(Examples, ProgramsAreTheModels) {
  set_default_device(Device::open("cpu"));
  int programs = 0;
  for (const std::string& name : example_names()) {
    SCOPED_TRACE(name);
    const std::optional<Model> program = examples::program_model(name);
    if (!program) continue;
    ++programs;
    const Model model = example_model(name);
    EXPECT_EQ(face_of(*program), face_of(model));
    const Numbers here = random_point(model.size(), 1), there = random_point(model.size(), 2);
    const double want = density_at(model, there) - density_at(model, here);
    EXPECT_NEAR(density_at(*program, there) - density_at(*program, here), want, 1e-11 * std::abs(want));
    const auto& ours = stats::state_of(model);
    const auto& theirs = stats::state_of(*program);
    ASSERT_EQ(theirs.observations.size(), ours.observations.size());
    for (size_t i = 0; i < ours.observations.size(); ++i) {
      const auto of = [&](const stats::ModelState& state) {
        const Tensor all =
            stack({state.terms[state.observations[i].term].pointwise, state.observations[i].value});
        return stats::at_point(state, {all}, tensor(here))[0].to_vector<double>();
      };
      const Numbers a = of(theirs), b = of(ours);
      ASSERT_EQ(a.size(), b.size());
      for (size_t j = 0; j < a.size(); ++j) EXPECT_NEAR(a[j], b[j], 1e-11 * (1 + std::abs(b[j]))) << j;
    }
  }
  EXPECT_EQ(programs, 9);
}

TEST(Examples, Lists) {
  EXPECT_EQ(example_names().size(), references.size());
  EXPECT_EQ(example_model("radon").size(), 90);
  EXPECT_EQ(example_model("sv").size(), 102);
  EXPECT_EQ(example_model("logistic_large").size(), 26);
  EXPECT_THROW(example_model("radom"), Error);
  for (const char* family : {"normal", "exponential", "student_t", "cauchy", "half_normal", "weibull", "beta",
                             "gamma", "lognormal"}) {
    const Model model = family_model(family, 5);
    EXPECT_EQ(model.size(), 5) << family;
    EXPECT_TRUE(std::isfinite(density_at(model, {-1, -0.5, 0, 0.5, 1}))) << family;
  }
  const double x = std::exp(0.3);  // weibull(2, 1.5), as the predecessors write it: k q - (x / 1.5)^k
  EXPECT_NEAR(density_at(family_model("weibull", 1), {0.3}),
              2 * 0.3 - x * x / 2.25 + std::log(2.0) - 2 * std::log(1.5), 1e-14);
  EXPECT_THROW(family_model("normal", 0), Error);
  EXPECT_THROW(family_model("poisson", 1), Error);
}

}  // namespace
}  // namespace adit::test
