#include "sample/obstacles.hpp"

#include <algorithm>
#include <fmt/format.h>

#include <adit/ops.hpp>

#include "graph/bounded_loops.hpp"
#include "graph/op.hpp"

namespace adit::sampling {

namespace {

constexpr size_t most_looked_at = 64;

bool is_factor(const Tensor& x) {
  return graph::node_of(x).op == graph::Op::cholesky && !graph::node_of(x).computed;
}

Tensor whether_any(const Tensor& flags) { return reduce_max(reshape(flags, {flags.size()})); }

// A factor that is not a number although its matrix is one.
Tensor has_no_factor(const Tensor& factor) {
  const Tensor& matrix = graph::node_of(factor).operands[0];
  const Tensor bad_matrix = whether_any(not_equal(matrix - matrix, graph::constant(matrix.dtype(), 0)));
  return logical_and(whether_any(is_nan(factor)), logical_not(bad_matrix));
}

struct Obstacle {
  std::string words;
  Tensor is_there;
};

std::vector<Obstacle> obstacles_of(const stats::ModelTerm& term) {
  const graph::BoundedLoops bounded = graph::bounded_loops({term.total});
  std::vector<Obstacle> found;
  for (const Tensor& endless : bounded.endless)
    found.push_back({fmt::format("a while_loop went on after {} rounds", graph::most_rounds), endless});
  for (const Tensor& x : graph::reachable(bounded.roots, true))
    if (is_factor(x) && x.size() > 0 && found.size() < most_looked_at)
      found.push_back({fmt::format("a matrix of {} x {} is not positive definite", x.dim(-1), x.dim(-1)),
                       has_no_factor(x)});
  return found;
}

}  // namespace

bool may_have_obstacles(const stats::ModelState& model) {
  Tensors totals;
  for (const auto& term : model.terms) totals.push_back(term.total);
  const auto all = graph::reachable(totals, true);
  return std::any_of(all.begin(), all.end(), [](const Tensor& x) {
    return is_factor(x) || graph::node_of(x).op == graph::Op::while_loop;
  });
}

std::string obstacle_words(const stats::ModelState& model, const stats::ModelTerm& term, const Tensor& u) {
  const std::vector<Obstacle> all = obstacles_of(term);
  Tensors flags;
  for (const Obstacle& each : all) flags.push_back(each.is_there);
  if (flags.empty()) return "";
  const Tensors now = stats::at_point(model, flags, u);
  std::string list;
  for (size_t i = 0; i < now.size(); ++i)
    if (as_type(now[i], DType::f64).item<double>() != 0 && list.find(all[i].words) == std::string::npos)
      list += (list.empty() ? "" : "; ") + all[i].words;
  return list;
}

}  // namespace adit::sampling
