// Chains that sit where the posterior has next to nothing: they are moved in the warm-up, and told.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <adit/ops.hpp>

#include "graph/bounded_loops.hpp"
#include "graph/control.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"
#include "sample/collect.hpp"
#include "sample/options.hpp"
#include "sample/precision_watch.hpp"
#include "sample/session.hpp"
#include "sample/stuck.hpp"

namespace adit::sampling {

namespace {

constexpr size_t most_told = 3;

// "chain 3 (...), chain 5 (...) and 2 more", each with what is told of it.
template <class Words>
std::string listed(const std::vector<int64_t>& chains, const Words& words) {
  std::string told;
  for (size_t i = 0; i < std::min(most_told, chains.size()); ++i)
    told += fmt::format("{}chain {} ({})", i ? ", " : "", chains[i] + 1, words(i));
  return chains.size() > most_told ? told + fmt::format(" and {} more", chains.size() - most_told) : told;
}

std::string seat_words(const stats::ModelState& model, double lp, const std::vector<double>& position) {
  return fmt::format("log density {:.4g}, where {}", lp, place_words(model, position));
}

double median_of(std::vector<double> numbers) {
  const auto middle = numbers.begin() + std::ssize(numbers) / 2;
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

// Whether a chain that has no other beside it looks as if it could not move.
bool looks_stuck(const Draws& draws) {
  constexpr int64_t deep = 8;  // trees that a caller keeps lower are full in any chain
  const std::vector<double>&lp = draws.stats.lp, &depth = draws.stats.tree_depth;
  const auto limit = static_cast<double>(std::max<int64_t>(deep, draws.max_depth));
  const auto deepest = std::ranges::count_if(depth, [&](double it) { return it >= limit; });
  return draws.divergences() > 0 || 2 * deepest > std::ssize(depth) ||
         std::ranges::all_of(lp, [&](double it) { return it == lp[0]; });
}

// Numbers that the tensors of a graph have, those in loops as often as the rounds may make them.
double numbers_in(const Tensors& roots) {
  double numbers = 0;
  for (const Tensor& x : graph::reachable(roots, true)) {
    const graph::Node& node = graph::node_of(x);
    numbers += static_cast<double>(x.size());
    if (node.computed || node.op == graph::Op::item || graph::row_of(node.op).kind != graph::Kind::control)
      continue;
    const graph::ControlAttributes& about = graph::about(x);
    const bool is_open = node.op == graph::Op::while_loop && about.length == 0;
    const auto rounds =
        static_cast<double>(is_open ? graph::most_rounds : std::max<int64_t>(1, about.length));
    for (const auto& function : about.functions) numbers += rounds * numbers_in(function->results);
  }
  return numbers;
}

// The best of some points that the sampler could have begun with, and its log density. Fewer where a density
// takes long.
std::pair<double, std::vector<double>> best_start(const stats::ModelState& model,
                                                  const SampleOptions& options,
                                                  const std::shared_ptr<Device>& device) {
  constexpr double most_points = 16, most_numbers = 2e9;
  const Tensor total = total_of(model);
  const auto tried = static_cast<int64_t>(std::min(most_points, most_numbers / numbers_in({total})));
  const auto size = static_cast<size_t>(model.size);
  std::vector<double> points;
  for (int64_t i = 0; i < tried; ++i) {
    const std::vector<double> point = random_point(model, options, options.chains + i);
    points.insert(points.end(), point.begin(), point.end());
  }
  if (tried == 0) return {-HUGE_VAL, {}};
  const std::vector<double> lps = values_at(model, {total}, points, tried, device)[0];
  std::pair<double, std::vector<double>> best{-HUGE_VAL, {}};
  for (size_t i = 0; i < lps.size(); ++i)
    if (lps[i] > best.first) {
      const auto at = points.begin() + static_cast<int64_t>(i * size);
      best = {lps[i], {at, at + model.size}};
    }
  return best;
}

}  // namespace

bool Session::free_stuck_chains(Rows& rows) {
  const auto at = run_->metric_settled_at();
  if (!options_.restart_stuck || options_.chains < 2 || !at || run_->slowest() > *at) return true;
  if (!reach(*at, rows)) return false;
  std::vector<int64_t> chains, sources;
  for (int64_t set = 0; set < std::ssize(sets_); ++set) {
    const std::vector<double> masses = run_->masses(set);
    const std::vector<int64_t> stuck = stuck_chains(masses, model_.size);
    for (const int64_t chain : stuck) chains.push_back(set * options_.chains + chain);
    for (const int64_t chain : sources_for(stuck, masses)) sources.push_back(set * options_.chains + chain);
  }
  if (!chains.empty()) run_->take_over(chains, sources);
  return true;
}

void Session::note_taken_over(const stats::ModelState& model, int64_t set, double constant,
                              Draws& draws) const {
  const std::vector<Run::TakenOver> list = run_->taken_over(set);
  if (list.empty()) return;
  std::vector<int64_t> chains;
  for (const Run::TakenOver& it : list) chains.push_back(it.chain % options_.chains);
  draws.notes.push_back(
      fmt::format("{} of {} chains sat where the posterior has next to nothing when the warm-up had settled "
                  "the metric, and went on from another chain's state: {}. Where that is a mode of its own, "
                  "its weight is not in the draws. --stuck keep (restart_stuck = false) leaves such chains "
                  "where they are.",
                  list.size(), options_.chains, listed(chains, [&](size_t i) {
                    return fmt::format("{}; it took over chain {}",
                                       seat_words(model, list[i].lp + constant, list[i].position),
                                       list[i].source % options_.chains + 1);
                  })));
}

// Of the draws that there are: chains that were not moved, and those that went astray later. Nothing is moved
// any more, so that more than half of them may be told, though nobody knows then who is right.
void Session::note_stuck(const stats::ModelState& model, int64_t set, double constant, Draws& draws) const {
  if (draws.draws == 0) return;
  if (options_.chains == 1) return note_stuck_alone(model, set, draws);
  std::vector<double> masses = run_->volumes(set), lps;
  for (int64_t c = 0; c < options_.chains; ++c) {
    const auto first = draws.stats.lp.begin() + c * draws.draws;
    lps.push_back(median_of({first, first + draws.draws}));
    masses[static_cast<size_t>(c)] += lps.back() - constant;
  }
  const std::vector<int64_t> stuck = chains_far_below(masses, model_.size);
  if (stuck.empty()) return;
  const bool most = 2 * std::ssize(stuck) > options_.chains;
  draws.notes.push_back(fmt::format(
      "{} of {} chains sit where the posterior has next to nothing beside the others, and their draws are "
      "among these: {}. {} Sample again from other starts (--seed, --init){}.",
      stuck.size(), options_.chains,
      listed(stuck,
             [&](size_t i) {
               return seat_words(model, lps[static_cast<size_t>(stuck[i])],
                                 run_->state_of(set * options_.chains + stuck[i],
                                                run_->kernel().layout.sample, model_.size));
             }),
      most ? "They are more than half, so that it is not certain who is right." : why_left(),
      options_.restart_stuck || most ? "" : ", or with --stuck restart (restart_stuck = true)"));
}

std::string Session::why_left() const {
  if (!options_.restart_stuck) return "They were left there, as --stuck keep (restart_stuck = false) has it.";
  if (!run_->metric_settled_at()) return "The warm-up is too short to move chains.";
  return "They went there after the warm-up had settled the metric.";
}

// One chain has nothing beside it but the points that it could have begun with. Those are looked at where it
// looks ill, since densities are compiled for it. They may be better than where a posterior has its mass, by
// some units for each number.
void Session::note_stuck_alone(const stats::ModelState& model, int64_t set, Draws& draws) const {
  constexpr double units = 5;
  if (!looks_stuck(draws)) return;
  const double here = *std::ranges::max_element(draws.stats.lp);
  const auto device = device_->limits().float64 ? device_ : Device::open("cpu");
  const auto [lp, point] = best_start(model, options_, device);
  if (!(lp - here > least_gap(model.size) + units * static_cast<double>(model.size))) return;
  draws.notes.push_back(fmt::format(
      "The chain sits where the posterior has next to nothing: {}. A point that it could have begun with is "
      "better: {}. Sample again with more chains, or from other starts (--seed, --init).",
      seat_words(model, here,
                 run_->state_of(set * options_.chains, run_->kernel().layout.sample, model_.size)),
      seat_words(model, lp, point)));
}

}  // namespace adit::sampling
