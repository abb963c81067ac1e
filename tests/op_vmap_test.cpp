// vmap of every row against a loop: the cases of op_test, with the first input varied along a new axis.
#include <map>
#include <set>

#include <adit/transform.hpp>

#include "devices.hpp"
#include "graph/row.hpp"
#include "ops/cases.hpp"
#include "ops/derivatives.hpp"
#include "ops/numbers.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

constexpr int64_t examples = 3;

// Bytes with the elements turned round by some places: another example of the same kind.
Stored turned(const Stored& x, int64_t by) {
  Stored other = x;
  const size_t count = static_cast<size_t>(element_count(x.shape)), size = size_of(x.type);
  for (size_t i = 0; i < count; ++i)
    std::memcpy(&other.bytes[i * size], &x.bytes[(i + static_cast<size_t>(by)) % count * size], size);
  return other;
}

// A factorisation needs its matrix as it is.
bool may_turn(const std::string& op) {
  static const std::set<std::string> needs{"cholesky",
                                           "triangular_solve",
                                           "solve",
                                           "inverse",
                                           "eig",
                                           "lu",
                                           "matrix_power",
                                           "determinant",
                                           "sign_and_log_determinant",
                                           "pseudo_inverse",
                                           "least_squares",
                                           "matrix_exponential",
                                           "qr",
                                           "svd",
                                           "eigh",
                                           "matrix_norm",
                                           "matrix_rank"};
  return !needs.contains(op);
}

Tensor to_tensor(const Stored& x) { return from_bytes(x.type, x.shape, x.bytes); }

// All examples along `axis`.
Tensor stacked(const std::vector<Stored>& list, int axis) {
  Tensors parts;
  for (const Stored& x : list) parts.push_back(to_tensor(x));
  return stack(std::span(parts), axis).eval();
}

std::string differences(const Tensor& got, const Tensor& want) {
  if (got.dtype() != want.dtype()) return "types differ";
  if (!(got.shape() == want.shape()))
    return to_string(got.shape()) + " instead of " + to_string(want.shape());
  const std::vector<double> a = parts_of(got.dtype(), got.to_bytes()),
                            b = parts_of(want.dtype(), want.to_bytes());
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double unit =
        is_integer(got.dtype()) ? 0 : unit_at(std::max(1.0, std::abs(b[i])), format_of(got.dtype()));
    // Sums may be split in another way.
    if (!(std::abs(a[i] - b[i]) <= 64 * unit))
      return "[" + std::to_string(i) + "] is " + std::to_string(a[i]) + " instead of " + std::to_string(b[i]);
  }
  return "";
}

// `axes`: where the examples lie in each input, -1 where it is the same for all.
std::string check(const Case& c, const std::vector<int>& axes) {
  const std::vector<Stored> inputs = c.inputs();
  std::vector<std::vector<Stored>> varied(inputs.size());
  Tensors arguments;
  for (size_t k = 0; k < inputs.size(); ++k) {
    for (int64_t e = 0; e < examples; ++e)
      varied[k].push_back(may_turn(c.op()) && axes[k] >= 0 ? turned(inputs[k], e) : inputs[k]);
    arguments.push_back(axes[k] < 0 ? to_tensor(inputs[k]) : stacked(varied[k], axes[k]));
  }
  const Function function = [&](const Tensors& x) { return Tensors{ops::call(c.op(), x, c.attributes())}; };
  const Tensor got = vmap_of(function, arguments, axes)[0];
  Tensors wanted;
  for (size_t e = 0; e < static_cast<size_t>(examples); ++e) {
    Tensors example;
    for (size_t k = 0; k < inputs.size(); ++k) example.push_back(to_tensor(varied[k][e]));
    wanted.push_back(function(example)[0].eval());
  }
  return differences(got, stack(std::span(wanted)));
}

// A few small cases of each operation, with different attributes or types.
std::map<std::string, std::vector<const Case*>> chosen_cases(size_t most) {
  std::map<std::string, std::vector<const Case*>> chosen;
  std::map<std::string, std::set<std::string>> seen;
  for (const Case& c : all_cases()) {
    int64_t elements = 0;
    for (const Stored& input : c.inputs()) elements = std::max(elements, element_count(input.shape));
    if (elements > 300 || elements == 0) continue;
    auto& list = chosen[c.op()];
    if (list.size() < most && seen[c.op()].insert(c.attributes().dump()).second) list.push_back(&c);
  }
  return chosen;
}

