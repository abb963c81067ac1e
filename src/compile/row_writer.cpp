#include "compile/row_writer.hpp"

#include "compile/team_loops.hpp"

namespace adit::compile {

using kernel::Reduction;
using kernel::Type;

void RowWriter::write_column(Value outer, Value inner) {
  outer_ = outer, inner_ = inner;
  write(outer * writer_.number(plan_.columns->inner) + inner);
}

void RowWriter::write(Value row_number) {
  begin(row_number);
  if (!shop_.target.gpu && may_keep_) kept_ = KeptRow(group_, plan_, shop_.partition, by_team_, k_);
  const std::optional<Powers> sums = powers();
  if (sums) reduce_powers(*sums);
  for (size_t i = sums ? 2 : 0; i < plan_.levels.size(); ++i) {
    prepare(plan_.levels[i]);
    reduce_level(plan_.levels[i]);
  }
  finish();
}

void RowWriter::begin(Value row_number) {
  row_number_ = row_number;
  row_ = Index(k_, plan_.rows, row_number_);
  if (holds()) hold_places();
}

void RowWriter::prepare(const Level& level) {
  writer_.forbid(later_reductions(level));
  fix_row_values(writer_, group_, shop_.partition, row_);
}

void RowWriter::finish() {
  writer_.forbid({});
  fix_row_values(writer_, group_, shop_.partition, row_);
  store_row_roots();
  if (plan_.whole_roots.empty()) return;
  const Steps steps = steps_of_a_lane();
  if (held_.empty() && steps.at_once > 1)
    store_several(steps);
  else if (is_short() && !held_.empty())
    store_short();
  else
    walk([&](const std::vector<Index>& places) { store_whole_roots(places); });
}

Value RowWriter::limited(Value row_number) {
  there_is_ = row_number < number(plan_.count);
  return min(row_number, number(plan_.count - 1));
}

void RowWriter::store_if(const std::optional<Value>& condition, const std::function<void()>& store) {
  if (condition)
    k_.if_(*condition, store);
  else
    store();
}

std::vector<Reduction> RowWriter::all_reductions(const Level& level) {
  std::vector<Reduction> list;
  for (const Node* node : level)
    for (const Reduction reduction : reductions_of(*node)) list.push_back(reduction);
  return list;
}

void RowWriter::add_contributions(const Level& level, const std::vector<Reduction>& reductions,
                                  const Index& at, std::vector<Value>& sums,
                                  const std::optional<Value>& inside) {
  size_t next = 0;
  for (const Node* node : level)
    for (Value part : contributions(*node, writer_.read(graph::node_of(node->operands[0]), at))) {
      const uint64_t nothing = kernel::identity_of(reductions[next], part.type());
      if (inside) part = select(*inside, part, k_.constant_bits(part.type(), nothing));
      if (sums.size() <= next)
        sums.push_back(part);
      else
        sums[next] = combine(reductions[next], sums[next], part);
      ++next;
    }
}

std::vector<const Node*> RowWriter::later_reductions(const Level& level) const {
  std::vector<const Node*> later;
  bool reached = false;
  for (const auto& other : plan_.levels) {
    reached = reached || &other == &level;
    if (reached) later.insert(later.end(), other.begin(), other.end());
  }
  return later;
}

Index RowWriter::place(Value r) {
  std::optional<Value> linear;
  if (inner_) {
    const Columns& columns = *plan_.columns;
    linear = (*outer_ * writer_.number(columns.lines) + r) * writer_.number(columns.inner) + *inner_;
  }
  return place_in(group_.full, group_.axes, row_, r, linear);
}

std::vector<Index> RowWriter::places(Value step) {
  std::vector<Index> result;
  const int elements = width();
  if (elements == 1) return {place(step)};
  std::vector<Value> lanes;
  for (int lane = 0; lane < elements; ++lane) {
    const Value r = step * writer_.number(elements) + writer_.number(lane);
    result.push_back(place_in(group_.full, group_.axes, row_, r));
    lanes.push_back(result.back().linear());
  }
  const Value vector = plan_.count == 1 ? step : row_number_ * writer_.number(plan_.length / elements) + step;
  writer_.set_vector(vector, std::move(lanes));
  return result;
}

void RowWriter::reduce_level(const Level& level) {
  const std::vector<Reduction> reductions = all_reductions(level);
  std::vector<Type> types;
  for (const Node* node : level)
    for (const Type type : accumulator_types(*node)) types.push_back(type);
  const auto own_pass = static_cast<int>(&level - plan_.levels.data());
  const Steps steps = steps_of_a_lane();
  const auto body = [&](Value first) {
    const Writer::Scope scope(writer_);
    std::vector<Value> sums;
    kept_.find(writer_, own_pass, first);
    for (int64_t i = 0; i < steps.at_once; ++i) {
      const auto [step, inside] = step_of(steps, first, i);
      for (const Index& at : places(step)) {
        add_contributions(level, reductions, at, sums, inside);
        kept_.keep(writer_, own_pass, step, at);
      }
      writer_.clear_vector();
    }
    return sums;
  };
  const std::vector<Value> totals =
      inner_                ? column_totals(own_pass, reductions, types)
      : !held_.empty()      ? joined(level, held_sums(level))
      : slices_.columns > 0 ? slice_totals(level, reductions, types)
      : by_team_            ? team_reduce(k_, writer_.index_type(), steps.rounds, reductions, types, body)
                            : loop_totals(k_, writer_.number(steps.rounds), reductions, types, body);
  fix_totals(writer_, level, totals);
}

std::vector<Value> RowWriter::column_totals(int pass, const std::vector<Reduction>& reductions,
                                            const std::vector<Type>& types) {
  const auto& level = plan_.levels[static_cast<size_t>(pass)];
  constexpr int64_t together = 4;
  const int64_t at_once = kept_.is_short(pass) && plan_.length >= together ? together : 1;
  const auto element = [&](Value r) {
    std::vector<Value> sums;
    kept_.find(writer_, pass, r);
    const Index at = place(r);
    add_contributions(level, reductions, at, sums);
    kept_.keep(writer_, pass, r, at);
    return sums;
  };
  const auto join = [&](std::vector<Value> a, const std::vector<Value>& b) {
    for (size_t i = 0; i < a.size(); ++i) a[i] = combine(reductions[i], a[i], b[i]);
    return a;
  };
  const int64_t rounds = plan_.length / at_once;
  std::vector<Value> totals = loop_totals(k_, writer_.number(rounds), reductions, types, [&](Value round) {
    const Writer::Scope scope(writer_);
    const Value r = round * writer_.number(at_once);
    if (at_once == 1) return element(r);
    const auto first = join(element(r), element(r + writer_.number(1)));
    return join(first, join(element(r + writer_.number(2)), element(r + writer_.number(3))));
  });
  for (int64_t r = rounds * at_once; r < plan_.length; ++r) totals = join(totals, element(writer_.number(r)));
  return totals;
}

void RowWriter::walk(const std::function<void(const std::vector<Index>&)>& body) {
  const auto step = [&](Value i) {
    const Writer::Scope scope(writer_);
    kept_.find(writer_, static_cast<int>(plan_.levels.size()), i);
    body(places(i));
    writer_.clear_vector();
  };
  if (!held_.empty()) {
    for (const Held& held : held_) {
      const auto own = [&] {
        const Writer::Scope scope(writer_);
        use(held);
        body(held.places);
        writer_.clear_vector();
      };
      const bool both = held.inside && there_is_;
      store_if(both ? *held.inside && *there_is_ : held.inside ? held.inside : there_is_, own);
    }
    return;
  }
  if (slices_.columns > 0) {
    k_.for_(writer_.number(slice_steps()), [&](Value i) {
      const Writer::Scope scope(writer_);
      const auto place = place_of_slice(i);
      store_if(place.second ? *place.second && *there_is_ : *there_is_, [&] {
        const Writer::Scope inner(writer_);
        body({place.first});
      });
    });
    return;
  }
  const int64_t steps = plan_.length / width();
  if (by_team_)
    team_each(k_, writer_.index_type(), steps, step);
  else
    k_.for_(writer_.number(steps), step);
}

RowWriter::Steps RowWriter::steps_of_a_lane() const {
  const int64_t steps = plan_.length / width(), most = 8 / width();
  const bool may = shop_.target.gpu && by_team_ && may_hold_ && most > 1 && steps >= 2 * most * team_lanes();
  return may ? Steps{(steps + most - 1) / most, most, steps} : Steps{steps, 1, steps};
}

std::pair<Value, std::optional<Value>> RowWriter::step_of(const Steps& steps, Value first, int64_t which) {
  if (which == 0) return {first, std::nullopt};
  const Value step = first + writer_.number(which * steps.rounds);
  if ((which + 1) * steps.rounds <= steps.all) return {step, std::nullopt};
  return {min(step, writer_.number(steps.all - 1)), step < writer_.number(steps.all)};
}

RowWriter::Made RowWriter::made_at(std::vector<Index> places, std::optional<Value> inside) {
  Made made;
  made.inside = inside;
  made.places = std::move(places);
  if (made.places.size() > 1) made.vector = writer_.vector();
  for (const Node* root : plan_.whole_roots) {
    std::vector<Scalar>& values = made.values.emplace_back();
    for (const Index& at : made.places) values.push_back(writer_.read(*root, at));
  }
  writer_.clear_vector();
  return made;
}

void RowWriter::store_all(const std::vector<Made>& all) {
  for (const Made& made : all)
    store_if(made.inside, [&] {
      for (size_t i = 0; i < plan_.whole_roots.size(); ++i)
        if (made.vector)
          writer_.store_vector(*plan_.whole_roots[i], *made.vector, made.values[i]);
        else
          writer_.store(*plan_.whole_roots[i], made.places[0], made.values[i][0]);
    });
}

void RowWriter::store_several(const Steps& steps) {
  team_each(k_, writer_.index_type(), steps.rounds, [&](Value number) {
    const Writer::Scope scope(writer_);
    std::vector<Made> all;
    for (int64_t i = 0; i < steps.at_once; ++i) {
      const auto [step, inside] = step_of(steps, number, i);
      all.push_back(made_at(places(step), inside));
    }
    store_all(all);
  });
}

// Stores of parts of a row that follow each other at some distance would each be a trip to memory.
void RowWriter::store_short() {
  const Writer::Scope scope(writer_);
  std::vector<Made> all;
  for (const Held& held : held_) {
    use(held);
    all.push_back(made_at(held.places, held.inside));
  }
  store_all(all);
}

void RowWriter::store_row_roots() {
  std::vector<std::pair<const Node*, Scalar>> values;
  for (const Node* root : plan_.row_roots) {
    const Scalar value = writer_.read(*root, row_.reshaped(root->shape));
    if (!keep_ || !keep_(*root, value)) values.emplace_back(root, value);
  }
  const auto store = [&] {
    for (const auto& [root, value] : values) writer_.store(*root, row_.reshaped(root->shape), value);
  };
  if (values.empty()) return;
  if (slices_.columns > 0)
    k_.if_(*there_is_ && slice_ == slice_.like(0), store);
  else if (there_is_)
    k_.if_(*there_is_ && lane_ == lane_.like(0), store);
  else if (!held_.empty() && by_team_)
    k_.if_(lane_ == lane_.like(0), store);
  else if (by_team_)
    k_.once(store);
  else
    store();
}

void RowWriter::store_whole_roots(const std::vector<Index>& places) {
  for (const Node* root : plan_.whole_roots) {
    std::vector<Scalar> values;
    for (const Index& at : places) values.push_back(writer_.read(*root, at));
    if (places.size() == 1)
      writer_.store(*root, places[0], values[0]);
    else
      writer_.store_vector(*root, writer_.vector(), values);
  }
}

}  // namespace adit::compile
