#include "explain/explain.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace adit::compile {

namespace {

// Three digits and a unit: "12.3 MB".
std::string scaled(double value, std::string_view unit) {
  constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t which = 0;
  while (value >= 999.5 && which + 1 < std::size(prefixes)) value /= 1000, ++which;
  const int digits = which == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}{}", value, digits, prefixes[which], unit);
}

std::string counted(double operations) {
  const std::string text = scaled(operations, "");
  return text + (text.back() == ' ' ? "operations" : " operations");
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.2f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

// A long list is cut: kernels of optimisers read dozens of tensors.
std::string listed(const std::vector<std::string>& labels) {
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < std::min(most, labels.size()); ++i) text += (i ? " " : "") + labels[i];
  if (labels.size() > most) text += fmt::format(" and {} more", labels.size() - most);
  return text.empty() ? "nothing" : text;
}

std::string teams_of(const Step& step) {
  if (const auto* kernel = std::get_if<KernelStep>(&step.work)) return fmt::format("{} teams", kernel->teams);
  if (std::holds_alternative<ProductStep>(step.work)) return "BLAS";
  return std::holds_alternative<HostStep>(step.work) ? "conducted by the host" : "memory";
}

std::string graph_text(const Notes& notes) {
  std::string text = fmt::format("graph: {} nodes, {} of them inputs\n", notes.graph.size(), notes.inputs);
  for (const std::string& line : notes.graph) text += "  " + line + "\n";
  return text;
}

std::string timed(double seconds, const Notes::OfStep& notes, const Peaks& peaks) {
  const auto bytes = static_cast<double>(notes.cost.bytes);
  const double operations = notes.cost.operations, peak = peaks.of(notes.cost, notes.by_matrices);
  const double at_best = std::max(bytes / peaks.bytes, peak > 0 ? operations / peak : 0);
  const bool by_memory = peak <= 0 || bytes / peaks.bytes >= operations / peak;
  if (seconds <= 0) return "      too short to time\n";
  return fmt::format("      {}, {}, {}, {:.1f}% of what {} allows\n", time_text(seconds),
                     scaled(bytes / seconds, "B/s"), scaled(operations / seconds, "FLOP/s"),
                     100 * at_best / seconds, by_memory ? "memory" : "arithmetic");
}

std::string steps_text(const Told& told) {
  const auto& steps = told.executable.steps();
  std::string text = fmt::format("steps: {} on {} ({})\n", steps.size(), told.device.id, told.device.name);
  for (size_t i = 0; i < steps.size(); ++i) {
    const Notes::OfStep& notes = told.notes.steps[i];
    text += fmt::format("  {:>3} {}: {}, {}, {}\n", i, steps[i].name, teams_of(steps[i]),
                        scaled(static_cast<double>(notes.cost.bytes), "B"), counted(notes.cost.operations));
    text += fmt::format("      {} -> {}\n", listed(notes.reads), listed(notes.writes));
    if (told.times) text += timed(told.times->steps[i], notes, *told.peaks);
  }
  return text;
}

std::string totals_text(const Told& told) {
  Cost sum;
  double seconds = 0;
  for (const Notes::OfStep& step : told.notes.steps) {
    sum.bytes += step.cost.bytes;
    sum.operations += step.cost.operations;
  }
  std::string text =
      fmt::format("total: {}, {}", scaled(static_cast<double>(sum.bytes), "B"), counted(sum.operations));
  if (told.times) {
    for (const double time : told.times->steps) seconds += time;
    text +=
        fmt::format(", {} in one run ({} step by step)", time_text(told.times->whole), time_text(seconds));
  }
  text += "\n";
  if (!told.peaks) return text;
  text += fmt::format("device: {} of memory, {} in f32", scaled(told.peaks->bytes, "B/s"),
                      scaled(told.peaks->f32, "FLOP/s"));
  if (told.peaks->f64 > 0) text += fmt::format(", {} in f64", scaled(told.peaks->f64, "FLOP/s"));
  if (told.peaks->matrices > 0)
    text += fmt::format(", {} by matrices", scaled(told.peaks->matrices, "FLOP/s"));
  return text + ", as measured\n";
}

// The tensors that lay where this one lies, and were done with: the last of them.
std::string reused(const std::vector<Notes::OfArena>& all, const Notes::OfArena& mine) {
  constexpr size_t most = 4;
  std::vector<std::string> labels;
  for (const Notes::OfArena& other : all)
    if (&other != &mine && other.last <= mine.first && other.offset < mine.offset + mine.bytes &&
        mine.offset < other.offset + other.bytes)
      labels.push_back(other.label);
  if (labels.empty()) return "";
  const size_t before = labels.size() - std::min(labels.size(), most);
  labels.erase(labels.begin(), labels.begin() + static_cast<long>(before));
  return ", over " + listed(labels) + (before ? fmt::format(" and {} before", before) : "");
}

std::string memory_text(const Told& told) {
  uint64_t together = 0, outputs = 0;
  for (const Notes::OfArena& tensor : told.notes.arena) together += tensor.bytes;
  for (const uint64_t bytes : told.executable.output_bytes_) outputs += bytes;
  std::string text = fmt::format("memory: {} bytes of outputs, {} bytes for {} tensors in between", outputs,
                                 told.executable.arena_bytes(), told.notes.arena.size());
  if (!told.notes.arena.empty()) text += fmt::format(" ({} without reuse)", together);
  text += "\n";
  for (const Notes::OfArena& tensor : told.notes.arena)
    text += fmt::format("  {}: {} bytes at {}, steps {} to {}{}\n", tensor.label, tensor.bytes, tensor.offset,
                        tensor.first, tensor.last, reused(told.notes.arena, tensor));
  return text;
}

}  // namespace

std::string to_text(const Told& told) {
  return (told.graph ? graph_text(told.notes) : "") + steps_text(told) + totals_text(told) +
         memory_text(told);
}

}  // namespace adit::compile
