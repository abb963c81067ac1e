#include "sample/leapfrog.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <adit/sample.hpp>

#include "density/bind.hpp"
#include "density/trips.hpp"
#include "graph/row.hpp"
#include "graph/trace.hpp"
#include "lower/memory_plan.hpp"
#include "sample/compile_beside.hpp"
#include "sample/shape.hpp"
#include "sample/shape_limits.hpp"

namespace adit {

using namespace sampling;
using graph::fail;

namespace {

constexpr std::string_view where = "leapfrog_chain";

bool is_real(DType type) { return type == DType::f32 || type == DType::f64; }

std::string described(const Tensor& x) {
  return x ? graph::describe(graph::slot_of(x)) : std::string("none");
}

void check_metric(const stats::ModelState& model, const std::vector<double>& metric) {
  const auto size = static_cast<size_t>(model.size);
  if (size == 0)
    fail(where, "model", fmt::format("expected at least one variable, got none in {}", model.name));
  if (!metric.empty() && metric.size() != size && metric.size() != size * size)
    fail(where, "inverse_metric",
         fmt::format("expected none, {} or {} numbers, got {}", size, size * size, metric.size()));
  const size_t step = metric.size() == size ? 1 : size + 1;
  for (size_t i = 0; i < metric.size(); ++i)
    if (!std::isfinite(metric[i]) || (i % step == 0 && metric[i] <= 0))
      fail(where, "inverse_metric",
           fmt::format("expected positive numbers on the diagonal, got {} at {}", metric[i], i));
}

void check_call(int64_t size, const Tensor& q, const Tensor& p, double step, int64_t steps) {
  if (!q || !is_real(q.dtype()) || q.rank() < 1 || q.rank() > 2 || q.dim(-1) != size || q.size() == 0)
    fail(where, "q", fmt::format("expected f32 or f64 [{}] or [n, {}], got {}", size, size, described(q)));
  if (!p || p.dtype() != q.dtype() || !(p.shape() == q.shape()))
    fail(where, "p", fmt::format("expected {} as q, got {}", described(q), described(p)));
  if (!std::isfinite(step)) fail(where, "step_size", fmt::format("expected a finite number, got {}", step));
  if (steps < 1) fail(where, "steps", fmt::format("expected at least 1, got {}", steps));
  const int64_t most = ((int64_t{1} << 31) - 1) / q.size();
  if (steps > most)
    fail(where, "steps", fmt::format("expected at most {} for {} numbers, got {}", most, q.size(), steps));
}

std::shared_ptr<Device> opened(const std::string& id, DType type) {
  auto device = Device::open(id);
  if (type == DType::f64 && !device->limits().float64)
    throw Error(ErrorKind::unsupported, fmt::format("[{}] q: expected f32 on {}, which has no f64, got f64",
                                                    where, device->info().id));
  return device;
}

template <class T>
Buffer uploaded(Device& device, const std::vector<double>& numbers) {
  const std::vector<T> values(numbers.begin(), numbers.end());
  const Buffer buffer = device.allocate(lower::padded(values.size() * sizeof(T)));
  device.write(buffer, values.data(), values.size() * sizeof(T));
  return buffer;
}

// Points never wait for each other, since all take the same steps: whole subgroups of them, or teams that a
// long loop keeps busy.
LeapfrogShape shape_of(const Schedule& schedule, const Choice& choice, int64_t size, uint32_t lanes,
                       const Device& device) {
  const bool is_gpu = device.info().kind != DeviceKind::cpu;
  LeapfrogShape shape;
  shape.by_team = choice.by_team;
  shape.lanes = is_gpu ? device.limits().subgroup_size : 64;
  shape.fuses = device.limits().fused_fma;
  if (!is_gpu) shape.written_out = 2;  // short code compiles sooner
  if (choice.by_team) {
    int64_t longest = size;
    for (const Pass& pass : schedule.passes) longest = std::max(longest, pass.count);
    if (is_gpu) shape.written_out = 16;  // more would be read at places that only the data know
    shape.lanes = 64;
    while (shape.lanes < 256 && shape.lanes * 2 <= longest) shape.lanes *= 2;
  }
  if (lanes > 0) shape.lanes = lanes;
  if (is_gpu) shape.lanes = std::min(shape.lanes, device.limits().max_lanes);
  const auto bytes = static_cast<uint64_t>(3 * size + schedule.scratch) * size_of(choice.type);
  const uint64_t most_of_a_lane = is_gpu ? 0 : most_array_bytes / 8;  // up to eight share a thread's stack
  shape.is_own =
      bytes <=
      (choice.by_team ? std::min<uint64_t>(device.limits().shared_bytes * 3 / 4, 32 * 1024) : most_of_a_lane);
  return shape;
}

}  // namespace

struct LeapfrogKernel::State {
  DType type{};
  int64_t size = 0;
  std::shared_ptr<Device> device;
  std::shared_ptr<const Kernel> kernel;
  int64_t work = 0, most_steps = 0;  // of one dispatch
  Buffer metric;
  BoundData data;

