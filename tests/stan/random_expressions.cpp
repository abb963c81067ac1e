// Expressions of a wanted type. What could grow without bound is held back by a bounded function.
#include <fmt/format.h>

#include "random_writer.hpp"

namespace adit::test {

std::string ModelWriter::bounded(int depth) {
  const std::string x = real(depth - 1);
  switch (pick(5)) {
    case 0: return fmt::format("sin({})", x);
    case 1: return fmt::format("cos({})", x);
    case 2: return fmt::format("(2 * inv_logit({}) - 1)", x);
    case 3: return fmt::format("erf({})", x);
    default: return fmt::format("tanh({})", x);
  }
}

std::string ModelWriter::positive(int depth) {
  if (depth <= 0 || chance(3)) {
    if (const auto found = positive_read()) return fmt::format("(0.05 + {})", *found);
    return any({"0.7", "1.3", "2.0", "1"});
  }
  switch (pick(5)) {
    case 0: return fmt::format("exp(0.5 * {})", bounded(depth));
    case 1: return fmt::format("(0.3 + square({}))", bounded(depth));
    case 2: return fmt::format("(0.1 + log1p_exp({}))", bounded(depth));
    case 3: return fmt::format("(1.5 + {})", bounded(depth));
    default: return fmt::format("sqrt(0.4 + square({}))", real(depth - 1));
  }
}

std::string ModelWriter::probability(int depth) {
  if (depth <= 0) return any({"0.3", "0.55", "0.8"});
  return chance(2) ? fmt::format("inv_logit({})", bounded(depth))
                   : fmt::format("(0.5 + 0.4 * {})", bounded(depth));
}

std::string ModelWriter::data_condition() {
  const std::string left = integer(-50, 50);
  return fmt::format("{} {} {}", left, any({"<", "<=", ">", ">=", "==", "!="}), integer(0, 9));
}

std::string ModelWriter::condition(int depth) {
  if (depth <= 0 || chance(3)) return data_condition();
  switch (pick(5)) {
    case 0: return fmt::format("({} && {})", condition(depth - 1), condition(depth - 1));
    case 1: return fmt::format("({} || {})", condition(depth - 1), condition(depth - 1));
    case 2: return fmt::format("!({})", condition(depth - 1));
    default: return fmt::format("{} {} {}", real(depth - 1), any({"<", ">", "<=", ">="}), real(depth - 1));
  }
}

// A sum over a part whose size may differ from round to round.
std::string ModelWriter::ragged_sum(int depth) {
  const Extent size = extent();
  if (size.value < 2) return number();
  const std::string to = size_integer(1, size.value);
  const auto a = read(Form::vector, {}, {size.value});
  if (!a || a->find_first_of("[") != std::string::npos) return real(depth - 1);
  const std::string cut = chance(2) ? fmt::format("{}[1:({})]", *a, to) : fmt::format("{}[({}):]", *a, to);
  switch (pick(5)) {
    case 0: return fmt::format("(0.2 * sum({}))", cut);
    case 1: return fmt::format("(0.1 * dot_self({}))", cut);
    case 2: return fmt::format("log_sum_exp({})", cut);
    case 3: return fmt::format("(0.2 * dot_product({}, {}))", cut, cut);
    default: return fmt::format("mean({})", cut);
  }
}

std::string ModelWriter::real_of_lists(int depth) {
  const int64_t size = std::max<int64_t>(1, extent().value);
  const std::string a = list(Form::vector, size, depth - 1);
  switch (pick(10)) {
    case 0: return fmt::format("sum({})", a);
    case 1: return fmt::format("mean({})", a);
    case 2: return fmt::format("(0.2 * dot_product({}, {}))", a, list(Form::vector, size, depth - 1));
    case 3: return fmt::format("log_sum_exp({})", a);
    case 4: return fmt::format("max({})", a);
    case 5: return size > 1 ? fmt::format("sd({})", a) : fmt::format("min({})", a);
    case 6: return fmt::format("sqrt(1 + dot_self({}))", a);
    case 7: return fmt::format("({} * {})", list(Form::row_vector, size, depth - 1), a);
    case 8: return fmt::format("sum({})", matrix(extent().value, size, depth - 1));
    default: return fmt::format("({})[{}]", a, integer(1, size));
  }
}

std::string ModelWriter::density(int depth) {
  const std::string a = real(depth - 1), b = real(depth - 1);
  switch (pick(6)) {
    case 0: return fmt::format("normal_lpdf({} | {}, {})", a, b, positive(depth - 1));
    case 1: return fmt::format("student_t_lpdf({} | 4, {}, {})", a, b, positive(depth - 1));
    case 2: return fmt::format("cauchy_lpdf({} | {}, {})", a, b, positive(depth - 1));
    case 3: return fmt::format("poisson_log_lpmf({} | {})", integer(0, 6), bounded(depth));
    case 4: return fmt::format("normal_lcdf({} | {}, 1.5)", bounded(depth), bounded(depth));
    default: return fmt::format("bernoulli_logit_lpmf({} | {})", integer(0, 1), a);
  }
}

std::string ModelWriter::real(int depth) {
  if (depth <= 0 || chance(3)) {
    if (!chance(5))
      if (const auto found = read(Form::real, {}, {})) return *found;
    if (chance(3)) return fmt::format("(0.1 * {})", integer(-9, 30));
    return number();
  }
  switch (pick(18)) {
    case 0: return fmt::format("({} + {})", real(depth - 1), real(depth - 1));
    case 1: return fmt::format("({} - {})", real(depth - 1), real(depth - 1));
    case 2: return fmt::format("{} * {}", number(), real(depth - 1));
    case 3: return fmt::format("{} * {}", bounded(depth), real(depth - 1));
    case 4: return fmt::format("({} / (1 + square({})))", real(depth - 1), real(depth - 1));
    case 5: return fmt::format("({} ? {} : {})", condition(depth - 1), real(depth - 1), real(depth - 1));
    case 6: return fmt::format("exp({})", bounded(depth));
    case 7: return fmt::format("log({})", positive(depth));
    case 8: return fmt::format("-{}", real(depth - 1));
    case 9:
      return fmt::format("{}({}, {})", any({"fmin", "fmax", "log_sum_exp"}), real(depth - 1),
                         real(depth - 1));
    case 10: return fmt::format("pow({}, {})", positive(depth), bounded(depth));
    case 11:
      return fmt::format("log_mix({}, {}, {})", probability(depth - 1), real(depth - 1), real(depth - 1));
    case 12:
      return fmt::format("{}({})", any({"log1p_exp", "inv_logit", "atan", "asinh", "Phi_approx", "abs"}),
                         real(depth - 1));
    case 13: return ragged_sum(depth);
    case 14: return density(depth);
    case 15:
      if (const auto found = own_call({}, depth)) return *found;
      return bounded(depth);
    default: return real_of_lists(depth);
  }
}

std::optional<std::string> ModelWriter::own_call(const Kind& gives, int depth) {
  std::vector<const Own*> fit;
  for (const Own& own : own_) {
    if (own.gives.form != gives.form || own.gives.own.size() != gives.own.size()) continue;
    bool same = true;
    for (size_t i = 0; i < gives.own.size(); ++i) same = same && own.gives.own[i].value == gives.own[i].value;
    if (same) fit.push_back(&own);
  }
  if (fit.empty()) return {};
  const Own& own = *fit[pick(fit.size())];
  std::string text;
  for (const Kind& takes : own.takes) {
    const std::string argument =
        takes.form == Form::integer ? integer(0, takes.array.empty() ? 3 : 0) : expression(takes, depth - 1);
    text += (text.empty() ? "" : ", ") + argument;
  }
  return own.text + "(" + text + ")";
}

std::string ModelWriter::list(Form form, int64_t size, int depth) {
  const char* word = form == Form::vector ? "vector" : "row_vector";
  const bool is_column = form == Form::vector;
  const Form other = is_column ? Form::row_vector : Form::vector;
  if (depth <= 0 || chance(3) || size == 0) {
    if (const auto found = read(form, {}, {size})) return *found;
    if (const auto found = read(other, {}, {size})) return *found + "'";
    return fmt::format("rep_{}({}, {})", word, number(), size);
  }
  const auto again = [&] { return list(form, size, depth - 1); };
  switch (pick(16)) {
    case 0: return fmt::format("({} + {})", again(), again());
    case 1: return fmt::format("({} - {})", again(), real(depth - 1));
    case 2: return fmt::format("{} * {}", bounded(depth), again());
    case 3: return fmt::format("({} .* tanh({}))", again(), again());
    case 4: return fmt::format("({} ./ (1 + square({})))", again(), again());
    case 5: return fmt::format("{}({})", any({"tanh", "sin", "inv_logit", "log1p_exp", "atan"}), again());
    case 6: return fmt::format("({})'", list(other, size, depth - 1));
    case 7: return fmt::format("rep_{}({}, {})", word, real(depth - 1), size);
    case 8:
      if (is_column) return fmt::format("softmax({})", again());
      return fmt::format("reverse({})", again());
    case 9: return fmt::format("cumulative_sum(0.3 * {})", again());
    case 10: return fmt::format("({} ? {} : {})", condition(depth - 1), again(), again());
    case 11: {
      const int64_t first = between(0, size);
      return fmt::format("append_{}({}, {})", is_column ? "row" : "col", list(form, first, depth - 1),
                         list(form, size - first, depth - 1));
    }
    case 12: {
      const int64_t inner = std::max<int64_t>(1, extent().value);
      return is_column ? fmt::format("(0.3 * ({} * {}))", matrix(size, inner, depth - 1),
                                     list(form, inner, depth - 1))
                       : fmt::format("(0.3 * ({} * {}))", list(form, inner, depth - 1),
                                     matrix(inner, size, depth - 1));
    }
    case 13:
      if (size > 4)
        return again();
      else {
        std::string text;
        for (int64_t i = 0; i < size; ++i) text += (i ? ", " : "") + real(depth - 2);
        return "[" + text + (is_column ? "]'" : "]");
      }
    case 14: return fmt::format("to_{}({})", word, array_of_reals(size, depth - 1));
    default:
      if (const auto found = own_call({form, {}, {{"", size}}}, depth)) return *found;
      return again();
  }
}

std::string ModelWriter::matrix(int64_t rows, int64_t columns, int depth) {
  if (depth <= 0 || chance(2) || rows == 0 || columns == 0) {
    if (const auto found = read(Form::matrix, {}, {rows, columns})) return *found;
    if (const auto found = read(Form::matrix, {}, {columns, rows})) return *found + "'";
    return fmt::format("rep_matrix({}, {}, {})", number(), rows, columns);
  }
  const auto again = [&] { return matrix(rows, columns, depth - 1); };
  switch (pick(9)) {
    case 0: return fmt::format("({} + {})", again(), again());
    case 1: return fmt::format("{} * {}", bounded(depth), again());
    case 2: return fmt::format("({} .* cos({}))", again(), again());
    case 3: return fmt::format("tanh({})", again());
    case 4:
      return fmt::format("({} * {})", list(Form::vector, rows, depth - 1),
                         list(Form::row_vector, columns, depth - 1));
    case 5: return fmt::format("({})'", matrix(columns, rows, depth - 1));
    case 6: return fmt::format("diag_pre_multiply({}, {})", list(Form::vector, rows, depth - 1), again());
    case 7: return fmt::format("rep_matrix({}, {})", list(Form::vector, rows, depth - 1), columns);
    default:
      return fmt::format("to_matrix({}, {}, {})", list(Form::vector, rows * columns, depth - 1), rows,
                         columns);
  }
}

std::string ModelWriter::array_of_reals(int64_t size, int depth) {
  if (!chance(3) || depth <= 0)
    if (const auto found = read(Form::real, {size}, {})) return *found;
  if (size > 0 && size <= 4 && chance(2)) {
    std::string text;
    for (int64_t i = 0; i < size; ++i) text += (i ? ", " : "") + real(depth - 1);
    return "{" + text + "}";
  }
  if (depth > 0 && chance(2)) return fmt::format("to_array_1d({})", list(Form::vector, size, depth - 1));
  return fmt::format("rep_array({}, {})", real(depth - 1), size);
}

std::string ModelWriter::expression(const Kind& kind, int depth) {
  if (!kind.array.empty()) {
    std::vector<int64_t> array, own;
    for (const Extent& one : kind.array) array.push_back(one.value);
    for (const Extent& one : kind.own) own.push_back(one.value);
    if (kind.form == Form::real && array.size() == 1) return array_of_reals(array[0], depth);
    if (const auto found = kind.form == Form::integer ? std::nullopt : read(kind.form, array, own))
      if (chance(2)) return *found;
    Kind element = kind;
    element.array.clear();
    std::string sizes;
    for (const int64_t one : array) sizes += fmt::format(", {}", one);
    return fmt::format("rep_array({}{})", expression(element, depth), sizes);
  }
  switch (kind.form) {
    case Form::integer: return integer(0, 9);
    case Form::real: return real(depth);
    case Form::matrix: return matrix(kind.own[0].value, kind.own[1].value, depth);
    default: return list(kind.form, kind.own[0].value, depth);
  }
}

}  // namespace adit::test
