// Several chains of a CPU's team: one after the other each goes from the density that it asked for to the
// next one, and then those of all are computed together, so that what they read of the data is read once.
#include "nuts/machine.hpp"

namespace adit::sampling {

void Machine::write_together() {
  const Array values = k_.shared(value_, static_cast<uint32_t>(options_.together));
  const Variable round = k_.variable(index(0)), going = k_.variable(index(options_.together));
  k_.while_([&] { return going.get() != index(0); },
            [&] {
              going = index(0);
              const Value may_go = round.get() != budget_;
              k_.for_(index(options_.together),
                      [&](Value which) { chain_of_team(which, values, may_go, going); });
              k_.if_(
                  going.get() == index(options_.together), [&] { densities_of_all(values); },
                  [&] { densities_of_some(values); });
              round = round.get() + 1;
            });
}

// No chain waits for a density when a dispatch ends: its last round asks for none.
void Machine::chain_of_team(Value which, const Array& values, Value may_go, const Variable& going) {
  team_ = number_of(which);
  random_.emplace(chain_, seed_low_, seed_high_, first_chain_ + team_);
  open_state();
  rounds_.emplace(k_.variable(index(0)));
  k_.if_(word(word_asks).get() != index(0), [&] { follow_density(values[which]); });
  k_.if_(may_go && goes_on(), [&] {
    ask_for_density();
    going = going.get() + 1;
  });
  word(word_rounds) = word(word_rounds).get() + rounds().get();
  save_state();
}

DensityWriter::Point Machine::point_of(Value chain) {
  const Vector state(state_, chain * layout_.count);
  return {state.from(layout_.current), state.from(layout_.current + 2 * n_), state.from(layout_.scratch)};
}

void Machine::densities_of_all(const Array& values) {
  std::vector<DensityWriter::Point> points;
  for (int64_t c = 0; c < options_.together; ++c) points.push_back(point_of(number_of(index(c))));
  const std::vector<DensityWriter*> all(densities_.begin(), densities_.begin() + options_.together);
  const std::vector<Value> lps = DensityWriter::write_together(all, points);
  k_.once([&] {
    for (size_t c = 0; c < lps.size(); ++c) values[static_cast<uint32_t>(c)] = lps[c];
  });
}

// Of those that still go on, one after the other, to the same bits: a sum over a line of a matrix has as many
// parts as where chains go together (DensityWriter::write_apart).
void Machine::densities_of_some(const Array& values) {
  k_.for_(index(options_.together), [&](Value which) {
    const Value chain = number_of(which);
    k_.if_(words_[chain * int64_t{word_count} + int64_t{word_asks}] != index(0), [&] {
      const Value lp = densities_.back()->write_apart(point_of(chain), options_.together);
      k_.once([&] { values[which] = lp; });
    });
  });
}

}  // namespace adit::sampling
