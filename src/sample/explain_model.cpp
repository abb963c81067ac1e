// The plan of a run, as Session and Run make it, without a run.
#include <fmt/format.h>
#include <optional>

#include <adit/sample_plan.hpp>

#include "density/bind.hpp"
#include "density/trips.hpp"
#include "sample/candidates.hpp"
#include "sample/journal.hpp"
#include "sample/layout_text.hpp"
#include "sample/loop_memory.hpp"
#include "sample/options.hpp"
#include "sample/rows_density.hpp"
#include "sample/settle.hpp"
#include "sample/shape.hpp"

namespace adit {
namespace sampling {
namespace {

void describe_model(const stats::ModelState& model, SamplePlan& plan) {
  plan.model = model.name;
  plan.size = model.size;
  for (const stats::ModelVariable& variable : model.variables)
    plan.variables.push_back({variable.name, variable.shape, variable.size});
  plan.lowering = model.lowering;
  for (const stats::ModelTerm& term : model.terms)
    plan.terms.push_back({term.name, term.distribution.empty() ? term.stated : "", term.pointwise.size()});
}

void describe_schedule(const Schedule& schedule, SamplePlan& plan) {
  plan.passes = std::ssize(schedule.passes);
  plan.work = schedule.work;
  plan.serial = schedule.serial;
  plan.scratch_numbers = schedule.scratch;
  plan.near_numbers = schedule.near;
  const std::string text = to_text(schedule);
  plan.schedule = text.substr(text.find('\n') + 1);  // its first line says what stands above
}

void describe_kernel(const NutsKernel& kernel, DType type, int64_t chains, SamplePlan& plan) {
  plan.state_numbers = kernel.layout.count;
  plan.state_bytes =
      static_cast<uint64_t>(chains) * static_cast<uint64_t>(kernel.layout.count) * size_of(type);
  plan.shared_bytes = kernel.program.shared_bytes();
  plan.instructions = std::ssize(kernel.program.instructions);
  plan.parameters = std::ssize(kernel.program.parameters);
  plan.loop_trips = kernel.loop_trips;
}

// In the kernel's two buffers, with lists of who adds to what; else as the tensors lie.
void describe_data(const Density& density, const Segments& segments, bool outside, SamplePlan& plan) {
  plan.leaves = std::ssize(density.leaves);
  plan.reals = segments.reals_count;
  plan.places = segments.places_count;
  if (outside)
    for (const DensityLeaf& leaf : density.leaves)
      (is_float(leaf.node.dtype()) ? plan.reals : plan.places) += leaf.node.size();
  plan.data_bytes = static_cast<uint64_t>(plan.reals) * size_of(density.type) +
                    static_cast<uint64_t>(plan.places) * size_of(DType::i32);
}

void describe_square_sums(const Density& density, SamplePlan& plan) {
  for (const SquareSum& sum : density.square_sums)
    plan.lowering.push_back(
        fmt::format("a sum of squares of {} rows became one of {}, by a triangular factor of their data",
                    sum.rows, sum.columns));
}

void describe_counted_rows(const Density& density, SamplePlan& plan) {
  for (const CountedRows& counted : density.counted)
    plan.lowering.push_back(fmt::format(
        "sums over {} rows go over those of them that differ in {} of the data", counted.rows,
        counted.columns.size() == 1 ? "a column" : fmt::format("{} columns", counted.columns.size())));
}

std::string name_of(const Choice& choice) {
  if (choice.outside) return choice.spreads ? "device, by rows" : "device";
  if (choice.by_team) return choice.together > 1 ? "team, in pairs" : "team";
  return choice.lanes > 1 ? fmt::format("lane:{}", choice.lanes) : "lane";
}

// What the sampler knows where the caller leaves the layout open.
void describe_ways(const stats::ModelState& model, const SampleOptions& options, const Device& device,
                   SamplePlan& plan) {
  for (const Candidate& each : candidates(model, numbers_of(model, options, device), options.chains, device))
    plan.ways.push_back({name_of(each.choice), each.microseconds});
}

// As Run::open_outside decides it.
void describe_outside(const Density& density, const Choice& choice, const Forced& forced,
                      const Device& device, SamplePlan& plan) {
  std::optional<Schedule> rows;
  if (forced.rows_teams != 0 || choice.spreads) rows = rows_schedule(density, device.limits());
  if (!rows) {
    plan.density = "between dispatches, of all chains at once, by the engine of tensors";
    return;
  }
  const int64_t teams =
      forced.rows_teams > 0 ? forced.rows_teams : teams_for_rows(*rows, plan.chains, device.limits());
  plan.layout = fmt::format("device:{}{}", teams, blocks_text(density));
  plan.density =
      fmt::format("between dispatches, by kernels that spread a chain's rows over {} teams", teams);
  describe_schedule(*rows, plan);
}

SamplePlan plan_of(const stats::ModelState& model, SampleOptions options) {
  check_options(model, options);
  LayoutWish wish = layout_wish(options.layout);
  const std::shared_ptr<Device> device = Device::open(options.device);
  check_layout(wish, options.layout, *device);
  SamplePlan plan;
  if (wish.placement == Placement::automatic && options.placement == Placement::automatic) {
    describe_ways(model, options, *device, plan);
    wish = layout_wish(kept_layout(model, options, 1, *device));
    plan.was_timed = wish.placement != Placement::automatic;
  }
  if (wish.placement != Placement::automatic) options.placement = wish.placement;
  const Choice choice = choose(model, options, options.chains, *device);
  const Density density =
      density_for(model, {choice.type, choice.wide}, options.chains, *device, wish.forced);
  const auto [schedule, shape] =
      plan_kernel(density, options, options.chains, 1, choice, *device, wish.forced);
  const NutsKernel kernel = make_nuts_kernel(density, schedule, options.metric, options.max_depth, shape);
  check_trips(kernel.loop_trips, *device);

  describe_model(model, plan);
  describe_square_sums(density, plan);
  describe_counted_rows(density, plan);
  plan.device = device->info().id;
  plan.device_name = device->info().name;
  plan.precision = name_of(choice.type, choice.wide);
  plan.metric = sampling::name_of(options.metric);
  plan.layout = layout_text(shape, density);
  plan.chains = options.chains;
  plan.teams = teams_of(shape, options.chains);
  plan.density = "inside of the kernel";
  if (choice.outside)
    describe_outside(density, choice, wish.forced, *device, plan);
  else
    describe_schedule(schedule, plan);
  describe_kernel(kernel, choice.type, options.chains, plan);
  describe_data(density, kernel.segments, choice.outside, plan);
  return plan;
}

}  // namespace
}  // namespace sampling

SamplePlan sample_plan(const Model& model, const SampleOptions& options) {
  return sampling::plan_of(stats::state_of(model), options);
}

std::string explain(const Model& model, const SampleOptions& options) {
  return to_text(sample_plan(model, options));
}

}  // namespace adit
