// Random programs with their data, lowered, against the plain interpreter: log density, gradient, transformed
// parameters and generated quantities; by the engine of tensors and by kernels of the sampler.
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iostream>
#include <random>

#include <adit/adit.hpp>

#include "devices.hpp"
#include "seeds.hpp"
#include "stan/check.hpp"
#include "stan/interpreter.hpp"
#include "stan/lower.hpp"
#include "stan/parse.hpp"
#include "stan/random_model.hpp"
#include "stan/random_shrink.hpp"
#include "stats/model_state.hpp"

namespace adit::stan {
namespace {

constexpr double bound = 1e-9;
constexpr double most_beside_plain = 10;
#ifdef __SANITIZE_ADDRESS__
constexpr double longest_lowering = 60;
#else
constexpr double longest_lowering = 5;  // seconds of a processor
#endif

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double off = std::abs(a - b) / std::max(1.0, std::abs(b));
  return std::isfinite(off) ? off : HUGE_VAL;
}

std::vector<double> moved(std::vector<double> u) {
  for (double& x : u) x *= 1 + 1e-13;
  return u;
}

// How far a number may be off: the bound, or more where it hangs on the last digits of the point.
double allowed(double here, double there) { return std::max(bound, 100 * difference(here, there)); }

// One program beside the interpreter.
class Trial {
 public:
  Trial(const std::string& text, const nlohmann::json& data)
      : parsed_(parse("random.stan", text)), data_(data) {
    messages_ = std::move(parsed_.messages);
    if (!has_errors())
      for (Message& message : check(parsed_.program)) messages_.push_back(std::move(message));
  }

  bool has_errors() const {
    return std::any_of(messages_.begin(), messages_.end(),
                       [](const Message& m) { return m.kind != Message::Kind::warning; });
  }
  std::string errors() const {
    std::string text;
    for (const Message& message : messages_)
      if (message.kind != Message::Kind::warning) text += to_text(parsed_.program.sources, message);
    return text;
  }

  // What is wrong with it; nothing: it agrees. `device`: where kernels of the sampler run; none: not tried.
  std::string fault(const std::string& device) try {
    const reference::Interpreter interpreter(parsed_.program, data_);
    const double begin = processor_seconds();
    const Lowered lowered = lower(parsed_.program, data_from_json(data_.dump(), "data"));
    seconds = processor_seconds() - begin;
    if (seconds > longest_lowering)
      if (const double plain = plain_seconds(interpreter);
          seconds > longest_lowering + most_beside_plain * plain)
        return fmt::format("slow: {:.1f} seconds to lower, the plain interpreter takes {:.3f}", seconds,
                           plain);
    if (lowered.model.size() != interpreter.size()) return "another number of parameters";
    if (std::string found = density_fault(lowered.model, interpreter); !found.empty()) return found;
    if (std::string found = output_fault(lowered.model, interpreter); !found.empty()) return found;
    if (!device.empty())
      if (std::string found = kernel_fault(lowered.model, interpreter, device); !found.empty()) return found;
    all_seconds = processor_seconds() - begin;
    return "";
  } catch (const reference::Failure& failure) {
    return std::string("interpreter: ") + failure.what();
  } catch (const std::exception& error) {
    return std::string("error: ") + error.what();
  }

  double seconds = 0, all_seconds = 0;  // of the lowering, of all that followed too

 private:
  // What follows from data alone is computed while a program is lowered, and by the plain interpreter too.
  static double plain_seconds(const reference::Interpreter& interpreter) {
    const double begin = processor_seconds();
    interpreter.outputs(std::vector<double>(static_cast<size_t>(interpreter.size()), 0.1));
    return processor_seconds() - begin;
  }

  static std::string density_fault(const Model& model, const reference::Interpreter& interpreter) {
    std::mt19937 random(7);
    std::normal_distribution<double> normal(0, 0.5);
    const auto f = value_and_grad([&](const Tensor& u) { return model.log_density(u); });
    for (int point = 0; point < 2; ++point) {
      std::vector<double> u(static_cast<size_t>(model.size()));
      for (double& x : u) x = normal(random);
      const auto [value, slopes] = f(tensor(u));
      const std::string found =
          compared(interpreter, u, value.item<double>(), slopes[0].to_vector<double>(), "density");
      if (!found.empty()) return found;
    }
    return "";
  }

  static std::string compared(const reference::Interpreter& interpreter, const std::vector<double>& u,
                              double value, const std::vector<double>& slopes, const char* what) {
    const double begin = processor_seconds();
    const double expected = interpreter.log_density(u);
    const bool is_slow = processor_seconds() - begin > 0.05;
    if (difference(value, expected) > allowed(expected, interpreter.log_density(moved(u))))
      return fmt::format("{}: {} in place of {}", what, value, expected);
    if (!std::isfinite(expected)) return "";
    // All slopes, or those along some directions where there are many: the interpreter takes each one by one.
    const size_t most = is_slow ? 2 : 16;
    std::mt19937 random(5);
    std::normal_distribution<double> normal;
    for (size_t k = 0; k < std::min(most, u.size()); ++k) {
      std::vector<double> direction(u.size());
      if (u.size() <= most) direction[k] = 1;
      for (double& x : direction) x = u.size() <= most ? x : normal(random);
      const double wanted = interpreter.slope(u, direction), near = interpreter.slope(moved(u), direction);
      double found = 0, largest = 1;
      for (size_t i = 0; i < u.size(); ++i) {
        found += slopes[i] * direction[i];
        largest = std::max(largest, std::abs(slopes[i]));
      }
      const bool agrees =
          std::abs(found - wanted) <= std::max(bound * largest, 100 * std::abs(wanted - near));
      if (!agrees && !(std::isnan(found) && std::isnan(wanted)))
        return fmt::format("{}: slope {} is {} in place of {}", what, k, found, wanted);
    }
    return "";
  }

