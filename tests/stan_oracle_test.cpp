// Programs of stan/oracle beside the log densities and gradients that Stan itself computed: through the plain
// interpreter, the engine of tensors, and kernels of the sampler in lanes and on teams.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <adit/sample.hpp>
#include <adit/transform.hpp>

#include "devices.hpp"
#include "seeds.hpp"
#include "stan/check.hpp"
#include "stan/interpreter.hpp"
#include "stan/lower.hpp"
#include "stan/oracle_programs.hpp"
#include "stan/oracle_uses.hpp"
#include "stan/parse.hpp"
#include "stan/signature.hpp"

namespace adit::stan {
namespace {

using test::OraclePoint;
using test::OracleProgram;

const std::vector<OracleProgram>& programs() {
  const char* only = std::getenv("ADIT_STAN_ORACLE_ONLY");
  static const std::vector<OracleProgram> all = test::oracle_programs(ADIT_STAN_ORACLE, only ? only : "");
  return all;
}

// Throws where it is none.
Program checked(const OracleProgram& one) {
  Parsed parsed = parse(one.name + ".stan", one.text);
  std::vector<Message> messages = std::move(parsed.messages);
  for (Message& message : check(parsed.program)) messages.push_back(std::move(message));
  for (const Message& message : messages)
    if (message.kind != Message::Kind::warning)
      throw std::runtime_error(to_text(parsed.program.sources, message));
  return std::move(parsed.program);
}

// What one way of computing gives at all points, beside what is recorded.
class Comparison {
 public:
  Comparison(const OracleProgram& program, std::string way) : program_(program), way_(std::move(way)) {}

  void add(double log_density, const std::vector<double>& gradient) {
    const OraclePoint& point = program_.points.at(next_);
    ASSERT_EQ(gradient.size(), point.gradient.size());
    compare("log density", log_density, point.log_density);
    for (size_t i = 0; i < gradient.size(); ++i)
      compare(fmt::format("slope {}", i + 1), gradient[i], point.gradient[i]);
    ++next_;
  }
  // All points at once, from a kernel.
  void add(const LeapfrogChain& chain) {
    const auto values = chain.log_densities.to_vector<double>(), slopes = chain.gradients.to_vector<double>();
    const size_t size = slopes.size() / std::max<size_t>(1, values.size());
    for (size_t i = 0; i < values.size(); ++i)
      add(values[i], {slopes.begin() + static_cast<std::ptrdiff_t>(i * size),
                      slopes.begin() + static_cast<std::ptrdiff_t>((i + 1) * size)});
  }
  ~Comparison() {
    EXPECT_EQ(next_, program_.points.size()) << program_.name << ", " << way_ << ": points were left out";
  }

 private:
  void compare(const std::string& what, double found, double recorded) {
    EXPECT_LE(std::abs(found - recorded), program_.within * std::max(1.0, std::abs(recorded)))
        << fmt::format("{}, {}, point {}: the {} is {:.17g}, {} has {:.17g}", program_.name, way_, next_ + 1,
                       what, found, program_.origin, recorded);
  }

