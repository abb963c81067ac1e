#include <adit/sample.hpp>

#include "sample/session.hpp"

namespace adit {

Draws sample(const Model& model, const SampleOptions& options) {
  sampling::Session session(model.state(), options, {sampling::DataSet{}});
  session.run();
  return session.draws_of(model.state(), 0);
}

}  // namespace adit
