// The sampler's kernels compute a model's log density and gradient as the tensor engine does, for every shape
// that a density takes: places by data, products, factorisations, long and short axes; a chain in a lane and
// on a team.
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "density/square_sums.hpp"
#include "density_cases.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

Model groups(int64_t count, int64_t observations) {
  Model m("groups");
  const Tensor scale = m.sample("scale", half_normal(0.7));
  const Tensor effect = m.sample("effect", normal(0.3, scale), {count});
  const Tensor ids = m.data("ids", tensor(places(observations, count)));
  m.observe("y", normal(take(effect, ids), 1.3), tensor(normals(observations, 1)));
  return m;
}

Model grid() {  // places along the second axis of a matrix of variables
  Model m("grid");
  const Tensor x = m.sample("x", normal(0, 2), {3, 4});
  m.observe("y", normal(take(x, tensor(std::vector<int64_t>{3, 0, 0, 2, 1}), 1), 0.8),
            tensor(normals(15, 2), {3, 5}));
  return m;
}

Model rows_of_groups() {  // a whole row at each place
  Model m("rows_of_groups");
  const Tensor s = m.sample("s", exponential(2));
  const Tensor x = m.sample("x", normal(0, 2), {40, 3});
  m.observe("y", normal(take(x, tensor(places(90, 40)), 0), s), tensor(normals(270, 8), {90, 3}));
  return m;
}

Model nested_groups() {  // what is added up at places is read at places, and by others too
  Model m("nested_groups");
  const Tensor scale = m.sample("scale", half_normal(0.7)), s = m.sample("s", exponential(2));
  const Tensor region = m.sample("region", normal(0.3, 1), {36});
  const Tensor z = m.sample("z", normal(0, 1), {45});
  const Tensor county = take(region, tensor(places(45, 36))) + scale * z;
  m.observe("y", normal(take(county, tensor(places(150, 45))), s), tensor(normals(150, 10)));
  return m;
}

// Three indices: of few targets, of so many rows that lanes keep sums of their own, and of more targets than
// a team has lanes; the last ones are unbalanced, and some have no row. Short tables are read at places.
Model crossed_groups(int64_t rows) {
  Model m("crossed_groups");
  const Tensor s = m.sample("s", exponential(2)), spread = m.sample("spread", half_normal(1));
  const Tensor few = m.sample("few", normal(0, 1), {5}), some = m.sample("some", normal(0, 1), {19});
  const Tensor many = m.sample("many", normal(0, 1), {300});
  std::vector<int64_t> uneven = places(rows, 290);
  for (size_t i = 0; i < uneven.size(); i += 3) uneven[i] = 7;
  const Tensor level = take(few, tensor(places(rows, 5))) +
                       take(exp(spread * some), tensor(places(rows, 19))) +
                       take(spread * many, tensor(uneven));
  m.observe("y", student_t(4, level, s), tensor(normals(rows, 12)));
  return m;
}

// A matrix whose diagonal is added to, and which its product reads across: it is not to be overwritten by
// that.
Model base_of_updates() {
  Model m("base_of_updates");
  const int64_t n = 36;
  const Tensor a = m.sample("a", normal(0, 1), {n}), s = m.sample("s", exponential(2));
  const Tensor x = m.data("x", tensor(normals(n * n, 21), {n, n})),
               w = m.data("w", tensor(normals(n * n, 22), {n, n}));
  std::vector<int64_t> diagonal;
  for (int64_t i = 0; i < n; ++i) diagonal.insert(diagonal.end(), {i, i});
  const Tensor kernel = dot(x * a, transpose(x, {1, 0})) * 0.1;
  const Tensor more = indexed_add(kernel, tensor(diagonal, {n, 2}), exp(0.3 * a));
  m.observe("y", normal(sum(tanh(0.05 * dot(more, w)), {1}), s), tensor(normals(n, 23)));
  return m;
}

