// What transformations and control flow do to graphs, and what they refuse. Nothing runs here, so no device
// is needed but for making leaves.
#include "graph/trace.hpp"

#include <gtest/gtest.h>

#include <adit/ops.hpp>
#include <adit/transform.hpp>

#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::test {
namespace {

using graph::ControlAttributes;
using graph::Node;
using graph::Op;

Tensor leaf(const Shape& shape, DType type = DType::f32) { return graph::placeholder(type, shape); }

int count(const Tensors& results, Op op) {
  int found = 0;
  for (const Tensor& x : graph::reachable(results, true))
    if (graph::node_of(x).op == op) ++found;
  return found;
}

const Node& control_of(const Tensor& item) { return graph::node_of(graph::node_of(item).operands.at(0)); }
const ControlAttributes& about(const Tensor& item) {
  return *control_of(item).as<std::shared_ptr<const ControlAttributes>>();
}

template <class F>
void expect_error(F f, const std::string& expected) {
  try {
    f();
    ADD_FAILURE() << "no error; expected " << expected;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_EQ(std::string(error.what()), expected);
  }
}

TEST(Trace, GradientsAreNodes) {
  const Tensor x = leaf({3}), w = leaf({3});
  const ValueAndGrad r =
      value_and_grad_of([&](const Tensors& t) -> Tensors { return {sum(t[0] * w)}; }, {x}, {0});
  EXPECT_EQ(r.grads[0].shape(), (Shape{3}));
  // What does not depend on the argument is zero, and a constant.
  const Tensor none =
      value_and_grad_of([&](const Tensors&) -> Tensors { return {sum(w)}; }, {x}, {0}).grads[0];
  ASSERT_TRUE(graph::constant_value(none));
  EXPECT_EQ(graph::constant_value(none)->real, 0);
}

TEST(Trace, OneProductForABatch) {
  const Tensor w = leaf({4, 5}), xs = leaf({7, 4}), rows = leaf({7, 2, 5});
  const Tensor left = vmap([&](Tensor x) { return dot(x, w); })(xs);
  EXPECT_EQ(graph::node_of(left).op, Op::dot);
  EXPECT_EQ(left.shape(), (Shape{7, 5}));
  EXPECT_EQ(graph::pointer_of(graph::node_of(left).operands[1]), graph::pointer_of(w));
  // A vector on the right goes to the left: nothing is transposed.
  const Tensor right = vmap([&](Tensor x) { return dot(transpose(w), x); })(xs);
  EXPECT_EQ(graph::node_of(right).op, Op::dot);
  EXPECT_EQ(right.shape(), (Shape{7, 5}));
  const Tensor matrices = vmap([&](Tensor x) { return dot(w, transpose(x)); })(rows);
  EXPECT_EQ(matrices.shape(), (Shape{7, 4, 2}));
  EXPECT_EQ(count({matrices}, Op::broadcast), 0);
}

TEST(Trace, BatchOnlyWhatDepends) {
  const Tensor w = leaf({4}), x = leaf({7, 4});
  const Tensor y = vmap([&](Tensor t) { return t * exp(w); })(x);
  EXPECT_EQ(count({y}, Op::exp), 1);
  for (const Tensor& node : graph::reachable(Tensors{y}, true))
    if (graph::node_of(node).op == Op::exp) {
      EXPECT_EQ(node.shape(), (Shape{4}));
    }
  // A result that is the same for all is repeated.
  EXPECT_EQ(vmap([&](Tensor) { return w; })(x).shape(), (Shape{7, 4}));
  EXPECT_EQ(vmap([&](Tensor t) { return t; }, {1})(x).shape(), (Shape{4, 7}));
}

TEST(Trace, CapturedTensorsAreOperands) {
  const Tensor w = leaf({3}), x = leaf({3}), xs = leaf({4, 3});
  const Step r = scan(
      [&](const Tensors& c, const Tensors& s) -> Step {
        return {{c[0] * exp(w) + s[0]}, {}};
      },
      {x}, {xs});
  const Node& node = control_of(r.carry[0]);
  ASSERT_EQ(node.operands.size(), 3u);
  // What a loop does not change is computed outside of it.
  EXPECT_EQ(graph::node_of(node.operands[2]).op, Op::exp);
  EXPECT_EQ(count(about(r.carry[0]).functions[0]->results, Op::exp), 0);
}

TEST(Trace, NumbersAreOperandsAndConstantsAreNot) {
  const Tensor x = leaf({100});
  const Step r = scan(
      [&](const Tensors& c, const Tensors&) -> Step {
        return {{c[0] * 0.25f + ones({100})}, {}};
      },
      {x}, {}, 3);
  const Node& node = control_of(r.carry[0]);
  ASSERT_EQ(node.operands.size(), 2u);
  EXPECT_EQ(graph::node_of(node.operands[1]).op, Op::number);  // not the hundred copies of it
  EXPECT_EQ(count(about(r.carry[0]).functions[0]->results, Op::number), 0);
  EXPECT_EQ(count(about(r.carry[0]).functions[0]->results, Op::constant), 1);
}

TEST(Trace, ABranchKeepsItsWork) {
  const Tensor w = leaf({3}), predicate = leaf({}, DType::u8);
  const Tensors r = cond(
      predicate, [&](const Tensors&) -> Tensors { return {exp(w)}; },
      [&](const Tensors&) -> Tensors { return {w}; }, {});
  const Node& node = control_of(r[0]);
  ASSERT_EQ(node.operands.size(), 2u);
  EXPECT_EQ(graph::pointer_of(node.operands[1]), graph::pointer_of(w));
  EXPECT_EQ(count(about(r[0]).functions[0]->results, Op::exp), 1);
  EXPECT_EQ(count(r, Op::exp), 0);
  // Its gradient does too.
  const Function f = [&](const Tensors& t) -> Tensors {
    return {sum(cond(
        predicate, [&](const Tensors&) -> Tensors { return {exp(t[0])}; },
        [&](const Tensors&) -> Tensors { return {t[0]}; }, {})[0])};
  };
  const Tensor g = value_and_grad_of(f, {w}, {0}).grads[0];
  EXPECT_EQ(count({g}, Op::cond), 1);
  EXPECT_EQ(count({g}, Op::exp), 0);
}

// The scan that keeps what the gradient needs gives the value as well: each runs once, and once backward.
TEST(Trace, AScanRunsOnceForValueAndGradient) {
  const Tensor x = leaf({3}), xs = leaf({4, 3});
  const auto run = [&](const Tensor& first) {
    const auto step = [](const Tensors& c, const Tensors& s) -> Step { return {{sin(c[0]) * s[0]}, {c[0]}}; };
    return scan(step, {first}, {xs});
  };
  const Function one = [&](const Tensors& t) -> Tensors {
    const Step r = run(t[0]);
    return {sum(r.carry[0] * r.carry[0]) + sum(r.outputs[0])};
  };
  ValueAndGrad r = value_and_grad_of(one, {x}, {0});
  EXPECT_EQ(count({r.value, r.grads[0]}, Op::scan), 2);
  const Function two = [&](const Tensors& t) -> Tensors { return one({run(t[0]).carry[0]}); };
  r = value_and_grad_of(two, {x}, {0});
  EXPECT_EQ(count({r.value, r.grads[0]}, Op::scan), 4);
}

TEST(Trace, ALoopWithoutBatchedConditionIsNotSelected) {
  const Tensor x = leaf({7, 3});
  const Tensor y = vmap([](Tensor t) {
    return while_loop([](const Tensors& s) { return s[1] < 5; },
                      [](const Tensors& s) -> Tensors {
                        return {sin(s[0]), s[1] + 1};
                      },
                      {t, full_integer({}, 0, DType::i32)})[0];
  })(x);
  EXPECT_EQ(count(about(y).functions[1]->results, Op::select), 0);
  EXPECT_EQ(about(y).shapes[0], (Shape{7, 3}));
  EXPECT_EQ(about(y).shapes[1], Shape{});
}

TEST(Trace, ErrorsOfGradients) {
  const Tensor x = leaf({3}), n = leaf({3}, DType::i32);
  expect_error([&] { grad([](Tensor t) { return t; })(x); },
               "[grad] f: expected a scalar result, got shape [3]");
  expect_error([&] { grad([](Tensor t) { return sum(t); })(n); },
               "[grad] argument 0: expected floats or complex numbers, got i32");
  expect_error([&] { grad([](Tensor t, Tensor) { return sum(t); }, 2)(x, x); },
               "[grad] argument: expected 0 to 1, got 2");
  expect_error([&] { grad([](Tensor t) { return sum(as_type(t, DType::i64)); })(x); },
               "[grad] f: expected a result of floats, got i64");
  expect_error([&] { vjp([](const Tensors& t) { return t; }, {x}, {leaf({2})}); },
               "[vjp] cotangent 0: expected f32 [3], got f32 [2]");
  expect_error([&] { vjp([](const Tensors& t) { return t; }, {x}, {}); },
               "[vjp] cotangents: expected 1, got 0");
  expect_error([&] { jvp([](const Tensors& t) { return t; }, {x}, {leaf({3}, DType::f64)}); },
               "[jvp] tangent 0: expected f32 [3], got f64 [3]");
  expect_error([&] { jvp([](const Tensors& t) { return t; }, {n}, {n}); },
               "[jvp] argument 0: expected floats or complex numbers, or no tangent, got i32");
  expect_error([&] { jacobian([](Tensor t) { return t > t; })(x); },
               "[jacobian] f: expected a result of floats, got u8");
}

TEST(Trace, ErrorsOfVmap) {
  const Tensor x = leaf({3, 2}), y = leaf({4, 2});
  const auto f = [](Tensor a, Tensor b) { return a + b; };
  expect_error([&] { vmap(f)(x, y); },
               "[vmap] argument 1: expected extent 3 along the mapped axis, as of those before, got 4");
  expect_error([&] { vmap(f, {0, 2})(x, y); }, "[vmap] in_axes[1]: expected -1 to 1 for shape [4, 2], got 2");
  expect_error(
      [&] {
        vmap(f, {-1, -1})(x, y);
      },
      "[vmap] in_axes: expected an axis for at least one argument, got none");
  expect_error([&] { vmap(f, {0})(x, y); }, "[vmap] in_axes: expected 2, one an argument, got 1");
}

TEST(Trace, ErrorsOfControlFlow) {
  const Tensor x = leaf({3}), p = leaf({}, DType::u8), n = leaf({}, DType::i32);
  const auto same = [](const Tensors& t) { return t; };
  const auto longer = [](const Tensors& t) -> Tensors { return {concatenate({t[0], t[0]})}; };
  expect_error([&] { cond(p, same, longer, {x}); },
               "[cond] on_false: expected f32 [3] for result 0, got f32 [6]");
  expect_error([&] { cond(p, same, [](const Tensors&) { return Tensors{}; }, {x}); },
               "[cond] on_false: expected 1 tensors, one a result, got 0");
  expect_error([&] { cond(x, same, same, {x}); }, "[cond] predicate: expected a scalar, got shape [3]");
  expect_error([&] { while_loop([](const Tensors& t) { return t[0] > 0; }, same, {x}); },
               "[while_loop] condition: expected a scalar, got shape [3]");
  expect_error(
      [&] {
        while_loop([](const Tensors& t) { return t[0]; },
                   [](const Tensors& t) -> Tensors { return {as_type(t[0], DType::f32)}; }, {n});
      },
      "[while_loop] body: expected i32 [] for state 0, got f32 []");
  const auto step = [](const Tensors& c, const Tensors&) -> Step { return {c, {}}; };
  expect_error([&] { scan(step, {x}, {}); }, "[scan] length: expected it, as there are no xs, got -1");
  expect_error(
      [&] {
        scan(step, {x}, {x, leaf({4})});
      },
      "[scan] xs 1: expected 3 slices along axis 0, got shape [4]");
  expect_error([&] { scan(step, {x}, {x}, 5); },
               "[scan] xs 0: expected 5 slices along axis 0, got shape [3]");
  expect_error(
      [&] {
        scan([](const Tensors&, const Tensors& s) -> Step { return {s, {}}; }, {x}, {x});
      },
      "[scan] step: expected f32 [3] for carry 0, got f32 []");
  expect_error([&] { map([](const Tensor& t) { return t; }, n); },
               "[map] xs: expected at least one axis, got a scalar");
  // The gradient of a loop's gradient goes forward only.
  const auto loop = [](Tensor t) {
    return sum(while_loop([](const Tensors& s) { return sum(s[0]) < 1.0; },
                          [](const Tensors& s) -> Tensors { return {s[0] * s[0]}; }, {t})[0]);
  };
  EXPECT_EQ(hessian(loop)(x).shape(), (Shape{3, 3}));
  expect_error(
      [&] { grad([&](Tensor t) { return sum(grad(loop)(t)); })(x); },
      "[grad] while_vjp: has no derivative in reverse mode; take the jvp of the gradient, as hessian does");
}

TEST(Trace, ErrorsOfProducts) {
  const Tensor a = leaf({2, 3}), b = leaf({4, 5}), v = leaf({3});
  expect_error([&] { dot(a, b); },
               "[dot] b: expected extent 3 along axis 0, that of the last axis of a, got shape [4, 5]");
  expect_error(
      [&] { dot(a, {1}, {}, b, {0}, {}); },
      "[dot] contract_b: expected extent 3 along axis 0 as along axis 1 of a, got shapes [2, 3] and [4, 5]");
  expect_error([&] { dot(a, {1, 1}, {}, b, {0, 1}, {}); }, "[dot] a: expected each axis once, got 1 twice");
  expect_error([&] { dot(a, {2}, {}, b, {0}, {}); }, "[dot] axis: expected -2 to 1 for rank 2, got 2");
  expect_error(
      [&] {
        matmul(leaf({2, 2, 3}), leaf({3, 3, 4}));
      },
      "[matmul] b: expected leading axes that broadcast with those of [2, 2, 3], got shape [3, 3, 4]");
  expect_error([&] { matmul(a, leaf({})); }, "[matmul] b: expected at least one axis, got a scalar");
  expect_error([&] { cholesky(a); }, "[cholesky] a: expected square matrices, got shape [2, 3]");
  expect_error(
      [&] {
        triangular_solve(leaf({3, 3}), b);
      },
      "[triangular_solve] b: expected matrices that fit a's shape [3, 3], got shape [4, 5]");
  EXPECT_EQ(triangular_solve(leaf({3, 3}), v).shape(), (Shape{3}));
  EXPECT_EQ(dot(a, leaf({3}, DType::f64)).dtype(), DType::f64);
  EXPECT_EQ(cholesky(leaf({2, 2}, DType::i32)).dtype(), DType::f32);
  EXPECT_EQ(matmul(leaf({2, 1, 2, 3}), leaf({5, 3, 4})).shape(), (Shape{2, 5, 2, 4}));
  EXPECT_EQ(matmul(v, leaf({5, 3, 4})).shape(), (Shape{5, 4}));
  EXPECT_EQ(matmul(leaf({5, 2, 3}), v).shape(), (Shape{5, 2}));
}

}  // namespace
}  // namespace adit::test