  static std::string output_fault(const Model& model, const reference::Interpreter& interpreter) {
    const stats::ModelState& state = stats::state_of(model);
    std::map<std::string, Tensor> graphs;
    for (const auto& variable : state.deterministics) graphs[variable.name] = variable.value;
    for (const auto& variable : state.generated) graphs[variable.name] = variable.value;
    std::mt19937 random(11);
    std::normal_distribution<double> normal(0, 0.5);
    std::vector<double> u(static_cast<size_t>(model.size()));
    for (double& x : u) x = normal(random);
    std::vector<reference::Output> outputs, near;
    try {
      outputs = interpreter.outputs(u), near = interpreter.outputs(moved(u));
    } catch (const reference::Rejected&) {
      return "";
    }
    std::vector<Tensor> wanted;
    for (const reference::Output& output : outputs)
      if (graphs.contains(output.name) && !output.values.empty()) wanted.push_back(graphs[output.name]);
    if (wanted.empty()) return "";
    const stats::PointInput key{state.generated_key, tensor(std::vector<uint32_t>{1, 2}, {1, 2}), true};
    const std::vector<Tensor> found = stats::at_points(state, wanted, tensor(u, {1, model.size()}), {key}, 1);
    size_t next = 0;
    for (size_t k = 0; k < outputs.size(); ++k) {
      const reference::Output& output = outputs[k];
      if (!graphs.contains(output.name) || output.values.empty()) continue;
      const std::vector<double> values = as_type(found[next++], DType::f64).to_vector<double>();
      if (values.size() != output.values.size()) return "another size of " + output.name;
      for (size_t i = 0; i < values.size(); ++i)
        if (difference(values[i], output.values[i]) > allowed(output.values[i], near[k].values[i]))
          return fmt::format("{}: number {} is {} in place of {}", output.name, i, values[i],
                             output.values[i]);
    }
    return "";
  }

  // Where one step of a leapfrog ends.
  static std::string kernel_fault(const Model& model, const reference::Interpreter& interpreter,
                                  const std::string& device) {
    std::mt19937 random(9);
    std::normal_distribution<double> normal(0, 0.4);
    std::vector<double> start(static_cast<size_t>(model.size()));
    for (double& x : start) x = normal(random);
    if (!std::isfinite(interpreter.log_density(start))) return "";
    const Tensor q = tensor(std::span<const double>(start), {model.size()}, Device::open(device));
    const LeapfrogKernel kernel(model, {.type = DType::f64, .device = device});
    const LeapfrogChain chain = kernel(q, q, 1e-3, 1);
    return compared(interpreter, chain.positions.to_vector<double>(),
                    chain.log_densities.to_vector<double>()[0], chain.gradients.to_vector<double>(),
                    "kernel");
  }

  Parsed parsed_;
  const nlohmann::json& data_;
  std::vector<Message> messages_;
};

// A fault without its numbers: a smaller program must fail in the same way.
std::string kind_of(std::string fault) {
  if (const size_t value = fault.find(" is "); value != std::string::npos) fault.resize(value);
  std::erase_if(fault,
                [](char c) { return std::isdigit(static_cast<unsigned char>(c)) || c == '.' || c == '-'; });
  return fault;
}

std::string smallest(const test::RandomModel& model, const std::string& fault, const std::string& device) {
  return test::shrunk(model.text, [&](const std::string& text) {
    Trial trial(text, model.data);
    return !trial.has_errors() && kind_of(trial.fault(device)) == kind_of(fault);
  });
}

// Its log density, gradient and outputs; on `device` too where it is named.
void try_program(uint64_t seed, const std::string& device) {
  const bool shows = std::getenv("ADIT_STAN_RANDOM_SHOW");
  const test::RandomModel model = test::random_model(static_cast<unsigned>(seed));
  if (shows) std::cout << "program " << seed << "\n" << model.text << model.data.dump() << std::endl;
  Trial trial(model.text, model.data);
  if (trial.has_errors()) {
    ADD_FAILURE() << "program " << seed << " is none: " << trial.errors() << model.text;
    return;
  }
  const std::string fault = trial.fault(device);
  if (shows) std::cout << "  " << trial.seconds << " s, " << trial.all_seconds << " s in all" << std::endl;
  if (fault.empty()) return;
  const bool shrinks = !fault.starts_with("slow") && !std::getenv("ADIT_STAN_RANDOM_WHOLE");
  ADD_FAILURE() << "program " << seed << ": " << fault << "\n"
                << (shrinks ? smallest(model, fault, device) : model.text) << model.data.dump();
}

constexpr uint64_t shares = 4;  // which ctest runs beside each other

class StanRandomModel : public testing::TestWithParam<uint64_t> {};

// The sampler's kernel of one program in eight: it takes most of the time.
TEST_P(StanRandomModel, AgreesWithTheInterpreter) {
  set_default_device(Device::open("cpu"));
  test::each_seed(
      80, [](uint64_t seed) { try_program(seed, seed / shares % 8 == 0 ? "cpu" : ""); }, GetParam(), shares);
}

INSTANTIATE_TEST_SUITE_P(Shares, StanRandomModel, testing::Range(uint64_t{0}, shares));

TEST(StanRandomModelOnDevices, AgreesWithTheInterpreter) {
  set_default_device(Device::open("cpu"));
  for (const std::string& id : test::device_ids())
    if (id != "cpu") test::each_seed(2, [&](uint64_t seed) { try_program(seed, id); });
}

}  // namespace
}  // namespace adit::stan
