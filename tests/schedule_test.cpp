// Which passes named densities get, so that a model that falls off to a slow way fails a test.
#include "density/schedule.hpp"

#include <fmt/format.h>

#include "density_cases.hpp"
#include "stats/model_state.hpp"

namespace adit::test {
namespace {

using sampling::Schedule;

Schedule schedule_of(const Model& model, bool by_team, bool on_cpu, const sampling::TeamShape& team = {}) {
  // A schedule points into the density's graph.
  static std::vector<std::shared_ptr<sampling::Density>> kept;
  kept.push_back(
      std::make_shared<sampling::Density>(sampling::make_density(stats::state_of(model), DType::f64)));
  return sampling::make_schedule(*kept.back(), by_team, on_cpu, team);
}

int64_t count(const Schedule& schedule, const std::string& words) {
  const std::string text = to_text(schedule);
  int64_t found = 0;
  for (size_t at = 0; (at = text.find(words, at)) != std::string::npos; ++at) ++found;
  return found;
}

// Two crossed indices and a residual that costs something.
Model crossed(int64_t groups, int64_t rows) {
  Model m("crossed");
  const Tensor a = m.sample("a", normal(0, 1), {groups}), b = m.sample("b", normal(0, 1), {7});
  const Tensor ids = m.data("ids", tensor(places(rows, groups))),
               items = m.data("items", tensor(places(rows, 7)));
  m.observe("y", bernoulli_logit(take(a, ids) + take(b, items)), tensor(places(rows, 2)));
  return m;
}

TEST(Schedules, GroupsOfAnyNumberAreSummedByTheirLists) {
  for (const int64_t groups : {5, 17, 32, 33, 60, 500, 5000}) {
    SCOPED_TRACE(groups);
    const int64_t rows = 1200;
    const Schedule team = schedule_of(crossed(groups, rows), true, true);
    EXPECT_EQ(count(team, "segments indexed_add"), 2) << to_text(team);
    EXPECT_EQ(count(team, "place"), 0);
    // One number an observation, however many indices there are, and the sums.
    EXPECT_LE(team.scratch, rows + groups + 7 + 3 * (sampling::line_numbers - 1)) << to_text(team);
  }
}

TEST(Schedules, AGpuKeepsScratchByRowsAtMostOnceAnIndex) {
  for (const int64_t groups : {17, 33, 60, 500}) {
    const Schedule team = schedule_of(crossed(groups, 1200), true, false);
    EXPECT_LE(team.scratch, 2 * 1200 + 2 * groups + 64) << groups << "\n" << to_text(team);
  }
}

// However many groups there are: one pass over the rows, and sums by segments or masks; nothing is computed
// again for a target.
TEST(Schedules, AGpuSumsGroupsOfAnyNumberInOnePass) {
  for (const int64_t lanes : {32, 64, 256})
    for (const int64_t groups : {5, 17, 32, 33, 60, 64, 65, 500, 5000}) {
      SCOPED_TRACE(fmt::format("{} groups, {} lanes", groups, lanes));
      const sampling::TeamShape shape{.lanes = lanes, .subgroup = 32, .short_result = 4};
      const Schedule team = schedule_of(crossed(groups, 1200), true, false, shape);
      EXPECT_EQ(count(team, "pass of 1200"), 1) << to_text(team);
      EXPECT_EQ(count(team, "store indexed_add"), 0) << to_text(team);
      EXPECT_EQ(count(team, "segments indexed_add"), groups > 16 ? 1 : 0) << to_text(team);
      EXPECT_EQ(count(team, "own sums"), groups > 16 && groups * lanes <= 1200 ? 1 : 0) << to_text(team);
      EXPECT_LE(team.scratch, 1200 + groups) << to_text(team);
    }
}

// What is touched most often lies near the lanes, as far as there is room; the rest lies behind it.
TEST(Schedules, ScratchLiesNearAsFarAsThereIsRoom) {
  const Model m = crossed(60, 1200);
  int64_t all = 0;
  for (const int64_t near : {0, 59, 60, 500, 1200, 1300, 100000}) {
    const sampling::TeamShape shape{.lanes = 64, .subgroup = 32, .near = near, .short_result = 4};
    const Schedule team = schedule_of(m, true, false, shape);
    EXPECT_LE(team.near, near);
    if (near == 0) all = team.scratch;
    EXPECT_GE(team.near, near >= 60 ? 60 : 0);
    EXPECT_GE(team.near, near >= 1300 ? team.scratch : 0);
    EXPECT_LE(team.scratch, all + 60);
  }
}

// A sum over 33 to 64 groups is shared out: every lane would do all of it.
TEST(Schedules, SumsOverGroupsAreSharedOut) {
  for (const int64_t groups : {20, 33, 60, 64, 65}) {
    Model m("slopes");
    const Tensor scale = m.sample("scale", half_normal(1)), z = m.sample("z", normal(0, 1), {groups});
    m.observe("y", poisson_log(take(scale * z, tensor(places(900, groups)))), tensor(places(900, 5)));
    const sampling::TeamShape shape{.lanes = 64, .subgroup = 32, .short_result = 4};
    const Schedule team = schedule_of(m, true, false, shape);
    EXPECT_GE(count(team, fmt::format("pass of {}", groups)), 1) << to_text(team);
    EXPECT_GE(count(team, "totals sum"), 2) << to_text(team);  // the value, and the derivative by the scale
  }
}

TEST(Schedules, ProductsWithDataGoByLinesInTiles) {
  Model m("logistic");
  const Tensor b = m.sample("b", normal(0, 1), {70});
  m.observe("y", bernoulli_logit(dot(m.data("x", tensor(normals(530 * 70, 1), {530, 70})), b)),
            tensor(places(530, 2)));
  const Schedule team = schedule_of(m, true, true);
  EXPECT_EQ(count(team, "by rows"), 1) << to_text(team);
  EXPECT_EQ(count(team, "by columns"), 1) << to_text(team);
  int64_t tiles = 0;
  for (const sampling::Pass& pass : team.passes) tiles += pass.tile > 0;
  EXPECT_EQ(tiles, 1) << to_text(team);
}

// Rows of a tile lie one behind the other; those of f64 in memory of f32 do not.
TEST(Schedules, TilesKeepNumbersOfTheirChains) {
  for (const sampling::Wide wide : {sampling::Wide::totals, sampling::Wide::value})
    for (const int64_t rows : {530, 8192}) {
      Model m("logistic");
      const Tensor b = m.sample("b", normal(0, 1), {40});
      m.observe("y", bernoulli_logit(dot(m.data("x", tensor(normals(rows * 40, 1), {rows, 40})), b)),
                tensor(places(rows, 2)));
      const sampling::Density density = sampling::make_density(stats::state_of(m), {DType::f32, wide});
      const Schedule team = sampling::make_schedule(density, true, true);
      EXPECT_EQ(team.of_a_tile.empty(), wide == sampling::Wide::value && rows == 530) << to_text(team);
      for (const graph::Node* node : team.of_a_tile) EXPECT_EQ(node->type, DType::f32) << to_text(team);
    }
}

// The derivative with respect to a number that every row uses many times is one total.
TEST(Schedules, SumsThatAreAddedAreOne) {
  Model m("counts");
  const Tensor level = m.sample("level", normal(0, 1)), dispersion = m.sample("dispersion", exponential(1));
  const Tensor slope = m.sample("slope", normal(0, 1));
  m.observe("y", neg_binomial_2(exp(level + slope * m.data("x", tensor(normals(300, 2)))), dispersion),
            tensor(places(300, 9)));
  for (const bool on_cpu : {true, false}) {
    const Schedule team = schedule_of(m, true, on_cpu);
    EXPECT_LE(count(team, "totals"), 9) << to_text(team);  // 16 with a sum for each use of the dispersion
    ASSERT_EQ(team.passes.size(), 2u) << to_text(team);    // all rows, and those whose counts differ
    EXPECT_FALSE(team.passes[0].limit);
    EXPECT_TRUE(team.passes[1].limit);
  }
}

TEST(Schedules, MatricesShareMemory) {
  const int64_t n = 40;
  Model m("process");
  const Tensor length = m.sample("length", exponential(1));
  const Tensor x = tensor(normals(n, 3), {n, 1});
  const Tensor kernel = exp(-square(x - transpose(x, {1, 0})) / length) + 0.1 * as_type(eye(n), DType::f64);
  m.observe("y", multi_normal(zeros({n}, DType::f64), kernel), tensor(normals(n, 4)));
  for (const bool on_cpu : {true, false}) {
    const Schedule team = schedule_of(m, true, on_cpu);
    EXPECT_LE(team.scratch, 5 * n * n) << to_text(team);
  }
}

// A loop carries what its gradient needs and no more; a map is no loop.
TEST(Schedules, LoopsCarryWhatIsNeeded) {
  Model m("loop");
  const Tensor a = m.sample("a", normal(0, 1)), unused = m.sample("unused", normal(0, 1));
  const Tensor y = m.data("y", tensor(normals(100, 5)));
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor next = tanh(a * carry[0] + slices[0]);
        return {{next, carry[1] + unused * slices[0]}, {next, carry[1]}};
      },
      {a, a}, {y});
  m.add_log_density("fit", -sum(square(all.outputs[0])));
  const Schedule lane = schedule_of(m, false, true);
  EXPECT_EQ(count(lane, "control scan"), 2) << to_text(lane);  // forward and back
  // The carry before each step and the output: 200 numbers; cotangents are made where they are read.
  EXPECT_LE(lane.scratch, 330) << to_text(lane);

