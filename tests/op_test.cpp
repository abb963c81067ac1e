// Every row of the op table against independent results (tests/ops/reference.py), on every device.
//
// - A device in software runs the part of the cases marked for it; ADIT_OP_CASES=all runs them all.
// - An eighth of those for each commit, another one with each ADIT_TEST_SEED; ADIT_TEST_ALL=1 runs them all.
// - ADIT_OP=sum runs the cases of one operation.
#include "graph/op.hpp"

#include <set>

#include "devices.hpp"
#include "graph/row.hpp"
#include "ops/cases.hpp"
#include "ops/compare.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

using graph::Kind;
using graph::Op;
using graph::Row;

// Rows that no case can name: they hold a function, or stand for what every case has. Their tests are beside.
const std::set<Op> tested_elsewhere{Op::input,      Op::number,    Op::constant,     Op::alias, Op::cond,
                                    Op::while_loop, Op::while_vjp, Op::cholesky_vjp, Op::scan,  Op::item};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The parts of reference.py.
const std::vector<std::string> groups{
    "unary",          "pairs",      "arrays",   "reductions", "folds",        "products",
    "factorisations", "cumulative", "linear",   "sorting",    "random",       "fft",
    "windows",        "conv",       "networks", "einsums",    "correlations", "tables"};

bool is_chosen(const Case& c, const Device& device) {
  const std::string only = environment("ADIT_OP");
  if (!only.empty() && c.op() != only) return false;
  return device.info().kind != DeviceKind::software || c.everywhere() ||
         environment("ADIT_OP_CASES") == "all";
}

Tensor build(const Case& c, const std::vector<Stored>& inputs, const std::shared_ptr<Device>& device) {
  std::vector<Tensor> operands;
  for (const Stored& input : inputs)
    operands.push_back(from_bytes(input.type, input.shape, input.bytes, device));
  set_default_device(device);
  return ops::call(c.op(), operands, c.attributes());
}

// The row that decides the bound: the result's own, or the row of the operation's name.
const Row* row_named(const std::string& name) {
  for (const Row& row : graph::table())
    if (row.name == name) return &row;
  return nullptr;
}

// Notes say "complex: 8 of the length".
double bound_of(const Row& row, const std::vector<Stored>& inputs) {
  constexpr std::string_view mark = "complex: ";
  const size_t at = row.bound.note.find(mark);
  if (at == std::string_view::npos || inputs.empty() || !is_complex(inputs[0].type)) return row.bound.ulp;
  return std::stod(std::string(row.bound.note.substr(at + mark.size())));
}

Rules rules_for(const Case& c, const Tensor& result, const std::vector<Stored>& inputs,
                const Device& device) {
  const Row* row = row_named(c.op());
  if (!row) row = &graph::row_of(graph::node_of(result).op);
  return {bound_of(*row, inputs), device.limits().keeps_denormals};
}

class OpTest : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(OpTest, AgreesWithTheReference) {
  const auto& [id, group] = GetParam();
  device(id);
  const std::shared_ptr<Device> on = Device::open(id);
  int failures = 0, run = 0;
  for (const Case& c : all_cases()) {
    if (c.group() != group || !is_chosen(c, *on)) continue;
    ++run;
    if (environment("ADIT_OP").empty() && !is_its_turn(static_cast<uint64_t>(run), 12)) continue;
    if (!environment("ADIT_OP").empty()) std::cout << c.describe() << std::endl;
    std::string problem;
    try {
      const std::vector<Stored> inputs = c.inputs();
      const Tensor result = build(c, inputs, on);
      const Rules rules = rules_for(c, result, inputs, *on);
      problem = compare(c.expected(), result, inputs, rules);
    } catch (const std::exception& error) {
      problem = std::string("\n  ") + error.what();
    }
    if (!problem.empty() && ++failures <= 200) ADD_FAILURE() << c.describe() << problem;
  }
  EXPECT_EQ(failures, 0) << "of " << run;
  EXPECT_TRUE(run > 0 || !environment("ADIT_OP").empty()) << "no cases";
}

std::string case_name(const testing::TestParamInfo<std::tuple<std::string, std::string>>& info) {
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param);
  std::erase(name, ':');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Devices, OpTest,
                         testing::Combine(testing::ValuesIn(device_ids()), testing::ValuesIn(groups)),
                         case_name);

// A new row cannot come without a reference: each row is the last operation of some case.
TEST(OpTable, EveryRowHasACase) {
  std::set<Op> seen;
  std::set<std::string> names;
  const std::shared_ptr<Device> cpu = Device::open("cpu");
  for (const Case& c : all_cases()) {
    if (!names.insert(c.op()).second) continue;
    const Tensor result = build(c, c.inputs(), cpu);
    seen.insert(graph::node_of(result).op);
    for (const Row& row : graph::table())
      if (row.name == c.op()) seen.insert(row.op);
  }
  for (const Row& row : graph::table())
    if (!seen.contains(row.op) && !tested_elsewhere.contains(row.op))
      ADD_FAILURE() << row.name << " has no case: the Python files of tests/ops";
}

// Each operation that call() knows has a case too, composites included.
TEST(OpTable, EveryOperationHasACase) {
  std::set<std::string> named;
  for (const Case& c : all_cases()) {
    named.insert(c.op());
    EXPECT_NE(std::find(groups.begin(), groups.end(), c.group()), groups.end()) << c.group();
  }
  for (const auto& [name, caller] : ops::callers())
    EXPECT_TRUE(named.contains(name)) << name << " has no case: the Python files of tests/ops";
}

// The types that an elementwise row takes are those that the cases have.
TEST(OpTable, CasesCoverTheTypes) {
  std::map<std::string, std::set<DType>> covered;
  std::map<std::string, ops::Json> attributes;
  std::map<std::string, size_t> arity;
  for (const Case& c : all_cases()) {
    if (c.op() == "as_type" || c.op() == "bitcast" || c.input_types().empty()) continue;
    covered[c.op()].insert(c.input_types().back());
    attributes[c.op()] = c.attributes();
    arity[c.op()] = c.input_types().size();
  }
  for (const auto& [name, types] : covered) {
    const Row* row = row_named(name);
    if (!row || row->kind != Kind::elementwise) continue;
    for (int t = 0; t < dtype_count; ++t) {
      const auto type = static_cast<DType>(t);
      bool admitted = true;
      try {
        std::vector<Tensor> operands(arity[name], zeros({2}, type));
        ops::call(name, operands, attributes[name]);
      } catch (const Error&) {
        admitted = false;
      }
      EXPECT_EQ(admitted, types.contains(type)) << name << " of " << name_of(type);
    }
  }
}

}  // namespace
}  // namespace adit::test
