// Functions that transformations are tried on: chains, products, factorisations, control flow.
#pragma once

#include <string>
#include <vector>

#include <adit/ops.hpp>
#include <adit/transform.hpp>

namespace adit::test {

struct Argument {
  Shape shape;
  DType type = DType::f64;
};
struct Case {
  std::string name;
  std::vector<Argument> arguments;
  Function f;  // to one real scalar
  // Loops with a condition have no second derivative in reverse mode.
  bool reverse_twice = true;
};

inline Tensor spread_sum(const Tensor& x) { return sum(sin(x) + 0.5 * x); }

inline std::vector<Case> plain_cases() {
  return {
      {"chain",
       {{{3}}},
       [](const Tensors& x) -> Tensors { return {sum(sin(x[0]) * x[0]) * mean(exp(x[0]))}; }},
      {"broadcast",
       {{{3}}, {{2, 1}}},
       [](const Tensors& x) -> Tensors { return {spread_sum(x[0] * x[1] + x[1])}; }},
      {"softmax",
       {{{2, 3}}, {{2, 3}}},
       [](const Tensors& x) -> Tensors { return {sum(log_softmax(x[0]) * x[1]) + logsumexp(x[1])}; }},
      {"pieces",
       {{{4}}, {{2}}},
       [](const Tensors& x) -> Tensors {
         return {spread_sum(concatenate({slice(x[0], {1}, {2}) * x[1], reverse(x[0])}))};
       }},
      {"unused", {{{2}}, {{2}}}, [](const Tensors& x) -> Tensors { return {sum(x[1] * x[1])}; }},
      {"no floats between",
       {{{3}}},
       [](const Tensors& x) -> Tensors { return {sum(x[0] * as_type(x[0] > 0.0, DType::f64))}; }},
      {"complex",
       {{{3}, DType::c128}, {{3}, DType::c128}},
       [](const Tensors& x) -> Tensors {
         return {sum(abs(x[0] * conjugate(x[1]) + exp(x[0])) + imag(x[1] * x[1]))};
       }},
      {"complex of parts",
       {{{2}}, {{2}}},
       [](const Tensors& x) -> Tensors {
         return {sum(abs(complex(x[0], x[1]) * complex(x[1], x[0] * x[0])))};
       }},
      {"many layers",
       {{{3}}, {{3, 3}}},
       [](const Tensors& x) -> Tensors {
         Tensor h = x[0];
         for (int i = 0; i < 4; ++i) h = tanh(dot(h, x[1]) + h);
         return {sum(h * h)};
       }},
  };
}

inline std::vector<Case> product_cases() {
  const auto of = [](const std::string& name, const Shape& a, const Shape& b, const auto& f) -> Case {
    return {name, {{a}, {b}}, [f](const Tensors& x) -> Tensors { return {spread_sum(f(x[0], x[1]))}; }};
  };
  const auto plain = [](const Tensor& a, const Tensor& b) { return dot(a, b); };
  const auto stacked = [](const Tensor& a, const Tensor& b) { return matmul(a, b); };
  return {
      of("matrices", {2, 3}, {3, 4}, plain),
      of("matrix and vector", {2, 3}, {3}, plain),
      of("vector and matrix", {3}, {3, 2}, plain),
      of("vectors", {3}, {3}, plain),
      of("tensors", {2, 2, 3}, {2, 3, 2}, plain),
      of("batches", {2, 2, 3}, {2, 3, 2}, stacked),
      of("batches that broadcast", {2, 1, 2, 3}, {3, 3, 2}, stacked),
      of("one matrix for all", {2, 2, 3}, {3, 2}, stacked),
      of("axes in any order", {2, 3, 2, 4}, {4, 2, 2, 3},
         [](const Tensor& a, const Tensor& b) {
           return dot(a, {1, 3}, {2, 0}, b, {3, 0}, {1, 2});
         }),
      of("outer", {3}, {2}, [](const Tensor& a, const Tensor& b) { return outer(a, b); }),
      {"complex products",
       {{{2, 3}, DType::c128}, {{3, 2}, DType::c128}},
       [](const Tensors& x) -> Tensors { return {sum(abs(dot(x[0], x[1])))}; }},
  };
}

inline Tensor transposed(const Tensor& x) {
  Axes order = Dims::counted(x.rank());
  std::swap(order[x.rank() - 1], order[x.rank() - 2]);
  return transpose(x, order);
}
inline Tensor positive_definite(const Tensor& x) {
  return matmul(x, transposed(is_complex(x.dtype()) ? conjugate(x) : x)) + eye(x.dim(-1), -1, x.dtype());
}

inline std::vector<Case> factor_cases() {
  const auto factor = [](const Tensors& x) -> Tensors {
    return {spread_sum(cholesky(positive_definite(x[0])))};
  };
  std::vector<Case> cases = {
      {"cholesky", {{{3, 3}}}, factor},
      {"cholesky of batches", {{{2, 2, 2}}}, factor},
      // Only the lower triangle counts.
      {"cholesky, lower triangle",
       {{{3, 3}}},
       [](const Tensors& x) -> Tensors {
         return {spread_sum(cholesky(0.3 * x[0] + 2.0 * eye(3, 3, DType::f64)))};
       }},
      {"complex cholesky",
       {{{3, 3}, DType::c128}},
       [](const Tensors& x) -> Tensors {
         return {sum(abs(cholesky(positive_definite(x[0])) + ones({3, 3}, DType::f64)))};
       }},
  };
  for (int kind = 0; kind < 8; ++kind) {
    const TriangularOptions options{(kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0};
    cases.push_back({"triangular_solve " + std::to_string(kind),
                     {{{3, 3}}, {options.left_side ? Shape{3, 2} : Shape{2, 3}}},
                     [options](const Tensors& x) -> Tensors {
                       const Tensor a = x[0] + 2.0 * eye(3, 3, DType::f64);
                       return {spread_sum(triangular_solve(a, x[1], options))};
                     }});
  }
  return cases;
}

inline Tensor counter() { return full_integer({}, 0, DType::i32); }

inline std::vector<Case> control_cases() {
  return {
      {"scan",
       {{{3}}, {{3}}, {{4, 3}}},
       [](const Tensors& x) -> Tensors {
         const Step r = scan(
             [&](const Tensors& c, const Tensors& s) -> Step {
               const Tensor h = tanh(c[0] * x[0] * 2.0 + s[0] * sin(x[0]));
               return {{h, c[1] + 1}, {h * s[0], c[1] * 2}};
             },
             {x[1], counter()}, {x[2]});
         return {sum(r.carry[0]) + sum(r.outputs[0] * r.outputs[0]) + sum(as_type(r.outputs[1], DType::f64))};
       }},
      {"scan backward",
       {{{3}}, {{4, 3}}},
       [](const Tensors& x) -> Tensors {
         const Step r = scan(
             [&](const Tensors& c, const Tensors& s) -> Step {
               return {{sin(c[0]) + s[0] * x[0]}, {c[0]}};
             },
             {x[0]}, {x[1]}, -1, true);
         return {sum(r.carry[0]) + sum(r.outputs[0] * x[1])};
       }},
      {"scan without sequences",
       {{{3}}, {{3}}},
       [](const Tensors& x) -> Tensors {
         return {sum(scan(
                         [&](const Tensors& c, const Tensors&) -> Step {
                           return {{c[0] * x[0] + 1.0}, {}};
                         },
                         {x[1]}, {}, 3)
                         .carry[0])};
       }},
      {"scan of length zero",
       {{{3}}, {{3}}},
       [](const Tensors& x) -> Tensors {
         const Step r = scan(
             [&](const Tensors& c, const Tensors&) -> Step {
               return {{c[0] * x[0]}, {c[0]}};
             },
             {x[1]}, {}, 0);
         return {sum(r.carry[0] * x[0]) + sum(r.outputs[0])};
       }},
      {"map",
       {{{3}}, {{4, 3}}},
       [](const Tensors& x) -> Tensors {
         return {sum(map([&](const Tensor& r) { return dot(r, x[0]) * r; }, x[1]))};
       }},
      {"cond",
       {{{3}}, {{3}}},
       [](const Tensors& x) -> Tensors {
         // The examples of a batch differ in the branch that they take.
         return cond(
             sum(x[0] * x[0]) > 1.1, [&](const Tensors& o) -> Tensors { return {sum(sin(o[0]) * x[0])}; },
             [&](const Tensors& o) -> Tensors { return {sum(o[0] * o[0] * exp(x[0]) * 3.0)}; }, {x[1]});
       }},
      {"cond on what is not mapped",
       {{{3}}},
       [](const Tensors& x) -> Tensors {
         const Tensor yes = tensor(std::vector<uint8_t>{1}, {}), no = tensor(std::vector<uint8_t>{0}, {});
         const auto on_true = [&](const Tensors& o) -> Tensors { return {sum(sin(o[0])), counter()}; };
         const auto on_false = [&](const Tensors& o) -> Tensors { return {sum(o[0] * x[0]), counter() + 1}; };
         return {cond(yes, on_true, on_false, {x[0]})[0] + cond(no, on_true, on_false, {x[0]})[0]};
       }},
      {"while",
       {{{3}}, {{3}}},
       [](const Tensors& x) -> Tensors {
         return {spread_sum(while_loop([](const Tensors& s) { return s[1] < 4; },
                                       [&](const Tensors& s) -> Tensors {
                                         return {sin(s[0]) * x[0] + s[0], s[1] + 1};
                                       },
                                       {x[1], counter()})[0])};
       },
       false},
      {"while, rounds by example",
       {{{3}}, {{3}}},
       [](const Tensors& x) -> Tensors {
         return {sum(x[0] * while_loop([](const Tensors& s) { return sum(s[0] * s[0]) < 30.0; },
                                       [&](const Tensors& s) -> Tensors {
                                         return {s[0] * (1.3 + x[0] * x[0]) + 0.1};
                                       },
                                       {x[1]})[0])};
       },
       false},
      {"nested",
       {{{3}}, {{3}}, {{3, 3}}},
       [](const Tensors& x) -> Tensors {
         const auto loop = [&](const Tensor& start, const Tensor& slice) {
           return while_loop([](const Tensors& q) { return q[1] < 2; },
                             [&](const Tensors& q) -> Tensors {
                               return {q[0] * x[0] + slice, q[1] + 1};
                             },
                             {start, counter()})[0];
         };
         const Step r = scan(
             [&](const Tensors& c, const Tensors& s) -> Step {
               const Tensor h = cond(
                   sum(s[0]) > 0.0, [&](const Tensors& o) -> Tensors { return {loop(o[0], s[0])}; },
                   [](const Tensors& o) -> Tensors { return {cos(o[0])}; }, {c[0]})[0];
               return {{h}, {h}};
             },
             {x[1]}, {x[2]});
         return {sum(r.outputs[0] * r.outputs[0])};
       },
       false},
  };
}

}  // namespace adit::test