// The trace of a product reads a solution across its rows while what is made of it lies in its place.
Model turned_trace() {
  Model m("turned_trace");
  const int64_t n = 33;
  const Tensor a = m.sample("a", normal(0, 0.3), {n}), c = m.sample("c", normal(1, 0.2));
  const Tensor x = m.data("x", tensor(normals(n * n, 24), {n, n}));
  const Tensor base = dot(x, transpose(x, {1, 0})) * 0.05 + 3.0 * as_type(eye(n), DType::f64);
  const Tensor factor = cholesky(base + reshape(square(a), {n, 1}) * as_type(eye(n), DType::f64));
  const Tensor first = triangular_solve(factor, x * a);
  m.add_log_density("trace", 0.01 * dot(x, {0, 1}, {}, first, {1, 0}, {}));
  m.add_log_density("second", -0.01 * sum(square(triangular_solve(factor, c * first))));
  return m;
}

// Covariances that depend on parameters, and their factors: times a vector, in a system, and all of their
// entries; several of them at once, by fewer and by more than there are rows.
Model covariances(int64_t n, int64_t count) {
  Model m("covariances");
  const Tensor length = m.sample("length", exponential(1)), scale = m.sample("scale", exponential(1));
  const Tensor z = m.sample("z", normal(0, 1), {n}), a = m.sample("a", normal(0, 0.3), {count});
  const Tensor at = m.data("at", tensor(normals(n, 51)));
  const Tensor distance = reshape(at, {n, 1}) - at, unit = as_type(eye(n), DType::f64);
  const Tensor kernel = square(scale) * exp(-0.5 * square(distance / length)) + 0.5 * unit;
  const Tensor factor = cholesky(kernel);
  m.observe("y", normal(dot(factor, z), scale), tensor(normals(n, 52)));
  m.add_log_density("whole", 0.01 * sum(tanh(factor) * m.data("w", tensor(normals(n * n, 53), {n, n}))));
  m.add_log_density("system", -0.1 * sum(square(triangular_solve(factor, reshape(z, {n, 1})))));
  const Tensor many = reshape(exp(a), {count, 1, 1}) * kernel + unit;
  m.add_log_density("many", -0.01 * sum(square(cholesky(many))));
  m.add_log_density("trace", -0.01 * sum(kernel * exp(0.1 * factor)));
  return m;
}

Model regression(int64_t rows, int64_t columns) {
  Model m("regression");
  const Tensor b = m.sample("b", normal(0, 1.5), {columns});
  const Tensor s = m.sample("s", exponential(2));
  const Tensor x = m.data("x", tensor(normals(rows * columns, 3), {rows, columns}));
  m.observe("y", student_t(5, dot(x, b), s), tensor(normals(rows, 4)));
  return m;
}

// A sum of squares over all rows, which becomes one over as many as there are columns.
Model squares(int64_t rows, int64_t columns) {
  Model m("squares");
  const Tensor b = m.sample("b", normal(0, 1.5), {columns});
  const Tensor s = m.sample("s", exponential(2));
  const Tensor x = m.data("x", tensor(normals(rows * columns, 3), {rows, columns}));
  m.observe("y", normal(dot(x, b), s), tensor(normals(rows, 4)));
  return m;
}

// All that a linear form may be made of: numbers and lists of parameters, data that weigh rows, a factor of
// parameters around a part, axes around the rows, an offset; and columns that are almost the same, or zero.
Model linear_forms() {
  Model m("linear_forms");
  const int64_t rows = 83;
  const Tensor a = m.sample("a", normal(0, 1)), s = m.sample("s", exponential(2));
  const Tensor b = m.sample("b", normal(0, 1), {4}), c = m.sample("c", normal(0, 1), {5});
  const auto list = [&](uint64_t seed) {
    return m.data(fmt::format("x{}", seed), tensor(normals(rows, seed)));
  };
  const auto at = [&](int64_t i) { return slice(b, {i}, {1}); };
  const Tensor x = list(41), w = exp(0.2 * list(42));
  const Tensor near = x + 1e-9 * list(43), none = 0.0 * x;
  const Tensor matrix = m.data("matrix", tensor(normals(rows * 5, 44), {5, rows}));
  const Tensor level = a + at(0) * x - near * at(1) + s * (at(2) * list(45) / w - 2.0) + none * at(3);
  const Tensor product = dot(transpose(matrix, {1, 0}), c) + w * dot(c, matrix) * 0.1;
  m.observe("y", normal(level - product, w * s), tensor(normals(rows, 46)));
  const Tensor wide = reshape(level + at(0), {1, rows, 1});
  m.add_log_density("turned", -0.3 * sum(square((wide - 1.5) / s)));
  m.add_log_density("own", -dot(level, level));
  m.add_log_density("few", -sum(square(b - 0.4)));
  return m;
}

