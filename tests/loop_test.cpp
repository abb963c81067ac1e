// Loops: how many kernels they run, and random ones against rounds that the host makes, one by one.
#include <chrono>
#include <csignal>
#include <fmt/format.h>

#include <adit/ops.hpp>
#include <adit/sort.hpp>
#include <adit/transform.hpp>

#include "children.hpp"
#include "devices.hpp"
#include "ops/numbers.hpp"
#include "ops/random_source.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

class LoopOn : public OnDevice {
 protected:
  void SetUp() override {
    device_ = Device::open(GetParam());
    set_default_device(device_);
  }
  // Kernels of the second of two runs: the first compiles.
  uint64_t kernels_of(const std::function<Tensors(const Tensors&)>& f, const Tensors& inputs) {
    const Jit function(f);
    uint64_t before = 0;
    for (int run = 0; run < 2; ++run) {
      before = device_->statistics().kernels_run;
      for (const Tensor& x : function(inputs)) x.to_bytes();
    }
    return device_->statistics().kernels_run - before;
  }
  std::shared_ptr<Device> device_;
};
INSTANTIATE_TEST_SUITE_P(Devices, LoopOn, testing::ValuesIn(device_ids()), test_name);

Tensor counter(int32_t start = 0) { return tensor(std::vector<int32_t>{start}, {}); }

// --- Kernels -----------------------------------------------------------------------------------------------

TEST_P(LoopOn, ALoopOfSmallRoundsIsFewKernels) {
  const auto loop = [](const Tensors& in) {
    return while_loop([](const Tensors& s) { return s[0] < 20; },
                      [](const Tensors& s) -> Tensors {
                        return {s[0] + 1, sin(s[1]) * 0.5f + s[1]};
                      },
                      in);
  };
  EXPECT_LE(kernels_of(loop, {counter(), ones({100})}), 2u);
  const auto steps = [](const Tensors& in) {
    const Step made = scan(
        [](const Tensors& carry, const Tensors& slices) -> Step {
          const Tensor next = carry[0] * 0.5f + slices[0];
          return {{next}, {sum(next)}};
        },
        {in[0]}, {in[1]});
    return Tensors{made.carry[0], made.outputs[0]};
  };
  EXPECT_LE(kernels_of(steps, {ones({10}), ones({20, 10})}), 2u);
}

