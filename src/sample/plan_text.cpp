// A plan in words.
#include <fmt/format.h>

#include <adit/sample_plan.hpp>

namespace adit {
namespace {

constexpr size_t most_lines = 40;  // of terms: a program that writes out its loops has thousands

// 12345678 as 12,345,678.
std::string counted(int64_t number) {
  std::string digits = std::to_string(number);
  for (int64_t at = std::ssize(digits) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", counted(static_cast<int64_t>(bytes)));
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string indented(const std::string& text) {
  std::string lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines += "  " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return lines;
}

std::string parameters_text(const SamplePlan& plan) {
  std::string text = fmt::format("{}: {} parameters, {} unconstrained numbers\n", plan.model,
                                 plan.variables.size(), counted(plan.size));
  for (const SamplePlan::Variable& variable : plan.variables)
    text += fmt::format("  {}{}{}\n", variable.name,
                        variable.shape.empty() ? "" : " " + to_string(variable.shape),
                        variable.size == element_count(variable.shape)
                            ? ""
                            : fmt::format(", {} unconstrained", counted(variable.size)));
  return text;
}

std::string program_text(const SamplePlan& plan) {
  std::string text;
  for (const std::string& line : plan.lowering) text += "  " + line + "\n";
  return text.empty() ? "" : "\nWhat became of the program\n" + text;
}

std::string terms_text(const SamplePlan& plan) {
  std::string text = fmt::format("\nThe log density is a sum of {} terms\n", counted(std::ssize(plan.terms)));
  for (size_t i = 0; i < std::min(plan.terms.size(), most_lines); ++i) {
    const SamplePlan::Term& term = plan.terms[i];
    text += fmt::format("  {}{}{}\n", term.name,
                        term.elements > 1 ? fmt::format(", of {} numbers", counted(term.elements)) : "",
                        term.stated.empty() ? "" : ": " + term.stated);
  }
  if (plan.terms.size() > most_lines)
    text +=
        fmt::format("  and {} more\n", counted(std::ssize(plan.terms) - static_cast<int64_t>(most_lines)));
  return text;
}

std::string ways_text(const SamplePlan& plan) {
  std::string text;
  for (const SamplePlan::Way& way : plan.ways)
    text += fmt::format("{}{} {:.3g} us", text.empty() ? "" : ", ", way.name, way.microseconds);
  if (text.empty()) return "";
  return fmt::format("  a leapfrog of all chains, by estimate: {}{}\n", text,
                     plan.was_timed ? "; an earlier run timed those that are close" : "");
}

}  // namespace

std::string to_text(const SamplePlan& plan) {
  std::string text = parameters_text(plan) + program_text(plan) + terms_text(plan);
  text += fmt::format(
      "\nRuns on {} ({})\n  {}, {} chains, metric {}, layout {}, {} teams\n  the density is computed {}\n",
      plan.device, plan.device_name, plan.precision, counted(plan.chains), plan.metric, plan.layout,
      counted(static_cast<int64_t>(plan.teams)), plan.density);
  text += ways_text(plan);
  if (plan.passes > 0 || plan.work > 0)
    text += fmt::format(
        "\nA gradient takes {} passes over long axes, and computes {} elements{}\n{}", plan.passes,
        counted(plan.work),
        plan.serial > 0 ? fmt::format(", {} of them one after the other", counted(plan.serial)) : "",
        indented(plan.schedule));
  text += fmt::format(
      "\nMemory\n  a chain: {} numbers; scratch of a gradient: {}, of them near the lanes {}\n"
      "  all chains: {}\n  shared memory of a team: {}\n",
      counted(plan.state_numbers), counted(plan.scratch_numbers), counted(plan.near_numbers),
      bytes_text(plan.state_bytes), bytes_text(plan.shared_bytes));
  text += fmt::format("\nThe kernel has {} instructions, {} parameters, and about {} loop trips a round\n",
                      counted(plan.instructions), plan.parameters, counted(plan.loop_trips));
  text += fmt::format("Data: {} tensors of {} numbers and {} places, {}\n", counted(plan.leaves),
                      counted(plan.reals), counted(plan.places), bytes_text(plan.data_bytes));
  return text;
}

}  // namespace adit
