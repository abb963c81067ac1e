// Sums and other summaries, sizes, sorting.
#include <algorithm>
#include <numeric>

#include "interpreter_builtin.hpp"
#include "interpreter_linear.hpp"

namespace adit::stan::reference {

namespace {

using V = const Values&;

bool container_is_integers(const Value& x) { return x.base == Base::integer; }

Number container_sum(const Numbers& x) {
  Number sum = 0;
  for (const Number& v : x) sum += v;
  return sum;
}
Number container_mean(const Numbers& x) { return container_sum(x) / static_cast<double>(x.size()); }
Number container_variance(const Numbers& x) {
  if (x.size() == 1) return 0;
  const Number mean = container_mean(x);
  Number sum = 0;
  for (const Number& v : x) sum += square(v - mean);
  return sum / (static_cast<double>(x.size()) - 1);
}
Number container_dot(const Numbers& a, const Numbers& b) {
  expect(a.size() == b.size(), "sizes of a dot product differ");
  Number sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Value container_extreme(const Value& x, bool greatest) {
  if (container_is_integers(x)) {
    const std::vector<int64_t> n = flat_integers(x);
    expect(!n.empty(), "an extreme of nothing");
    return integer(greatest ? *std::max_element(n.begin(), n.end()) : *std::min_element(n.begin(), n.end()));
  }
  Number best = greatest ? -infinity : infinity;
  for (const Number& v : flat(x))
    if (greatest ? v > best : v < best) best = v;
  return real(best);
}

Value container_lines(V a, bool by_rows) {
  const Value x = as_matrix(a[0]), y = as_matrix(a.back());
  expect(x.rows == y.rows && x.columns == y.columns, "sizes of dot products differ");
  Numbers result(static_cast<size_t>(by_rows ? x.rows : x.columns));
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < x.columns; ++j)
      result[static_cast<size_t>(by_rows ? i : j)] += x.at(i, j) * y.at(i, j);
  return by_rows ? vector(result) : row_vector(result);
}

std::vector<size_t> container_order(const Value& x, bool rises) {
  const Numbers numbers = flat(x);
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) {
    return rises ? numbers[i] < numbers[j] : numbers[i] > numbers[j];
  });
  return order;
}

Value container_sorted(const Value& x, bool rises) {
  Value result = x;
  const std::vector<size_t> order = container_order(x, rises);
  for (size_t i = 0; i < order.size(); ++i) {
    if (x.array > 0)
      result.parts[i] = x.parts[order[i]];
    else
      result.numbers[i] = x.numbers[order[i]];
  }
  return result;
}

Value container_sort_indices(const Value& x, bool rises) {
  std::vector<int64_t> result;
  for (const size_t i : container_order(x, rises)) result.push_back(static_cast<int64_t>(i) + 1);
  return integers(result);
}

// Between the two nearest in order, at p (n - 1).
Number container_quantile(const Value& x, double p) {
  const Numbers sorted = flat(container_sorted(x, true));
  const double place = p * (static_cast<double>(sorted.size()) - 1);
  const auto below = static_cast<size_t>(place);
  const Number next = sorted[std::min(below + 1, sorted.size() - 1)];
  return sorted[below] + (place - static_cast<double>(below)) * (next - sorted[below]);
}

Value container_softmax(const Value& x, bool is_log) {
  if (x.array > 0) {
    Value result = x;
    for (Value& part : result.parts) part = container_softmax(part, is_log);
    return result;
  }
  const Number whole = log_sum_exp(x.numbers);
  return map(x, [&](const Number& v) { return is_log ? v - whole : exp(v - whole); });
}

Value container_log_mix(V a) {
  const Numbers weights = flat(a[0]);
  Number sum = 0;
  for (const Value& densities : a[1].array > 0 && a[1].base != Base::real ? a[1].parts : Values{a[1]}) {
    Numbers terms = flat(densities);
    expect(terms.size() == weights.size(), "sizes of log_mix differ");
    for (size_t i = 0; i < terms.size(); ++i) terms[i] += log(weights[i]);
    sum += log_sum_exp(terms);
  }
  return real(sum);
}