// Residuals that are linear in few numbers, in every way in which they may be written.
Model weighted_line(int64_t rows) {
  Model m("weighted_line");
  const Tensor a = m.sample("a", normal(0, 1.5)), b = m.sample("b", normal(0, 1), {4});
  const Tensor s = m.sample("s", exponential(2));
  const Tensor x = m.data("x", tensor(normals(rows * 4, 3), {rows, 4})),
               t = m.data("t", tensor(normals(rows, 5))), w = m.data("w", exp(tensor(normals(rows, 6))));
  const Tensor mean =
      a * 2 - t * (a * s) + dot(x, b) / s - dot(transpose(x, {1, 0}), {0}, {}, b * a, {0}, {});
  m.observe("y", normal(reshape(reshape(mean, {rows, 1}), {rows}), s * 3), tensor(normals(rows, 4)));
  m.add_log_density("weighted", -0.3 * sum(square((t - a - dot(x, b)) * w / s)));
  m.add_log_density("divided", -sum(square((-(a + t) * s) / w)) / rows);
  return m;
}

// A residual that costs something and more columns than a CPU sums in one loop.
Model logistic(int64_t rows, int64_t columns) {
  Model m("logistic");
  const Tensor a = m.sample("a", normal(0, 3));
  const Tensor b = m.sample("b", normal(0, 1), {columns});
  const Tensor x = m.data("x", tensor(normals(rows * columns, 10), {rows, columns}));
  m.observe("y", bernoulli_logit(a + dot(x, b)), tensor(places(rows, 2)));
  return m;
}

// The same sums without a product: columns of a matrix that is never in memory.
Model columns(int64_t rows, int64_t count) {
  Model m("columns");
  const Tensor b = m.sample("b", normal(0, 1), {count});
  const Tensor x = m.data("x", tensor(normals(rows * count, 11), {rows, count}));
  m.observe("y", poisson_log(sum(x * b, {1})), tensor(places(rows, 5)));
  m.add_log_density("bend", sum(log1p(square(sum(x * tanh(b), {0})))));
  return m;
}

Model correlated() {
  Model m("correlated");
  const Tensor factor = m.sample("factor", lkj_corr_cholesky(3, 2.0));
  const Tensor mean = m.sample("mean", normal(0, 3), {3});
  m.observe("y", multi_normal_cholesky(mean, factor), tensor(normals(18, 5), {6, 3}));
  return m;
}

Model covariance() {
  Model m("covariance");
  const Tensor c = m.parameter("c", constraint::cov_matrix(), {3, 3});
  m.add_log_density("c_prior", -0.1 * sum(square(c)));
  m.observe("y", multi_normal(zeros({3}, DType::f64), c), tensor(normals(12, 6), {4, 3}));
  return m;
}

Model classes() {
  Model m("classes");
  const Tensor p = m.sample("p", dirichlet(tensor({1.5, 2.0, 0.8, 3.0})));
  const Tensor cuts = m.parameter("cuts", constraint::ordered(), {3});
  m.add_log_density("cuts_prior", -0.5 * sum(square(cuts)));
  m.observe("y", categorical(p), tensor(places(50, 4)));
  return m;
}

