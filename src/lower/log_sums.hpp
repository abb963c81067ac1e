// Logarithms of sums of exponentials in a graph, however they were written.
#pragma once

#include <optional>

#include <adit/ops.hpp>

#include "graph/node.hpp"
#include "graph/op.hpp"

namespace adit::lower {

inline Tensor operand_of(const Tensor& x, size_t i) { return graph::node_of(x).operands[i]; }
inline bool is_a(const Tensor& x, graph::Op op) {
  return graph::node_of(x).op == op && !graph::node_of(x).computed;
}
inline bool is_same(const Tensor& a, const Tensor& b) { return graph::pointer_of(a) == graph::pointer_of(b); }
Tensor past_reshapes(Tensor x);

// What is repeated along some axes, and where its own axes are.
struct Repeated {
  Tensor base;
  Axes axes;
  Tensor spread(const Tensor& like_base, const Shape& shape) const {
    return broadcast_in(like_base, shape, axes);
  }
};
Repeated repeated(const Tensor& x);
// Its axes that are summed over.
Axes reduced_axes(const Repeated& x, const Axes& reduced);
// Whether it is the same all along the axes that are summed over.
bool is_outside(const Repeated& x, const Axes& reduced);

// shift + log(sum(exp(exponents - shift))), whatever the shift: mostly the largest exponent.
struct LogSum {
  Tensor root;  // all of it
  Tensor exponents;
  Axes axes{};   // that are summed over
  Shape kept{};  // of the exponents, with extent 1 along those
};
std::optional<LogSum> log_sum(const Tensor& x);

// The exponents of such a sum that is written out, term by term; none where it is no such sum.
std::vector<Tensor> written_log_sum(const Tensor& x);

}  // namespace adit::lower
