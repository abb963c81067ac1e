// What a chain remembers between dispatches: numbers of the sampler's precision, and whole numbers.
#pragma once

#include <cstdint>

#include <adit/sample.hpp>

namespace adit::sampling {

enum class Phase : uint32_t {
  start_point,  // looking for a point with a finite density
  search,       // for a step size
  transition,   // about to draw a momentum
  tree,         // inside of a transition
  failed
};

enum class Failure : uint32_t { none, no_start, improper, no_step, bad_metric };

// Whole numbers of a chain.
enum Word : uint32_t {
  word_phase,
  word_iteration,  // transitions done
  word_attempt,    // start points tried, or trials of a search
  word_given,      // 1: the start point is the caller's; later 2 + the chain whose state this one took over
  word_depth,
  word_leaf,   // number of the next leaf in its subtree
  word_leaps,  // leapfrogs of this transition
  word_direction,
  word_next_direction,    // of the next subtree
  word_search_direction,  // 0: not known, 1: up, 2: down
  word_counter,           // of dual averaging
  word_window_end,
  word_window_size,
  word_collected,  // draws in the estimate of the metric
  word_failure,
  word_leapfrogs,  // of all transitions so far, and of searches
  word_rounds,     // the same, with those in which the chain waited
  word_divergences,
  word_warmup_divergences,
  word_asks,  // 1: a density computed outside of the kernel is on its way
  word_count = 20
};

// Numbers of a chain.
enum Real : uint32_t {
  real_step,
  real_mu,
  real_s_bar,
  real_x_bar,
  real_h0,
  real_weight,      // of the trajectory: the sum of exp(H0 - H - shift)
  real_sub_weight,  // of the subtree
  real_choice,      // the random number that decides between them
  real_next_choice,
  real_shift,       // 0, unless an energy fell so far that weights would overflow
  real_acceptance,  // summed over leaves
  real_lp,          // of the sample
  real_energy,
  real_proposal_lp,
  real_proposal_energy,
  real_origin,  // where the density is wider than the chain's numbers: log densities are relative to this
  real_count = 16
};

// A saved draw: the sampler's own numbers (Layout::stats of them), then the position.
inline constexpr int64_t stats_count = 7;  // lp, accept_stat, step size, depth, leapfrogs, divergent, energy

// Of the 255 registers of 4 bytes that a GPU's lane has, those that may hold a chain's numbers; the rest are
// for the arithmetic. A guess, not measured.
inline constexpr int64_t state_registers = 144;

struct Layout {
  int64_t size = 0;  // of a position
  Metric metric = Metric::diagonal;
  int max_depth = 10;
  int64_t scratch_size = 0;
  int64_t near = 0;             // numbers of the density's scratch that lie near a team's lanes, and not here
  int64_t stats = stats_count;  // of a saved draw: `stats_count`, and the origin where there is one

  // Offsets among the numbers. Those that every leaf touches come first.
  int64_t current = 0;   // position, momentum, gradient: of the end that grows
  int64_t growing = 0;   // begin and sum of the growing subtree; dense: also sharp ones
  int64_t proposal = 0;  // position, gradient
  int64_t other = 0;     // position, momentum, gradient of the other end
  int64_t inner = 0;     // momentum of the end before it grew
  int64_t sample = 0;    // position, gradient
  int64_t rho = 0;
  int64_t single = 0;                      // momentum of a leaf that waits
  int64_t stack = 0, slot = 0;             // subtrees that wait: a slot for each size, 2, 4, 8 ... leaves
  int64_t inverse_metric = 0, factor = 0;  // diagonal or matrix; dense: its Cholesky factor
  int64_t mean = 0, squares = 0;           // of the draws in the window
  int64_t scratch = 0;
  int64_t count = 0;  // in all

  // Beside the current point, the growing subtree and the metric, of numbers of so many bytes.
  bool proposal_fits_registers(int64_t bytes) const {
    return !dense() && 8 * size * bytes <= 4 * state_registers;
  }
  bool dense() const { return metric == Metric::dense; }
  int64_t slots() const { return max_depth > 2 ? max_depth - 2 : 0; }
};
// `near` of the scratch lies elsewhere.
Layout make_layout(int64_t size, Metric metric, int max_depth, int64_t scratch, int64_t near = 0);

}  // namespace adit::sampling
