// Random models: value and gradient of the sampler's kernels beside the tensor engine, and short runs in
// every layout beside each other.
#include "density_cases.hpp"
#include "sampling/drive.hpp"
#include "sampling/random_model.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

constexpr uint64_t shares = 10;  // tests that run side by side

class ModelFuzz : public testing::TestWithParam<uint64_t> {};

// `usual` of each share.
void each_model(uint64_t usual, const std::function<void(uint64_t)>& body) {
  each_seed(usual * shares, body, ModelFuzz::GetParam(), shares);
}

// By turns in a lane and on a team: compiling both for each takes most of the time.
TEST_P(ModelFuzz, DensitiesOnTheCpu) {
  each_model(2, [](uint64_t seed) {
    const Placement placement = (seed / shares) % 2 ? Placement::lane : Placement::team;
    compare_density(RandomModel(seed).make(), placement == Placement::lane ? "lane" : "team", "cpu",
                    placement, DType::f64, 1e-9, seed);
  });
}

// Those with loops once more, whose gradients keep as little as can be.
TEST_P(ModelFuzz, LoopsInBlocks) {
  each_model(10, [](uint64_t seed) {
    const Model model = RandomModel(seed).make();
    const stats::ModelState& state = stats::state_of(model);
    if (sampling::make_density(state, DType::f64, 1).loop_numbers == lower::any_loop_numbers) return;
    const Placement placement = (seed / shares) % 2 ? Placement::lane : Placement::team;
    compare_density(model, placement == Placement::lane ? "lane" : "team", "cpu", placement, DType::f64, 1e-9,
                    seed, 1);
  });
}

// A software device compiles slowly: few.
TEST_P(ModelFuzz, DensitiesOnGpus) {
  for (const std::string& id : device_ids()) {
    if (id == "cpu" || !device(id).limits().float64) continue;
    if (device(id).info().kind == DeviceKind::software && GetParam() > 1 && !has_own_rounds()) continue;
    each_model(device(id).info().kind == DeviceKind::software ? 1 : 50, [&](uint64_t seed) {
      for (const Placement placement : {Placement::lane, Placement::team}) {
        const Model model = RandomModel(seed).make();
        try {
          compare_density(model, placement == Placement::lane ? "lane" : "team", id, placement, DType::f64,
                          1e-9, seed);
        } catch (const Error& error) {  // loops that are too long for the device
          EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what();
        }
      }
    });
  }
}

// Energies of short runs beside f64, in one layout after the other. How many were compared: of some models
// loops are too long for the device, others have no density at any point of a run.
int check_energies(uint64_t seed, const std::string& id) {
  const Model model = RandomModel(seed).make();
  SampleOptions options;
  options.device = id;
  options.chains = 4;
  options.warmup = 0;
  options.draws = 4;
  options.max_depth = 3;
  options.step_size = 0.01;
  options.init_radius = 0.5;
  options.seed = seed;
  options.placement = std::array{Placement::lane, Placement::team, Placement::device}[seed / shares % 3];
  // In f32 errors are 1e-6 to 5e-4, in mixed 2e-8 to 1e-5; the largest are those of loops, which stay in f32.
  int compared = 0;
  for (const auto& [precision, most] : {std::pair(Precision::f32, 1e-2), std::pair(Precision::mixed, 1e-4)}) {
    options.precision = precision;
    try {
      const double error = sample(model, options).energy_error;
      EXPECT_LT(error, most);
      compared += error > 0;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what();
    }
  }
  return compared;
}

// The next model is taken where nothing could be compared.
void expect_energies(uint64_t seed, const std::string& id) {
  for (uint64_t i = 0; i < 20 && !testing::Test::HasFailure(); ++i)
    if (check_energies(seed + 1000 * shares * i, id) > 0) return;
  ADD_FAILURE() << "none of 20 models was compared";
}

