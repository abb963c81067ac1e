// Derivative cases of the functions of einsum.hpp and network.hpp. They name the row that does most of the
// work.
#include <fmt/format.h>

#include <adit/einsum.hpp>
#include <adit/network.hpp>

#include "ops/derivatives.hpp"

namespace adit::test {

namespace composites {

using Maker = std::function<Tensor(const Tensors&)>;

void add(std::vector<DerivativeCase>& cases, const char* row, const char* name, std::vector<Shape> shapes,
         Maker f) {
  cases.push_back({row, fmt::format("{} {}", name, cases.size()), std::move(shapes), std::move(f)});
}

Tensor chosen(std::initializer_list<int64_t> numbers, const Shape& shape) {
  return tensor(std::vector<int64_t>(numbers), shape);
}

void add_norms(std::vector<DerivativeCase>& cases) {
  add(cases, "sum", "layer_norm", {{3, 5}}, [](const Tensors& x) { return layer_norm(x[0]); });
  add(cases, "sum", "layer_norm", {{2, 3, 4}, {3, 4}, {3, 4}}, [](const Tensors& x) {
    return layer_norm(x[0], x[1], x[2], {1, 2});
  });
  add(cases, "sum", "rms_norm", {{3, 5}, {5}}, [](const Tensors& x) { return rms_norm(x[0], x[1]); });
  add(cases, "sum", "rms_norm", {{3, 5}, {3}},
      [](const Tensors& x) { return rms_norm(x[0], {}, x[1], {0}); });
}

void add_attention(std::vector<DerivativeCase>& cases) {
  add(cases, "dot", "attention", {{3, 2}, {4, 2}, {4, 3}},
      [](const Tensors& x) { return attention(x[0], x[1], x[2]); });
  add(cases, "dot", "attention", {{2, 4, 3, 2}, {2, 2, 4, 2}, {2, 4, 2}},
      [](const Tensors& x) { return attention(x[0], x[1], x[2], {.mask = {}, .causal = true}); });
  add(cases, "dot", "attention", {{3, 2}, {4, 2}, {4, 2}, {3, 4}},
      [](const Tensors& x) { return attention(x[0], x[1], x[2], {.mask = x[3], .scale = 2.0}); });
  for (const bool causal : {false, true})
    add(cases, "attention", "attention", {{2, 2, 3, 2}, {2, 1, 4, 2}, {2, 1, 4, 3}}, [=](const Tensors& x) {
      return attention(x[0], x[1], x[2], {.mask = {}, .causal = causal, .fused = true});
    });
  // The second query sees nothing.
  add(cases, "dot", "attention", {{3, 2}, {2, 2}, {2, 2}}, [](const Tensors& x) {
    return attention(x[0], x[1], x[2], {.mask = chosen({1, 0, 0, 0, 1, 1}, {3, 2})});
  });
}

void add_einsums(std::vector<DerivativeCase>& cases) {
  const auto formula = [&](const char* text, std::vector<Shape> shapes) {
    add(cases, "dot", text, std::move(shapes),
        [text](const Tensors& x) { return square(einsum(text, std::span(x))); });
  };
  formula("ij,jk->ki", {{2, 3}, {3, 4}});
  formula("iij->j", {{3, 3, 2}});
  formula("ij,ij->i", {{2, 3}, {2, 3}});
  formula("ij,jk,kl->il", {{2, 3}, {3, 2}, {2, 3}});
  formula("b...,bc...->c", {{2}, {2, 3}});
  formula("...i,i,i", {{2, 3}, {3}, {1}});
  add(cases, "dot", "einsum", {{2, 3}, {2, 3}}, [](const Tensors& x) {
    const Tensor z = complex(x[0], x[1]);
    return as_real(einsum("ij,kj->ik", {z, z}));
  });
  add(cases, "multiply", "kron", {{2, 3}, {2}}, [](const Tensors& x) { return square(kron(x[0], x[1])); });
  add(cases, "dot", "tensordot", {{2, 3, 4}, {3, 4, 2}},
      [](const Tensors& x) { return square(tensordot(x[0], x[1])); });
}

void add_statistics(std::vector<DerivativeCase>& cases) {
  add(cases, "dot", "covariance", {{3, 5}}, [](const Tensors& x) { return covariance(x[0]); });
  add(cases, "dot", "covariance", {{3, 5}, {5}},
      [](const Tensors& x) { return covariance(x[0], {.frequencies = {}, .weights = x[1]}); });
  add(cases, "dot", "covariance", {{2, 4}, {2, 4}},
      [](const Tensors& x) { return as_real(covariance(complex(x[0], x[1]))); });
  add(cases, "dot", "corrcoef", {{5, 3}}, [](const Tensors& x) { return corrcoef(x[0], false) * 2.0; });
  for (const Distance distance :
       {Distance::euclidean, Distance::squared, Distance::manhattan, Distance::chebyshev})
    add(cases, "sum", "cdist", {{3, 2}, {2, 2}},
        [=](const Tensors& x) { return square(cdist(x[0], x[1], distance)); });
  add(cases, "dot", "cdist", {{2, 65}, {3, 65}}, [](const Tensors& x) { return cdist(x[0], x[1]); });
}

void add_tables(std::vector<DerivativeCase>& cases) {
  add(cases, "indexed_add", "bincount", {{4}}, [](const Tensors& x) {
    return square(bincount(chosen({0, 2, -1, 2}, {4}), 3, x[0]));
  });
  add(cases, "indexed_add", "histogram", {{4}}, [](const Tensors& x) {
    return square(histogram(arange(4), as_type(tensor({0.0, 1.5, 2.5}), x[0].dtype()), x[0]));
  });
  add(cases, "gather", "interpolate", {{5}, {4}}, [](const Tensors& x) {
    return interpolate(x[0], as_type(tensor({0.0, 0.31, 0.62, 1.0}), x[0].dtype()), square(x[1]));
  });
  // The places too, and ends that are beyond.
  add(cases, "gather", "interpolate", {{5}, {3}, {3}},
      [](const Tensors& x) { return interpolate(x[0], cumulative_sum(x[1] * 0.3), x[2], {.left = 0.5}); });
  add(cases, "gather", "resize_linear", {{3, 4}}, [](const Tensors& x) {
    return square(resize_linear(x[0], {0, 1}, {5, 3}));
  });
}

}  // namespace composites

void add_composites(std::vector<DerivativeCase>& cases) {
  composites::add_norms(cases);
  composites::add_attention(cases);
  composites::add_einsums(cases);
  composites::add_statistics(cases);
  composites::add_tables(cases);
}

}  // namespace adit::test
