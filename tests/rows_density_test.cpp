// Densities whose rows are spread over teams, beside the engine of tensors in f64.
#include "sample/rows_density.hpp"

#include <fmt/format.h>

#include "density_cases.hpp"
#include "sample/compile_beside.hpp"
#include "stats/model_state.hpp"

namespace adit::test {
namespace {

using namespace sampling;

Model line(int64_t rows) {
  Model m("line");
  const Tensor b = m.sample("b", normal(0, 1.5), {7}), s = m.sample("s", exponential(2));
  const Tensor x = m.data("x", tensor(normals(rows * 7, 3), {rows, 7}));
  m.observe("y", student_t(5, dot(x, b), s), tensor(normals(rows, 4)));
  return m;
}

// More columns than lanes of a subgroup; each row's product is one lane's.
Model logistic(int64_t rows) {
  Model m("logistic");
  const Tensor a = m.sample("a", normal(0, 3)), b = m.sample("b", normal(0, 1), {45});
  const Tensor x = m.data("x", tensor(normals(rows * 45, 10), {rows, 45}));
  m.observe("y", bernoulli_logit(a + 0.1 * dot(x, b)), m.data("y", tensor(places(rows, 2))));
  return m;
}

Model few_groups(int64_t rows) {
  Model m("few_groups");
  const Tensor level = m.sample("level", normal(0, 1), {6}), s = m.sample("s", half_normal(1));
  m.observe("y", student_t(5, take(level, m.data("ids", tensor(places(rows, 6)))), s),
            tensor(normals(rows, 5)));
  return m;
}

// What the rows read is computed before them, and what comes of them is read after them.
Model layers(int64_t rows) {
  Model m("layers");
  const Tensor scale = m.sample("scale", half_normal(1)), z = m.sample("z", normal(0, 1), {40});
  const Tensor weights = scale * z / sqrt(sum(square(z)) + 1);
  const Tensor x = m.data("x", tensor(normals(rows * 40, 6), {rows, 40}));
  m.observe("y", poisson_log(0.3 * dot(x, weights)), tensor(places(rows, 4)));
  m.add_log_density("bend", -log1p(sum(square(weights))));
  return m;
}

// Gradients of some numbers that do not need the rows, and others that are totals of theirs and no more.
Model hyper(int64_t rows) {
  Model m("hyper");
  const Tensor mu = m.sample("mu", normal(0, 1), {5}), s = m.sample("s", half_normal(1));
  const Tensor b = m.parameter("b", constraint::real(), {6});
  const Tensor x = m.data("x", tensor(normals(rows * 6, 13), {rows, 6}));
  m.observe("y", student_t(5, dot(x, b), 1.5), tensor(normals(rows, 14)));
  m.observe("z", normal(mu, s), tensor(normals(5, 15)));
  return m;
}

// A largest number is kept with a mark, which is no number of the sampler's.
Model bounded(int64_t rows) {
  Model m("bounded");
  const Tensor b = m.sample("b", normal(0, 1), {3});
  const Tensor x = m.data("x", tensor(normals(rows * 3, 16), {rows, 3}));
  m.add_log_density("bound", select(reduce_max(dot(x, b)) < 1e6, tensor(0.0), tensor(-1.0)));
  return m;
}

// Variables of five to thirty-two numbers whose gradient is what a loop carries back.
Model carried() {
  Model m("carried");
  const Tensor weights = m.parameter("weights", constraint::real(), {6});
  const Tensor y = m.data("y", tensor(normals(90, 17)));
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        return {{tanh(weights * carry[0] + slices[0])}, {sum(carry[0])}};
      },
      {zeros({6}, DType::f64)}, {y});
  m.add_log_density("fit", -sum(square(all.outputs[0])) - sum(square(all.carry[0])));
  return m;
}

class RowsDensityOn : public testing::TestWithParam<std::string> {};

