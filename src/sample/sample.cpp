#include <adit/sample.hpp>

#include "sample/session.hpp"

namespace adit {

Draws sample(const Model& model, const SampleOptions& options) {
  return sampling::sample_as(stats::state_of(model), options, {});
}

namespace sampling {

Draws sample_as(const stats::ModelState& model, const SampleOptions& options, const Forced& forced) {
  Session session(model, options, {DataSet{}}, forced);
  session.run();
  return session.draws_of(model, 0);
}

}  // namespace sampling
}  // namespace adit
