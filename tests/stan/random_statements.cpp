// Statements: declarations with values, assignments to parts, loops, choices, jumps, terms of the density.
#include <algorithm>
#include <fmt/format.h>

#include "random_writer.hpp"

namespace adit::test {

void ModelWriter::statements(int depth, size_t count) {
  for (size_t i = 0; i < count && left_ > 0; ++i) statement(depth);
}

// In braces of its own, whose names end with it.
void ModelWriter::body(int depth) {
  const size_t before = names_.size();
  statements(depth - 1, 1 + pick(3));
  names_.resize(before);
}

void ModelWriter::statement(int depth) {
  --left_;
  if (depth <= 0 || loops_ > 2) {
    if (chance(3) && in_model_) return accumulate();
    if (chance(4)) return jump();
    return assignment();
  }
  switch (pick(16)) {
    case 0: return declare();
    case 12: return loops_ == 0 || chance(3) ? tables() : loop(depth);
    case 1: return chance(3) ? segments() : recurrence();
    case 2:
    case 3:
    case 4: return loop(depth);
    case 5: return branches(depth);
    case 6: return chance(2) ? while_loop(depth) : foreach_loop(depth);
    case 7:
      open("");
      body(depth);
      return close();
    case 8:
    case 9: return in_model_ ? accumulate() : assignment();
    case 10: return jump();
    case 11: return chance(2) ? tuples() : array_of_tuples();
    default: return assignment();
  }
}

void ModelWriter::declare() {
  const Kind kind = some_kind(indent_ > 1);
  const std::string name = fresh(kind.form == Form::integer ? "n" : "v");
  if (kind.form == Form::integer) {
    Name own{.text = name, .kind = kind, .low = 0, .high = 9};
    if (!kind.array.empty()) return whole_numbers(name);
    // A whole number may follow from parameters too.
    own.follows = chance(3);
    const std::string value = own.follows
                                  ? fmt::format("({} ? {} : {})", condition(2), integer(0, 9), integer(0, 9))
                                  : size_integer(0, 9);
    line(fmt::format("int {} = {};", name, value));
    names_.push_back(own);
    return;
  }
  if (loops_ < 2 && chance(3)) return filled(kind, name);
  line(fmt::format("{} {} = {};", kind_text(kind), name, expression(kind, 2)));
  names_.push_back({.text = name, .kind = kind, .writable = true});
}

// Declared without a value, and filled element by element or row by row.
void ModelWriter::filled(const Kind& kind, const std::string& name) {
  line(fmt::format("{} {};", kind_text(kind), name));
  std::vector<Extent> axes = kind.array;
  axes.insert(axes.end(), kind.own.begin(), kind.own.end());
  if (axes.empty()) {
    line(fmt::format("{} = {};", name, real(2)));
    names_.push_back({.text = name, .kind = kind, .writable = true});
    return;
  }
  // A matrix may be filled column by column.
  const bool by_column = kind.form == Form::matrix && chance(3);
  size_t looped = by_column ? kind.array.size() : 1 + pick(axes.size());
  const size_t before = names_.size();
  std::string index;
  const auto begin = [&](const Extent& axis) {
    const std::string round = fresh("i");
    open(fmt::format("for ({} in 1:{})", round, axis.text));
    names_.push_back({.text = round,
                      .kind = {.form = Form::integer, .array = {}, .own = {}},
                      .low = 1,
                      .high = axis.value});
    ++loops_;
    return round;
  };
  for (size_t i = 0; i < looped; ++i) index += (index.empty() ? "" : ", ") + begin(axes[i]);
  if (by_column) index += (index.empty() ? ":, " : ", :, ") + begin(kind.own[1]), ++looped;
  Kind rest{.form = kind.form, .array = {}, .own = {}};
  if (by_column) {
    rest.form = Form::vector, rest.own = {kind.own[0]};
  } else {
    for (size_t i = looped; i < axes.size(); ++i)
      (i < kind.array.size() ? rest.array : rest.own).push_back(axes[i]);
    if (kind.form == Form::matrix && rest.own.size() == 1) rest.form = Form::row_vector;
    if (rest.own.empty()) rest.form = Form::real;
  }
  line(fmt::format("{}[{}] = {};", name, index, expression(rest, 2)));
  for (size_t i = 0; i < looped; ++i) close(), --loops_;
  names_.resize(before);
  names_.push_back({.text = name, .kind = kind, .writable = true});
}

void ModelWriter::assignment() {
  std::vector<size_t> writable;
  for (size_t i = 0; i < names_.size(); ++i)
    if (names_[i].writable) writable.push_back(i);
  if (writable.empty()) return declare();
  const Name name = names_[writable[pick(writable.size())]];
  const Part part = written_part(name);
  const bool is_number = part.kind.form == Form::real && part.kind.array.empty();
  const bool is_list = part.kind.form >= Form::vector && part.kind.array.empty();
  std::string op = "=", value;
  if (chance(2) && (is_number || is_list)) op = any({"+=", "-=", "*=", "/="});
  if (op != "=" && is_list && chance(2) && op != "+=" && op != "-=") op = "." + op;
  if (op == "*=" || op == "/=") {
    value = op == "*=" ? bounded(2) : positive(2);
  } else if (op == ".*=") {
    value = fmt::format("cos({})", expression(part.kind, 1));
  } else if (op == "./=") {
    value = fmt::format("(1 + square({}))", expression(part.kind, 1));
  } else {
    value = expression(part.kind, 2);
    if (loops_ > 0 && !chance(3)) value = fmt::format("tanh({})", value);
  }
  line(fmt::format("{} {} {};", part.text, op, value));
}

void ModelWriter::loop(int depth) {
  const Extent size = extent();
  const std::string round = fresh("i");
  int64_t low = 1, high = size.value;
  bool follows = false;
  std::string from = "1", to = size.text;  // or rounds of different numbers
  if (chance(4) && high > 1) from = "2", low = 2;
  if (chance(4))
    follows = chance(5), to = follows ? integer(1, size.value) : size_integer(1, size.value);
  else if (chance(5))
    from = size_integer(1, size.value), low = 1;
  const size_t before = names_.size();
  const bool jumped = std::exchange(may_jump_, true);
  open(fmt::format("for ({} in {}:({}))", round, from, to));
  names_.push_back({.text = round,
                    .kind = {.form = Form::integer, .array = {}, .own = {}},
                    .low = low,
                    .high = high,
                    .follows = follows});
  ++loops_;
  body(depth);
  --loops_;
  close();
  may_jump_ = jumped;
  names_.resize(before);
}

void ModelWriter::while_loop(int depth) {
  const std::string round = fresh("k");
  const int64_t most = between(1, 6);
  const bool apart = indent_ == 1;  // a whole number may be no variable of some blocks
  if (apart) open("");
  line(fmt::format("int {} = 0;", round));
  const std::string also = chance(2) ? "" : fmt::format(" && {}", condition(2));
  const bool jumped = std::exchange(may_jump_, true);
  open(fmt::format("while ({} < {}{})", round, most, also));
  line(fmt::format("{} += 1;", round));
  const size_t before = names_.size();
  names_.push_back({.text = round,
                    .kind = {.form = Form::integer, .array = {}, .own = {}},
                    .low = 1,
                    .high = most,
                    .follows = true});
  ++loops_;
  body(depth);
  --loops_;
  close();
  may_jump_ = jumped;
  names_.resize(before);
  if (apart) return close();
  names_.push_back({.text = round,
                    .kind = {.form = Form::integer, .array = {}, .own = {}},
                    .low = 0,
                    .high = most,
                    .follows = true});
}

void ModelWriter::foreach_loop(int depth) {
  const Extent size = extent();
  Kind kind{.form = chance(2) ? Form::vector : Form::row_vector, .array = {}, .own = {size}};
  if (chance(2)) kind = {.form = Form::real, .array = {size}, .own = {}};
  const std::string items = expression(kind, 1), element = fresh("e");
  const bool jumped = std::exchange(may_jump_, true);
  open(fmt::format("for ({} in {})", element, items));
  const size_t before = names_.size();
  names_.push_back({.text = element, .kind = {}});
  ++loops_;
  body(depth);
  --loops_;
  close();
  may_jump_ = jumped;
  names_.resize(before);
}

void ModelWriter::branches(int depth) {
  open(fmt::format("if ({})", condition(2)));
  body(depth);
  if (chance(3)) {
    --indent_;
    open(fmt::format("}} else if ({})", condition(2)));
    body(depth);
  }
  if (chance(2)) {
    --indent_;
    open("} else");
    body(depth);
  }
  close();
}

void ModelWriter::jump() {
  if (!may_jump_ || !chance(2)) return assignment();
  line(fmt::format("if ({}) {};", condition(2), any({"break", "continue"})));
}

// x[i] of x[i - 1] and its like.
void ModelWriter::recurrence() {
  const Extent size = extent(), states = extent();
  const std::string name = fresh("r"), round = fresh("i");
  const size_t what = pick(4);
  Kind kind{.form = Form::vector, .array = {}, .own = {size}};
  if (what == 1) kind = {.form = Form::vector, .array = {size}, .own = {states}};
  if (what == 2) kind = {.form = Form::matrix, .array = {}, .own = {size, states}};
  Kind row = {};
  if (what == 1) row = {.form = Form::vector, .array = {}, .own = {states}};
  if (what == 2) row = {.form = Form::row_vector, .array = {}, .own = {states}};
  const Name round_name{
      .text = round, .kind = {.form = Form::integer, .array = {}, .own = {}}, .low = 2, .high = size.value};
  if (what == 3) {  // a number that goes on
    line(fmt::format("real {} = {};", name, real(1)));
    if (size.value < 2) return names_.push_back({.text = name, .kind = {}, .writable = true});
    open(fmt::format("for ({} in 2:{})", round, size.text));
    names_.push_back(round_name), ++loops_;
    line(fmt::format("{} = 0.6 * tanh({}) + {};", name, name, real(2)));
    names_.pop_back(), --loops_;
    if (in_model_) line(fmt::format("target += -0.5 * square({});", name));
    close();
    return names_.push_back({.text = name, .kind = {}, .writable = true});
  }
  line(fmt::format("{} {};", kind_text(kind), name));
  line(fmt::format("{}[1] = {};", name, expression(row, 1)));
  if (size.value > 1) {
    open(fmt::format("for ({} in 2:{})", round, size.text));
    names_.push_back(round_name), ++loops_;
    std::string before = fmt::format("{}[{} - 1]", name, round);
    if (chance(3)) before = fmt::format("({} > 2 ? {}[max(1, {} - 2)] : {})", round, name, round, before);
    const std::string added = expression(row, 2);
    if (chance(3)) {
      line(fmt::format("{}[{}] = {};", name, round, added));
      line(fmt::format("{}[{}] += 0.5 * {};", name, round, before));
    } else {
      line(fmt::format("{}[{}] = 0.5 * tanh({}) + {};", name, round, before, added));
    }
    names_.pop_back(), --loops_;
    close();
  }
  names_.push_back({.text = name, .kind = kind, .writable = true});
}

// A list of places that a loop makes.
void ModelWriter::whole_numbers(const std::string& name) {
  const Extent size = extent(), high = extents_[pick(3)];
  const std::string round = fresh("i");
  line(fmt::format("array[{}] int {};", size.text, name));
  open(fmt::format("for ({} in 1:{})", round, size.text));
  names_.push_back(
      {.text = round, .kind = {.form = Form::integer, .array = {}, .own = {}}, .low = 1, .high = size.value});
  line(fmt::format("{}[{}] = {};", name, round, size_integer(1, high.value)));
  names_.pop_back();
  close();
  names_.push_back({.text = name,
                    .kind = {.form = Form::integer, .array = {size}, .own = {}},
                    .low = 1,
                    .high = high.value});
}

// Parts of a list one behind the other, as long as the data say; a counter goes along.
void ModelWriter::segments() {
  const bool is_there =  // functions do not see data
      std::any_of(names_.begin(), names_.end(), [](const Name& name) { return name.text == "parts"; });
  if (!is_there) return recurrence();
  const Extent all = extents_[0], groups = extents_[1];
  const std::string at = fresh("k"), group = fresh("i"), sum = fresh("v");
  line(fmt::format("real {} = {};", sum, number()));
  const std::string values = list(Form::vector, all.value, 1), more = list(Form::vector, all.value, 0);
  open("");
  line(fmt::format("int {} = 1;", at));
  line(fmt::format("vector[{}] all_values = {};", all.text, values));
  open(fmt::format("for ({} in 1:{})", group, groups.text));
  const std::string part = chance(2) ? fmt::format("segment(all_values, {}, parts[{}])", at, group)
                                     : fmt::format("all_values[{}:({} + parts[{}] - 1)]", at, at, group);
  if (in_model_ && chance(2))
    line(fmt::format("{} ~ normal({}, {});", part, real(1), positive(1)));
  else if (chance(2))
    line(
        fmt::format("{} += dot_product({}, ({})[{}:({} + parts[{}] - 1)]);", sum, part, more, at, at, group));
  else
    line(fmt::format("{} = 0.5 * {} + sum({});", sum, sum, part));
  line(fmt::format("{} += parts[{}];", at, group));
  close();
  close();
  names_.push_back({.text = sum, .kind = {}, .writable = true});
}

void ModelWriter::accumulate() {
  if (chance(3) && (chance(2) ? target_call() : own_tilde())) return;
  switch (pick(8)) {
    case 0:
    case 1: return line(fmt::format("target += {};", real(2)));
    case 2: return vector_tilde();
    case 3: return count_tilde();
    case 4: return truncated_tilde();
    case 5: return line(fmt::format("target += {};", list(Form::vector, extent().value, 2)));
    default: return tilde();
  }
}

void ModelWriter::tilde() {
  const std::string y = real(1), mu = real(2), scale = positive(2);
  switch (pick(6)) {
    case 0: return line(fmt::format("{} ~ normal({}, {});", y, mu, scale));
    case 1: return line(fmt::format("{} ~ student_t({}, {}, {});", y, positive(1), mu, scale));
    case 2: return line(fmt::format("{} ~ double_exponential({}, {});", y, mu, scale));
    case 3: return line(fmt::format("{} ~ gamma({}, {});", positive(2), positive(1), scale));
    case 4: return line(fmt::format("{} ~ beta({}, {});", probability(2), positive(1), scale));
    default: return line(fmt::format("{} ~ lognormal({}, {});", positive(2), mu, scale));
  }
}

void ModelWriter::vector_tilde() {
  const int64_t size = std::max<int64_t>(1, extent().value);
  const std::string y = list(Form::vector, size, 1);
  const std::string mu = chance(2) ? real(2) : list(chance(4) ? Form::row_vector : Form::vector, size, 2);
  const std::string scale =
      chance(2) ? positive(2) : fmt::format("exp(tanh({}))", list(Form::vector, size, 1));
  switch (pick(4)) {
    case 0: return line(fmt::format("{} ~ normal({}, {});", y, mu, scale));
    case 1: return line(fmt::format("{} ~ cauchy({}, {});", y, mu, scale));
    case 2:
      return line(fmt::format("target += {}({} | {}, {});", in_block_ ? "normal_lupdf" : "normal_lpdf", y, mu,
                              scale));
    default: return line(fmt::format("{} ~ logistic({}, {});", y, mu, scale));
  }
}

void ModelWriter::count_tilde() {
  switch (pick(5)) {
    case 0: return line(fmt::format("{} ~ poisson({});", integer(0, 8), positive(2)));
    case 1: return line(fmt::format("{} ~ bernoulli({});", integer(0, 1), probability(2)));
    case 2: return line(fmt::format("{} ~ binomial_logit(9, {});", integer(0, 9), real(2)));
    case 3: return line(fmt::format("{} ~ categorical_logit({});", integer(1, 3), list(Form::vector, 3, 2)));
    default:
      return line(fmt::format("{} ~ neg_binomial_2({}, {});", integer(0, 8), positive(2), positive(1)));
  }
}

void ModelWriter::truncated_tilde() {
  const std::string y = bounded(2), mu = bounded(2), scale = positive(1);
  const std::string cut = any({"T[-1.5, ]", "T[, 1.5]", "T[-1.2, 2]"});
  line(fmt::format("{} ~ {}({}, {}) {};", y, any({"normal", "logistic", "cauchy"}), mu, scale, cut));
}

}  // namespace adit::test