  Argument real(double number) const {
    return type == DType::f64 ? Argument(number) : Argument(static_cast<float>(number));
  }
  Buffer memory(int64_t count) const {
    return device->allocate(lower::padded(static_cast<uint64_t>(count) * size_of(type)));
  }
  // As the kernel reads it: on its device.
  Buffer input(const Tensor& x) const { return (x.device() == device ? x : to_device(x, device)).buffer(); }
};

LeapfrogKernel::LeapfrogKernel(const Model& of, const LeapfrogOptions& options)
    : state_(std::make_shared<State>()) {
  const stats::ModelState& model = stats::state_of(of);
  State& state = *state_;
  if (!is_real(options.type))
    fail(where, "type", fmt::format("expected f32 or f64, got {}", name_of(options.type)));
  if (options.placement == Placement::device)
    fail(where, "placement", "expected lane or team, got device: this is a kernel");
  check_metric(model, options.inverse_metric);
  state.type = options.type;
  state.size = model.size;
  state.device = opened(options.device, options.type);
  SampleOptions shape_options;
  shape_options.precision = options.type == DType::f64 ? Precision::f64 : Precision::f32;
  shape_options.placement = options.placement;
  const Choice choice = choose(model, shape_options, shape_options.chains, *state.device);
  const Density density =
      make_density(model, options.type,
                   options.loop_numbers > 0 ? options.loop_numbers : lower::any_loop_numbers, choice.on_cpu);
  check_places(model, density, {DataSet{}});
  Schedule schedule = make_schedule(density, choice.by_team, choice.on_cpu);
  const LeapfrogShape shape = shape_of(schedule, choice, model.size, options.lanes, *state.device);
  if (choice.by_team && !choice.on_cpu)  // now that its team is known
    schedule = make_schedule(density, true, false, team_shape(shape.lanes, state.device->limits()));
  const bool dense =
      options.inverse_metric.size() > 1 && std::ssize(options.inverse_metric) == model.size * model.size;
  const LeapfrogProgram made = make_leapfrog_program(density, schedule, dense, shape);
  state.work = made.work;
  const uint64_t trips = state.device->limits().max_loop_trips;
  check_trips(2 * made.loop_trips, *state.device);  // the gradient at the start, and one step
  state.most_steps = int64_t{1} << 31;
  if (trips > 0)
    state.most_steps = std::max<int64_t>(1, static_cast<int64_t>(trips) * 9 / 10 / made.loop_trips - 1);
  auto compiled = compile_beside(state.device, made.program);
  std::vector<double> metric = options.inverse_metric;
  if (metric.empty()) metric.assign(static_cast<size_t>(model.size), 1);
  state.metric = options.type == DType::f64 ? uploaded<double>(*state.device, metric)
                                            : uploaded<float>(*state.device, metric);
  state.data = bind_data(model, density, made.segments, {DataSet{}}, *state.device);
  state.kernel = compiled.get();
}

LeapfrogChain LeapfrogKernel::operator()(const Tensor& q, const Tensor& p, double step_size,
                                         int64_t steps) const {
  if (!state_) fail(where, "kernel", "expected a kernel, got one that was moved away");
  const State& state = *state_;
  check_call(state.size, q, p, step_size, steps);
  if (q.dtype() != state.type)
    fail(where, "q", fmt::format("expected {}, got {}", name_of(state.type), name_of(q.dtype())));
  const int64_t points = q.size() / state.size;
  Shape shape = q.shape(), scalars = q.rank() == 2 ? Shape{steps, points} : Shape{steps};
  shape.insert(0, steps);
  const Buffer positions = state.memory(steps * q.size()), momenta = state.memory(steps * q.size()),
               gradients = state.memory(steps * q.size()), log_densities = state.memory(steps * points);
  Buffer at = state.input(q), moving = state.input(p), work;
  if (state.work > 0) work = state.memory(state.work * points);

  // One dispatch, unless the device bounds loops: then each goes on where the last one arrived.
  const uint64_t element = size_of(state.type), row = static_cast<uint64_t>(q.size()) * element;
  for (int64_t first = 0; first < steps; first += state.most_steps) {
    const int64_t now = std::min(state.most_steps, steps - first);
    const auto rows = [&](const Buffer& buffer, uint64_t bytes) {
      return buffer.slice(static_cast<uint64_t>(first) * bytes, static_cast<uint64_t>(now) * bytes);
    };
    if (first > 0) {
      at = positions.slice(static_cast<uint64_t>(first - 1) * row, row);
      moving = momenta.slice(static_cast<uint64_t>(first - 1) * row, row);
    }
    std::vector<Argument> arguments{at,
                                    moving,
                                    state.metric,
                                    rows(positions, row),
                                    rows(momenta, row),
                                    rows(gradients, row),
                                    rows(log_densities, static_cast<uint64_t>(points) * element)};
    if (work) arguments.emplace_back(work);
    arguments.emplace_back(static_cast<uint32_t>(points));
    arguments.emplace_back(static_cast<uint32_t>(now));
    for (const double number : {step_size, step_size / 2, state.data.constant})
      arguments.push_back(state.real(number));
    arguments.emplace_back(state.data.reals);
    arguments.emplace_back(state.data.places);
    state.device->run(*state.kernel, static_cast<uint64_t>(points), arguments);
  }
  const auto tensor_of = [&](const Shape& of, const Buffer& buffer) {
    return from_buffer(state.type, of, buffer, state.device);
  };
  return {tensor_of(shape, positions), tensor_of(shape, momenta), tensor_of(shape, gradients),
          tensor_of(scalars, log_densities)};
}

LeapfrogChain leapfrog_chain(const Model& model, const Tensor& q, const Tensor& p, double step_size,
                             int64_t steps, const std::vector<double>& inverse_metric,
                             const std::string& device) {
  check_metric(stats::state_of(model), inverse_metric);
  check_call(model.size(), q, p, step_size, steps);
  const LeapfrogKernel kernel(model, {.type = q.dtype(), .inverse_metric = inverse_metric, .device = device});
  return kernel(q, p, step_size, steps);
}

}  // namespace adit
