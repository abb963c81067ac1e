// Forward algorithms that densities of a CPU compute in scaled numbers, beside the tensor engine, which
// computes them in logarithms as they are written.
#include <adit/stan.hpp>

#include "density/density.hpp"
#include "density_cases.hpp"
#include "graph/control.hpp"
#include "graph/op.hpp"
#include "stats/model_state.hpp"

namespace adit::test {
namespace {

struct Kind {
  int64_t states, length, lanes;
  double spread;          // of what is seen, in logarithms
  double impossible = 0;  // the share of moves that cannot be
  bool from_stack = false, inside = false, in_pairs = false, reads_states = false;
};

Tensor pair_sum(const Tensor& a, const Tensor& b) {
  const Tensor larger = select(a > b, a, b), smaller = select(a > b, b, a);
  const Tensor gap = select(is_infinity(larger), full({}, 0.0, DType::f64), smaller - larger);
  return larger + log1p(exp(gap));
}

// Moves are weights in the place of chances; some are -infinity, never those to the next state.
Model forward(const Kind& kind, uint64_t seed) {
  const int64_t k = kind.states, n = kind.lanes;
  Model m("forward");
  const Tensor weights = m.sample("weights", normal(0, 1), {k, k});
  const Tensor levels = m.sample("levels", normal(0, 1), {k});
  const Tensor y = m.data("y", tensor(normals(kind.length * n, seed), {kind.length, n}));
  std::mt19937_64 random(seed);
  std::vector<double> closed;
  for (int64_t i = 0; i < k * k; ++i) {
    const bool is_open =
        i % k == (i / k + 1) % k || std::uniform_real_distribution<>()(random) >= kind.impossible;
    closed.push_back(is_open ? 0 : -INFINITY);
  }
  const Tensor moves = weights + tensor(closed, {k, k});
  const auto seen = [&](const Tensor& value) {
    return -kind.spread * square(reshape(value, {n, 1}) - levels);
  };
  const auto column = [&](const Tensor& x, int64_t j) { return reshape(slice(x, {0, j}, {n, 1}), {n}); };
  const auto step = [&](const Tensors& carry, const Tensors& slices) -> Step {
    const Tensor here = seen(slices[0]);
    Tensor next;
    if (kind.in_pairs) {
      Tensors columns;
      for (int64_t to = 0; to < k; ++to) {
        const auto way = [&](int64_t from) {
          return column(carry[0], from) + reshape(slice(moves, {from, to}, {1, 1}), {});
        };
        columns.push_back(reshape(pair_sum(way(0), way(1)), {n, 1}));
      }
      next = concatenate(columns, 1) + here;
    } else {
      Tensor ways = reshape(carry[0], {n, k, 1}) + moves;
      if (kind.inside) ways = ways + reshape(here, {n, 1, k});
      next = logsumexp(ways, {1});
      if (!kind.inside) next = next + here;
    }
    return {{next}, {next}};
  };
  const Tensor first = seen(full({n}, 0.3, DType::f64));
  const Step all = scan(step, {first}, {y});
  Tensor last = all.carry[0];
  if (kind.from_stack)
    last = reshape(
        slice(concatenate({reshape(first, {1, n, k}), all.outputs[0]}), {kind.length, 0, 0}, {1, n, k}),
        {n, k});
  m.add_log_density("forward", 1 / (1 + kind.spread) * sum(logsumexp(last, {1})));
  if (kind.reads_states) m.add_log_density("one", -0.01 / (1 + kind.spread) * sum(square(column(last, 0))));
  return m;
}

bool is_scaled(const Model& model) {
  const sampling::Density density =
      sampling::make_density(stats::state_of(model), DType::f64, lower::any_loop_numbers, true);
  for (const Tensor& x : graph::reachable(Tensors{density.value}, true)) {
    if (graph::node_of(x).op != graph::Op::scan) continue;
    for (const Tensor& inner : graph::reachable(graph::about(x).functions[0]->results, true))
      if (graph::node_of(inner).op == graph::Op::bitcast) return true;
  }
  return false;
}

void compare(const Kind& kind, uint64_t seed) {
  const Model model = forward(kind, seed);
  EXPECT_TRUE(is_scaled(model)) << seed;
  // In one of both, the other one with the next seed.
  for (const Placement placement : {Placement::lane, Placement::team})
    if (is_in_share(seed + (placement == Placement::lane), 2))
      compare_density(model, std::to_string(seed), "cpu", placement, DType::f64, 1e-10, seed);
}

class ScaledStates : public testing::Test {
  void SetUp() override {
    const std::vector<std::string> ids = device_ids();
    if (std::find(ids.begin(), ids.end(), "cpu") == ids.end()) GTEST_SKIP() << "no cpu";
  }
};

TEST_F(ScaledStates, Forms) {
  compare({.states = 3, .length = 50, .lanes = 1, .spread = 1}, 1);
  compare({.states = 3, .length = 50, .lanes = 1, .spread = 1, .from_stack = true}, 2);
  compare({.states = 3, .length = 30, .lanes = 1, .spread = 1, .inside = true}, 3);
  compare({.states = 2, .length = 30, .lanes = 1, .spread = 1, .in_pairs = true}, 4);
  compare({.states = 2, .length = 20, .lanes = 4, .spread = 1, .from_stack = true, .in_pairs = true}, 5);
  compare({.states = 5, .length = 20, .lanes = 3, .spread = 1, .inside = true}, 6);
  compare({.states = 3, .length = 25, .lanes = 1, .spread = 1, .reads_states = true}, 7);
}

// States so far apart that powers of some are 0, and moves that cannot be: what may be lost is not.
TEST_F(ScaledStates, FarApart) {
  for (const double spread : {30.0, 1e3, 1e5})
    for (const double impossible : {0.0, 0.6})
      for (const bool reads : {false, true})
        compare({.states = 3,
                 .length = 40,
                 .lanes = reads ? 2 : 1,
                 .spread = spread,
                 .impossible = impossible,
                 .reads_states = reads},
                static_cast<uint64_t>(spread) + (reads ? 1 : 0));
}

TEST_F(ScaledStates, Random) {
  std::mt19937_64 random(7);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  for (uint64_t i = 0; i < 6; ++i) {
    Kind kind{.states = 2 + below(7), .length = 4 + below(40), .lanes = 1 + below(3), .spread = 1};
    kind.spread = std::exp(std::uniform_real_distribution<>(-2, 8)(random));
    kind.impossible = below(2) == 0 ? 0 : 0.5;
    kind.from_stack = below(2) == 0;
    kind.inside = below(2) == 0;
    kind.in_pairs = kind.states == 2 && below(2) == 0;
    kind.reads_states = below(4) == 0;
    compare(kind, 100 + i);
  }
}

// A state that goes on alone, faint for some steps, and all that is left in the end.
TEST_F(ScaledStates, OneAlone) {
  for (const double depth : {10.0, 400.0, 1000.0}) {
    Model m("alone");
    const Tensor level = m.sample("level", normal(0, 1), {2});
    std::vector<double> low(40, 0.0);
    low[4] = -depth;
    for (size_t t = 5; t < 15; ++t) low[2 * t + 1] = -0.3 * depth;
    const Tensor seen = m.data("seen", tensor(low, {20, 2}));
    const auto step = [&](const Tensors& carry, const Tensors& slices) -> Step {
      const Tensor a = slice(carry[0], {0}, {1}), b = slice(carry[0], {1}, {1});
      const Tensor next =
          concatenate({a + 0.3 * slice(level, {0}, {1}), pair_sum(a + slice(level, {1}, {1}), b)});
      return {{next + slices[0]}, {}};
    };
    m.add_log_density("forward", 1 / (1 + depth) * logsumexp(scan(step, {level}, {seen}).carry[0]));
    EXPECT_TRUE(is_scaled(m));
    compare_density(m, std::to_string(depth), "cpu", Placement::lane, DType::f64, 1e-10, 3);
  }
}

// A lane that stays, but for what is seen of it: its states go on alone, and may be lost.
void compare_staying(bool is_seen_apart) {
  constexpr int64_t length = 20;
  Model m("stay");
  const Tensor moves = m.sample("moves", normal(0, 1), {2, 2});
  std::vector<double> logs(length * 4, -1.0), mask(length * 2, 0.0);
  for (size_t t = 0; t < 5; ++t) logs[t * 4] = logs[t * 4 + 2] = -200;
  for (size_t t = 10; t < 15; ++t) logs[t * 4 + 1] = logs[t * 4 + 3] = -350;
  for (const size_t t : {0, 1, 18, 19}) mask[t * 2] = mask[t * 2 + 1] = 1;
  const Tensor seen = m.data("seen", tensor(logs, {length, 2, 2}));
  const Tensor is_moved = m.data("is_moved", tensor(mask, {length, 2}));
  const auto step = [&](const Tensors& carry, const Tensors& x) -> Step {
    const Tensor is_other = reshape(x[1], {2, 1}) > 0.5;
    const Tensor moved = logsumexp(reshape(carry[0], {2, 2, 1}) + moves, {1});
    const Tensor before = select(is_other, moved, carry[0]);
    if (is_seen_apart) return {{before + x[0]}, {before}};
    return {{select(is_other, moved + x[0], carry[0] + x[0])}, {}};
  };
  const Tensor first = reshape(slice(moves, {0, 0}, {1, 2}), {1, 2}) + zeros({2, 2}, DType::f64);
  const Tensor last = scan(step, {first}, {seen, is_moved}).carry[0];
  m.add_log_density("forward", 1e-3 * sum(logsumexp(last, {1})));
  compare_density(m, "stay", "cpu", Placement::lane, DType::f64, 1e-10, 3);
}
TEST_F(ScaledStates, LanesThatStay) {
  compare_staying(false);
  compare_staying(true);
}

// States along the first axis, one of which stays: that is no lane of its own.
TEST_F(ScaledStates, StatesThatStay) {
  constexpr int64_t length = 20;
  Model m("stay");
  const Tensor moves = m.sample("moves", normal(0, 1), {2, 2});
  std::vector<double> logs(length * 4, 0.0);
  for (size_t t = 0; t < 5; ++t) logs[t * 4 + 2] = logs[t * 4 + 3] = 200;
  for (size_t t = 10; t < 15; ++t) logs[t * 4 + 2] = logs[t * 4 + 3] = -350;
  const Tensor seen = m.data("seen", tensor(logs, {length, 2, 2}));
  const Tensor is_moved = m.data("is_moved", tensor(std::vector<double>{0, 1}, {2, 1}));
  const auto step = [&](const Tensors& carry, const Tensors& x) -> Step {
    const Tensor moved = logsumexp(reshape(carry[0], {2, 1, 2}) + reshape(moves, {2, 2, 1}), {0}) + x[0];
    return {{select(is_moved > 0.5, moved, carry[0])}, {}};
  };
  const Tensor first = reshape(slice(moves, {0, 0}, {2, 1}), {2, 1}) + zeros({2, 2}, DType::f64);
  m.add_log_density("forward", 1e-3 * logsumexp(scan(step, {first}, {seen}).carry[0], {0, 1}));
  compare_density(m, "stay", "cpu", Placement::lane, DType::f64, 1e-10, 3);
}

// stan_model_test holds the tensor engine's numbers of these against its interpreter.
TEST_F(ScaledStates, StanPrograms) {
  for (const char* name : {"forward_alone", "forward_masked", "forward_unreached"}) {
    const std::string path = std::string(ADIT_STAN_PROGRAMS) + "/" + name;
    const Model model = StanProgram(path + ".stan").model(path + ".json");
    EXPECT_TRUE(is_scaled(model)) << name;
    for (const uint64_t seed : {1, 2})
      compare_density(model, name, "cpu", Placement::lane, DType::f64, 1e-10, seed);
  }
}

// Where nothing can be the density is -infinity, and no NaN.
TEST_F(ScaledStates, NothingCanBe) {
  Model m("never");
  const Tensor level = m.sample("level", normal(0, 1), {2});
  std::vector<double> closed(12, 0.0);
  closed[6] = closed[7] = -INFINITY;
  const Tensor seen = m.data("seen", tensor(closed, {6, 2})) + level;
  const auto step = [&](const Tensors& carry, const Tensors& slices) -> Step {
    return {{logsumexp(reshape(carry[0], {2, 1}) + reshape(level, {1, 2}) * 0.5, {0}) + slices[0]}, {}};
  };
  m.add_log_density("forward", logsumexp(scan(step, {level}, {seen}).carry[0]));
  EXPECT_TRUE(is_scaled(m));
  const LeapfrogKernel kernel(m, {.type = DType::f64, .device = "cpu", .placement = Placement::lane});
  const Tensor q = tensor({0.1, 0.2});
  EXPECT_EQ(reshape(kernel(q, q, 0.01, 1).log_densities, {}).item<double>(), -INFINITY);
}

// What is no number stays so: it is not what cannot be.
TEST_F(ScaledStates, NotANumber) {
  Model m("none");
  const Tensor level = m.sample("level", normal(0, 1), {2});
  const Tensor seen = m.data("seen", tensor(normals(12, 5), {6, 2}));
  const auto step = [&](const Tensors& carry, const Tensors& x) -> Step {
    return {{logsumexp(reshape(carry[0], {2, 1}) + reshape(level, {1, 2}) * 0.5, {0}) + x[0] * sqrt(level)},
            {}};
  };
  m.add_log_density("forward", logsumexp(scan(step, {level}, {seen}).carry[0]));
  EXPECT_TRUE(is_scaled(m));
  const LeapfrogKernel kernel(m, {.type = DType::f64, .device = "cpu", .placement = Placement::lane});
  const LeapfrogChain chain = kernel(tensor({0.01, 0.2}), tensor({-5.0, 0.0}), 0.01, 1);  // to below 0
  EXPECT_LT(reshape(chain.positions, {2}).to_vector<double>()[0], 0);
  EXPECT_TRUE(std::isnan(reshape(chain.log_densities, {}).item<double>()));
}

// Two carried vectors, that go on by themselves or lead to each other as well.
Model in_two(bool meet) {
  Model m("two");
  const Tensor a = m.sample("a", normal(0, 1), {3}), b = m.sample("b", normal(0, 1), {3});
  const Tensor y = m.data("y", tensor(normals(60, 3), {20, 3}));
  const auto step = [&](const Tensors& carry, const Tensors& x) -> Step {
    const auto on = [](const Tensor& from, const Tensor& to) {
      return logsumexp(reshape(from, {3, 1}) + reshape(to, {1, 3}), {0});
    };
    return {{on(carry[meet ? 1 : 0], a) + x[0], on(carry[meet ? 0 : 1], b) - x[0]}, {}};
  };
  const Step all = scan(step, {a, b}, {y});
  m.add_log_density("one", logsumexp(all.carry[0]));
  m.add_log_density("other", logsumexp(all.carry[1]));
  return m;
}

// One scale for both would soon be none for one of them, where nothing leads from the other to it.
TEST_F(ScaledStates, Apart) {
  EXPECT_TRUE(is_scaled(in_two(true)));
  EXPECT_FALSE(is_scaled(in_two(false)));
  for (const bool meet : {false, true})
    compare_density(in_two(meet), meet ? "meet" : "apart", "cpu", Placement::lane, DType::f64, 1e-10, 4);
}

// Sums that go on, and loops whose states others read, stay as they are.
TEST_F(ScaledStates, Others) {
  Model sums("sums");
  const Tensor a = sums.sample("a", normal(0, 1), {3});
  const Tensor y = sums.data("y", tensor(normals(30, 3), {10, 3}));
  const auto add = [&](const Tensors& carry, const Tensors& x) -> Step {
    return {{carry[0] + x[0] * a}, {}};
  };
  sums.add_log_density("sum", -square(logsumexp(scan(add, {a}, {y}).carry[0])));
  EXPECT_FALSE(is_scaled(sums));
  Model read("read");
  const Tensor b = read.sample("b", normal(0, 1), {3});
  const Tensor z = read.data("z", tensor(normals(30, 4), {10, 3}));
  const auto step = [&](const Tensors& carry, const Tensors& x) -> Step {
    const Tensor next = logsumexp(reshape(carry[0], {3, 1}) + reshape(b, {1, 3}), {0}) + x[0];
    return {{next}, {square(next)}};
  };
  read.add_log_density("sum", -sum(scan(step, {b}, {z}).outputs[0]));
  EXPECT_FALSE(is_scaled(read));
}

}  // namespace
}  // namespace adit::test