TEST_P(LoopOn, ALoopWithoutEndCanBeStopped) {
  // A device that was opened before a fork is not the child's.
  const pid_t child = in_child([&] {
    ::execl("/proc/self/exe", "loop_test", "--gtest_also_run_disabled_tests",
            ("--gtest_filter=*DISABLED_Endless/" + test_name({GetParam(), 0})).c_str(), nullptr);
  });
  ::usleep(1500000);
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "it ended by itself";
  ::kill(child, SIGTERM);
  const auto start = std::chrono::steady_clock::now();
  const int status = status_of(child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST_P(LoopOn, DISABLED_Endless) {
  ::alarm(60);
  while_loop([](const Tensors& s) { return s[0] >= 0; },
             [](const Tensors& s) -> Tensors { return {s[0] * 0 + 1}; }, {ones({})})[0]
      .to_bytes();
}

// --- Random loops ------------------------------------------------------------------------------------------

using Bytes = std::vector<std::byte>;

// A body is drawn anew from its seed at each call, so that it is the same for placeholders and for numbers.
// Floats stay of modest size and forget how they were rounded; whole numbers follow from whole numbers alone.
class RandomBody {
 public:
  RandomBody(uint64_t seed, const Tensors& captured) : random_(seed), captured_(captured) {}

  Tensors next_of(const Tensors& state) {
    Tensors next;
    for (const Tensor& x : state) next.push_back(next_of(x, state));
    for (size_t i = 0; i < next.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (same(state[i], state[j]) && random_.chance(0.3)) std::swap(next[i], next[j]);
    return next;
  }

 private:
  static bool same(const Tensor& a, const Tensor& b) {
    return a.dtype() == b.dtype() && a.shape() == b.shape();
  }

  Tensor next_of(const Tensor& x, const Tensors& state) {
    if (random_.chance(0.1)) return x;
    Tensor y = x;
    for (int64_t left = random_.between(1, 4); left > 0; --left) y = changed(y, state);
    return bounded(y);
  }

  Tensor changed(const Tensor& x, const Tensors& state) {
    const bool has_rows = x.rank() > 0 && x.shape()[x.rank() - 1] > 0;
    switch (random_.below(12)) {
      case 0: return x + fitting(random_.pick(state), x);
      case 1: return x - fitting(random_.pick(captured_), x);
      case 2: return reverse(x, {});
      case 3: return is_integer(x.dtype()) ? x * 3 + 1 : x * 0.75 - 0.125;
      case 4: return select(fitting(state[0], full_integer(x.shape(), 0, DType::i64)) > 3, x, x + x);
      case 5: return has_rows ? broadcast_to(total(x, {-1}), x.shape()) : x;
      case 6: return has_rows ? multiplied(x) : x;
      case 7: return x.rank() == 2 && x.shape()[0] == x.shape()[1] ? transpose(x) : x;
      case 8: return has_rows ? turned(x, state[0]) : x;
      case 9: return random_.chance(0.2) && has_rows ? cumulative_sum(bounded(x), -1) : x;
      case 10: return random_.chance(0.3) ? chosen(x, state[0]) : x;
      default: return random_.chance(0.3) ? repeated(x) : bounded(x) * bounded(x);
    }
  }

  Tensor bounded(const Tensor& x) {
    if (is_integer(x.dtype())) return x;
    if (is_complex(x.dtype())) return x / (abs(x) + 1.0);
    return random_.chance(0.5) ? tanh(x) : sin(x);
  }

  static Tensor total(const Tensor& x, const Axes& axes) {
    if (is_integer(x.dtype())) return as_type(sum(x, axes, true), x.dtype());
    return sum(x, axes, true) / static_cast<double>(std::max<int64_t>(1, element_count(x.shape())));
  }

  // Another tensor in the type and shape of x.
  Tensor fitting(const Tensor& other, const Tensor& x) {
    if (is_integer(x.dtype()) && !is_integer(other.dtype())) return x;
    Tensor y = is_complex(other.dtype()) && !is_complex(x.dtype()) ? real(other) : other;
    y = is_integer(y.dtype()) && !is_integer(x.dtype()) ? sin(as_type(y, DType::f64)) : y;
    y = as_type(y, x.dtype());
    if (y.shape() == x.shape()) return y;
    if (y.rank() > 0) y = reshape(random_.chance(0.5) ? total(y, {}) : reverse(total(y, {})), {});
    return broadcast_to(y, x.shape());
  }

  // By a matrix that follows from places.
  static Tensor multiplied(const Tensor& x) {
    const int64_t n = x.shape()[x.rank() - 1];
    if (is_integer(x.dtype())) return x;
    const Tensor places =
        as_type(iota({n, n}, DType::i64, 0) * 7 + iota({n, n}, DType::i64, 1) * 3, DType::f64);
    return dot(x, as_type(sin(places) / static_cast<double>(n), x.dtype()));
  }

  // The last axis from another beginning, which follows from the round.
  static Tensor turned(const Tensor& x, const Tensor& round) {
    const int64_t n = x.shape()[x.rank() - 1];
    return take(x, remainder(as_type(round, DType::i64) + arange(n), n), x.rank() - 1);
  }

  static Tensor chosen(const Tensor& x, const Tensor& round) {
    return cond(
        remainder(round, 2) == 0, [](const Tensors& o) -> Tensors { return {o[0] + o[0]}; },
        [](const Tensors& o) -> Tensors { return {reverse(o[0], {})}; }, {x})[0];
  }

  static Tensor repeated(const Tensor& x) {
    return scan(
               [](const Tensors& carry, const Tensors&) -> Step {
                 return {{carry[0] + reverse(carry[0], {})}, {}};
               },
               {x}, {}, 2)
        .carry[0];
  }

  RandomSource random_;
  const Tensors& captured_;
};

struct RandomLoop {
  uint64_t seed = 0;
  int64_t rounds = 0;
  bool halves = false;  // the condition asks a float too
  std::vector<Stored> state, captured, sequences;
};

// The state begins with which round it is, and a number that is halved at each.
RandomLoop random_loop(uint64_t seed) {
  static const std::vector<DType> types{DType::f32,  DType::f32, DType::f64, DType::c64,
                                        DType::c128, DType::i32, DType::i64, DType::u8,
                                        DType::u32,  DType::i8,  DType::f16, DType::bf16};
  static const std::vector<Shape> shapes{{},     {1},       {5},  {3, 4}, {0},      {2, 1, 3}, {17},
                                         {8, 8}, {32},      {33}, {300},  {31, 33}, {2, 0},    {1, 1},
                                         {64},   {2, 5, 5}, {65}, {1300}, {16, 16}};
  RandomSource random(seed);
  RandomLoop loop{seed, random.pick(std::vector<int64_t>{0, 1, 2, 3, 9, 33}), random.chance(0.3), {}, {}, {}};
  loop.state = {{DType::i32, {}, Bytes(4)}, {DType::f32, {}, Bytes(4)}};
  store_number(DType::f32, 1, 0, loop.state[1].bytes.data());
  for (int64_t count = random.between(1, 4); count > 0; --count) {
    const bool again = loop.state.size() > 2 && random.chance(0.4);  // so that two can change places
    const Stored last = loop.state.back();
    loop.state.push_back(
        random.tensor(again ? last.type : random.pick(types), again ? last.shape : random.pick(shapes)));
  }
  for (int count = 0; count < 2; ++count)
    loop.captured.push_back(random.tensor(random.pick(types), random.pick(shapes)));
  for (int64_t count = random.between(0, 2); count > 0; --count) {
    Shape shape{loop.rounds};
    for (const int64_t extent : random.pick(shapes)) shape.push_back(extent);
    loop.sequences.push_back(random.tensor(random.pick(types), shape));
  }
  return loop;
}

Tensors tensors_of(const std::vector<Stored>& list) {
  Tensors tensors;
  for (const Stored& x : list) tensors.push_back(from_bytes(x.type, x.shape, x.bytes));
  return tensors;
}

Tensors next_of(const RandomLoop& loop, const Tensors& state, const Tensors& captured) {
  Tensors next = RandomBody(loop.seed, captured).next_of(state);
  next[0] = state[0] + 1;
  next[1] = state[1] * 0.5f;
  return next;
}
Tensor condition_of(const RandomLoop& loop, const Tensors& state) {
  const Tensor early = state[0] < loop.rounds;
  return loop.halves ? logical_and(early, sum(state[1] * ones({3})) > 0.01f) : early;
}

// Slices are captured tensors of the round; its outputs are the new state but for the first two.
Step step_of(const RandomLoop& loop, const Tensors& carry, const Tensors& slices, Tensors captured) {
  captured.insert(captured.end(), slices.begin(), slices.end());
  const Tensors next = next_of(loop, carry, captured);
  return {next, {next.begin() + 2, next.end()}};
}

using Way = std::function<Tensors(const RandomLoop&, const Tensors&, const Tensors&, const Tensors&)>;

Tensors by_while(const RandomLoop& loop, const Tensors& state, const Tensors& captured, const Tensors&) {
  return while_loop([&](const Tensors& s) { return condition_of(loop, s); },
                    [&](const Tensors& s) { return next_of(loop, s, captured); }, state);
}
Tensors by_scan(const RandomLoop& loop, const Tensors& state, const Tensors& captured, const Tensors& xs) {
  const Step made = scan([&](const Tensors& c, const Tensors& x) { return step_of(loop, c, x, captured); },
                         state, xs, loop.rounds, loop.seed % 2 == 0);
  Tensors all = made.carry;
  all.insert(all.end(), made.outputs.begin(), made.outputs.end());
  return all;
}

void eval_all(const Tensors& list) {
  for (const Tensor& x : list) x.eval();
}

Tensors rounds_of_while(const RandomLoop& loop, Tensors state, const Tensors& captured, const Tensors&) {
  while (condition_of(loop, state).item<uint8_t>()) eval_all(state = next_of(loop, state, captured));
  return state;
}
Tensors rounds_of_scan(const RandomLoop& loop, Tensors state, const Tensors& captured, const Tensors& xs) {
  std::vector<Tensors> outputs(state.size() - 2, Tensors(static_cast<size_t>(loop.rounds)));
  for (int64_t i = 0; i < loop.rounds; ++i) {
    const int64_t at = loop.seed % 2 == 0 ? loop.rounds - 1 - i : i;
    Tensors slices;
    for (const Tensor& x : xs) slices.push_back(take(x, full_integer({}, at), 0));
    const Step made = step_of(loop, state, slices, captured);
    eval_all(state = made.carry);
    eval_all(made.outputs);
    for (size_t k = 0; k < outputs.size(); ++k) outputs[k][static_cast<size_t>(at)] = made.outputs[k];
  }
  Tensors all = state;
  for (size_t k = 0; k < outputs.size(); ++k) {
    Shape none{0};
    for (const int64_t extent : state[k + 2].shape()) none.push_back(extent);
    all.push_back(loop.rounds ? stack(outputs[k]) : zeros(none, state[k + 2].dtype()));
  }
  return all;
}

double tolerance_of(DType type) {
  switch (real_of(type)) {
    case DType::f16: return 0.02;
    case DType::bf16: return 0.15;
    case DType::f32: return 2e-4;
    case DType::f64: return 1e-4;  // it may follow from an f32
    default: return 0;
  }
}

// Halves that a float follows from make it as rough as they are.
double tolerance_of(const RandomLoop& loop) {
  double most = 2e-4;
  for (const auto* list : {&loop.state, &loop.captured, &loop.sequences})
    for (const Stored& x : *list) most = std::max(most, tolerance_of(x.type));
  return most;
}

std::string difference(const RandomLoop& loop, const Tensors& got, const Tensors& want) {
  if (got.size() != want.size()) return "another number of results";
  for (size_t k = 0; k < got.size(); ++k) {
    const DType type = want[k].dtype();
    if (got[k].dtype() != type || got[k].shape() != want[k].shape())
      return fmt::format("result {}: type or shape", k);
    const Bytes have = got[k].to_bytes(), should = want[k].to_bytes();
    if (is_integer(type) && have == should) continue;
    const std::vector<double> a = parts_of(type, have), b = parts_of(type, should);
    for (size_t i = 0; i < a.size(); ++i)
      if (is_integer(type) ? a[i] != b[i] : !(std::abs(a[i] - b[i]) <= tolerance_of(loop)))
        return fmt::format("result {} ({}, {}), element {} is {}, round by round {}", k, name_of(type),
                           to_string(want[k].shape()), i, a[i], b[i]);
  }
  return "";
}

Tensors run(const Way& way, const RandomLoop& loop) {
  const Tensors results =
      way(loop, tensors_of(loop.state), tensors_of(loop.captured), tensors_of(loop.sequences));
  eval(std::span(results));
  return results;
}

// Everything is an argument of the compiled function, so that captured tensors are too.
Tensors run_compiled(const Way& way, const RandomLoop& loop) {
  const size_t states = loop.state.size(), captured = states + loop.captured.size();
  Tensors all = tensors_of(loop.state);
  for (const auto* list : {&loop.captured, &loop.sequences})
    for (const Tensor& x : tensors_of(*list)) all.push_back(x);
  const Jit function([&](const Tensors& in) {
    const auto at = [&](size_t i) { return in.begin() + static_cast<long>(i); };
    return way(loop, {in.begin(), at(states)}, {at(states), at(captured)}, {at(captured), in.end()});
  });
  return function(all);
}

std::string text_of(const RandomLoop& loop) {
  std::string text = fmt::format("seed {}, {} rounds, ", loop.seed, loop.rounds);
  const auto add = [&](const char* what, const std::vector<Stored>& list) {
    text += what;
    for (const Stored& x : list) text += fmt::format(" {}{}", name_of(x.type), to_string(x.shape));
  };
  add("state", loop.state);
  add(", captured", loop.captured);
  add(", sequences", loop.sequences);
  return text;
}

TEST_P(LoopOn, RandomLoopsAreTheirRounds) {
  each_seed(12, [&](uint64_t seed) {
    const RandomLoop loop = random_loop(seed);
    for (const bool is_scan : {false, true}) {
      set_default_device(Device::open("cpu"));
      const Tensors want = run(is_scan ? rounds_of_scan : rounds_of_while, loop);
      set_default_device(device_);
      const Way way = is_scan ? by_scan : by_while;
      EXPECT_EQ(difference(loop, run(way, loop), want), "")
          << (is_scan ? "scan, " : "while, ") << text_of(loop);
      EXPECT_EQ(difference(loop, run_compiled(way, loop), want), "")
          << (is_scan ? "scan under jit, " : "while under jit, ") << text_of(loop);
    }
  });
}

// Products whose terms lanes may share: a vector and a matrix from both sides, rows, and single numbers.
TEST_P(LoopOn, ProductsInRounds) {
  RandomSource random(7);
  for (const DType type : {DType::f32, DType::f64, DType::c64, DType::i32, DType::bf16})
    for (const int64_t n : {1, 16, 33, 64, 130}) {
      if (n != 33 && type != DType::f32) continue;
      const auto scaled = [&](const Tensor& x) {
        return is_integer(type) ? x : x / static_cast<double>(2 * n);
      };
      const auto body = [&](const Tensors& s, const Tensor& w) -> Tensors {
        const Tensor product = scaled(dot(s[1], s[1]));
        return {s[0] + 1, scaled(dot(w, s[1])) + product, scaled(dot(s[2], w)) * 2, scaled(product + s[3])};
      };
      const Stored w = random.tensor(type, {n, n}), x = random.tensor(type, {n}),
                   y = random.tensor(type, {3, n});
      const auto make = [](const Stored& of) { return from_bytes(of.type, of.shape, of.bytes); };
      const auto start = [&] { return Tensors{counter(), make(x), make(y), sum(make(x))}; };
      set_default_device(Device::open("cpu"));
      Tensors want = start();
      const Tensor by_host = make(w);
      for (int round = 0; round < 3; ++round) eval_all(want = body(want, by_host));
      set_default_device(device_);
      const Tensor given = make(w);
      const Tensors got = while_loop([](const Tensors& s) { return s[0] < 3; },
                                     [&](const Tensors& s) { return body(s, given); }, start());
      RandomLoop loop;
      loop.state = {w};
      EXPECT_EQ(difference(loop, got, want), "") << name_of(type) << " of " << n;
    }
}

// A loop that makes a round too many is found, whatever was drawn, where there is a state that changes.
TEST(LoopFuzz, AFaultIsFound) {
  set_default_device(Device::open("cpu"));
  int found = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const RandomLoop loop = random_loop(seed);
    RandomLoop longer = loop;
    ++longer.rounds;
    found += !difference(loop, run(by_while, longer), run(rounds_of_while, loop)).empty();
  }
  EXPECT_GE(found, 5);
}

}  // namespace
}  // namespace adit::test
