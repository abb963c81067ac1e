// Calls that nobody should make: empty and moved-from objects, functions that are none, wrong counts, sizes
// beyond all memory. Each throws adit::Error, whose message names what was wrong; none crashes.
#include <fstream>
#include <limits>
#include <sstream>

#include <adit/adit.hpp>
#include <adit/diagnostics.hpp>
#include <adit/dlpack.hpp>
#include <adit/io.hpp>
#include <adit/sample.hpp>

#include "devices.hpp"
#include "graph/node.hpp"
#include "stats/model_state.hpp"

namespace adit::test {
namespace {

struct Hostile {
  std::string name;
  std::string says;  // part of the message
  std::function<void()> call;
};
void PrintTo(const Hostile& hostile, std::ostream* out) { *out << hostile.name; }

Tensor some() { return tensor({1.0, 2.0, 3.0}); }
Tensor add_two(Tensor a, Tensor b) { return sum(a + b); }
Tensor gone() {
  Tensor x = some();
  const Tensor taken = std::move(x);
  return x;
}
const auto first = [](Tensor x) { return sum(x * x); };
const auto second = [](Tensor a, Tensor b) { return sum(a * b); };
const auto nothing = [](Tensor) { return Tensor(); };
const auto nothing_in_list = [](const Tensors& x) { return Tensors{x[0], Tensor()}; };

void add_tensors(std::vector<Hostile>& list) {
  const std::string none = "expected a tensor, got none";
  list.push_back({"dtype", none, [] { Tensor().dtype(); }});
  list.push_back({"too_many_values", "got 12", [] { tensor(std::vector<float>{1, 2, 3}, {2}); }});
  list.push_back({"too_few_values", "got 12", [] { tensor(std::vector<float>{1, 2, 3}, {4}); }});
  list.push_back({"shape", none, [] { Tensor().shape(); }});
  list.push_back({"dim", none, [] { Tensor().dim(0); }});
  list.push_back({"size", none, [] { Tensor().size(); }});
  list.push_back({"bytes", none, [] { Tensor().bytes(); }});
  list.push_back({"device", none, [] { Tensor().device(); }});
  list.push_back({"eval", none, [] { Tensor().eval(); }});
  list.push_back({"is_evaluated", none, [] { Tensor().is_evaluated(); }});
  list.push_back({"to_vector", none, [] { Tensor().to_vector<float>(); }});
  list.push_back({"item", none, [] { Tensor().item<float>(); }});
  list.push_back({"to_bytes", none, [] { Tensor().to_bytes(); }});
  list.push_back({"buffer", none, [] { Tensor().buffer(); }});
  list.push_back({"node", none, [] { graph::node_of(Tensor()); }});
  list.push_back({"eval_list", none, [] { eval({some(), Tensor()}); }});
  list.push_back({"moved_tensor", none, [] { gone().eval(); }});
  list.push_back({"moved_operand", none, [] { some() + gone(); }});
  list.push_back({"compared_with_number", none, [] { Tensor() < 1; }});
  list.push_back({"explain", none, [] { explain(Tensor()); }});
  list.push_back({"to_device", none, [] { to_device(Tensor(), default_device()); }});
  list.push_back({"to_no_device", "device: expected a device", [] { to_device(some(), nullptr); }});
  list.push_back(
      {"no_buffer", "buffer: expected", [] { from_buffer(DType::f32, {4}, Buffer(), default_device()); }});
  list.push_back({"buffer_no_device", "device: expected a device",
                  [] { from_buffer(DType::f32, {1}, some().buffer(), nullptr); }});
  list.push_back({"axis_too_low", "expected", [] { some().dim(-2); }});
  list.push_back({"ragged", "row 1: expected 2 numbers, as row 0 has, got 1", [] {
                    tensor<int>({{1, 2}, {3}, {4, 5, 6}});
                  }});
  list.push_back({"ragged_empty", "row 1: expected 0 numbers", [] { tensor<int>({{}, {3}}); }});
  list.push_back({"values_for_shape", "values: expected", [] { tensor(std::vector<int>{1, 2}, {3}); }});
  list.push_back({"npy_of_none", none, [] { encode_npy(Tensor()); }});
  list.push_back({"npz_of_none", none, [] { encode_npz({{"x", Tensor()}}); }});
  list.push_back({"safetensors_of_none", none, [] { encode_safetensors({{"x", Tensor()}}); }});
  list.push_back({"dlpack_of_none", none, [] { to_dlpack(Tensor()); }});
  list.push_back(
      {"dlpack_from_null", "expected", [] { from_dlpack(static_cast<dlpack::DLManagedTensor*>(nullptr)); }});
}

// Sizes whose bytes, or whose number itself, no machine holds.
void add_sizes(std::vector<Hostile>& list) {
  constexpr int64_t huge = int64_t{1} << 62, large = (int64_t{1} << 32) + 3;
  const std::string too_many = "expected at most 2^59 elements";
  list.push_back({"bytes_wrap", too_many, [] { tensor(std::vector<double>{}, {huge}); }});
  list.push_back(
      {"bytes_wrap_to_some", too_many, [] { tensor(std::vector<double>{1.0}, {(int64_t{1} << 61) + 1}); }});
  list.push_back({"product_of_extents", too_many, [] { zeros({large, large, large}); }});
  list.push_back({"buffer_of_huge", too_many,
                  [] { from_buffer(DType::f64, {huge}, some().buffer(), default_device()); }});
  list.push_back({"full", too_many, [] { full({huge}, 1.0); }});
  list.push_back({"iota", too_many, [] { iota({huge}); }});
  list.push_back({"arange", too_many, [] { arange(huge); }});
  list.push_back({"arange_negative", "expected", [] { arange(-1); }});
  list.push_back({"linspace", "expected", [] { linspace(0, 1, -3); }});
  list.push_back({"eye", too_many, [] { eye(huge); }});
  list.push_back({"broadcast_to", too_many, [] { broadcast_to(some(), {huge, 3}); }});
  list.push_back({"tile", "expected", [] { tile(some(), {huge}); }});
  list.push_back({"tile_wraps", "expected", [] { tile(some(), {std::numeric_limits<int64_t>::max()}); }});
  list.push_back({"pad", "expected", [] {
                    const Padding padding[] = {{huge, huge, 0}};
                    pad(some(), tensor(0.0), padding);
                  }});
  list.push_back({"pad_between", "expected", [] {
                    const Padding padding[] = {{0, 0, huge}};
                    pad(some(), tensor(0.0), padding);
                  }});
  list.push_back({"concatenate", "expected", [] {
                    const Tensor half = broadcast_to(tensor(1.0), {int64_t{1} << 58});
                    concatenate({half, half, half});
                  }});
  list.push_back({"outer", too_many, [] {
                    const Tensor long_one = broadcast_to(tensor(1.0), {int64_t{1} << 31});
                    outer(long_one, long_one);
                  }});
  list.push_back({"random_bits", too_many, [] { random::bits(random::key(1), {huge}); }});
  list.push_back({"random_normal", too_many, [] { random::normal(random::key(1), {huge}); }});
  // The counters of a key have 32 bits: one number more would be the first again.
  list.push_back({"random_repeats", "shape: expected fewer than 2^31 elements",
                  [] { random::uniform(random::key(1), {large}); }});
  list.push_back({"random_repeats_wide", "shape: expected fewer than 2^31 elements",
                  [] { random::normal(random::key(1), {large}, 0, 1, DType::f64); }});
  list.push_back({"split_repeats", "parts: expected", [] { random::split(random::key(1), large); }});
  list.push_back({"random_permutation", "expected", [] { random::permutation(random::key(1), huge); }});
  list.push_back({"random_stream", too_many, [] { random::stream(1, 2, {huge}); }});
  list.push_back(
      {"slice_wraps", "expected", [] { slice(some(), {std::numeric_limits<int64_t>::max()}, {2}); }});
  list.push_back({"reshape_wraps", "expected", [] { reshape(some(), {huge, 4, 3}); }});
  list.push_back({"negative_extent", "expected", [] { zeros({-1}); }});
  list.push_back({"two_negative_extents", "expected", [] { zeros({-2, -3}); }});
  list.push_back({"rank_13", "rank: expected at most 12", [] { zeros(Shape(std::vector<int64_t>(13, 1))); }});
  list.push_back({"jacobian", "expected", [] {
                    const Tensor x = broadcast_to(tensor(1.0), {int64_t{1} << 31});
                    jacobian([](Tensor t) { return t * t; })(x);
                  }});
  list.push_back({"memory_for_all", "bytes", [] { (zeros({int64_t{1} << 50}) + 1.0).eval(); }});
}

void add_transforms(std::vector<Hostile>& list) {
  const Tensor x = ones({3}, DType::f64);
  list.push_back({"jit_too_few", "[jit] argument 1: expected a tensor, since the function takes 2, got none",
                  [x] { jit(second)(x); }});
  list.push_back({"jit_none", "[jit] argument 0: expected a tensor, since the function takes 2, got none",
                  [] { jit(second)(Tensors{}); }});
  list.push_back({"jit_too_many", "[jit] argument 1: expected none, since the function takes 1, got 3 in all",
                  [x] { jit(first)(x, x, x); }});
  list.push_back(
      {"jit_empty", "[jit] argument 1: expected a tensor, got none", [x] { jit(second)(x, Tensor()); }});
  list.push_back({"jit_empty_result", "[jit] f: expected tensors as results, got an empty one",
                  [x] { jit(nothing)(x); }});
  list.push_back({"jit_empty_in_list", "[jit] f: expected tensors as results, got an empty one",
                  [x] { jit(nothing_in_list)(x); }});
  list.push_back({"jit_explain_too_few", "[jit] argument 1", [x] { jit(second).explain({x}); }});
  list.push_back({"jit_moved", "moved away", [x] {
                    auto f = jit(first);
                    const auto taken = std::move(f);
                    f(x);
                  }});
  list.push_back({"jit_no_function", "[jit] f: expected a function, got none",
                  [] { jit(std::function<Tensor(Tensor)>()); }});
  list.push_back({"jit_null", "[jit] f: expected a function, got none",
                  [] { jit(static_cast<Tensor (*)(Tensor, Tensor)>(nullptr)); }});
  list.push_back(
      {"jit_class_no_function", "[jit] f: expected a function, got none", [] { Jit compiled{Function()}; }});
  list.push_back({"grad_too_few", "[grad] argument 1: expected a tensor", [x] { grad(second)(x); }});
  list.push_back({"grad_of_pointer", "[grad] argument 1: expected a tensor", [x] { grad(add_two)(x); }});
  list.push_back({"grad_none", "[grad] argument: expected 0 to -1, got 0", [] { grad(second)(); }});
  list.push_back({"grad_too_many", "[grad] argument 1: expected none", [x] { grad(first)(x, x); }});
  list.push_back(
      {"grad_empty", "[grad] argument 0: expected a tensor, got none", [] { grad(first)(Tensor()); }});
  list.push_back({"grad_empty_beside", "[grad] argument 1: expected a tensor, got none",
                  [x] { grad(second)(x, Tensor()); }});
  list.push_back({"grad_empty_result", "[grad] f: expected tensors as results", [x] { grad(nothing)(x); }});
  list.push_back({"grad_argument", "[grad] argument: expected 0 to 0, got 1", [x] { grad(first, 1)(x); }});
  list.push_back({"grad_negative", "[grad] argument: expected 0 to 0, got -1", [x] { grad(first, -1)(x); }});
  list.push_back({"grad_no_function", "[grad] f: expected a function, got none",
                  [] { grad(std::function<Tensor(Tensor)>()); }});
  list.push_back({"grad_of_no_list_function", "[grad] f: expected a function, got none",
                  [x] { value_and_grad_of(Function(), {x}, {0}); }});
  list.push_back({"grad_moved", "expected a function, got none", [x] {
                    auto slope = grad(first);
                    const auto taken = std::move(slope);
                    slope(x);
                  }});
  list.push_back({"value_and_grad_too_few", "[grad] argument 1", [x] { value_and_grad(second)(x); }});
  list.push_back({"vmap_too_few", "[vmap] argument 1: expected a tensor", [x] { vmap(second)(x); }});
  list.push_back({"vmap_too_many", "[vmap] argument 1: expected none", [x] { vmap(first)(x, x); }});
  list.push_back(
      {"vmap_empty", "[vmap] argument 0: expected a tensor, got none", [] { vmap(first)(Tensor()); }});
  list.push_back({"vmap_empty_result", "[vmap] f: expected tensors as results", [x] { vmap(nothing)(x); }});
  list.push_back({"vmap_axes", "[vmap] in_axes: expected 1", [x] { vmap(first, {0, 0})(x); }});
  list.push_back({"vmap_axis", "[vmap] in_axes[0]: expected", [x] { vmap(first, {1})(x); }});
  list.push_back({"vmap_scalar", "[vmap] in_axes[0]: expected", [] { vmap(first)(tensor(1.0)); }});
  list.push_back({"vmap_no_function", "[vmap] f: expected a function", [x] { vmap_of({}, {x}, {0}); }});
  list.push_back({"vmap_of_nothing", "[vmap] in_axes: expected an axis", [] { vmap(first)(); }});
  list.push_back({"vjp_too_few", "[vjp] argument 1", [x] { vjp(second, {x}, {tensor(1.0)}); }});
  list.push_back({"vjp_cotangents", "[vjp] cotangents: expected 1, got 0", [x] { vjp(first, {x}, {}); }});
  list.push_back({"vjp_empty", "[vjp] argument 0: expected a tensor", [] { vjp(first, {Tensor()}, {}); }});
  list.push_back({"vjp_no_function", "[vjp] f: expected a function", [x] { vjp(Function(), {x}, {}); }});
  list.push_back({"jvp_too_few", "[jvp] argument 1", [x] { jvp(second, {x}, {x}); }});
  list.push_back({"jvp_tangents", "[jvp] tangents: expected 1, got 0", [x] { jvp(first, {x}, {}); }});
  list.push_back({"jvp_empty", "[jvp] argument 0: expected a tensor", [x] { jvp(first, {Tensor()}, {x}); }});
  list.push_back({"jvp_no_function", "[jvp] f: expected a function", [x] { jvp(Function(), {x}, {x}); }});
  list.push_back({"jvp_empty_result", "[jvp] f: expected tensors", [x] { jvp(nothing, {x}, {x}); }});
  list.push_back({"jacobian_too_few", "[jacobian] argument 1", [x] { jacobian(second)(x); }});
  list.push_back(
      {"jacobian_empty", "[jacobian] argument 0: expected a tensor", [] { jacobian(first)(Tensor()); }});
  list.push_back({"jacobian_empty_result", "[jacobian] f: expected tensors", [x] { jacobian(nothing)(x); }});
  list.push_back(
      {"jacobian_argument", "[jacobian] argument: expected 0 to 0", [x] { jacobian(first, 7)(x); }});
  list.push_back({"jacobian_no_function", "[jacobian] f: expected a function",
                  [x] { jacobian_of(Function(), {x}, 0); }});
  list.push_back({"hessian_too_few", "[hessian] argument 1", [x] { hessian(second)(x); }});
  list.push_back(
      {"hessian_empty", "[hessian] argument 0: expected a tensor", [] { hessian(first)(Tensor()); }});
  list.push_back(
      {"hessian_no_function", "[hessian] f: expected a function", [x] { hessian_of(Function(), {x}, 0); }});
}

void add_control(std::vector<Hostile>& list) {
  const Tensor x = ones({3}, DType::f64), yes = ones({}, DType::u8);
  const auto same = [](const Tensors& t) { return t; };
  const auto never = [](const Tensors&) { return tensor(false); };
  const auto lost = [](const Tensors&) { return Tensors{Tensor()}; };
  list.push_back({"cond_empty", "[cond] predicate: expected", [=] { cond(Tensor(), same, same, {x}); }});
  list.push_back({"cond_operand", "[cond] operand 1: expected a tensor", [=] {
                    cond(yes, same, same, {x, Tensor()});
                  }});
  list.push_back(
      {"cond_no_function", "[cond] on_true: expected a function", [=] { cond(yes, {}, same, {x}); }});
  list.push_back(
      {"cond_no_other", "[cond] on_false: expected a function", [=] { cond(yes, same, {}, {x}); }});
  list.push_back({"cond_lost", "[cond] on_true: expected tensors", [=] { cond(yes, lost, same, {x}); }});
  list.push_back({"cond_nothing", "[cond] results: expected", [=] { cond(yes, same, same, {}); }});
  list.push_back({"while_no_condition", "[while_loop] condition: expected a function",
                  [=] { while_loop({}, same, {x}); }});
  list.push_back(
      {"while_no_body", "[while_loop] body: expected a function", [=] { while_loop(never, {}, {x}); }});
  list.push_back(
      {"while_lost", "[while_loop] body: expected tensors", [=] { while_loop(never, lost, {x}); }});
  list.push_back({"while_empty_condition", "[while_loop] condition: expected",
                  [=] { while_loop([](const Tensors&) { return Tensor(); }, same, {x}); }});
  list.push_back({"while_empty", "[while_loop] initial 0: expected a tensor",
                  [=] { while_loop(never, same, {Tensor()}); }});
  list.push_back({"while_counts", "[while_loop] body: expected 1 tensors",
                  [=] { while_loop(never, [](const Tensors&) { return Tensors{}; }, {x}); }});
  list.push_back({"scan_no_step", "[scan] step: expected a function", [=] { scan({}, {x}, {x}); }});
  list.push_back({"scan_length", "[scan] length: expected", [=] {
                    scan([](const Tensors& c, const Tensors&) { return Step{c, {}}; }, {x}, {});
                  }});
  list.push_back({"scan_counts", "[scan] step: expected 1 tensors", [=] {
                    scan([](const Tensors&, const Tensors&) { return Step{{}, {}}; }, {x}, {x});
                  }});
  list.push_back({"scan_more", "[scan] step: expected 1 tensors", [=] {
                    scan([](const Tensors& c, const Tensors&) { return Step{{c[0], c[0]}, {}}; }, {x}, {x});
                  }});
  list.push_back({"scan_lost", "[scan] step: expected tensors", [=] {
                    scan([](const Tensors& c, const Tensors&) { return Step{c, {Tensor()}}; }, {x}, {x});
                  }});
  list.push_back(
      {"scan_huge", "expected", [=] {
         scan([](const Tensors& c, const Tensors&) { return Step{c, c}; }, {x}, {}, int64_t{1} << 62);
       }});
  list.push_back({"map_no_function", "[map] f: expected a function", [=] { map({}, x); }});
  list.push_back({"map_empty", "[map] xs 0: expected a tensor",
                  [=] { map([](const Tensor& t) { return t; }, Tensor()); }});
  list.push_back({"map_lost", "expected tensors", [=] { map([](const Tensor&) { return Tensor(); }, x); }});
  list.push_back({"map_scalar", "[map] xs: expected at least one axis",
                  [=] { map([](const Tensor& t) { return t; }, tensor(1.0)); }});
}

void add_random(std::vector<Hostile>& list) {
  const Tensor key = random::key(1);
  list.push_back({"split_empty", "expected", [] { random::split(Tensor()); }});
  list.push_back({"split_negative", "expected", [=] { random::split(key, -1); }});
  list.push_back({"row_outside", "expected", [=] { random::row(random::split(key), 2); }});
  list.push_back({"row_negative", "expected", [=] { random::row(random::split(key), -1); }});
  list.push_back({"row_empty", "expected", [] { random::row(Tensor(), 0); }});
  list.push_back({"fold_in_empty", "expected", [=] { random::fold_in(key, Tensor()); }});
  list.push_back({"key_of_floats", "expected", [] { random::normal(some(), {2}); }});
  list.push_back({"moved_key", "expected", [] { random::uniform(gone(), {2}); }});
  list.push_back({"bits_type", "expected", [=] { random::bits(key, {2}, DType::f32); }});
  list.push_back({"normal_type", "expected", [=] { random::normal(key, {2}, 0, 1, DType::i32); }});
  list.push_back({"randint_order", "expected", [=] { random::randint(key, {2}, 3, 3); }});
  list.push_back({"bernoulli_empty", "expected", [=] { random::bernoulli(key, Tensor(), {2}); }});
  list.push_back({"bernoulli_shape", "expected", [=] { random::bernoulli(key, some(), {2}); }});
  list.push_back({"gamma_empty", "expected", [=] { random::gamma(key, Tensor(), {2}); }});
  list.push_back({"categorical_scalar", "expected", [=] { random::categorical(key, tensor(1.0)); }});
  list.push_back({"categorical_none", "expected", [=] { random::categorical(key, zeros({3, 0})); }});
  list.push_back({"permutation_negative", "expected", [=] { random::permutation(key, int64_t{-1}); }});
  list.push_back({"permutation_scalar", "expected", [=] { random::permutation(key, tensor(1.0), 0); }});
  list.push_back({"stream_word", "expected", [] { random::stream(1, 1, {2}, 4); }});
  list.push_back({"draw_no_key", "expected", [] { normal(0, 1).draw(Tensor(), {2}); }});
}

void add_distributions(std::vector<Hostile>& list) {
  const Tensor five = zeros({5}, DType::f64), column = ones({5, 1}, DType::f64);
  const std::string none = "expected a tensor, got none";
  list.push_back({"parameter_empty", none, [] { normal(Tensor(), 1); }});
  list.push_back({"parameter_moved", none, [] { normal(0, gone()); }});
  list.push_back({"parameter_complex", "expected real numbers", [] { normal(zeros({2}, DType::c64), 1); }});
  list.push_back({"classes_empty", none, [] { categorical(Tensor()); }});
  list.push_back(
      {"classes_scalar", "p: expected numbers along a last axis", [] { categorical(tensor(1.0)); }});
  list.push_back({"dirichlet_empty", none, [] { dirichlet(Tensor()); }});
  list.push_back({"matrix_empty", none, [] { multi_normal(some(), Tensor()); }});
  list.push_back(
      {"matrix_flat", "covariance: expected square matrices", [] { multi_normal(some(), some()); }});
  list.push_back({"mixture_no_weights", none, [] { mixture(Tensor(), {normal(0, 1)}); }});
  list.push_back(
      {"mixture_of_none", "components: expected at least one", [] { mixture(tensor({1.0}), {}); }});
  list.push_back(
      {"mixture_of_empty", "expected distributions", [] { mixture(tensor({1.0}), {Distribution{}}); }});
  list.push_back(
      {"censored_empty", "inner: expected a distribution", [] { censored(Distribution{}, 0, 1); }});
  list.push_back({"custom_no_function", "log_density: expected a function", [] { custom("mine", {}); }});
  list.push_back({"custom_no_support", "support: expected a constraint", [] {
                    custom(
                        "mine", [](const Tensor& x) { return x; }, Constraint{});
                  }});
  list.push_back({"lkj_size", "size: expected", [] { lkj_corr_cholesky(0, 1); }});
  list.push_back({"lkj_huge", "expected", [] {
                    const Distribution d = lkj_corr_cholesky(int64_t{1} << 40, 1);
                    d.draw(random::key(1), d.event);
                  }});
  list.push_back({"walk_steps", "steps: expected", [] { gaussian_random_walk(1, 0); }});
  list.push_back(
      {"density_of_none", "x: expected a tensor, got none", [] { normal(0, 1).log_density(Tensor()); }});
  list.push_back({"draw_shape", "shape: expected one that ends with [5]",
                  [=] { normal(five, 1).draw(random::key(1), {4}); }});
  list.push_back({"bound_empty", none, [] { constraint::lower(Tensor()); }});
  // Shapes that would multiply.
  const std::string grows = "together they would make [5, 5]";
  list.push_back({"outer_parameters", "[normal] mu: expected a shape that broadcasts to that of sigma", [] {
                    normal(zeros({5}), ones({7, 1}));
                  }});
  list.push_back({"column_of_scales", grows, [=] { normal(five, column); }});
  list.push_back({"row_of_scales", grows, [=] { normal(column, five + 1.0); }});
  list.push_back({"third_parameter", grows, [=] { student_t(3, five, column); }});
  list.push_back({"bounds", grows, [=] { uniform(five, column); }});
  list.push_back({"truncation", grows, [=] { truncated_normal(five, 1, -1, column); }});
  list.push_back({"censoring", grows, [=] { censored(normal(five, 1), -1, column); }});
  list.push_back({"counts", grows, [=] { binomial(column, 0.5 * (five + 1.0)); }});
  list.push_back({"mixed", grows, [=] {
                    mixture(tensor({0.5, 0.5}), {normal(five, 1), normal(column, 1)});
                  }});
  list.push_back(
      {"weights", "[mixture] weights: expected a shape that broadcasts to that of component 0", [=] {
         mixture(full({3, 1, 2}, 0.5), {normal(five, 1), normal(five, 2)});
       }});
  list.push_back({"means", grows, [=] {
                    multi_normal_cholesky(zeros({5, 2}), broadcast_to(eye(2), {5, 1, 2, 2}));
                  }});
  list.push_back({"x_column",
                  "[normal] x: expected a shape that broadcasts to that of parameters, [5], got [5, 1]",
                  [=] { normal(five, 1).log_density(column); }});
  list.push_back({"x_of_cdf", grows, [=] { normal(five, 1).log_cdf(column); }});
  list.push_back({"x_of_classes", grows, [=] { categorical(full({5, 2}, 0.5)).log_density(zeros({5, 1})); }});
  list.push_back({"x_event", "x: expected a shape that ends with [3], got [5, 1]",
                  [=] { dirichlet(ones({3})).log_density(column); }});
  list.push_back({"x_no_event", "x: expected a shape that ends with [3], got []",
                  [=] { dirichlet(ones({3})).log_density(tensor(1.0)); }});
}

Model moved_model() {
  Model model("mine");
  model.sample("x", normal(0, 1));
  const Model taken = std::move(model);
  return model;
}

void add_models(std::vector<Hostile>& list) {
  const std::string moved = "expected a model, got one that was moved away";
  list.push_back({"moved_name", moved, [] { moved_model().name(); }});
  list.push_back({"moved_size", moved, [] { moved_model().size(); }});
  list.push_back({"moved_variables", moved, [] { moved_model().variables(); }});
  list.push_back({"moved_state", moved, [] { stats::state_of(moved_model()); }});
  list.push_back({"moved_plate", moved, [] { moved_model().plate("p", 2); }});
  list.push_back({"moved_sample", moved, [] { moved_model().sample("x", normal(0, 1)); }});
  list.push_back({"moved_parameter", moved, [] { moved_model().parameter("x", constraint::real()); }});
  list.push_back({"moved_observe", moved, [] { moved_model().observe("y", normal(0, 1), some()); }});
  list.push_back({"moved_deterministic", moved, [] { moved_model().deterministic("y", some()); }});
  list.push_back({"moved_data", moved, [] { moved_model().data("y", some()); }});
  list.push_back({"moved_add", moved, [] { moved_model().add_log_density("y", some()); }});
  list.push_back({"moved_set", moved, [] { moved_model().set_data("y", some()); }});
  list.push_back({"moved_density", moved, [] { moved_model().log_density(some()); }});
  list.push_back({"moved_run", moved, [] { sample(moved_model(), {}); }});
  list.push_back({"moved_many", moved, [] { sample_many(moved_model(), {{"y", some()}}, {}); }});
  list.push_back({"moved_prior", moved, [] { sample_prior(moved_model(), 3); }});
  list.push_back({"moved_leapfrog", moved, [] { leapfrog_chain(moved_model(), some(), some(), 0.1, 1); }});
  list.push_back({"moved_kernel", "moved away", [] {
                    Model model;
                    model.sample("x", normal(0, 1));
                    LeapfrogKernel kernel(model, {.device = "cpu"});
                    const LeapfrogKernel taken = std::move(kernel);
                    kernel(tensor({1.0}), tensor({1.0}), 0.1, 1);
                  }});
  list.push_back({"no_prior", "[sample x] prior: expected a distribution, got none",
                  [] { Model().sample("x", Distribution{}); }});
  list.push_back({"no_likelihood", "[observe y] likelihood: expected a distribution, got none",
                  [] { Model().observe("y", Distribution{}, some()); }});
  list.push_back({"no_constraint", "[parameter x] constraint: expected a constraint, got none",
                  [] { Model().parameter("x", Constraint{}); }});
  list.push_back({"no_value", "[observe y] value: expected a tensor, got none",
                  [] { Model().observe("y", normal(0, 1), Tensor()); }});
  list.push_back({"no_deterministic", "[deterministic y] value: expected a tensor",
                  [] { Model().deterministic("y", gone()); }});
  list.push_back({"no_data", "[data y] value: expected a tensor", [] { Model().data("y", Tensor()); }});
  list.push_back({"no_term", "[add_log_density y] term: expected a tensor",
                  [] { Model().add_log_density("y", Tensor()); }});
  list.push_back({"no_point", "u: expected a point, got none", [] {
                    Model model;
                    model.sample("x", normal(0, 1));
                    model.log_density(Tensor());
                  }});
  list.push_back(
      {"nothing_to_sample", "expected at least one variable", [] { sample(Model(), {.device = "cpu"}); }});
  list.push_back({"many_of_none", "expected", [] {
                    Model model;
                    model.sample("x", normal(0, 1));
                    sample_many(model, {{"y", Tensor()}}, {.device = "cpu"});
                  }});
  list.push_back({"huge_variable", "expected", [] {
                    Model model;
                    model.sample("x", normal(0, 1), {int64_t{1} << 40, int64_t{1} << 40});
                  }});
  list.push_back({"prior_draws", "expected", [] {
                    Model model;
                    model.sample("x", normal(0, 1));
                    sample_prior(model, -1);
                  }});
}

// Draws that lost their values, and none at all.
Draws moved_draws() {
  Draws draws;
  draws.chains = 2;
  draws.draws = 3;
  draws.variables.push_back({"x", {}, {}, {1, 2, 3, 4, 5, 6}});
  draws.log_likelihood.push_back({"y", {2}, {""}, std::vector<double>(12, -1)});
  for (auto* column : {&draws.stats.lp, &draws.stats.divergent, &draws.stats.energy}) column->assign(6, 0);
  const Draws taken = std::move(draws);
  return draws;
}
Draws short_draws() {
  Draws draws;
  draws.chains = 2;
  draws.draws = 3;
  draws.variables.push_back({"x", {4}, {""}, {1, 2, 3}});
  return draws;
}

void add_draws(std::vector<Hostile>& list) {
  const std::string lacks = "expected 24";
  list.push_back({"short_summary", lacks, [] { summary(short_draws()); }});
  list.push_back({"short_csv", lacks, [] { write_csv(short_draws(), "/nonexistent/x"); }});
  list.push_back({"short_netcdf", lacks, [] { write_netcdf(short_draws(), "/nonexistent/x.nc"); }});
  list.push_back({"short_report", lacks, [] { write_report(short_draws(), "/nonexistent/x.html"); }});
  list.push_back({"short_element", lacks, [] {
                    const Draws draws = short_draws();
                    element_draws(draws, draws.variables[0], 1);
                  }});
  list.push_back({"element_outside", "element: expected 0 to 0 of x, got 5", [] {
                    Draws draws = short_draws();
                    draws.variables[0] = {"x", {}, {}, {1, 2, 3, 4, 5, 6}};
                    element_draws(draws, draws.variables[0], 5);
                  }});
  list.push_back({"short_loo", "x: expected 24", [] {
                    const Draws draws = short_draws();
                    psis_loo(draws, draws.variables[0]);
                  }});
  list.push_back({"short_waic", "x: expected 24", [] {
                    const Draws draws = short_draws();
                    waic(draws, draws.variables[0]);
                  }});
  list.push_back({"no_variable", "expected", [] { moved_draws().variable("x"); }});
  list.push_back({"short_stats", "lp__: expected 6", [] {
                    Draws draws = short_draws();
                    draws.variables.clear();
                    draws.stats.lp = {1, 2};
                    summary(draws);
                  }});
  list.push_back({"no_files", "expected", [] { read_draws({}); }});
}

std::vector<Hostile> all_of_them() {
  std::vector<Hostile> list;
  add_tensors(list);
  add_sizes(list);
  add_transforms(list);
  add_control(list);
  add_random(list);
  add_distributions(list);
  add_models(list);
  add_draws(list);
  return list;
}

class HostileApi : public testing::TestWithParam<Hostile> {};

TEST_P(HostileApi, IsToldWhatIsWrong) {
  try {
    GetParam().call();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().says), std::string::npos) << error.what();
    EXPECT_NE(error.kind(), ErrorKind::internal) << error.what();
    return;
  }
  ADD_FAILURE() << "nothing was thrown";
}

std::string name_of_call(const testing::TestParamInfo<Hostile>& call) { return call.param.name; }
INSTANTIATE_TEST_SUITE_P(Calls, HostileApi, testing::ValuesIn(all_of_them()), name_of_call);

// Moved-from draws are none: diagnostics of them say so in numbers and do not crash.
TEST(HostileDraws, MovedOnesAreNone) {
  const Draws draws = moved_draws();
  const Summary table = summary(draws);
  EXPECT_TRUE(table.parameters.empty());
  EXPECT_FALSE(diagnose(draws, table).empty());
  EXPECT_FALSE(format_summary(draws, table).empty());
  e_bfmi(draws);
}

}  // namespace
}  // namespace adit::test