// The slice of one example.
Dims start_at(const Tensor& x, int64_t example) {
  Dims starts = Dims::filled(x.rank(), 0);
  starts[0] = example;
  return starts;
}
Dims one_of(const Tensor& x) {
  Dims lengths = x.shape();
  lengths[0] = 1;
  return lengths;
}

class VmapOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, VmapOn, testing::ValuesIn(device_ids()), test_name);

TEST_P(VmapOn, EveryOperationIsALoop) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  const auto on = Device::open(GetParam());
  set_default_device(on);
  const bool is_slow = on->info().kind == DeviceKind::software;
  const uint64_t before = on->statistics().kernels_run;
  for (const auto& [op, list] : chosen_cases(is_slow ? 1 : 6))
    for (const Case* c : list) {
      const size_t count = c->input_types().size();
      std::vector<std::vector<int>> ways{std::vector<int>(count, 0)};
      if (!is_slow && count > 1) {
        ways.push_back(std::vector<int>(count, -1));
        ways.back()[0] = 0;  // only the first
        ways.push_back(std::vector<int>(count, 0));
        ways.back()[0] = -1;  // all but the first
      }
      if (!is_slow && c->inputs()[0].shape.size() > 0) {
        ways.push_back(std::vector<int>(count, 0));
        ways.back()[0] = 1;  // the examples along another axis
      }
      for (size_t way = 0; way < ways.size(); ++way) {
        if (!is_its_turn(std::hash<std::string>()(c->describe()) + way, is_slow ? 1 : 5)) continue;
        const std::vector<int>& axes = ways[way];
        try {
          const std::string problem = check(*c, axes);
          if (!problem.empty())
            ADD_FAILURE() << c->describe() << ": " << problem << " with in_axes[0] = " << axes[0];
        } catch (const std::exception& error) {
          ADD_FAILURE() << c->describe() << ": " << error.what();
        }
      }
    }
  EXPECT_GT(on->statistics().kernels_run - before, all_have_turns() || is_slow ? 300u : 100u);
}

// What no case can name, control flow above all, through the functions of the derivatives.
TEST_P(VmapOn, ControlFlowIsALoop) {
  set_default_device(Device::open(GetParam()));
  std::set<std::string> checked;
  for (const DerivativeCase& c : derivative_cases()) {
    if (c.row != "cond" && c.row != "while_loop" && c.row != "scan" && c.row != "item" && c.row != "alias")
      continue;
    checked.insert(c.row);
    Tensors arguments;
    for (size_t k = 0; k < c.shapes.size(); ++k) {
      Shape shape = c.shapes[k];
      shape.insert(0, examples);
      const auto count = static_cast<double>(element_count(shape));
      arguments.push_back(
          reshape(linspace(-0.9 + 0.1 * static_cast<double>(k), 0.8, static_cast<int64_t>(count)), shape));
    }
    const Function function = [&](const Tensors& x) { return Tensors{c.function(x)}; };
    try {
      const Tensor got = vmap_of(function, arguments, std::vector<int>(arguments.size(), 0))[0];
      Tensors wanted;
      for (int64_t e = 0; e < examples; ++e) {
        Tensors example;
        for (const Tensor& x : arguments)
          example.push_back(squeeze(slice(x, start_at(x, e), one_of(x)), {0}).eval());
        wanted.push_back(c.function(example).eval());
      }
      const std::string problem = differences(got, stack(std::span(wanted)));
      if (!problem.empty()) ADD_FAILURE() << c.name << ": " << problem;
    } catch (const std::exception& error) {
      ADD_FAILURE() << c.name << ": " << error.what();
    }
  }
  EXPECT_EQ(checked.size(), 5u);
}

// A row without a case fails here.
TEST(Vmap, EveryRowHasACase) {
  set_default_device(Device::open("cpu"));
  std::set<std::string> covered{"input", "number", "constant", "while_vjp",
                                "cholesky_vjp"};  // leaves; what goes back
  for (const auto& [op, list] : chosen_cases(1)) covered.insert(op);
  for (const DerivativeCase& c : derivative_cases()) covered.insert(c.row);
  covered.insert("iota");  // without operands there is nothing to map
  for (const graph::Row& row : graph::table())
    EXPECT_TRUE(covered.contains(std::string(row.name)))
        << row.name << " has no case under vmap: the Python files of tests/ops, or tests/ops/derivatives.cpp";
}

}  // namespace
}  // namespace adit::test