  const OracleProgram& program_;
  std::string way_;
  size_t next_ = 0;
};

Tensor all_points(const OracleProgram& one, const std::string& device) {
  std::vector<double> numbers;
  for (const OraclePoint& point : one.points)
    numbers.insert(numbers.end(), point.place.begin(), point.place.end());
  const auto count = std::ssize(one.points);
  return tensor(std::span<const double>(numbers), {count, std::ssize(numbers) / count}, Device::open(device));
}

void try_interpreter(const OracleProgram& one, const Program& program) {
  const reference::Interpreter interpreter(program, nlohmann::json::parse(one.data));
  Comparison comparison(one, "interpreter");
  for (const OraclePoint& point : one.points)
    comparison.add(interpreter.log_density(point.place), interpreter.gradient(point.place));
}

void try_engine(const OracleProgram& one, const Model& model) {
  const auto f = value_and_grad([&](const Tensor& u) { return model.log_density(u); });
  Comparison comparison(one, "tensors");
  for (const OraclePoint& point : one.points) {
    const auto [value, slopes] = f(tensor(point.place));
    comparison.add(value.item<double>(), slopes[0].to_vector<double>());
  }
}

// A leapfrog step of no length: the density where it begins.
void try_kernels(const OracleProgram& one, const Model& model, const std::string& device) {
  const Tensor q = all_points(one, device);
  for (const Placement placement : {Placement::lane, Placement::team}) {
    // Each has its turn in one commit of twenty: LLVM takes half a minute for some. On other devices few
    // programs come so far.
    const uint64_t number = std::hash<std::string>()(one.name) + (placement == Placement::lane);
    if (!test::is_its_turn(number, device == "cpu" ? 20 : 3)) continue;
    const LeapfrogKernel kernel(model, {.type = DType::f64, .device = device, .placement = placement});
    Comparison(one, fmt::format("{} on {}", placement == Placement::lane ? "lanes" : "teams", device))
        .add(kernel(q, q, 0.0, 1));
  }
}

void try_program(const OracleProgram& one, const std::string& device) try {
  const Program program = checked(one);
  const Lowered lowered = lower(program, data_from_json(one.data, "data"));
  ASSERT_EQ(lowered.model.size(), std::ssize(one.points.at(0).place)) << one.name;
  if (device == "cpu") {
    if (!one.skips_interpreter) try_interpreter(one, program);
    // Its kernels take most of the time, in one commit of three.
    if (test::is_its_turn(std::hash<std::string>()(one.name) + 2, 6)) try_engine(one, lowered.model);
  }
  try_kernels(one, lowered.model, device);
} catch (const std::exception& error) {
  ADD_FAILURE() << one.name << ": " << error.what();
}

TEST(StanOracle, EveryProgramIsRecorded) {
  std::map<std::string, int> origins;
  for (const OracleProgram& one : programs()) {
    EXPECT_EQ(one.points.size(), 5u) << one.name;
    for (const OraclePoint& point : one.points) {
      EXPECT_FALSE(point.place.empty()) << one.name;
      EXPECT_TRUE(std::isfinite(point.log_density)) << one.name;
      EXPECT_EQ(point.gradient.size(), point.place.size()) << one.name;
      const auto is_finite = [](double slope) { return std::isfinite(slope); };
      EXPECT_TRUE(std::all_of(point.gradient.begin(), point.gradient.end(), is_finite)) << one.name;
    }
    ++origins[one.origin];
  }
  for (const auto& [origin, count] : origins) std::cout << count << " programs: " << origin << "\n";
  EXPECT_GE(programs().size(), 150u);
}

// Every kind up to the last one, but for those given.
template <class Kind>
void expect_all(const std::set<Kind>& used, Kind last, const char* what, std::set<Kind> without = {}) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const auto kind = static_cast<Kind>(i);
    EXPECT_NE(used.contains(kind), without.contains(kind)) << what << " " << i;
  }
}

// Held elsewhere: transforms by name, which constraints of parameters go through here, and what stands beside
// R and mpmath.
bool is_held_elsewhere(const std::string& name) {
  for (const char* ending : {"_rng", "_constrain", "_unconstrain", "_jacobian", "_unnorm"})
    if (name.ends_with(ending)) return true;
  return name == "lkj_cov_lpdf" || name == "student_t_qf";
}

// A function, constraint or statement that is new needs a program here.
TEST(StanOracle, ProgramsCoverTheLanguage) {
  test::Uses uses;
  for (const OracleProgram& one : programs()) add_uses(checked(one), uses);
  size_t functions = 0;
  for (const Signature& row : signatures()) {
    const std::string name = row.name;
    if (is_held_elsewhere(name)) continue;
    EXPECT_TRUE(uses.functions.contains(name)) << name;
    ++functions;
  }
  EXPECT_GT(functions, 400u);
  expect_all(uses.statements, Statement::Kind::nothing, "statement");
  expect_all(uses.expressions, Expression::Kind::target, "expression", {Expression::Kind::imaginary});
  expect_all(uses.read, Index::Kind::between, "index that is read");
  expect_all(uses.written, Index::Kind::between, "index that is written");
  expect_all(uses.operators, Operator::transpose, "operator");
  expect_all(uses.transforms, Transform::Kind::row_stochastic_matrix, "constraint");
  EXPECT_EQ(uses.truncations, (std::set<std::string>{"both", "high", "low"}));
  using enum Operator;
  EXPECT_EQ(uses.compound,
            (std::set<Operator>{add, subtract, multiply, divide, element_multiply, element_divide}));
}

constexpr size_t parts = 8;  // which ctest runs beside each other

class StanOracleDensities : public testing::TestWithParam<size_t> {};

TEST_P(StanOracleDensities, AreStans) {
  set_default_device(Device::open("cpu"));
  size_t tried = 0;
  for (size_t i = GetParam(); i < programs().size(); i += parts, ++tried) try_program(programs()[i], "cpu");
  EXPECT_GE(tried, programs().size() / parts);
}

INSTANTIATE_TEST_SUITE_P(Parts, StanOracleDensities, testing::Range(size_t{0}, parts));

// A software device takes long to compile: a few of the programs for each commit.
TEST(StanOracleOnDevices, AreStans) {
  set_default_device(Device::open("cpu"));
  for (const std::string& id : test::device_ids()) {
    const auto& on = test::device(id);
    if (id == "cpu" || !on.limits().float64) continue;
    const uint64_t shares = on.info().kind == DeviceKind::software ? 70 : 1;
    for (size_t i = 0; i < programs().size(); ++i) {
      if (!test::is_its_turn(i, shares)) continue;
      std::cout << programs()[i].name << " on " << id << "\n";
      try_program(programs()[i], id);
    }
  }
}

}  // namespace
}  // namespace adit::stan