  Model mapped("mapped");
  const Tensor b = mapped.sample("b", normal(0, 1), {40});
  mapped.add_log_density("fit", -sum(square(map([](const Tensor& x) { return sin(x) * x; }, b))));
  EXPECT_EQ(count(schedule_of(mapped, false, true), "control"), 0);
}

// A matrix of few columns is read once for the product and for the gradient, tile by tile.
TEST(Schedules, ManyTotalsGoWithThePassBeforeThem) {
  for (const int64_t columns : {7, 12, 24, 31}) {
    Model m("regression");
    const Tensor b = m.sample("b", normal(0, 1), {columns}), sigma = m.sample("sigma", half_normal(1));
    const Tensor x =
        m.data("x", tensor(std::vector<double>(static_cast<size_t>(2000 * columns), 0.5), {2000, columns}));
    m.observe("y", cauchy(dot(x, b), sigma), tensor(std::vector<double>(2000, 1.5)));
    const Schedule team = schedule_of(m, true, true);
    ASSERT_EQ(team.passes.size(), 2U) << columns << to_text(team);
    EXPECT_EQ(team.passes[0].tiled, 2U) << columns;
    EXPECT_GT(team.passes[0].tile, 0) << columns;
  }
}

// The rows of a sum of squares do not matter: as many remain as there are columns, the offset's among them.
TEST(Schedules, SquaresOfLinearFormsAreShort) {
  for (const int64_t rows : {200, 20000}) {
    Model m("regression");
    const Tensor b = m.sample("b", normal(0, 1), {5}), sigma = m.sample("sigma", half_normal(1));
    const Tensor x = m.data("x", full({rows, 5}, 0.5, DType::f64));
    m.observe("y", normal(dot(x, b), sigma), full({rows}, 1.5, DType::f64));
    EXPECT_LE(schedule_of(m, true, true).scratch, 40) << rows;
    const auto density = sampling::make_density(stats::state_of(m), DType::f64);
    ASSERT_EQ(density.square_sums.size(), 1U);
    EXPECT_EQ(density.square_sums[0].columns, 6);
  }
}