Model two_modes() {
  Model m("two_modes");
  const Tensor mu = m.sample("mu", normal(0, 2), {2});
  const Tensor w = m.sample("w", beta(2, 3));
  const auto at = [&](int64_t i) { return reshape(slice(mu, {i}, {1}), {}); };
  m.observe("y", mixture(stack({w, 1 - w}), {normal(at(0), 1), normal(at(1), 0.5)}), tensor(normals(70, 7)));
  return m;
}

Model walk() {
  Model m("walk");
  const Tensor s = m.sample("s", half_cauchy(1));
  const Tensor x = m.sample("x", gaussian_random_walk(s, 45));
  m.observe("y", poisson_log(x), tensor(places(45, 6)));
  return m;
}

// A kernel over a series, and windows of what comes of it.
Model convolved() {
  Model m("convolved");
  const Tensor s = m.sample("s", half_normal(1)), w = m.sample("w", normal(0, 1), {2, 1, 5});
  const Tensor x = m.data("x", tensor(normals(60, 31), {1, 1, 60}));
  ConvOptions options;
  options.same = true;
  const Tensor level = conv(x, w, options);
  m.observe("y", normal(level, s), tensor(normals(120, 32), {1, 2, 60}));
  m.add_log_density("peaks", -0.1 * sum(square(window_max(level, {1, 1, 4}))));
  m.add_log_density("means", -0.2 * sum(square(average_pool(level, {3}))));
  return m;
}

// Logarithms of 1 + exp(-|x|), added and taken away, by one and by two in a total, in passes of any length.
Model bends(int64_t rows) {
  Model m("bends");
  const Tensor a = m.sample("a", normal(0, 1)), b = m.sample("b", normal(0, 3)),
               s = m.sample("s", exponential(1));
  const Tensor x = m.data("x", tensor(normals(rows, 61))), w = m.data("w", tensor(normals(rows, 62)));
  const Tensor level = a + b * x;
  m.add_log_density("taken", sum(log_sigmoid(level) - square(w - s)));
  m.add_log_density("added", -sum(-softplus(level * w) - (a * x - softplus(-(s * x) * w))));
  m.add_log_density("logs", sum(log(square(level) + 1e-3) - log1p(s * square(w)) - log(s * exp(50.0 * x))));
  m.add_log_density("large", -1e9 * sum(softplus(level - 30.0)));
  m.add_log_density("weighed", -sum(square(w) * softplus(level)));
  m.add_log_density("twice", 0.1 * sum(softplus(w * s) - square(softplus(w * s))));
  return m;
}

// Functions of groups, some of which nobody is in, and which have no slope that is a number.
Model empty_groups(int64_t rows, bool all) {
  Model m("empty groups");
  const Tensor a = m.sample("a", normal(0, 1), {9}), p = m.sample("p", normal(0, 1));
  const Tensor table = m.sample("table", normal(0, 1), {5, 2});
  const Tensor root = tensor({0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0});
  std::vector<int32_t> group, halves, pairs;
  for (int64_t i = 0; i < rows; ++i) {
    constexpr int32_t used[] = {1, 3, 4, 6, 8};
    group.push_back(all ? static_cast<int32_t>(i % 9) : used[i * 7 % 5]);
    halves.push_back(group.back() / 2);
    pairs.push_back(static_cast<int32_t>(i * 3 % 4)), pairs.push_back(static_cast<int32_t>(i % 2));
  }
  const Tensor y = m.data("y", tensor(normals(rows, 91))), places = tensor(group);
  const Tensor scale = all ? exp(a) : exp(a) * root;  // 0 where nobody is
  m.add_log_density("roots", sum(tanh(y * sqrt(take(scale, places) * exp(p)))));
  m.add_log_density("logs", -0.1 * sum(square(y - log(take(scale + (all ? 1.0 : 0.0), places)))));
  m.add_log_density("pairs", sum(tanh(y * exp(gather(table, tensor(pairs, {rows, 2}))))));
  m.add_log_density("rows", sum(tanh(reshape(y, {rows, 1}) * exp(take(table, tensor(halves), 0)))));
  return m;
}