Value container_cumulative(V a) {
  if (container_is_integers(a[0])) {
    std::vector<int64_t> n = flat_integers(a[0]);
    std::partial_sum(n.begin(), n.end(), n.begin());
    return integers(n);
  }
  Numbers x = flat(a[0]);
  for (size_t i = 1; i < x.size(); ++i) x[i] += x[i - 1];
  return like(a[0], x);
}

Value container_product(V a) {
  if (container_is_integers(a[0])) {
    int64_t result = 1;
    for (const int64_t n : flat_integers(a[0])) result *= n;
    return integer(result);
  }
  Number result = 1;
  for (const Number& v : flat(a[0])) result *= v;
  return real(result);
}

Value container_total(V a) {
  if (!container_is_integers(a[0])) return real(container_sum(flat(a[0])));
  const std::vector<int64_t> n = flat_integers(a[0]);
  return integer(std::accumulate(n.begin(), n.end(), int64_t{0}));
}

Number container_squared_distance(V a) {
  if (a[0].is_scalar()) return square(a[0].number() - a[1].number());
  const Numbers x = flat(a[0]), y = flat(a[1]);
  expect(x.size() == y.size(), "sizes of a distance differ");
  Number sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += square(x[i] - y[i]);
  return sum;
}

Value container_rank(V a) {
  const Numbers x = flat(a[0]);
  const Number at = x.at(static_cast<size_t>(a[1].whole() - 1));
  return integer(std::count_if(x.begin(), x.end(), [&](const Number& v) { return v < at; }));
}

}  // namespace

const BuiltinTable& container_functions() {
  static const BuiltinTable table{
      {"sum", container_total},
      {"prod", container_product},
      {"mean", [](V a) { return real(container_mean(flat(a[0]))); }},
      {"variance", [](V a) { return real(container_variance(flat(a[0]))); }},
      {"sd", [](V a) { return real(sqrt(container_variance(flat(a[0])))); }},
      {"min", [](V a) { return container_extreme(a[0], false); }},
      {"max", [](V a) { return container_extreme(a[0], true); }},
      {"log_sum_exp", [](V a) { return real(log_sum_exp(flat(a[0]))); }},
      {"dot_product", [](V a) { return real(container_dot(flat(a[0]), flat(a[1]))); }},
      {"dot_self", [](V a) { return real(container_dot(flat(a[0]), flat(a[0]))); }},
      {"norm1",
       [](V a) { return real(container_sum(flat(map(a[0], [](const Number& x) { return abs(x); })))); }},
      {"norm2", [](V a) { return real(sqrt(container_dot(flat(a[0]), flat(a[0])))); }},
      {"distance", [](V a) { return real(sqrt(container_squared_distance(a))); }},
      {"squared_distance", [](V a) { return real(container_squared_distance(a)); }},
      {"columns_dot_product", [](V a) { return container_lines(a, false); }},
      {"columns_dot_self", [](V a) { return container_lines(a, false); }},
      {"rows_dot_product", [](V a) { return container_lines(a, true); }},
      {"rows_dot_self", [](V a) { return container_lines(a, true); }},
      {"cumulative_sum", container_cumulative},
      {"softmax", [](V a) { return container_softmax(a[0], false); }},
      {"log_softmax", [](V a) { return container_softmax(a[0], true); }},
      {"log_mix", container_log_mix},
      {"sort_asc", [](V a) { return container_sorted(a[0], true); }},
      {"sort_desc", [](V a) { return container_sorted(a[0], false); }},
      {"sort_indices_asc", [](V a) { return container_sort_indices(a[0], true); }},
      {"sort_indices_desc", [](V a) { return container_sort_indices(a[0], false); }},
      {"rank", container_rank},
      {"quantile",
       [](V a) {
         if (a[1].is_scalar()) return real(container_quantile(a[0], a[1].number().value));
         Numbers result;
         for (const Number& p : flat(a[1])) result.push_back(container_quantile(a[0], p.value));
         return reals(result);
       }},
      {"size", [](V a) { return integer(a[0].is_scalar() ? 1 : a[0].count()); }},
      {"num_elements", [](V a) { return integer(static_cast<int64_t>(flat(a[0]).size())); }},
      {"rows", [](V a) { return integer(a[0].rows); }},
      {"cols", [](V a) { return integer(a[0].columns); }},
      {"dims", [](V a) { return integers(dims(a[0])); }},
  };
  return table;
}

}  // namespace adit::stan::reference