// Squares of residuals that are linear in few unknowns are those of as many rows as there are columns.
TEST(Schedules, SquaresOfManyResidualsBecomeThoseOfFew) {
  Model m("regression");
  const int64_t rows = 2000, columns = 5;
  const Tensor a = m.sample("a", normal(0, 1)), b = m.sample("b", normal(0, 1), {columns});
  const Tensor sigma = m.sample("sigma", half_normal(1));
  const Tensor x = m.data("x", tensor(normals(rows * columns, 6), {rows, columns})),
               t = m.data("t", tensor(normals(rows, 7)));
  m.observe("y", normal(a * 2 - t * (a * sigma) + dot(x, b) / sigma, sigma * 3), tensor(normals(rows, 8)));
  for (const bool on_cpu : {true, false}) {
    const Schedule team = schedule_of(m, true, on_cpu);
    EXPECT_EQ(count(team, "pass of 2000"), 0) << to_text(team);
    EXPECT_LE(team.work, 200) << to_text(team);
  }
}

// A loop in blocks keeps about the square root of what its states, slices and outputs are, also where the
// number of steps has no divisor.
TEST(Schedules, LoopsInBlocksKeepLittle) {
  for (const int64_t steps : {10000, 10007}) {
    Model m("loop");
    const Tensor a = m.sample("a", beta(2, 2), {4}), b = m.sample("b", normal(0, 1), {4}),
                 s = m.sample("s", exponential(1));
    const Tensor y = m.data("y", tensor(normals(steps, 3)));
    const Step all = scan(
        [&](const Tensors& carry, const Tensors& slices) -> Step {
          const Tensor next = tanh(a * carry[0] + slices[0]);
          return {{next}, {sum(next)}};
        },
        {b}, {b * reshape(y, {steps, 1})});
    m.observe("y", normal(all.outputs[0], s), y);
    const Schedule kept = schedule_of(m, false, true);
    const auto density = sampling::make_density(stats::state_of(m), DType::f64, 1000);
    EXPECT_EQ(density.loop_numbers, 1000);
    const Schedule blocks = sampling::make_schedule(density, false, true);
    EXPECT_GT(kept.scratch, 8 * steps);
    EXPECT_LT(blocks.scratch, 32 * 100) << to_text(blocks);
    // Below that, nothing changes.
    EXPECT_EQ(sampling::make_density(stats::state_of(m), DType::f64, 100 * steps).loop_numbers,
              lower::any_loop_numbers);
  }
}

