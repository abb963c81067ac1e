// Values that a statement used, so that a run which finds no density can tell what it met there.
#include <algorithm>

#include "stan/evaluator.hpp"

namespace adit::stan {

namespace {

constexpr size_t most_witnesses = 12, longest_text = 100;
constexpr int64_t most_kept = 1 << 20;  // numbers, of all lanes

}  // namespace

std::string Evaluator::text_at(const Place& place) const {
  const std::string& all = program_.sources[place.file].text;
  std::string text;
  for (size_t i = place.begin; i < place.end && i < all.size(); ++i) {
    const bool is_space = all[i] == ' ' || all[i] == '\t' || all[i] == '\r' || all[i] == '\n';
    if (!is_space) text += all[i];
    if (is_space && !text.empty() && text.back() != ' ') text += ' ';
  }
  return text.size() > longest_text ? text.substr(0, longest_text - 3) + "..." : text;
}

void Evaluator::witness(const Expression& e, const Value& value) {
  if (witnesses_->size() >= most_witnesses || e.kind == Expression::Kind::integer ||
      e.kind == Expression::Kind::real)
    return;
  std::string name = text_at(e.place);
  for (const Witness& known : *witnesses_)
    if (known.name == name) return;
  witnesses_->push_back({std::move(name), value});
}

// Those of the statement at hand, and the rounds of the loops around it; in lanes of the top level where they
// differ between rounds. What lives in the step of a recurrence is not there afterwards.
std::vector<Witness> Evaluator::told_witnesses() {
  std::vector<Witness> told;
  const auto tell = [&](const std::string& name, const Value& of, bool is_round) {
    if (of.is_nothing()) {
      told.push_back({name, of});
      return;
    }
    Value value = of.kind == Value::Kind::tuple ? of : whole(of);
    const int64_t lanes = value.level > 0 ? levels_.at(levels_.top()).total : 1;
    const bool has_numbers = value.is_known() || value.kind == Value::Kind::traced;
    if (!has_numbers || value.inside > 0 || value.size() * lanes > most_kept) return;
    if (value.level > 0) value = at_lanes(value, levels_.top());
    if (value.is_known())
      value = traced_value(value.type, value.shape, leaf(value, value.level), value.level);
    told.push_back({name, std::move(value), is_round});
  };
  for (const Around& round : around_)
    if (round.loop->slot >= 0)
      tell(round.loop->name, (*round.frame)[static_cast<size_t>(round.loop->slot)].value, true);
  if (witnesses_)
    for (const Witness& one : *witnesses_) {
      const auto same = [&](const Witness& round) { return round.is_round && round.name == one.name; };
      if (std::none_of(told.begin(), told.end(), same)) tell(one.name, one.value, false);
    }
  return told;
}

}  // namespace adit::stan
