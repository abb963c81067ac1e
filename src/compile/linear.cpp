// Factorisations and systems: LAPACK on a CPU that has it, passes of kernels elsewhere.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <adit/doctor.hpp>
#include <adit/error.hpp>

#include "compile/kernels.hpp"
#include "graph/op.hpp"
#include "graph/trace.hpp"
#include "ops/cholesky.hpp"
#include "ops/cholesky_chain.hpp"
#include "ops/factor_passes.hpp"
#include "ops/jacobi.hpp"
#include "ops/lapack.hpp"
#include "ops/triangular.hpp"
#include "ops/triangular_chain.hpp"

namespace adit::compile {

using graph::Op;

namespace linear {
namespace {

struct Matrices {
  DType type{};
  int64_t batch = 1, m = 0, n = 0;
  bool is_empty() const { return batch * m * n == 0; }
};

Matrices matrices_of(const Tensor& x) {
  Matrices found{x.dtype(), 1, x.dim(-2), x.dim(-1)};
  for (int axis = 0; axis < x.rank() - 2; ++axis) found.batch *= x.shape()[axis];
  return found;
}

bool by_lapack(const Device& device) {
  return device.info().kind == DeviceKind::cpu && ops::lapack::is_there();
}

// Tests of kernels for GPUs, where there is none.
bool by_hand_in_software() {
  const char* value = std::getenv("ADIT_BY_HAND");
  return value && *value && std::string_view(value) != "0";
}

// Whether a team may wait for one that began before it, and loops have no limit that counts.
bool may_wait(Device& device) {
  if (by_hand_in_software()) return true;
  return device.limits().max_loop_trips == 0 && doctor::are_teams_ordered(device);
}

ops::FactorPlan plan_of(const Matrices& x, Device& device) {
  ops::FactorPlan plan;
  plan.type = storage_type(x.type);
  plan.complex = is_complex(x.type);
  plan.m = static_cast<uint32_t>(x.m);
  plan.n = static_cast<uint32_t>(x.n);
  plan.batch = static_cast<uint64_t>(x.batch);
  const DeviceKind kind = device.info().kind;
  plan.by_hand = kind != DeviceKind::cpu && (kind != DeviceKind::software || by_hand_in_software());
  plan.may_wait = kind == DeviceKind::discrete && may_wait(device);  // software runs few teams at a time
  plan.lanes = std::min(256U, device.limits().max_lanes);
  return plan;
}

// Results that nobody picked are computed all the same, into memory that is forgotten.
std::vector<const Node*> results_or_scratch(const Node& node, Workshop& shop) {
  std::vector<const Node*> results = picked_results(node, shop);
  const std::vector<graph::Slot> slots = graph::results_of(node);
  for (size_t i = 0; i < results.size(); ++i)
    if (!results[i]) results[i] = &shop.make_scratch(slots[i].type, slots[i].shape);
  return results;
}

// The part of what comes before the repeated passes that pass i belongs to, in order.
Repeated::Part& part_of(std::vector<Repeated::Part>& parts, const std::vector<ops::FactorStage>& stages,
                        size_t i) {
  std::vector<uint32_t> ends;
  bool begins = parts.empty();
  for (const ops::FactorStage& stage : stages) {
    const size_t end = stage.first + stage.ends.back();
    if (i == stage.first) ends = stage.ends;
    begins = begins || i == stage.first || i == end;
  }
  if (begins) parts.push_back({{}, ends});
  return parts.back();
}

// The passes on these tensors, with the scratch that they ask for.
void append_passes(std::vector<Work>& list, std::string_view op, const ops::Factor& made,
                   std::vector<const Node*> tensors, Workshop& shop, Device& device) {
  expect_trips(op, made.loop_trips, device);
  for (const ops::FactorScratch& scratch : made.scratch)
    tensors.push_back(&shop.make_scratch(DType::u32, {static_cast<int64_t>((scratch.bytes + 3) / 4)}));
  Repeated repeated;
  const size_t first_stage = made.stages.empty() ? made.repeat.first : made.stages[0].first;
  const size_t end = made.repeat.first + made.repeat.count, extra = made.passes.size() - made.extra.count;
  for (size_t i = 0; i < made.passes.size(); ++i) {
    const ops::FactorPass& pass = made.passes[i];
    Launch launch{made.programs[pass.program], pass.teams, {}};
    for (const uint8_t which : pass.buffers)
      launch.bindings.push_back({Binding::Kind::tensor, tensors[which]});
    for (const uint32_t number : pass.numbers)
      launch.bindings.push_back({Binding::Kind::constant, nullptr, false, number, kernel::Type::u32});
    if (made.repeat.count == 0 || i < first_stage)
      list.push_back(work_of(std::move(launch), device));
    else if (i < made.repeat.first)
      part_of(repeated.before, made.stages, i).launches.push_back(std::move(launch));
    else
      (i < end ? repeated.again : i < extra ? repeated.then : repeated.extra).push_back(std::move(launch));
  }
  if (made.repeat.count == 0) return;
  repeated.flag = tensors[made.repeat.flag];
  repeated.most = made.repeat.most;
  repeated.enough = static_cast<float>(made.repeat.enough);
  repeated.likely = made.repeat.likely;
  list.push_back(repeated_work(std::string(op) + "_sweeps", std::move(repeated), device));
}

using Addresses = std::vector<std::byte*>;

std::vector<Work> one(Work work) {
  std::vector<Work> list;
  list.push_back(std::move(work));
  return list;
}

template <class T>
T* as(std::byte* address) {
  return reinterpret_cast<T*>(address);
}

std::vector<const Node*> joined(const Node* first, const std::vector<const Node*>& rest) {
  std::vector<const Node*> all{first};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

// `results`: the factors, the permutation and its sign.
void append_lu(std::vector<Work>& list, std::string_view op, const Matrices& x, const Node& from,
               const std::vector<const Node*>& results, Workshop& shop, Device& device) {
  const ops::FactorPlan plan = plan_of(x, device);
  if (ops::has_lu_by_rows(plan, device.limits())) {
    append_passes(list, op, ops::lu_by_rows(plan, device.limits()), joined(&from, results), shop, device);
    return;
  }
  list.push_back(copy_work(from, *results[0]));
  append_passes(list, op, ops::lu(plan), results, shop, device);
}

std::vector<Work> lu_work(const Node& node, const Matrices& x, Workshop& shop, Device& device) {
  const Node& from = graph::node_of(node.operands[0]);
  if (by_lapack(device)) {
    const std::vector<const Node*> results = results_or_scratch(node, shop);
    return one(host_work("lapack_lu", joined(&from, results), [x](const Addresses& a) {
      ops::lapack::lu(x.type, x.batch, x.n, a[0], a[1], as<int32_t>(a[2]), as<int32_t>(a[3]));
    }));
  }
  const std::vector<const Node*> results = results_or_scratch(node, shop);
  std::vector<Work> list;
  append_lu(list, "lu", x, from, results, shop, device);
  return list;
}

std::vector<Work> qr_work(const Node& node, const Matrices& x, Workshop& shop, Device& device) {
  const Node& from = graph::node_of(node.operands[0]);
  const int64_t columns = node.shape.back();  // of q
  if (by_lapack(device))
    return one(
        host_work("lapack_qr", joined(&from, picked_results(node, shop)), [x, columns](const Addresses& a) {
          ops::lapack::qr(x.type, x.batch, x.m, x.n, columns, a[0], a[1], a[2]);
        }));
  std::vector<Work> list;
  append_passes(list, "qr", ops::qr(plan_of(x, device), static_cast<uint32_t>(columns), device.limits()),
                joined(&from, results_or_scratch(node, shop)), shop, device);
  return list;
}

std::vector<Work> eigh_work(const Node& node, const Matrices& x, Workshop& shop, Device& device) {
  const Node& from = graph::node_of(node.operands[0]);
  if (by_lapack(device))
    return one(host_work("lapack_eigh", joined(&from, picked_results(node, shop)), [x](const Addresses& a) {
      ops::lapack::eigh(x.type, x.batch, x.n, a[0], a[1], a[2]);
    }));
  std::vector<Work> list;
  append_passes(list, "eigh", ops::eigh_by_rotations(plan_of(x, device), device.limits()),
                joined(&from, results_or_scratch(node, shop)), shop, device);
  return list;
}

std::vector<Work> svd_work(const Node& node, const Matrices& x, Workshop& shop, Device& device) {
  const Node& from = graph::node_of(node.operands[0]);
  const bool full = node.as<graph::FactorAttributes>().full;
  const std::vector<const Node*> picked = picked_results(node, shop);
  if (by_lapack(device))
    return one(host_work("lapack_svd", joined(&from, picked), [x, full](const Addresses& a) {
      ops::lapack::svd(x.type, x.batch, x.m, x.n, full, a[0], a[1], a[2], a[3]);
    }));
  const ops::SvdWanted wanted{picked[0] || picked[2], full};
  std::vector<Work> list;
  std::vector<const Node*> results = picked;
  if (wanted.vectors || !picked[1]) results = results_or_scratch(node, shop);
  append_passes(list, "svd", ops::svd_by_rotations(plan_of(x, device), wanted, device.limits()),
                joined(&from, results), shop, device);
  return list;
}

// The host's LAPACK, whatever the device.
std::vector<Work> eig_work(const Node& node, const Matrices& x, Workshop& shop, Device& device) {
  if (!ops::lapack::is_there())
    throw Error(ErrorKind::unsupported, "[eig] a: expected a build with LAPACK, which this one is not");
  const std::vector<const Node*> tensors =
      joined(&graph::node_of(node.operands[0]), picked_results(node, shop));
  const auto solve = [x](const Addresses& a) { ops::lapack::eig(x.type, x.batch, x.n, a[0], a[1], a[2]); };
  if (device.info().kind == DeviceKind::cpu) return one(host_work("lapack_eig", tensors, solve));
  return one(travelling_work("lapack_eig", tensors, 1, solve));
}

ops::TriangularPlan triangular_plan(const Matrices& x, uint32_t columns, Device& device) {
  ops::TriangularPlan plan;
  plan.type = storage_type(x.type);
  plan.complex = is_complex(x.type);
  plan.n = static_cast<uint32_t>(x.n);
  plan.batch = static_cast<uint64_t>(x.batch);
  plan.columns = columns;
  plan.may_wait = ops::has_triangular_chain(plan, device.limits()) && may_wait(device);
  return plan;
}

// `tensors`: a, b and x, which may be b.
void append_triangular(std::vector<Work>& list, std::string_view op, const ops::TriangularPlan& plan,
                       const std::vector<const Node*>& tensors, Workshop& shop, Device& device) {
  constexpr uint32_t many_rows = 33;  // from which blocks of rows pay
  if (plan.n >= many_rows && ops::has_triangular_panels(plan, device.limits())) {
    append_passes(list, op, ops::triangular_by_panels(plan, device.limits()), tensors, shop, device);
    return;
  }
  const ops::Triangular made = ops::triangular_solve(plan);
  expect_trips(op, made.loop_trips, device);
  if (tensors[1] != tensors[2]) list.push_back(copy_work(*tensors[1], *tensors[2]));
  list.push_back(kernel_on(made.program, made.teams, {tensors[0], tensors[2]}, device));
}

std::vector<Work> solve_work(const Node& node, const Matrices& x, Workshop& shop, Device& device) {
  const Node &a = graph::node_of(node.operands[0]), &b = graph::node_of(node.operands[1]);
  const auto columns = static_cast<uint32_t>(node.shape.back());
  const Node& factors = shop.make_scratch(x.type, a.shape);
  const Node& order = shop.make_scratch(DType::i32, {x.batch * x.n});
  const Node& sign = shop.make_scratch(DType::i32, {x.batch});
  std::vector<Work> list;
  if (by_lapack(device)) {
    list.push_back(host_work("lapack_lu", {&a, &factors, &order, &sign}, [x](const Addresses& at) {
      ops::lapack::lu(x.type, x.batch, x.n, at[0], at[1], as<int32_t>(at[2]), as<int32_t>(at[3]));
    }));
  } else {
    append_lu(list, "solve", x, a, {&factors, &order, &sign}, shop, device);
  }
  const kernel::Program permute = ops::permute_rows(plan_of(x, device), columns);
  list.push_back(
      kernel_on(permute, static_cast<uint64_t>(element_count(node.shape)), {&b, &order, &node}, device));
  for (const bool lower : {true, false}) {
    ops::TriangularPlan plan = triangular_plan(x, columns, device);
    plan.lower = lower;
    plan.unit = lower;
    append_triangular(list, "solve", plan, {&factors, &node, &node}, shop, device);
  }
  return list;
}

ops::CholeskyPlan cholesky_plan(const Matrices& x) {
  return {storage_type(x.type), static_cast<uint32_t>(x.n), static_cast<uint64_t>(x.batch),
          is_complex(x.type)};
}

}  // namespace
}  // namespace linear

std::vector<Work> cholesky_work(const Node& node, Workshop& shop, Device& device) {
  using namespace linear;
  const Node& from = graph::node_of(node.operands[0]);
  const Matrices x = matrices_of(node.operands[0]);
  if (x.is_empty()) return {};
  constexpr int64_t many_rows = 128;  // from which LAPACK pays
  if (x.n > many_rows && by_lapack(device))
    return one(host_work("lapack_cholesky", {&from, &node}, [x](const Addresses& a) {
      ops::lapack::cholesky(x.type, x.batch, x.n, a[0], a[1]);
    }));
  const ops::CholeskyPlan plan = cholesky_plan(x);
  const ops::FactorPlan panels = plan_of(x, device);
  const bool by_together = ops::has_cholesky_together(plan, device.limits());
  if (!by_together && ops::does_cholesky_chain_pay(panels, device.limits()) && may_wait(device)) {
    std::vector<Work> list;
    append_passes(list, "cholesky", ops::cholesky_chain(panels, device.limits()), {&from, &node}, shop,
                  device);
    return list;
  }
  if (!by_together && x.n > 4 && ops::has_cholesky_panels(panels, device.limits())) {
    std::vector<Work> list;
    append_passes(list, "cholesky", ops::cholesky_by_panels(panels, device.limits()), {&from, &node}, shop,
                  device);
    return list;
  }
  const ops::Cholesky made =
      by_together ? ops::cholesky_together_for(plan, device.limits()) : ops::cholesky(plan);
  expect_trips("cholesky", made.loop_trips, device);
  return one(kernel_on(made.program, made.teams, {&from, &node}, device));
}

std::vector<Work> triangular_work(const Node& node, Workshop& shop, Device& device) {
  using namespace linear;
  const auto& attributes = node.as<graph::TriangularAttributes>();
  const Node &a = graph::node_of(node.operands[0]), &b = graph::node_of(node.operands[1]);
  const Matrices x = matrices_of(node.operands[0]);
  if (x.is_empty() || element_count(node.shape) == 0) return {};
  const auto columns = static_cast<uint32_t>(element_count(node.shape) / (x.batch * x.n));
  ops::TriangularPlan plan = triangular_plan(x, columns, device);
  plan.lower = attributes.lower;
  plan.left_side = attributes.left_side;
  plan.transpose = attributes.transpose;
  std::vector<Work> list;
  append_triangular(list, "triangular_solve", plan, {&a, &b, &node}, shop, device);
  return list;
}

std::vector<Work> linear_work(const Node& node, Workshop& shop, Device& device) {
  using namespace linear;
  const Matrices x = matrices_of(node.operands[0]);
  if (x.is_empty() || (node.op == Op::solve && element_count(node.shape) == 0)) return {};
  switch (node.op) {
    case Op::lu: return lu_work(node, x, shop, device);
    case Op::qr: return qr_work(node, x, shop, device);
    case Op::eigh: return eigh_work(node, x, shop, device);
    case Op::svd: return svd_work(node, x, shop, device);
    case Op::eig: return eig_work(node, x, shop, device);
    default: return solve_work(node, x, shop, device);
  }
}

}  // namespace adit::compile