// What a factorisation reads of a covariance, and the sums over its gradient, are half of it on a CPU.
TEST(Schedules, CovariancesAreMadeInTheLowerTriangle) {
  const auto model_of = [](int64_t n, bool is_read_whole) {
    Model m("covariance");
    const Tensor length = m.sample("length", exponential(1)), z = m.sample("z", normal(0, 1), {n});
    const Tensor at = m.data("at", tensor(normals(n, 9)));
    const Tensor kernel =
        exp(-0.5 * square((reshape(at, {n, 1}) - at) / length)) + as_type(eye(n), DType::f64);
    m.observe("y", normal(dot(cholesky(kernel), z), 1.0), zeros({n}, DType::f64));
    if (is_read_whole) m.add_log_density("whole", -sum(square(kernel)));
    return m;
  };
  const auto lower_passes = [](const Model& m, bool on_cpu) {
    const auto density =
        sampling::make_density(stats::state_of(m), DType::f64, lower::any_loop_numbers, on_cpu);
    return count(sampling::make_schedule(density, true, on_cpu), "lower triangle");
  };
  EXPECT_EQ(lower_passes(model_of(40, false), true), 3);
  EXPECT_EQ(lower_passes(model_of(40, false), false), 0);
  EXPECT_EQ(lower_passes(model_of(5, false), true), 0);
  EXPECT_LE(lower_passes(model_of(40, true), true), 2);  // the covariance itself is whole
}

// Rows of two kinds, as where an `if` parts them. What is of one kind alone is not computed at all rows, nor
// on the way back what the way there had the exponential of.
TEST(Schedules, RowsOfTwoKindsAreComputedOnce) {
  Model m("two kinds");
  const Tensor a = m.sample("a", normal(0, 1), {400}), b = m.sample("b", normal(0, 1), {5});
  const Tensor logits = reshape(a, {400, 1}) + reshape(b, {1, 5});
  const Tensor seen = log_sigmoid(slice(logits, {0, 0}, {90, 5}));
  const Tensor unseen = sum(log_sigmoid(-slice(logits, {90, 0}, {310, 5})), {1});
  m.add_log_density("seen", sum(seen));
  m.add_log_density("unseen", sum(softplus(unseen)));
  const Schedule team = schedule_of(m, true, true);
  EXPECT_EQ(count(team, "store sigmoid [90, 5]"), 1) << to_text(team);
  EXPECT_EQ(count(team, "store sigmoid [310, 5]"), 1) << to_text(team);
  EXPECT_EQ(count(schedule_of(m, true, false), "[90, 5]"), 1)
      << "on a GPU: " << to_text(schedule_of(m, true, false));
}

