#include "ops/derivatives.hpp"

#include <fmt/format.h>
#include <map>

#include <adit/fft.hpp>
#include <adit/linalg.hpp>
#include <adit/sort.hpp>
#include <adit/windows.hpp>

#include "graph/op.hpp"
#include "graph/row.hpp"
#include "ops/call.hpp"

namespace adit::test {

using graph::Kind;
using graph::Row;

namespace {

struct Domain {
  double low, high;
};

// Where the default of 0.2 to 0.9 is outside, or says too little.
std::vector<Domain> domains_of(std::string_view row) {
  static const std::map<std::string_view, std::vector<Domain>> others{
      {"acosh", {{1.2, 4}}},      {"exp", {{-2, 2}}},           {"expm1", {{-1, 1}}},
      {"log", {{0.5, 5}}},        {"sin", {{-4, 4}}},           {"cos", {{-4, 4}}},
      {"tan", {{-1, 1}}},         {"asin", {{-0.8, 0.8}}},      {"acos", {{-0.8, 0.8}}},
      {"atan", {{-4, 4}}},        {"sinh", {{-2, 2}}},          {"cosh", {{-2, 2}}},
      {"tanh", {{-2, 2}}},        {"asinh", {{-3, 3}}},         {"atanh", {{-0.8, 0.8}}},
      {"erf", {{-2, 2}}},         {"erfc", {{-2, 2}}},          {"erfcx", {{-1, 2}}},
      {"erf_inv", {{-0.8, 0.8}}}, {"lgamma", {{0.5, 6}}},       {"digamma", {{0.5, 6}}},
      {"trigamma", {{0.5, 6}}},   {"sigmoid", {{-5, 5}}},       {"softplus", {{-5, 5}}},
      {"log_sigmoid", {{-5, 5}}}, {"cbrt", {{-3, -1}, {1, 3}}}, {"abs", {{-3, -1}, {1, 3}}},
      {"sign", {{-3, -1}}},       {"pow", {{0.5, 2.5}}},        {"atan2", {{0.5, 3}, {-3, -0.5}}},
      {"hypot", {{0.5, 3}}},      {"divide", {{0.5, 3}}},       {"remainder", {{0.51, 0.9}}}};
  const auto found = others.find(row);
  return found == others.end() ? std::vector<Domain>{{0.2, 0.9}} : found->second;
}

bool accepts(const std::string& op, int arity, DType type) {
  try {
    ops::call(op, Tensors(static_cast<size_t>(arity), zeros({2}, type)));
    return true;
  } catch (const Error&) {
    return false;
  }
}

void add_elementwise(std::vector<DerivativeCase>& cases) {
  for (const Row& row : graph::table()) {
    const std::string op(row.name);
    if (row.kind != Kind::elementwise || !row.vjp || op == "select" || op == "clip" ||
        !ops::callers().contains(op))
      continue;
    if (op == "as_type" || op == "bitcast" || op == "stop_gradient") continue;
    const auto arity = static_cast<size_t>(row.arity);
    if (accepts(op, row.arity, DType::f64))
      for (const Domain& d : domains_of(row.name))
        cases.push_back({std::string(row.name), fmt::format("{} from {} to {}", op, d.low, d.high),
                         std::vector<Shape>(arity, {2, 3}),
                         [op](const Tensors& x) { return as_real(ops::call(op, x)); }, d.low, d.high});
    else if (accepts(op, row.arity, DType::u32))
      cases.push_back({op, "integer " + op, std::vector<Shape>(arity, {3}), [op](const Tensors& x) {
                         Tensors whole;
                         for (const Tensor& t : x) whole.push_back(as_type(t, DType::u32));
                         return x[0] * x[0] + 1e-12 * as_type(ops::call(op, whole), x[0].dtype());
                       }});
    // Complex operands from pairs of real ones.
    if (accepts(op, row.arity, DType::c128))
      cases.push_back({std::string(row.name), "complex " + op, std::vector<Shape>(2 * arity, {3}),
                       [op](const Tensors& x) {
                         Tensors z;
                         for (size_t i = 0; i < x.size(); i += 2) z.push_back(complex(x[i], x[i + 1]));
                         return as_real(ops::call(op, z));
                       },
                       0.3, 0.9});
  }
}

Tensor indices(std::initializer_list<int64_t> numbers, const Shape& shape) {
  return tensor(std::vector<int64_t>(numbers), shape);
}

using Function = std::function<Tensor(const Tensors&)>;

void add_more_elementwise(std::vector<DerivativeCase>& cases) {
  auto add = [&](const char* row, std::vector<Shape> shapes, Function f, double low = 0.2,
                 double high = 0.9) {
    cases.push_back(
        {row, fmt::format("{} {}", row, cases.size()), std::move(shapes), std::move(f), low, high});
  };
  add("as_type", {{2, 3}},
      [](const Tensors& x) { return as_type(as_type(x[0], DType::c128), x[0].dtype()) * x[0]; });
  add("as_type", {{4}}, [](const Tensors& x) { return as_real(as_type(x[0], complex_of(x[0].dtype()))); });
  add("bitcast", {{4}}, [](const Tensors& x) {
    const DType bits = x[0].dtype() == DType::f64 ? DType::u64 : DType::u32;
    return x[0] * stop_gradient(bitcast(bitcast(x[0], bits), x[0].dtype()) * 0.0);
  });
  add("stop_gradient", {{4}}, [](const Tensors& x) { return stop_gradient(x[0]) * 0.0 + x[0] * x[0]; });
  add("select", {{2, 3}, {2, 3}}, [](const Tensors& x) {
    return select(tensor<uint8_t>({{1, 0, 1}, {0, 0, 1}}), sin(x[0]), x[1] * x[1]);
  });
  add("select", {{3}, {2, 3}}, [](const Tensors& x) { return select(x[0] > 0.5, x[0], x[1]) * x[1]; });
  add("clip", {{5}}, [](const Tensors& x) { return clip(x[0] * x[0], 0.31, 0.52); });
  add("clip", {{5}, {}, {}},
      [](const Tensors& x) { return clip(x[0] * 2.0 + 0.5, x[1] * 0.3 + 0.9, x[2] * 0.3 + 1.6); });
  add("complex", {{3}, {3}},
      [](const Tensors& x) { return as_real(complex(x[0], x[1]) * complex(x[1], x[0])); });
  add("multiply", {{2, 1, 3}, {4, 1}}, [](const Tensors& x) { return x[0] * x[1]; });
  add("divide", {{}, {4}}, [](const Tensors& x) { return x[0] / x[1]; });
}

void add_views(std::vector<DerivativeCase>& cases) {
  auto add = [&](const char* row, std::vector<Shape> shapes, Function f) {
    // The square makes second derivatives that are not zero.
    cases.push_back({row, fmt::format("{} {}", row, cases.size()), std::move(shapes),
                     [f](const Tensors& x) { return square(f(x)); }});
  };
  add("alias", {{3}}, [](const Tensors& x) { return graph::make(graph::Op::alias, {x[0]}); });
  add("reshape", {{2, 3}}, [](const Tensors& x) { return reshape(x[0], {3, 2}); });
  add("reshape", {{2, 1, 3}}, [](const Tensors& x) { return squeeze(x[0]); });
  add("transpose", {{2, 3, 4}}, [](const Tensors& x) { return transpose(x[0], {2, 0, 1}); });
  add("broadcast", {{2, 1, 3}}, [](const Tensors& x) { return broadcast_to(x[0], {4, 2, 5, 3}); });
  add("broadcast", {{2, 3}}, [](const Tensors& x) { return broadcast_in(x[0], {2, 4, 3}, {0, 2}); });
  add("slice", {{5, 4}}, [](const Tensors& x) { return slice(x[0], {1, 0}, {3, 2}); });
  add("slice", {{7, 4}}, [](const Tensors& x) { return slice(x[0], {1, 0}, {3, 2}, {2, 2}); });
  add("dynamic_slice", {{5, 4}}, [](const Tensors& x) {
    return dynamic_slice(x[0], {indices({3}, {}), indices({1}, {})}, {3, 2});
  });
  add("put_slice", {{5, 4}, {2, 3}}, [](const Tensors& x) { return put_slice(x[0], x[1], {2, 9}); });
  add("pad", {{3, 4}, {}}, [](const Tensors& x) {
    const Padding padding[2] = {{1, 2, 1}, {-1, 2, 0}};
    return pad(x[0], x[1], padding);
  });
  add("pad", {{5}, {}}, [](const Tensors& x) {
    const Padding padding[1] = {{-2, -3, 2}};
    return pad(x[0], x[1], padding);
  });
  add("concatenate", {{2, 3}, {1, 3}, {2, 3}}, [](const Tensors& x) { return concatenate(std::span(x), 0); });
  add("concatenate", {{2, 3}, {2, 1}}, [](const Tensors& x) { return concatenate(std::span(x), 1); });
  add("concatenate", {{3}, {3}}, [](const Tensors& x) { return stack(std::span(x), 1); });
  add("reverse", {{2, 5}}, [](const Tensors& x) { return reverse(x[0], {1}); });
  add("take_along_axis", {{3, 4}}, [](const Tensors& x) {
    return take_along_axis(x[0], indices({0, 3, 3, -1, 9, 1}, {3, 2}), 1);
  });
  add("gather", {{3, 4}}, [](const Tensors& x) { return gather(x[0], indices({0, 1, 2, 3, 0, 1}, {3, 2})); });
  add("gather", {{3, 4, 2}}, [](const Tensors& x) {
    return gather(x[0], indices({0, 5, 1, 1}, {4, 1}), {1});
  });
  add("gather", {{4, 3}}, [](const Tensors& x) { return take(x[0], indices({2, 2, 0}, {3}), 1); });
  add("indexed_add", {{4, 3}, {3, 3}}, [](const Tensors& x) {
    return indexed_add(x[0], indices({1, 3, 1}, {3, 1}), x[1]);
  });
  add("indexed_add", {{4, 3}, {3, 4}}, [](const Tensors& x) {
    return indexed_add(x[0], indices({1, 2, 1}, {3, 1}), x[1], {1});
  });
  add("indexed_put", {{4, 3}, {3, 3}}, [](const Tensors& x) {
    return indexed_put(x[0], indices({1, 3, 0}, {3, 1}), x[1]);
  });
  add("indexed_put", {{4, 3}, {3}}, [](const Tensors& x) {
    return indexed_put(x[0], indices({1, 2, 3, 0, 1, 2}, {3, 2}), x[1]);
  });
}

void add_reductions(std::vector<DerivativeCase>& cases) {
  auto add = [&](const char* row, std::vector<Shape> shapes, Function f) {
    cases.push_back({row, fmt::format("{} {}", row, cases.size()), std::move(shapes), std::move(f)});
  };
  add("sum", {{2, 3, 4}}, [](const Tensors& x) { return square(sum(x[0], {0, 2})); });
  add("sum", {{2, 3}}, [](const Tensors& x) { return square(sum(x[0])); });
  add("product", {{2, 3, 2}}, [](const Tensors& x) { return product(x[0], {0, 2}); });
  // A zero among the factors: quotients would be NaN.
  add("product", {{4}}, [](const Tensors& x) { return product(concatenate({x[0], x[0] - x[0], x[0]})); });
  add("product", {{5}}, [](const Tensors& x) {
    return product(x[0] * as_type(tensor({1.0, 0.0, 1.0, 1.0, 1.0}), x[0].dtype()));
  });
  add("reduce_max", {{3, 4}}, [](const Tensors& x) { return square(reduce_max(x[0], {1})); });
  add("reduce_min", {{3, 4}}, [](const Tensors& x) { return square(reduce_min(x[0])); });
  add("reduce", {{2, 3}, {}}, [](const Tensors& x) {
    return reduce(x[0], x[1], {1}, [](Tensor s, Tensor e) { return s * 0.5 + sin(e) * s; });
  });
  add("sum", {{3, 4}}, [](const Tensors& x) { return variance(x[0], {1}); });
  add("sum", {{3, 4}}, [](const Tensors& x) { return logsumexp(x[0], {0}); });
  add("sum", {{3, 4}}, [](const Tensors& x) { return softmax(x[0]); });
  add("dot", {{3}, {3}}, [](const Tensors& x) { return dot(x[0], x[1]); });
  add("dot", {{2, 3}, {3, 4}}, [](const Tensors& x) { return square(dot(x[0], x[1])); });
  add("dot", {{2, 3, 4}, {5, 4, 2}}, [](const Tensors& x) { return dot(x[0], {2}, {0}, x[1], {1}, {2}); });
  add("dot", {{2, 3, 4}, {4, 3, 2}}, [](const Tensors& x) {
    return dot(x[0], {1, 2}, {}, x[1], {1, 0}, {});
  });
  add("dot", {{2, 2}, {3}}, [](const Tensors& x) { return outer(flatten(x[0]), x[1]); });
  add("dot", {{2, 2}, {2, 2}},
      [](const Tensors& x) { return as_real(dot(complex(x[0], x[1]), complex(x[1], x[0] * x[0]))); });
  for (const bool reverse : {false, true}) {
    add("cumulative_sum", {{3, 4}},
        [=](const Tensors& x) { return square(cumulative_sum(x[0], 1, reverse)); });
    add("cumulative_product", {{5, 2}},
        [=](const Tensors& x) { return cumulative_product(x[0], 0, reverse); });
    // Zeros among the factors: one, and two.
    add("cumulative_product", {{6}}, [=](const Tensors& x) {
      const Tensor place = arange(6);
      return cumulative_product(x[0] * as_type(place != 2, x[0].dtype()), 0, reverse);
    });
    add("cumulative_product", {{2, 6}}, [=](const Tensors& x) {
      const Tensor place = iota({2, 6}, DType::i64, 1);
      return cumulative_product(x[0] - select(place == 1, x[0], zeros_like(x[0])), -1, reverse);
    });
    add("cumulative_product", {{2, 3}, {2, 3}},
        [=](const Tensors& x) { return as_real(cumulative_product(complex(x[0], x[1]), 1, reverse)); });
    add("cumulative_max", {{2, 5, 3}},
        [=](const Tensors& x) { return square(cumulative_max(x[0], 1, reverse)); });
    add("cumulative_min", {{4, 7}},
        [=](const Tensors& x) { return square(cumulative_min(x[0], -1, reverse)); });
  }
  for (const int64_t n : {1, 6, 7, 17}) {
    add("fft", {{2, n}, {2, n}}, [](const Tensors& x) {
      const Tensor y = fft(complex(x[0], x[1] * x[0]), 1);
      return as_real(y * y);
    });
    add("ifft", {{n, 2}, {n, 2}}, [](const Tensors& x) {
      const Tensor y = ifft(complex(x[0], x[1] * x[0]), 0);
      return as_real(y * y);
    });
    add("rfft", {{n, 3}}, [](const Tensors& x) { return square(as_real(rfft(x[0], 0))); });
    add("irfft", {{2, n}, {2, n}},
        [n](const Tensors& x) { return square(irfft(complex(x[0], x[1]), 1, 2 * n - 1)); });
    add("irfft", {{2, n}, {2, n}},
        [n](const Tensors& x) { return square(irfft(complex(x[0], x[1]), 1, 2 * n)); });
  }
  add("fft", {{3, 5}}, [](const Tensors& x) { return square(as_real(fft2(x[0], {0, 1}, {4, 3}))); });
  add("ifft", {{2, 3, 2}}, [](const Tensors& x) { return square(as_real(ifftn(x[0]))); });
  add("cholesky", {{3, 3}},
      [](const Tensors& x) { return cholesky(matmul(x[0], transpose(x[0])) + eye(3, 3, x[0].dtype())); });
  add("cholesky", {{2, 3, 3}}, [](const Tensors& x) {
    return cholesky(matmul(x[0], transpose(x[0], {0, 2, 1})) + eye(3, 3, x[0].dtype()));
  });
  for (int options = 0; options < 8; ++options)
    add("triangular_solve", {{3, 3}, {3, 3}}, [options](const Tensors& x) {
      const Tensor a = x[0] + 2.0 * eye(3, 3, x[0].dtype());
      return triangular_solve(a, x[1], {(options & 1) != 0, (options & 2) != 0, (options & 4) != 0});
    });
}

// Matrices far from singular, with singular values that differ.
Tensor regular(const Tensor& x) {
  const int64_t m = x.dim(-2), n = x.dim(-1);
  const Tensor place = as_type(iota({m, n}, DType::i64, 0), x.dtype());
  return x + (place + 1.0) * eye(m, n, x.dtype());
}

void add_linear(std::vector<DerivativeCase>& cases) {
  auto add = [&](const char* row, std::vector<Shape> shapes, Function f) {
    cases.push_back({row, fmt::format("{} {}", row, cases.size()), std::move(shapes), std::move(f)});
  };
  auto add_both = [&](const char* row, const Shape& shape, Function f) {
    add(row, {shape}, [f](const Tensors& x) { return as_real(f({regular(x[0])})); });
    add(row, {shape, shape}, [f](const Tensors& x) { return as_real(f({complex(regular(x[0]), x[1])})); });
  };
  const auto adjoint = [](const Tensor& x) {
    Axes order = Dims::counted(x.rank());
    std::swap(order[x.rank() - 1], order[x.rank() - 2]);
    return is_complex(x.dtype()) ? conjugate(transpose(x, order)) : transpose(x, order);
  };
  add("solve", {{3, 3}, {3, 2}}, [](const Tensors& x) { return solve(regular(x[0]), x[1]); });
  add("solve", {{2, 3, 3}, {2, 3}}, [](const Tensors& x) { return solve(regular(x[0]), x[1]); });
  add_both("solve", {3, 3}, [](const Tensors& x) { return inverse(x[0]); });
  add_both("lu", {3, 3}, [](const Tensors& x) { return lu_factor(x[0]).packed; });
  add_both("lu", {2, 3, 3}, [](const Tensors& x) { return determinant(x[0]); });
  add("lu", {{3, 3}}, [](const Tensors& x) { return sign_and_log_determinant(regular(x[0])).log; });
  add_both("qr", {4, 3}, [](const Tensors& x) { return qr(x[0]).q; });
  add_both("qr", {3, 3}, [](const Tensors& x) { return qr(x[0]).r; });
  add_both("qr", {2, 4}, [](const Tensors& x) {
    const Qr parts = qr(x[0]);
    return matmul(square(parts.q), parts.r);
  });
  add_both("eigh", {3, 3}, [](const Tensors& x) { return eigh_values(x[0]); });
  // What does not depend on the phases of vectors.
  add_both("eigh", {3, 3}, [adjoint](const Tensors& x) {
    const Eigh parts = eigh(x[0]);
    return matmul(parts.vectors * as_type(expand_dims(square(parts.values), -2), parts.vectors.dtype()),
                  adjoint(parts.vectors));
  });
  for (const Shape& shape : {Shape{3, 3}, Shape{4, 2}, Shape{2, 4}, Shape{2, 3, 2}}) {
    add_both("svd", shape, [](const Tensors& x) { return singular_values(x[0]); });
    add_both("svd", shape, [](const Tensors& x) {
      const Svd parts = svd(x[0]);
      return matmul(parts.u * as_type(expand_dims(sqrt(parts.s), -2), parts.u.dtype()), parts.v_h);
    });
  }
  add("svd", {{4, 3}}, [](const Tensors& x) { return pseudo_inverse(regular(x[0])); });
  add("eig", {{3, 3}}, [](const Tensors& x) { return sort(real(eigenvalues(regular(x[0])))); });
  add("eig", {{3, 3}}, [](const Tensors& x) {
    const Eig parts = eig(regular(x[0]));
    return as_real(matmul(parts.vectors * expand_dims(square(parts.values), -2), inverse(parts.vectors)));
  });
  add("solve", {{3, 3}}, [](const Tensors& x) { return matrix_exponential(x[0]); });
  for (const bool down : {false, true}) {
    const Direction direction = down ? Direction::descending : Direction::ascending;
    add("sort", {{3, 5}}, [=](const Tensors& x) { return square(sort(x[0], 1, direction)) * x[0]; });
    add("sort", {{5, 2}}, [=](const Tensors& x) { return square(sort(x[0], 0, direction)) * x[0]; });
  }
}

void add_control(std::vector<DerivativeCase>& cases) {
  auto add = [&](const char* row, std::vector<Shape> shapes, Function f) {
    cases.push_back({row, fmt::format("{} {}", row, cases.size()), std::move(shapes), std::move(f)});
  };
  auto branches = [](bool first) {
    return [first](const Tensors& x) {
      const Tensor p = first ? sum(x[0]) > -1.0 : sum(x[0]) < -1.0;
      return cond(
          p, [&](const Tensors& y) { return Tensors{sin(y[0]) * x[1]}; },
          [&](const Tensors& y) { return Tensors{y[0] * y[0] * x[1]}; }, {x[0]})[0];
    };
  };
  add("cond", {{3}, {3}}, branches(true));
  add("cond", {{3}, {3}}, branches(false));
  add("while_loop", {{3}, {}}, [](const Tensors& x) {
    const Tensors last = while_loop([](const Tensors& s) { return s[0] < 4; },
                                    [&](const Tensors& s) {
                                      return Tensors{s[0] + 1, sin(s[1]) * x[1]};
                                    },
                                    {full_integer({}, 0, DType::i32), x[0]});
    return last[1];
  });
  for (const bool reverse : {false, true})
    add("scan", {{2}, {5, 2}, {}}, [reverse](const Tensors& x) {
      const Step all = scan(
          [&](const Tensors& c, const Tensors& s) {
            const Tensor next = c[0] * s[0] + sin(c[0]) * x[2];
            return Step{{next}, {next * next}};
          },
          {x[0]}, {x[1]}, -1, reverse);
      return concatenate({all.carry[0], flatten(all.outputs[0])});
    });
  add("item", {{2}, {4, 2}}, [](const Tensors& x) {
    return scan(
               [](const Tensors& c, const Tensors& s) {
                 return Step{{c[0] * s[0]}, {}};
               },
               {x[0]}, {x[1]})
        .carry[0];
  });
  add("scan", {{3, 2}},
      [](const Tensors& x) { return map([](const Tensor& r) { return r * sum(r); }, x[0]); });
}

}  // namespace

Tensor as_real(const Tensor& x) { return is_complex(x.dtype()) ? stack({real(x), imag(x)}, x.rank()) : x; }

namespace {

void add_windows(std::vector<DerivativeCase>& cases) {
  auto add = [&](const char* row, std::vector<Shape> shapes, Function f) {
    cases.push_back({row, fmt::format("{} {}", row, cases.size()), std::move(shapes), std::move(f)});
  };
  // Elements that no small step makes equal, in no order.
  const auto apart = [](const Tensor& x) {
    return x + as_type(remainder(iota(x.shape()) * 17, 31), x.dtype());
  };
  const WindowOptions odd{{2, 1}, {{1, 2}, {-1, 1}}, {1, 2}}, tiled{{2, 3}, {{1, 0}, {-1, 0}}};
  add("windows", {{4, 6}, {}}, [=](const Tensors& x) { return square(windows(x[0], x[1], {2, 3}, odd)); });
  add("windows", {{4, 6}, {}}, [=](const Tensors& x) { return square(windows(x[0], x[1], {2, 3}, tiled)); });
  add("windows", {{3, 5}}, [=](const Tensors& x) { return square(window_sum(x[0], {2, 2}, odd)); });
  add("windows", {{5, 6}}, [=](const Tensors& x) { return window_product(x[0], {2, 3}, odd); });
  add("windows", {{6, 6}}, [=](const Tensors& x) {
    return square(window_max(apart(x[0]), {2, 3}, {{2, 1}, {{1, 1}, {-1, 1}}, {1, 2}}));
  });
  add("windows", {{7, 6}}, [=](const Tensors& x) {
    return square(window_min(apart(x[0]), {3, 3}, {.same = true}));
  });
  add("windows", {{30}}, [=](const Tensors& x) {
    return square(window_max(apart(x[0]), {19}, {{1}, {{3, 4}}}));
  });
  add("windows", {{30}}, [](const Tensors& x) { return square(window_sum(x[0], {19}, {{1}, {{3, 4}}})); });
  add("windows", {{1, 2, 4, 6}}, [=](const Tensors& x) { return square(max_pool(apart(x[0]), {2, 2})); });
  add("windows", {{1, 2, 5, 5}}, [](const Tensors& x) {
    return square(average_pool(x[0], {3, 2}, {{2, 1}, {{1, 1}, {1, 0}}}, false));
  });
  add("windows", {{5, 4}, {3, 3}, {}}, [=](const Tensors& x) {
    return square(window_scatter_max(apart(x[0]), x[1], x[2], {2, 2}, {{2, 1}, {{0, 1}, {0, 0}}}));
  });
  add("windows", {{2, 5}, {}}, [](const Tensors& x) {
    return window_reduce(x[0], x[1], {1, 3}, [](Tensor s, Tensor e) { return s * 0.5 + sin(e) * s; },
                         {{1, 2}, {{0, 0}, {1, 1}}});
  });

  add("conv", {{2, 2, 5}, {3, 2, 2}}, [](const Tensors& x) { return square(conv(x[0], x[1])); });
  add("conv", {{1, 4, 4, 5}, {2, 2, 2, 3}}, [](const Tensors& x) {
    ConvOptions options;
    options.strides = {2, 1};
    options.padding = {{1, 2, 0}, {-1, 2, 0}};
    options.input_dilation = {1, 2};
    options.kernel_dilation = {2, 1};
    options.feature_groups = 2;
    return square(conv(x[0], x[1], options));
  });
  add("conv", {{2, 2, 4, 4}, {2, 1, 3, 3}}, [](const Tensors& x) {
    ConvOptions options;
    options.same = true;
    options.feature_groups = 2;
    return square(conv(x[0], x[1], options));
  });
  add("conv", {{2, 4, 2, 2}, {2, 2, 2, 2}}, [](const Tensors& x) {
    ConvOptions options;
    options.input_permutation = {1, 3, 2, 0};
    options.kernel_permutation = {3, 2, 0, 1};
    options.output_permutation = {0, 3, 1, 2};
    options.padding = {{1, 0, 0}, {0, 1, 0}};
    options.batch_groups = 2;
    return square(conv(x[0], x[1], options));
  });
  add("conv", {{1, 1, 2, 3, 3}, {1, 1, 2, 2, 1}}, [](const Tensors& x) { return square(conv(x[0], x[1])); });
  add("conv", {{1, 2, 4}, {1, 2, 2}},
      [](const Tensors& x) { return as_real(conv(complex(x[0], x[0] * x[0]), complex(x[1], x[1] - 1.0))); });
}

}  // namespace

std::vector<DerivativeCase> derivative_cases() {
  std::vector<DerivativeCase> cases;
  add_elementwise(cases);
  add_more_elementwise(cases);
  add_views(cases);
  add_reductions(cases);
  add_linear(cases);
  add_control(cases);
  add_windows(cases);
  add_composites(cases);
  // Rows whose derivative has none of its own in reverse: docs/ops.md says so.
  for (DerivativeCase& c : cases) c.twice = c.row != "digamma" && c.row != "while_loop";
  return cases;
}

}  // namespace adit::test
