// What must hold where a statement runs, as Stan has it: where it does not, a density's point is rejected,
// and transformed data and generated quantities end with an error. What is known is looked at here, once;
// what follows from parameters becomes a term of the density, or a check of the draws.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "stan/evaluator.hpp"

namespace adit::stan {

namespace {

const Type truth = scalar_type(Base::integer), real_number = scalar_type(Base::real);

Tensor demand_number(double x) { return full({}, x, DType::f64); }

Axes last_axes(int count) {
  Axes axes;
  for (int i = 1; i <= count; ++i) axes.push_back(-i);
  return axes;
}

}  // namespace

// --- What becomes of it ------------------------------------------------------------------------------------

// `holds`: a number a lane that is 0 where it does not; `number` (which may be none) is told behind `text`.
// What is known of a place is an error in a density too.
void Evaluator::demand(const Value& holds, const Value& number, const Place& place, const std::string& text,
                       bool is_of_places) {
  if (holds.is_known()) {
    const int level = std::max(levels_.top(), holds.level);
    const Value by_lane = levels_.lifted(holds, level);
    const std::vector<bool> runs = running(level);
    size_t lane = 0;
    while (lane < runs.size() && (!runs[lane] || by_lane.known->numbers[lane] != 0)) ++lane;
    if (lane == runs.size()) return;
    // A loop that becomes a graph may never run this.
    const bool is_sure =
        std::all_of(masks_.begin(), masks_.end(), [](const Mask& mask) { return mask.own.is_known(); });
    if (is_sure && (is_of_places || !has_density) && !catches_) {
      if (!number.is_known() || number.is_nothing()) fail(place, text);
      const double told = levels_.lifted(number, level).known->numbers[lane];
      fail(place, text.ends_with("yet") ? text : text + fmt::format("{}", told));
    }
  }
  const Value kept = masks_.empty() ? holds : chosen(mask(), holds, known_integer(1));
  reject_where({.place = place, .text = text, .holds = kept, .number = number});
}

// Points where `holds` is 0 have no density, and draws end the run.
void Evaluator::reject_where(Rejection r) {
  const int around = catches_ ? catches_->inside : 0;
  if (r.number.inside > r.holds.inside) r.number = {};
  if (r.holds.inside > around) return reject_in_step(r);
  if (catches_) {  // loops inside of it are over when it is asked for
    const int level = catches_->level;
    if (!r.number.is_nothing())
      r.number = least_of_lanes(chosen(r.holds, known_real(INFINITY), r.number), level);
    const Value bad = chosen(r.holds, known_real(0), known_real(1));
    r.holds = operate(Operator::equal, sum_of_lanes(bad, level), known_real(0), r.place);
    catches_->list.push_back(std::move(r));
    return;
  }
  if (!has_density && !is_generating) return;
  std::vector<Witness> words = std::move(r.uses), *before = witnesses_;
  if (words.empty()) {
    words = {{r.text, {}}};
    if (!r.number.is_nothing()) words.push_back({"", r.number});
  }
  witnesses_ = &words;
  Term term{.place = r.place, .value = {}, .rejects = true, .uses = told_witnesses()};
  witnesses_ = before;
  const Value value = at_lanes(chosen(r.holds, known_real(0), known_real(-INFINITY)), levels_.top());
  term.value = value.is_known() ? leaf(value, value.level) : value.tensor;
  terms.push_back(std::move(term));
}

// In the step of a recurrence: each step gives whether it is rejected, and the number that is told.
void Evaluator::reject_in_step(const Rejection& r) {
  Together* step = together_of(r.holds.inside);
  const auto in_lanes = [&](const Value& value) { return at_lanes(value, levels_.top()); };
  const Value term = in_lanes(chosen(r.holds, known_real(0), known_real(-INFINITY)));
  step->outputs.push_back(sum_of_lanes(term, step->level).tensor);
  step->output_terms.push_back({.place = r.place, .value = {}, .rejects = true, .text = r.text});
  if (r.number.is_nothing()) return;
  step->output_terms.back().tells = true;
  const Value told = in_lanes(chosen(r.holds, known_real(INFINITY), r.number));
  step->outputs.push_back(least_of_lanes(told, step->level).tensor);
  step->output_terms.push_back({.place = r.place, .value = {}});
}

// The least one over the rounds of the loops inside of `level`.
Value Evaluator::least_of_lanes(const Value& value, int level) {
  const int64_t from = levels_.lanes(value.level, value.inside), to = levels_.lanes(level, value.inside);
  if (value.level <= level || from == 0 || from == to) return value;
  const Tensor all = value.is_known() ? leaf(value, value.level) : value.tensor;
  Tensor least;
  if (to == 0) {
    least = reduce_min(all, {0});
  } else if (levels_.regular_between(level, value.level)) {
    least = reduce_min(reshape(all, {to, from / to}), {1});
  } else {  // lists of equal length, filled with infinity
    std::vector<std::vector<int64_t>> lists(static_cast<size_t>(to));
    const std::vector<int64_t> lane = levels_.ancestors(value.level, level);
    for (size_t i = 0; i < lane.size(); ++i)
      lists[static_cast<size_t>(lane[i])].push_back(static_cast<int64_t>(i));
    size_t most = 0;
    for (const auto& list : lists) most = std::max(most, list.size());
    std::vector<int64_t> places;
    for (auto& list : lists) {
      list.resize(most, from);
      places.insert(places.end(), list.begin(), list.end());
    }
    const Tensor filled = concatenate({all, full({1}, INFINITY, DType::f64)}, 0);
    least = reduce_min(take(filled, adit::tensor(places, {to, static_cast<int64_t>(most)}), 0), {1});
  }
  return traced_value(value.type, {}, least, level, value.inside);
}

// What was caught as one number, the first one's that does not hold, counted from 1; else 0.
Evaluator::Caught Evaluator::first_caught(std::span<const Rejection> list) {
  Caught first{demand_number(0), demand_number(0)};
  for (size_t i = list.size(); i-- > 0;) {
    const Rejection& r = list[i];
    const Value number = r.number.is_nothing() ? known_real(0) : r.number;
    const Value operands[] = {chosen(r.holds, known_integer(0), known_integer(1)),
                              chosen(r.holds, known_real(INFINITY), number)};
    const Met met = meet(operands);
    const auto over_lanes = [&](size_t k, bool is_least) {
      const Tensor& x = met.tensors[k];
      if (!met.in_lanes[k]) return x;
      return is_least ? reduce_min(x, {0}) : reduce_max(x, {0});
    };
    const Tensor is_bad = over_lanes(0, false) != 0.0;
    first.which = select(is_bad, demand_number(static_cast<double>(i + 1)), first.which);
    first.number = select(is_bad, over_lanes(1, true), first.number);
  }
  return first;
}

// Numbers that are none where something was caught.
Value Evaluator::with_caught(const Value& value, std::span<const Rejection> list) {
  Value now = value;
  for (const Rejection& r : list) now = chosen(r.holds, now, unset_like(now));
  return now;
}

// --- Numbers -----------------------------------------------------------------------------------------------

// Every number of the value; the first one that is outside is told.
void Evaluator::demand_each(const Value& value, const Place& place, const std::string& text,
                            const std::function<bool(double)>& number,
                            const std::function<Tensor(const Tensor&)>& tensor, bool is_of_places) {
  if (value.size() == 0 || value.type.base == Base::tuple) return;
  const Value all = whole(value);
  if (all.is_known()) {
    const std::vector<double>& numbers = all.known->numbers;
    if (std::all_of(numbers.begin(), numbers.end(), number)) return;
    const auto size = static_cast<size_t>(all.size());
    std::vector<double> holds(numbers.size() / size, 1), told(holds.size(), 0);
    for (size_t i = numbers.size(); i-- > 0;)
      if (!number(numbers[i])) holds[i / size] = 0, told[i / size] = numbers[i];
    return demand(known_value(truth, {}, std::move(holds), all.level),
                  known_value(real_number, {}, std::move(told), all.level), place, text, is_of_places);
  }
  const Tensor x = stop_gradient(all.tensor), inside = tensor(x);
  Tensor holds = as_type(inside, DType::f64), told = x;
  if (!all.shape.empty()) {
    const Axes axes = last_axes(all.shape.size());
    told = reduce_min(select(inside, demand_number(INFINITY), x), axes);
    holds = reduce_min(holds, axes);
  }
  demand(traced_value(truth, {}, holds, all.level, all.inside),
         traced_value(real_number, {}, told, all.level, all.inside), place, text);
}

// Where it holds element by element; the least of the others is told.
void Evaluator::demand_all(const Value& holds, const Value& value, const Place& place,
                           const std::string& text) {
  if (holds.size() == 0) return;
  const Type type = holds.shape.empty() ? real_number : array_of(real_number, holds.shape.size());
  const Value operands[] = {holds, value};
  const Value told = elementwise(
      type, operands, place, [](const double* x) { return x[0] != 0 ? INFINITY : x[1]; },
      [](const Tensor* x) { return select(x[0] != 0.0, demand_number(INFINITY), stop_gradient(x[1])); });
  const auto least = [&](const Value& each) {
    if (each.shape.empty()) return each;
    if (!each.is_known())
      return traced_value(real_number, {}, reduce_min(each.tensor, last_axes(each.shape.size())), each.level,
                          each.inside);
    std::vector<double> numbers;
    const auto size = each.size();
    for (auto at = each.known->numbers.begin(); at != each.known->numbers.end(); at += size)
      numbers.push_back(*std::min_element(at, at + size));
    return known_value(real_number, {}, std::move(numbers), each.level);
  };
  const Value all = whole(holds);
  demand(least(all), least(told), place, text);
}

// Whether all of them are known to be inside. `who`: "segment: ", or nothing.
bool Evaluator::expect_places(const Value& index, int64_t extent, const Place& place,
                              const std::string& who) {
  const auto last = static_cast<double>(extent);
  const auto is_inside = [=](double number) { return number >= 1 && number <= last; };
  const auto words = [&] { return fmt::format("{}expected an index from 1 to {}, got ", who, extent); };
  if (!index.is_known()) {
    demand_each(index, place, words(), is_inside, [=](const Tensor& x) {
      return logical_and(x >= demand_number(1), x <= demand_number(last));
    });
    return false;
  }
  const std::vector<double>& numbers = index.known->numbers;
  const auto found = std::find_if_not(numbers.begin(), numbers.end(), is_inside);
  if (found == numbers.end()) return true;
  const std::string text = words();
  const bool is_nothing = std::isnan(*found);
  const bool is_list = index.shape.size() > 0 && index.level == 0;
  const std::string told = is_nothing ? "expected an index, got a variable that has no value yet" : text;
  if (masks_.empty() && !catches_ && is_list)
    fail(place, told + (is_nothing ? "" : fmt::format("{} at [{}]", *found, found - numbers.begin() + 1)));
  demand_each(index, place, told, is_inside, nullptr, true);
  return false;
}

// Counted from 0. What is outside was told.
Value Evaluator::places_of(const Value& index, int64_t extent, const Place& place, const std::string& who) {
  const bool is_sure = expect_places(index, extent, place, who);
  const Value places = operate(Operator::subtract, index, known_integer(1), place);
  return is_sure ? places : nearest_places(places, extent);
}

// Of places that follow from parameters traced_at() and traced_with() take the nearest themselves.
Value Evaluator::nearest_places(const Value& places, int64_t extent) {
  if (!places.is_known()) return places;
  const double last = static_cast<double>(std::max<int64_t>(extent - 1, 0));
  std::vector<double> numbers = places.known->numbers;
  for (double& number : numbers) number = std::isnan(number) ? 0 : std::clamp(number, 0.0, last);
  return known_value(places.type, places.shape, std::move(numbers), places.level);
}

}  // namespace adit::stan