// A score of rows, each of many operations: a team goes over them in a pass. Written out, they would be most
// of the kernel and of the time that it takes to compile.
TEST(Schedules, FewRowsOfManyOperationsAreAPass) {
  const auto model_of = [](int64_t rows, bool costs) {
    Model m("few rows");
    const Tensor a = m.sample("a", normal(0, 1), {rows});
    Tensor x = a;
    for (int i = 0; i < 4 && costs; ++i) x = log_sigmoid(x) + lgamma(exp(x) + 1.0);
    m.add_log_density("rows", sum(softplus(x)));
    return m;
  };
  for (const bool on_cpu : {true, false}) {
    EXPECT_GE(count(schedule_of(model_of(22, true), true, on_cpu), "pass of 22"), 1);
    EXPECT_EQ(count(schedule_of(model_of(22, false), true, true), "pass of 22"), 0);
    EXPECT_EQ(count(schedule_of(model_of(8, true), true, true), "pass of 8"), 0);
  }
}

// A function of what is taken by group is a function of the groups.
TEST(Schedules, FunctionsOfGroupsAreComputedOnceAGroup) {
  const auto model_of = [](bool with_rows) {
    Model m("scales by group");
    const Tensor a = m.sample("a", normal(0, 1), {40}), s = m.sample("s", normal(0, 1));
    std::vector<int32_t> group;
    std::vector<double> numbers;
    for (int i = 0; i < 900; ++i) group.push_back(i * 7 % 40), numbers.push_back(std::sin(i));
    const Tensor places = tensor(group, {900}), y = tensor(numbers, {900});
    const Tensor scale = exp((with_rows ? take(a, places) * y : take(a, places)) * 0.5 - s);
    m.add_log_density("rows", sum(tanh(y * scale)));
    return m;
  };
  const Schedule team = schedule_of(model_of(false), true, true);
  EXPECT_EQ(count(team, "store exp [40]"), 1) << to_text(team);
  const Schedule rows = schedule_of(model_of(true), true, true);
  EXPECT_EQ(count(rows, "exp [40]"), 0) << to_text(rows);
}

// A filter's covariance: each product of small matrices is written out, or computed once and read from
// memory, whatever its size. Written where it is read, it would be computed again for every element of the
// next one.
TEST(Schedules, ProductsOfProductsAreComputedOnce) {
  for (const int64_t size : {3, 4, 5, 6, 7, 8, 10, 12})
    for (const bool by_team : {false, true}) {
      SCOPED_TRACE(fmt::format("{} states, {}", size, by_team ? "team" : "lane"));
      Model m("filter");
      const Tensor noise = m.sample("noise", half_normal(1), {size});
      const Tensor turn = tensor(std::vector<double>(static_cast<size_t>(size * size), 0.1), {size, size});
      const Tensors last =
          scan(
              [&](const Tensors& state, const Tensors&) -> Step {
                const Tensor ahead = matmul(matmul(turn, state[0]), transpose(turn)) +
                                     expand_dims(noise, 0) * expand_dims(noise, 1);
                const Tensor gain = dot(ahead, full({size}, 0.3, DType::f64));
                return {{ahead - expand_dims(gain, 1) * expand_dims(gain, 0) / (1.0 + sum(gain))},
                        {sum(gain)}};
              },
              {full({size, size}, 0.5, DType::f64)}, {full({20}, 1.0, DType::f64)})
              .carry;
      m.add_log_density("last", -sum(last[0]));
      const Schedule schedule = schedule_of(m, by_team, true);
      if (size <= 5) {  // in registers
        EXPECT_EQ(count(schedule, "store dot"), 0) << to_text(schedule);
      }
      for (const auto& [node, control] : schedule.controls)
        for (const Schedule& step : control->functions)
          for (const sampling::Pass& pass : step.passes)
            EXPECT_LE(pass.cost, 60 * static_cast<double>(size)) << to_text(schedule);
    }
}

}  // namespace
}  // namespace adit::test
