// The parts of the kernel's state machine; kernel.cpp puts them together.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "density/writer.hpp"
#include "nuts/kernel.hpp"
#include "nuts/random.hpp"

namespace adit::sampling {

class Machine {
 public:
  // Without densities they are computed outside. `value`: the type of log densities.
  Machine(Builder& k, Chain& chain, std::vector<DensityWriter*> densities, const Layout& layout,
          const KernelOptions& options, Type value)
      : k_(k),
        chain_(chain),
        densities_(std::move(densities)),
        density_(densities_.empty() ? nullptr : densities_[0]),
        layout_(layout),
        options_(options),
        value_(value),
        n_(layout.size) {}
  void write();

 private:
  // --- kernel.cpp: memory and the loop
  void declare();
  void find_chain();
  void open_state();
  void save_state();
  void every_own_number(const std::function<void(Value)>& body);
  bool in_registers() const;
  bool proposal_in_registers() const;
  void open_memory();
  void open_vectors();
  // Memory for n numbers until the next leaf: no subtree waits.
  Vector passing() const { return at(layout_.single); }
  // Chains that are alone in their lanes but share the memory of a workgroup.
  bool by_hand() const { return !options_.by_team && options_.home == Home::shared; }
  void round();
  void round_in_step();
  Value goes_on();
  void round_around_density();
  void follow_density(Value lp);
  void ask_for_density();
  // --- together.cpp: several chains of a team
  void write_together();
  void chain_of_team(Value which, const Array& values, Value may_go, const Variable& going);
  DensityWriter::Point point_of(Value chain);
  void densities_of_all(const Array& values);
  void densities_of_some(const Array& values);
  Value number_of(Value which) { return places_[k_.team() * options_.together + which]; }
  void begin_round();
  void end_round(Value goes);
  Value leaves();
  void begin_start();
  void end_start();
  void leap();
  Value signed_step();
  void move();
  void arrive(Value lp);
  Value relative(Value lp);  // to the chain's origin
  void move_origin();

  // --- tree.cpp: transitions
  void begin_transition();
  void begin_subtree();
  void toss(Value place);
  Value add_leaf();
  void take_leaf(Value takes);
  void weigh();
  void end_leaves();
  Value is_ordinary();
  Value is_full() { return word(word_leaf).get() == (index(1) << word(word_depth).get()); }
  void wait_single();
  void meet_single();
  void merge_more(Value leaf, Value full);
  Vector slot_of(Value level, bool own) const;
  void merge_with(const Vector& slot);
  void wait_in(const Vector& slot);
  Value all_positive(const std::vector<Value>& numbers);
  void join_subtree(const Variable& going);
  void end_transition();
  void save_draw(Value accept_stat);

  // --- adaptation.cpp: step size and metric
  void begin_search();
  void end_search();
  void adapt(Value accept_stat);
  void learn_step(Value accept_stat);
  void collect();
  void update_metric();
  void restart_averaging();

  // --- momentum.cpp
  void begin_with_momentum();
  void draw_momentum(Value purpose, Value trial);  // into the current one
  Value kinetic();   // of the current momentum; dense: its sharp form is made along
  void factorise();  // the inverse metric
  // Element i of a momentum times the inverse metric: computed, or read where the metric is dense.
  Value sharp(Value i, Value momentum, const Vector& kept) {
    return layout_.dense() ? kept.get(i) : minv_.get(i) * momentum;
  }

  Value number(double value) { return chain_.number(value); }
  Value index(int64_t value) { return chain_.index(value); }
  Vector at(int64_t offset) const {
    if (has_scratch_ && offset == layout_.scratch) return Vector(scratch_, index_zero_);
    const bool own = offset >= own_begin_ && offset < own_end_;
    return own ? Vector(own_, own_base_ + own_base_.like(offset - own_begin_))
               : Vector(state_, state_base_).from(offset);
  }
  void copy(const Vector& from, const Vector& to);
  void copy_if(Value condition, const Vector& from, const Vector& to);
  const Variable& real(Real which) const { return reals_[which]; }
  const Variable& word(Word which) const { return cells_[which]; }
  Value is_phase(Phase phase) { return word(word_phase).get() == index(static_cast<int64_t>(phase)); }
  void set_phase(Phase phase) { word(word_phase) = index(static_cast<int64_t>(phase)); }
  void fail(Failure failure);
  Value infinity() { return number(INFINITY); }
  Value adapts(int bit) { return (adapt_ & (1 << bit)) != index(0); }

  Builder& k_;
  Chain& chain_;
  const std::vector<DensityWriter*> densities_;  // one for each chain of a team, and one for any of them
  DensityWriter* const density_;
  const Layout layout_;
  const KernelOptions options_;
  const Type value_;
  const int64_t n_;

  // Parameters
  Array state_, words_, rows_, places_;
  Array asked_, values_, gradients_;  // of a density that is computed outside
  Value seed_low_, seed_high_, first_chain_, chains_a_set_, warmup_, limit_, budget_, beat_, ring_, thin_,
      save_from_, max_depth_, init_buffer_, term_buffer_, window_, adapt_, delta_, gamma_, kappa_, t0_,
      radius_;
  Value chains_;
  Value team_;    // the chain's number in this dispatch
  Value exists_;  // whether there is such a chain: a workgroup may have a lane too many
  std::optional<Stream> random_;

  // The chain's numbers: in the buffer, those from own_begin_ to own_end_ - 1 in memory of its own.
  Array own_, scratch_;
  bool has_scratch_ = false;  // the density's scratch is an array of its own
  Vector near_;               // what of it lies near a team's lanes
  Value state_base_, own_base_, index_zero_;
  int64_t own_begin_ = 0, own_end_ = 0;
  int64_t own_slots_ = 0;     // of the stack: there, or all where all numbers lie in one place
  Vector q_, p_, g_, sharp_;  // the current point: the end that grows
  Vector other_q_, other_p_, other_g_, other_sharp_;  // the other end
  Vector inner_, inner_sharp_;                        // momentum of this end before it grew
  Vector sample_q_, sample_g_, proposal_q_, proposal_g_, rho_;
  Vector minv_, cb_, cr_, cb_sharp_;     // inverse metric; begin and sum of the growing subtree
  std::vector<Variable> reals_, cells_;  // scalars, by Real and Word
  // Vectors that lie in registers, with where they lie between dispatches.
  std::vector<std::pair<Vector, int64_t>> kept_;
  // What the round's evaluation gave, and the random number of its leaf
  std::vector<Variable> now_;
  const Variable& now_lp() const { return now_[0]; }
  const Variable& now_h() const { return now_[1]; }
  const Variable& now_uniform() const { return now_[2]; }
  std::optional<Variable> good_;  // no pair of subtrees has turned
  const Variable& good() const { return *good_; }
  std::optional<Variable> rounds_;  // of this dispatch
  const Variable& rounds() const { return *rounds_; }
  Value change() { return real(real_h0).get() - now_h().get(); }  // the leaf's log weight
};

}  // namespace adit::sampling