TEST_P(ModelFuzz, EnergiesOnTheCpu) {
  each_model(1, [](uint64_t seed) { expect_energies(seed, "cpu"); });
}

// A software device compiles slowly: one model.
TEST_P(ModelFuzz, EnergiesOnGpus) {
  for (const std::string& id : device_ids()) {
    const auto& on = device(id);
    if (id == "cpu" || !on.limits().float64) continue;
    const bool is_slow = on.info().kind == DeviceKind::software;
    if (is_slow && GetParam() > 0 && !has_own_rounds()) continue;
    each_model(is_slow ? 1 : 10, [&](uint64_t seed) { expect_energies(seed, id); });
  }
}

struct Layout {
  std::string name;
  Placement placement;
  sampling::Forced forced;
};

std::vector<Layout> layouts_of(const Device& on) {
  using sampling::Home;
  std::vector<Layout> layouts{{"device", Placement::device, {}},
                              {"lane in an array", Placement::lane, {.lanes = 1, .home = Home::array}},
                              {"lane in the buffer", Placement::lane, {.lanes = 1, .home = Home::buffer}},
                              {"vector in an array", Placement::lane, {.lanes = 4, .home = Home::array}},
                              {"vector in the buffer", Placement::lane, {.lanes = 4, .home = Home::buffer}},
                              {"team in the buffer", Placement::team, {.lanes = 32, .home = Home::buffer}}};
  if (on.info().kind == DeviceKind::cpu) return layouts;
  layouts.push_back(
      {"lanes in shared memory", Placement::lane, {.lanes = 4, .home = Home::shared, .slots = 0}});
  layouts.push_back({"team split", Placement::team, {.lanes = 32, .home = Home::split}});
  layouts.push_back({"team in shared memory", Placement::team, {.lanes = 32, .home = Home::shared}});
  return layouts;
}

// Three short transitions of four chains. Trajectories are short enough that the order of sums does not part
// them.
void compare_layouts(uint64_t seed, const std::string& id) {
  SampleOptions options;
  options.chains = 4;
  options.warmup = 0;
  options.draws = 3;
  options.max_depth = 2;
  options.step_size = 1e-3;
  options.init_radius = 0.3;
  options.seed = seed;
  options.precision = Precision::f64;
  std::optional<Outcome> first;
  uint64_t number = seed;
  for (const Layout& layout : layouts_of(device(id))) {
    SCOPED_TRACE(layout.name);
    // Beside the first, one in three.
    if (first && !is_its_turn(number++, 3) && !has_own_rounds()) continue;
    const Model model = RandomModel(seed).make();
    options.placement = layout.placement;
    Outcome outcome;
    try {
      outcome = run_model(model, options, id, {{}}, {}, layout.forced);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what();
      continue;
    }
    if (!first) {
      first = outcome;
      continue;
    }
    ASSERT_EQ(outcome.values.size(), first->values.size());
    double most = 0;
    for (size_t i = 0; i < outcome.values.size(); ++i)
      most =
          std::max(most, std::abs(outcome.values[i] - first->values[i]) / (1 + std::abs(first->values[i])));
    EXPECT_LT(most, 1e-6);
  }
}

TEST_P(ModelFuzz, LayoutsOnTheCpu) {
  each_model(1, [](uint64_t seed) { compare_layouts(seed, "cpu"); });
}
TEST_P(ModelFuzz, LayoutsOnGpus) {
  for (const std::string& id : device_ids()) {
    const auto& on = device(id);
    if (id == "cpu" || !on.limits().float64) continue;
    const bool is_software = on.info().kind == DeviceKind::software;
    if (is_software && (GetParam() > 0 || !has_turn(3)) && !has_own_rounds()) continue;
    each_model(is_software ? 1 : 10, [&](uint64_t seed) { compare_layouts(seed, id); });
  }
}

INSTANTIATE_TEST_SUITE_P(Shares, ModelFuzz, testing::Range(uint64_t{0}, shares));

}  // namespace
}  // namespace adit::test
