// Long graphs compile in time proportional to their length, and none is too deep: kernels have a length at
// which they are cut, chains that repeat themselves share them, and nothing recurses over a graph.
#include <cmath>
#include <ctime>
#include <gtest/gtest.h>
#include <random>
#include <set>

#include <adit/adit.hpp>

#include "../bench/compile_families.hpp"
#include "compile/compile.hpp"
#include "compile/structure.hpp"
#include "devices.hpp"
#include "lower/memory_plan.hpp"
#include "small_stack.hpp"

namespace adit::test {
namespace {

using growth::Family;

std::shared_ptr<Device> opened(const std::string& id) { return device(id).shared_from_this(); }

const Family& family(const std::string& name) {
  static const std::vector<Family> all = growth::families();
  for (const Family& one : all)
    if (one.name == name) return one;
  throw std::runtime_error("no family " + name);
}

std::vector<kernel::Program> programs_of(const Tensors& roots) {
  const std::lock_guard lock(graph::graph_lock());
  const compile::Structure structure = compile::describe(roots, 1);
  std::vector<kernel::Program> programs;
  compile::compile(*default_device(), roots, structure.inputs, structure.numbers, {}, &programs);
  std::erase_if(programs, [](const kernel::Program& p) { return p.instructions.empty(); });
  return programs;
}

class OnCpu : public testing::Test {
 protected:
  void SetUp() override {
    const auto ids = device_ids();
    if (std::find(ids.begin(), ids.end(), "cpu") == ids.end()) GTEST_SKIP() << "no cpu device";
    set_default_device(opened("cpu"));
  }
};

// --- Kernels -----------------------------------------------------------------------------------------------

class Kernels : public OnCpu {
 protected:
  size_t longest(const std::string& name, int n) {
    size_t most = 0;
    for (const auto& program : programs_of(family(name).make(n)))
      most = std::max(most, program.instructions.size());
    return most;
  }
  std::pair<size_t, size_t> all_and_distinct(const std::string& name, int n) {
    const auto programs = programs_of(family(name).make(n));
    std::set<std::string> hashes;
    for (const auto& program : programs) hashes.insert(kernel::content_hash(program));
    return {programs.size(), hashes.size()};
  }
};

TEST_F(Kernels, OfLongGraphsAreCut) {
  for (const char* name :
       {"stack", "stack last axis", "concatenate", "sum of tensors", "tree of tensors", "stack of products",
        "sum of products", "plain chain", "nested where", "gathers", "ladder", "slices", "many outputs"})
    EXPECT_LE(longest(name, 2000), 3000u) << name;
  EXPECT_LE(longest("sin chain", 1200), 8000u);
}

// x and its neighbours: without a cut three times as much is written for every round.
TEST_F(Kernels, OfStencilsDoNotMultiply) {
  const auto rounds = [](Tensor x, int n) {
    for (int i = 0; i < n; ++i) {
      const Tensor left = concatenate({slice(x, {1}, {15}), slice(x, {0}, {1})});
      x = 0.5 * x + 0.25 * left + 0.25 * reverse(x, {0});
    }
    return x;
  };
  size_t most = 0;
  for (const auto& program : programs_of({rounds(growth::small(0, {16}), 12)}))
    most = std::max(most, program.instructions.size());
  EXPECT_LE(most, 4000u);
}

TEST_F(Kernels, OfChainsThatRepeatAreEqual) {
  for (const auto& [name, most] : {std::pair("sin chain", 6), std::pair("plain chain", 6),
                                   std::pair("sum of tensors", 6), std::pair("stack of products", 4)}) {
    const auto [all, distinct] = all_and_distinct(name, 1500);
    EXPECT_LE(distinct, static_cast<size_t>(most)) << name << ", of " << all;
  }
  const auto [all, distinct] = all_and_distinct("grad sin chain", 1200);
  EXPECT_LE(distinct, 24u) << "of " << all;
}

TEST_F(Kernels, OfOrdinaryChainsAreOne) {
  EXPECT_EQ(programs_of({growth::chained_plain(growth::small(0, {5000}), 300)}).size(), 1u);
  EXPECT_EQ(programs_of({growth::chained(growth::small(0, {5000}), 12)}).size(), 1u);
}

// --- Time --------------------------------------------------------------------------------------------------

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

class Growth : public testing::TestWithParam<std::string> {};

// Four times the graph takes about four times as long: eight is not linear any more. What is over before a
// clock notices counts as a quarter of a second.
TEST_P(Growth, IsLinear) {
  const auto ids = device_ids();
  if (std::find(ids.begin(), ids.end(), "cpu") == ids.end()) GTEST_SKIP() << "no cpu device";
  if (!has_turn(3)) GTEST_SKIP() << other_turn;
  set_default_device(Device::open("cpu"));
  const Family& one = family(GetParam());
  const auto time = [&](int n) {
    const double start = cpu_seconds();
    eval(one.make(n));
    return cpu_seconds() - start;
  };
  const double before = time(one.size / 8), after = time(one.size / 2);
  EXPECT_LE(after, 8 * std::max(before, 0.25)) << before << " s, then " << after << " s";
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const Family& one : growth::families()) list.push_back(one.name);
  return list;
}
INSTANTIATE_TEST_SUITE_P(Families, Growth, testing::ValuesIn(names()), [](const auto& family) {
  std::string name = family.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

// Of thousands of rows that wait for each other none looks at all that came before it.
TEST_F(OnCpu, ThousandsOfReductionsTakeTimeInProportion) {
  const auto time = [](int n) {
    const double start = cpu_seconds();
    growth::chained_reductions(growth::small(0, {64}), n).eval();
    return cpu_seconds() - start;
  };
  const double before = time(6000), after = time(24000);
  EXPECT_LE(after, 8 * std::max(before, 0.25)) << before << " s, then " << after << " s";
}

// --- Depth -------------------------------------------------------------------------------------------------

class Depth : public OnCpu {};

TEST_F(Depth, AMillionOperationsAreDroppedUnused) {
  on_a_small_stack([] {
    Tensor x = growth::small(0);
    for (int i = 0; i < 1000000; ++i) x = x + x;
  });
}

TEST_F(Depth, ALongChainIsComputed) {
  on_a_small_stack([] {
    Tensor x = zeros({4}), y = zeros({4});
    for (int i = 0; i < 100000; ++i) x = x + 1.0;
    EXPECT_EQ(x.to_vector<float>()[3], 100000);
    for (int i = 0; i < 20000; ++i) y = reverse(y, {0}) + 1.0;
    EXPECT_EQ(y.to_vector<float>()[0], 20000);
  });
}

// Kernels are as long as they may be, of operations that all differ: one is written after the other, and
// index maps lie in each other up to a bound.
TEST_F(Depth, AKernelIsWritten) {
  on_a_small_stack([] {
    Tensor x = zeros({4}), y = tensor<float>({1, 2, 3, 4}, {4}), z = zeros({1});
    for (int i = 0; i < 3000; ++i) x = x + (1.0 + i % 2);
    EXPECT_EQ(x.to_vector<float>()[3], 4500);
    for (int i = 0; i < 600; ++i) y = concatenate({slice(y, {1}, {3}), slice(y, {0}, {1})});
    EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
    for (int i = 0; i < 3000; ++i) z = reshape(broadcast_to(reduce_max(z, {0}), {1, 1}), {1});
    EXPECT_EQ((z + 1.0).item<float>(), 1);
  });
}

TEST_F(Depth, ALongChainIsTransformed) {
  on_a_small_stack([] {
    const auto f = [](Tensor x) {
      for (int i = 0; i < 20000; ++i) x = x * 1.0001;
      return sum(x);
    };
    const Tensor g = grad(f)(ones({4}, DType::f64));
    EXPECT_NEAR(g.to_vector<double>()[0], std::pow(1.0001, 20000), 1e-9);
    EXPECT_NEAR(vmap(f)(ones({2, 4}, DType::f64)).to_vector<double>()[1], 4 * std::pow(1.0001, 20000), 1e-8);
  });
}

// --- Many parts --------------------------------------------------------------------------------------------

class Parts : public OnDevice {
 protected:
  void SetUp() override { set_default_device(opened(GetParam())); }

  // In pairs, each evaluated before it is a part: no concatenation of many.
  static Tensor in_pairs(Tensors parts, int axis) {
    while (parts.size() > 1) {
      Tensors next;
      for (size_t i = 0; i + 1 < parts.size(); i += 2)
        next.push_back(concatenate({parts[i], parts[i + 1]}, axis).eval());
      if (parts.size() % 2) next.push_back(parts.back());
      parts = std::move(next);
    }
    return parts[0];
  }
  static void expect_equal(const Tensor& a, const Tensor& b, const std::string& what) {
    ASSERT_EQ(a.shape(), b.shape()) << what;
    const Tensor differ =
        logical_and(not_equal(a, b), logical_not(logical_and(not_equal(a, a), not_equal(b, b))));
    EXPECT_EQ(sum(as_type(differ, DType::i32)).item<int32_t>(), 0) << what;
  }
};

// Of all sizes, none among them; in memory, computed, and views; along each axis.
TEST_P(Parts, OfAllKindsStandInTheirPlaces) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  for (const DType type : {DType::f32, DType::i32, DType::u8, DType::f16, DType::f64, DType::c64}) {
    if (type == DType::f64 && !on().limits().float64) continue;
    for (int axis = 0; axis < 3; ++axis) {
      const auto number = static_cast<uint32_t>(static_cast<int>(type) * 3 + axis);
      if (!is_in_share(number, 4)) continue;
      std::mt19937 draw(number);
      Tensors parts, copies;
      for (int i = 0; i < 40; ++i) {
        Shape shape{3, 2, 5};
        shape[axis] = static_cast<int64_t>(draw() % 4);
        if (i == 11) shape[axis] = 700;  // more than a team takes
        Tensor part = as_type(iota(shape) + (i * 10), type);
        if (i % 3 == 0) part = part.eval();
        if (i % 3 == 1) part = reverse(part, {1});
        parts.push_back(part);
        copies.push_back((as_type(iota(shape) + (i * 10), type)));
        if (i % 3 == 1) copies.back() = reverse(copies.back(), {1});
        copies.back() = copies.back().eval();
      }
      expect_equal(concatenate(parts, axis), in_pairs(copies, axis),
                   std::string(name_of(type)) + " axis " + std::to_string(axis));
    }
  }
}

TEST_P(Parts, AreReadByWhatComesNext) {
  Tensors parts;
  for (int i = 0; i < 30; ++i) parts.push_back(growth::small(i) * 2.0);
  const Tensor joined = stack(parts);
  const Tensor result = sum(exp(joined) + joined, {0});
  Tensor expected = zeros({4});
  for (const Tensor& part : parts) expected = (expected + exp(part) + part).eval();
  const auto a = result.to_vector<float>(), b = expected.to_vector<float>();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-3f);
}

TEST_P(Parts, OfPartsAndTheirGradients) {
  const auto f = [](Tensor x) {
    Tensors outer;
    for (int i = 0; i < 12; ++i) {
      Tensors inner;
      for (int k = 0; k < 10; ++k) inner.push_back(x * static_cast<double>(i + k));
      outer.push_back(concatenate(inner));
    }
    return sum(concatenate(outer));
  };
  double factor = 0;
  for (int i = 0; i < 12; ++i)
    for (int k = 0; k < 10; ++k) factor += i + k;
  const auto g = grad(f)(growth::small(0)).to_vector<float>();
  for (const float value : g) EXPECT_NEAR(value, factor, 1e-2);
}

INSTANTIATE_TEST_SUITE_P(Devices, Parts, testing::ValuesIn(device_ids()), test_name);

// --- The plan of memory ------------------------------------------------------------------------------------

// The lowest offset that is free, found by looking at everything that was placed before.
uint64_t by_looking_at_all(const std::vector<lower::MemoryPlan::Life>& lives) {
  std::vector<lower::MemoryPlan::Life> order = lives, placed;
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  uint64_t top = 0;
  for (auto& mine : order) {
    std::stable_sort(placed.begin(), placed.end(),
                     [](const auto& a, const auto& b) { return a.offset < b.offset; });
    mine.offset = 0;
    for (const auto& other : placed) {
      if (other.last < mine.first || mine.last < other.first) continue;
      if (mine.offset + mine.bytes <= other.offset) break;
      mine.offset = std::max(mine.offset, other.offset + other.bytes);
    }
    placed.push_back(mine);
    top = std::max(top, mine.offset + mine.bytes);
  }
  return top;
}

TEST(MemoryPlan, IsAsTightAsOneThatLooksAtAll) {
  std::mt19937 draw(5);
  for (int round = 0; round < 200; ++round) {
    const int count = 1 + static_cast<int>(draw() % 60);
    std::vector<Tensor> tensors;
    lower::MemoryPlan plan;
    for (int i = 0; i < count; ++i) {
      tensors.push_back(zeros({4}));
      const uint64_t bytes = lower::padded(1 + draw() % 2000);
      const size_t first = draw() % 40;
      plan.use(&graph::node_of(tensors.back()), bytes, first);
      plan.use(&graph::node_of(tensors.back()), bytes, first + draw() % 12);
    }
    const uint64_t top = plan.arrange();
    EXPECT_EQ(top, by_looking_at_all(plan.lives()));
    for (const auto& a : plan.lives())
      for (const auto& b : plan.lives())
        EXPECT_TRUE(&a == &b || a.first > b.last || b.first > a.last || a.offset + a.bytes <= b.offset ||
                    b.offset + b.bytes <= a.offset);
  }
}

}  // namespace
}  // namespace adit::test
