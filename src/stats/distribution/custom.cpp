// custom(name, log_density, ...): a distribution of the caller's formulas.
#include "graph/row.hpp"
#include "stats/distribution/common.hpp"

namespace adit {

Distribution custom(std::string name, std::function<Tensor(const Tensor&)> log_density, Constraint support,
                    Shape event, std::function<Tensor(const Tensor& key, const Shape& shape)> draw) {
  if (name.empty()) graph::fail("custom", "name", "expected a name, got none");
  if (!log_density) graph::fail("custom", "log_density", "expected a function, got none");
  if (!support.constrain && !support.discrete)
    graph::fail("custom", "support", "expected a constraint, got none");
  return stats::make_distribution(std::move(name), {}, event, {}, std::move(support),
                                  {.log_density = std::move(log_density), .draw = std::move(draw)});
}

}  // namespace adit