void compare_rows(const Model& model, const std::string& id, int64_t teams) {
  SCOPED_TRACE(fmt::format("{} on {} by {} teams", model.name(), id, teams));
  const auto device = Device::open(id);
  const stats::ModelState& state = stats::state_of(model);
  const Density density = make_density(state, DType::f64);
  const auto schedule = rows_schedule(density, device->limits());
  ASSERT_TRUE(schedule);
  constexpr int64_t chains = 3;
  RowsDensity rows(state, density, *schedule, {DataSet{}}, chains, teams, device);
  std::vector<double> points = normals(chains * model.size(), 8);
  for (double& number : points) number *= 0.4;
  device->write(rows.points(), points.data(), points.size() * 8);
  rows.evaluate();
  std::vector<double> values(chains), gradients(points.size());
  device->read(rows.values(), values.data(), values.size() * 8);
  device->read(rows.gradients(), gradients.data(), gradients.size() * 8);
  for (int64_t c = 0; c < chains; ++c) {
    const auto first = points.begin() + c * model.size();
    const Tensor point = tensor(std::vector<double>(first, first + model.size()));
    const auto [value, slope] = value_and_grad([&](Tensor u) { return model.log_density(u); })(point);
    const double want = value.item<double>();
    EXPECT_NEAR(values[static_cast<size_t>(c)] + rows.constant(), want, 1e-10 * (1 + std::fabs(want)));
    const std::vector<double> slopes = slope[0].to_vector<double>();
    for (int64_t i = 0; i < model.size(); ++i)
      EXPECT_NEAR(gradients[static_cast<size_t>(c * model.size() + i)], slopes[static_cast<size_t>(i)],
                  1e-10 * (1 + std::fabs(slopes[static_cast<size_t>(i)])));
  }
}

TEST_P(RowsDensityOn, ValuesAndGradients) {
  if (!has_turn_on(device(GetParam()), 3)) GTEST_SKIP() << other_turn;
  // A software device takes long to compile.
  const std::vector<int64_t> all =
      GetParam() == "cpu" ? std::vector<int64_t>{1, 2, 37} : std::vector<int64_t>{3};
  for (const int64_t teams : all) {
    compare_rows(line(4096), GetParam(), teams);
    compare_rows(logistic(4500), GetParam(), teams);
    compare_rows(few_groups(5001), GetParam(), teams);
    compare_rows(layers(4321), GetParam(), teams);
    compare_rows(hyper(4100), GetParam(), teams);
    compare_rows(bounded(4700), GetParam(), teams);
  }
}

// What else comes of the rows than some totals is not for this.
TEST(RowsDensity, OthersAreLeftToTheEngine) {
  Limits limits;
  limits.max_lanes = 256;
  limits.shared_bytes = 48 * 1024;
  limits.lanes_by_hand = true;
  const auto is_spread = [&](const Model& model) {
    return rows_schedule(make_density(stats::state_of(model), DType::f64), limits).has_value();
  };
  EXPECT_TRUE(is_spread(line(4096)));
  EXPECT_FALSE(is_spread(line(4095)));
  EXPECT_TRUE(is_spread(bounded(5000)));
  Model groups("groups");
  const Tensor level = groups.sample("level", normal(0, 1), {50});
  groups.observe("y", normal(take(level, tensor(places(6000, 50))), 1), tensor(normals(6000, 5)));
  EXPECT_FALSE(is_spread(groups));
  Model walk("walk");
  const Tensor steps = walk.sample("steps", normal(0, 1), {5000});
  walk.observe("y", normal(steps, 1), tensor(normals(5000, 5)));
  EXPECT_FALSE(is_spread(walk));
}