const DensityCase cases[] = {{"few_groups", [] { return groups(3, 60); }},
                             {"many_groups", [] { return groups(50, 120); }},
                             {"few_places", [] { return groups(3, 5); }},
                             {"grid", grid},
                             {"rows_of_groups", rows_of_groups},
                             {"nested_groups", nested_groups},
                             {"narrow_regression", [] { return regression(90, 7); }},
                             {"wide_regression", [] { return regression(40, 60); }},
                             {"correlated", correlated},
                             {"covariance", covariance},
                             {"classes", classes},
                             {"two_modes", two_modes},
                             {"walk", walk},
                             {"logistic", [] { return logistic(133, 25); }},
                             {"wider_regression", [] { return regression(71, 43); }},
                             {"columns", [] { return columns(90, 15); }},
                             {"tiled_logistic", [] { return logistic(300, 40); }},
                             {"tiled_totals", [] { return logistic(1003, 24); }},
                             {"tiled_regression", [] { return regression(61, 100); }},
                             {"long_groups", [] { return crossed_groups(6000); }},
                             {"short_groups", [] { return crossed_groups(700); }},
                             {"weighted_line", [] { return weighted_line(57); }},
                             {"convolved", convolved},
                             {"base_of_updates", base_of_updates},
                             {"turned_trace", turned_trace},
                             {"squares", [] { return squares(1003, 24); }},
                             {"few_squares", [] { return squares(30, 15); }},
                             {"too_few_squares", [] { return squares(30, 16); }},
                             {"groups_in_use", [] { return empty_groups(64, true); }},
                             {"groups_not_in_use", [] { return empty_groups(64, false); }},
                             {"few_bends", [] { return bends(17); }},
                             {"bends", [] { return bends(480); }},
                             {"bends_in_two", [] { return bends(962); }},
                             {"bends_in_blocks", [] { return bends(4999); }},
                             {"linear_forms", linear_forms}};

class Density : public testing::TestWithParam<std::string> {};

void compare(const DensityCase& one, const std::string& id, Placement placement, DType type,
             double tolerance) {
  compare_density(one.make(), one.name, id, placement, type, tolerance);
}

bool is_long(const DensityCase& one) {
  const std::string_view name = one.name;
  return name == "base_of_updates" || name == "turned_trace";
}

// Which of a test's densities are tried: one in so many for each commit.
uint64_t one_in(const std::string& id) { return device(id).info().kind == DeviceKind::software ? 8 : 3; }

TEST_P(Density, InALane) {
  // A software device ends loops that are as long as one lane's over these matrices.
  uint64_t number = 0;
  for (const DensityCase& one : cases)
    if (is_in_share(number++, one_in(GetParam())) && (GetParam() == "cpu" || !is_long(one)))
      compare(one, GetParam(), Placement::lane, DType::f64, 1e-10);
}
TEST_P(Density, OnATeam) {
  uint64_t number = 1;
  for (const DensityCase& one : cases)
    if (is_in_share(number++, one_in(GetParam())))
      compare(one, GetParam(), Placement::team, DType::f64, 1e-10);
}
TEST_P(Density, InSinglePrecision) {
  const std::set<std::string_view> names = {"few_groups",        "many_groups", "nested_groups",
                                            "narrow_regression", "two_modes",   "logistic",
                                            "tiled_regression",  "squares"};
  uint64_t number = 0;
  for (const DensityCase& one : cases)
    for (const Placement placement : {Placement::lane, Placement::team})
      if (names.contains(one.name) && is_in_share(number++, 3))
        compare(one, GetParam(), placement, DType::f32, 2e-4);
}

