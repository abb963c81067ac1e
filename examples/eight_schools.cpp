// Eight schools: how much did coaching help in each, and how much do schools differ?
//
//   eight_schools            on the chosen device
//   eight_schools cpu        on that one
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

#include <adit/adit.hpp>

namespace {

using namespace adit;

Model eight_schools() {
  const Tensor effect = tensor({28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0});
  const Tensor error = tensor({15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0});

  Model schools("eight_schools");
  const Plate school = schools.plate("school", 8, {"A", "B", "C", "D", "E", "F", "G", "H"});
  const Tensor mu = schools.sample("mu", normal(0, 5));
  const Tensor tau = schools.sample("tau", half_cauchy(5));
  const Tensor theta = schools.sample("theta", normal(mu, tau), {school}, Form::non_centred);
  schools.observe("y", normal(theta, schools.data("sigma", error)), effect);
  return schools;
}

void run(const std::string& device) {
  const Model model = eight_schools();
  SampleOptions options;
  options.chains = 8;
  options.seed = 42;
  options.device = device;
  const Draws draws = sample(model, options);

  const Summary rows = summary(draws);
  fmt::print("{}", format_summary(draws, rows));
  for (const std::string& warning : warnings(draws, rows)) fmt::print("Warning: {}\n", warning);
  fmt::print("on {} in {:.2f} s\n", draws.device, draws.seconds.total);

  // Published: mu 4.4 with a standard deviation of 3.3.
  for (const SummaryRow& row : rows.parameters)
    if (row.name == "mu" && !(std::abs(row.mean - 4.41) < 0.5))
      throw std::runtime_error("the mean of mu is not what others found");
}

}  // namespace

int main(int argc, char** argv) try {
  run(argc > 1 ? argv[1] : "");
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "eight_schools: {}\n", error.what());
  return 1;
}
