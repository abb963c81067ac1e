// Hidden Markov models by log_omega [K, N] (log densities of what was seen), transitions gamma [K, K] from
// row to column, and chances rho [K] of the first state.
#include <array>

#include <adit/control.hpp>

#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

struct Chain {
  Tensor logs;  // [N, (lanes,) K]
  Part gamma;
  Tensor start;  // [(lanes,) K]
  bool in_lanes;
  int64_t steps;
};
Chain chain_of(const Arguments& a) {
  const Tensor all = finished(a, part(a, 0));
  const Tensor by_step = a.any_lanes() ? transpose(all, {2, 0, 1}) : transpose(all, {1, 0});
  return {by_step, part(a, 1), finished(a, part(a, 2)), a.any_lanes(), by_step.dim(0)};
}
Tensor steps_of(const Tensor& x, int64_t from, int64_t count) {
  Dims begin = Dims::filled(x.rank(), 0), length = x.shape();
  begin[0] = from;
  length[0] = count;
  return slice(x, begin, length);
}

// Chances times e^logs, scaled so that the largest is 1; and the logarithm of the scale on top.
Tensors scaled_chances(const Tensor& chances, const Tensor& logs, const Tensor& so_far) {
  const Tensor top = stop_gradient(reduce_max(logs, {-1}, true));
  const Tensor shift = select(is_finite(top), top, real(0));
  const Tensor weighted = chances * exp(logs - shift);
  const Tensor most = stop_gradient(reduce_max(weighted, {-1}, true));
  const Tensor scale = select(is_positive(most), most, real(1));
  return {weighted / scale, so_far + squeeze(shift + log(scale), {-1})};
}

struct Forward {
  Tensor chances;  // of the states and all that was seen until then, scaled: [N, (lanes,) K]
  Tensor log_total;
};
Forward forward(const Chain& c) {
  const Tensors first = scaled_chances(c.start, squeeze(steps_of(c.logs, 0, 1), {0}),
                                       zeros(stats::leading(c.start, 1), DType::f64));
  const auto result = [](const Tensors& last) { return log(sum(last[0], {-1})) + last[1]; };
  if (c.steps == 1) return {expand_dims(first[0], 0), result(first)};
  const Part turned = transposed(c.gamma);
  const auto step = [&](const Tensors& carry, const Tensors& logs) -> Step {
    const Tensor moved = times_vector(turned, {carry[0], c.in_lanes}).x;
    const Tensors next = scaled_chances(moved, logs[0], carry[1]);
    return {next, {next[0]}};
  };
  const Step done = scan(step, first, {steps_of(c.logs, 1, c.steps - 1)});
  return {concatenate({expand_dims(first[0], 0), done.outputs[0]}, 0), result(done.carry)};
}

Tensor hmm_marginal(const Arguments& a) {
  const Chain c = chain_of(a);
  return c.steps == 0 ? finished(a, {real(0), false}) : forward(c).log_total;
}

// The chance of each state given all: forward times backward.
Tensor hmm_hidden_state_prob(const Arguments& a) {
  const Chain c = chain_of(a);
  Tensor later = ones_like(steps_of(c.logs, c.steps - 1, 1));
  if (c.steps > 1) {
    const Tensor last = squeeze(later, {0});
    const auto step = [&](const Tensors& carry, const Tensors& logs) -> Step {
      const Tensor seen =
          scaled_chances(carry[0], logs[0], zeros(stats::leading(carry[0], 1), DType::f64))[0];
      const Tensor before = times_vector(c.gamma, {seen, c.in_lanes}).x;
      return {{before}, {before}};
    };
    const Step done = scan(step, {last}, {steps_of(c.logs, 1, c.steps - 1)}, -1, true);
    later = concatenate({done.outputs[0], later}, 0);
  }
  const Tensor chances = forward(c).chances * later, shares = chances / sum(chances, {-1}, true);
  return c.in_lanes ? transpose(shares, {1, 2, 0}) : transpose(shares, {1, 0});
}

// States from the last one back, each given the one after it.
Tensor hmm_latent_rng(const Arguments& a) {
  const Chain c = chain_of(a);
  const Tensor logs = stats::log_from_zero(forward(c).chances);
  const Tensor keys = random::split(a.key, c.steps);
  const int64_t states = logs.dim(-1);
  const auto draw_state = [](const Tensor& key, const Tensor& weights) {
    return stats::draw_class(key, weights, stats::leading(weights, 1));
  };
  const Tensor last =
      draw_state(random::row(keys, c.steps - 1), squeeze(steps_of(logs, c.steps - 1, 1), {0}));
  Tensor all = expand_dims(last, 0);
  if (c.steps > 1) {
    const Tensor moves = stats::log_from_zero(c.gamma.x);  // [(lanes,) from, to]
    const auto step = [&](const Tensors& carry, const Tensors& slices) -> Step {
      const Tensor is_next = expand_dims(expand_dims(carry[0], -1), -1) == iota({states}, DType::f64);
      const Tensor into = sum(select(is_next, moves, real(0)), {-1});
      const Tensor state = draw_state(slices[1], slices[0] + into);
      return {{state}, {state}};
    };
    const Step done =
        scan(step, {last}, {steps_of(logs, 0, c.steps - 1), steps_of(keys, 0, c.steps - 1)}, -1, true);
    all = concatenate({done.outputs[0], all}, 0);
  }
  const Tensor numbers = as_type(all + real(1), DType::i64);
  return c.in_lanes ? transpose(numbers, {1, 0}) : numbers;
}

constexpr std::array chain_table{
    GeneralFunction{"hmm_hidden_state_prob", hmm_hidden_state_prob},
    GeneralFunction{"hmm_latent_rng", hmm_latent_rng},
    GeneralFunction{"hmm_marginal", hmm_marginal},
};

}  // namespace

std::span<const GeneralFunction> chain_functions() { return chain_table; }

}  // namespace adit::stan