// Blocks of whole sizes and others, rows that are loops of lanes and those that are not.
TEST_P(Density, FactorsOfAnySize) {
  const bool on_cpu = GetParam() == "cpu";
  uint64_t number = 0;
  // What a team of a software GPU keeps in shared memory is little.
  for (const int64_t n : on_cpu ? std::vector<int64_t>{2, 5, 16, 19, 35} : std::vector<int64_t>{5, 11})
    for (const Placement placement : {Placement::lane, Placement::team})
      if ((on_cpu || placement == Placement::team) && is_in_share(number++, on_cpu ? 3 : 2))
        compare_density(covariances(n, n < 5 ? 6 : 2), fmt::format("covariances {}", n), GetParam(),
                        placement, DType::f64, 1e-10);
}

// A product of factors tells of a NaN among them, and of what is infinite.
TEST(LogProducts, KeepNanAndInfinities) {
  for (const int64_t rows : {30, 3000})
    for (const double odd : std::vector<double>{std::nan(""), -INFINITY, INFINITY})
      for (const Placement placement : {Placement::lane, Placement::team}) {
        Model m("odd");
        const Tensor a = m.sample("a", normal(0, 1));
        std::vector<double> x = normals(rows, 63);
        x[static_cast<size_t>(rows / 3)] = odd;
        m.add_log_density("odd", sum(log_sigmoid(a + m.data("x", tensor(x)))));
        if (!(odd < 0)) m.add_log_density("log", sum(log(m.data("u", exp(tensor(x))) + exp(a))));
        const LeapfrogKernel kernel(m, {.type = DType::f64, .device = "cpu", .placement = placement});
        const Tensor q = tensor(std::vector<double>{0.1});
        const double value = kernel(q, q, 0.0, 1).log_densities.to_vector<double>()[0];
        const double want = m.log_density(q).item<double>();
        EXPECT_EQ(std::isnan(value), std::isnan(want)) << rows << " " << odd;
        const bool agree = std::isnan(want) || value == want;
        EXPECT_TRUE(agree || std::abs(value - want) < 1e-10 * std::abs(want)) << rows << " " << odd;
      }
}

// What is left of the rows after whole blocks is no longer than a block.
TEST(LogProducts, StayInRange) {
  for (const int64_t rows : {959, 961, 7679, 60 * 960 - 1, 200 * 960 - 1}) {
    Model m("near two");
    const Tensor a = m.sample("a", normal(0, 1));
    m.add_log_density("near_two", sum(log_sigmoid(a * m.data("x", tensor(normals(rows, 64))) * 1e-3)));
    for (const Placement placement : {Placement::lane, Placement::team}) {
      const LeapfrogKernel kernel(m, {.type = DType::f64, .device = "cpu", .placement = placement});
      const Tensor q = tensor(std::vector<double>{0.1});
      const double want = m.log_density(q).item<double>();
      EXPECT_NEAR(kernel(q, q, 0.0, 1).log_densities.to_vector<double>()[0], want, 1e-12 * std::abs(want));
    }
  }
}

// A NaN of the data is a NaN of the density, wherever it stands, and columns may be as long as numbers go.
TEST(SquareFactors, KeepNanAndLengths) {
  const double nan_number = std::nan("");
  for (const std::vector<double>& column :
       {std::vector<double>{nan_number, 0, 0, 0}, {0, 0, 0, nan_number}, {1, 2, nan_number, 3}}) {
    sampling::SquareSum sum{4, 1, {{graph::placeholder(DType::f64, {1}), 1, {{tensor(column), 1.0}}}}};
    EXPECT_TRUE(std::isnan(sampling::factors_of(sum, std::vector{tensor(column)})[0].to_vector<double>()[0]));
  }
  for (const double unit : {1e-170, 1.0, 1e160}) {
    const Tensor column = tensor(std::vector<double>{3 * unit, 0, 4 * unit, 0});
    sampling::SquareSum sum{4, 1, {{graph::placeholder(DType::f64, {1}), 1, {{column, 1.0}}}}};
    const double length = sampling::factors_of(sum, std::vector{column})[0].to_vector<double>()[0];
    EXPECT_NEAR(std::abs(length) / unit, 5, 1e-14);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Density, testing::ValuesIn(device_ids()), test_name);

}  // namespace
}  // namespace adit::test