// As any layout: told, repeated to the bit, the same posterior as another one's; several data sets.
TEST_P(RowsDensityOn, ALayoutOfItsOwn) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  SampleOptions options{.chains = 2, .warmup = 30, .draws = 10};
  options.device = GetParam();
  options.precision = Precision::f64;
  options.max_depth = 3;
  options.layout = "device:3";
  const Draws spread = sample(few_groups(4200), options);
  EXPECT_EQ(spread.layout, "device:3");
  const Draws again = sample(few_groups(4200), options);
  EXPECT_EQ(spread.variable("level").values, again.variable("level").values);
  options.layout = "device";
  options.draws = 1;
  options.warmup = 0;
  options.step_size = 1e-3;
  const Draws engine = sample(few_groups(4200), options);
  EXPECT_EQ(engine.layout, "device");
  options.layout = "device:3";
  const Draws close = sample(few_groups(4200), options);
  for (size_t i = 0; i < engine.stats.lp.size(); ++i)
    EXPECT_NEAR(close.stats.lp[i], engine.stats.lp[i], 1e-6 * std::fabs(engine.stats.lp[i]));

  const Model model = few_groups(4200);
  const std::vector<Draws> many =
      sample_many(model, {{"ids", stack({tensor(places(4200, 6)), tensor(places(4200, 5))}, 0)}}, options);
  ASSERT_EQ(many.size(), 2u);
  EXPECT_NEAR(many[0].stats.lp[0], close.stats.lp[0], 1e-9 * std::fabs(close.stats.lp[0]));
  EXPECT_NE(many[0].stats.lp[0], many[1].stats.lp[0]);
}

// A leaf of a short trajectory has one density, however it was computed.
TEST_P(RowsDensityOn, ShortGradientsInEveryLayout) {
  if (!has_turn_on(device(GetParam()), 3)) GTEST_SKIP() << other_turn;
  for (const Model& model : {carried(), hyper(300)}) {
    SampleOptions options{.chains = 2, .warmup = 0, .draws = 2};
    options.device = GetParam();
    options.precision = Precision::f64;
    options.max_depth = 2;
    options.step_size = 1e-3;
    options.init_radius = 0.4;
    std::vector<double> first;
    std::vector<const char*> layouts{"lane", "team"};  // a software device takes long to compile
    if (GetParam() == "cpu") layouts.insert(layouts.end(), {"team:64:buffer", "device"});
    for (const char* layout : layouts) {
      SCOPED_TRACE(model.name() + " " + layout);
      options.layout = layout;
      const Draws draws = sample(model, options);
      if (first.empty()) first = draws.stats.lp;
      for (size_t i = 0; i < first.size(); ++i)
        EXPECT_NEAR(draws.stats.lp[i], first[i], 1e-8 * (1 + std::fabs(first[i])));
    }
  }
}

TEST_P(RowsDensityOn, ALayoutThatAModelDoesNotHave) {
  SampleOptions options{.chains = 1, .warmup = 5, .draws = 5};
  options.device = GetParam();
  options.layout = "device:3";
  try {
    sample(few_groups(100), options);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("[sample] layout: expected device"), std::string::npos)
        << error.what();
  }
}

// What goes wrong with a kernel is told by whoever waits for it, and one that nobody waits for is no harm.
TEST_P(RowsDensityOn, ErrorsOfKernelsThatAreCompiledBeside) {
  const auto device = Device::open(GetParam());
  const auto program = [](uint32_t length) {
    kernel::Builder k("large", kernel::Team::many(4));
    const auto z = k.buffer("z", kernel::Type::f32, kernel::Access::write);
    const auto near = k.shared(kernel::Type::f32, length);
    k.once([&] { near[0u] = 1; });
    k.once([&] { z[k.team()] = near[0u]; });
    return k.finish();
  };
  const kernel::Program good = program(16), bad = program(1 << 24);
  auto one = compile_beside(device, good), other = compile_beside(device, bad),
       again = compile_beside(device, good);
  try {
    other.get();
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  }
  EXPECT_EQ(one.get(), again.get());
  const auto unheeded = compile_beside(device, bad);
}

INSTANTIATE_TEST_SUITE_P(, RowsDensityOn, testing::ValuesIn(device_ids()), test_name);

}  // namespace
}  // namespace adit::test
