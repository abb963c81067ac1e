#include "math_functions.hpp"

#include <algorithm>
#include <cmath>

namespace adit::test {
namespace {

using kernel::Value;

using Mpfr1 = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using Mpfr2 = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

template <Mpfr1 function>
void one(Real& result, const Real& x, const Real&) {
  function(result, x, MPFR_RNDN);
}

template <Mpfr2 function>
void two(Real& result, const Real& x, const Real& y) {
  function(result, x, y, MPFR_RNDN);
}

template <Value (*function)(Value)>
Value unary(Value x, Value) {
  return function(x);
}

template <Value (*function)(Value)>
Value loosely(Value x, Value) {
  const kernel::Loose loose(x.builder());
  return function(x);
}

// The doubles nearest to multiples of pi / 2, and known worst cases of argument reduction in f32 and f64.
std::vector<double> quarter_turns() {
  std::vector<double> points{std::ldexp(16367173, 72),
                             std::ldexp(6381956970095103.0, 797),
                             std::ldexp(6411027962775774.0, -48),
                             0x1p23,
                             0x1p24,
                             0x1.921fb4p22,
                             1e5,
                             1e16,
                             1e22};
  for (int k = 1; k < 40; ++k) points.push_back(k * M_PI_2);
  for (double k = 100; k < 1e12; k *= 7) points.push_back(std::floor(k) * M_PI_2);
  for (int k = 1; k < 8; k += 2) points.push_back(k * M_PI_4);
  return points;
}

// On the negative axis both have a zero between any two poles; their reflections subtract these terms.
double lgamma_term(double x) { return x < -0.3 ? std::max(0.5, std::abs(std::lgamma(-x))) : 0; }
double digamma_term(double x) { return x < 0 ? std::max(0.5, std::log1p(-x)) : 0; }

std::vector<double> half_integers(double low, double high) {
  std::vector<double> points;
  for (double x = low; x <= high; x += 0.5) points.push_back(x);
  return points;
}

std::vector<double> joined(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void add_exponentials(std::vector<MathFunction>& list) {
  auto add = [&](const char* name, auto build, Exact exact, double low, double high,
                 std::vector<double> points) {
    list.push_back({name, "exponentials", Second::none, build, exact, 2, 2, low, high, std::move(points)});
  };
  std::vector<double> ends{88.7228, 88.0, -87.3365, -103.97, 709.78, -708.4, -745.1};
  std::vector<double> powers{127, 128, -126, -149, -150, 1023, 1024, -1022, -1074, -1075, 0.5, 1.5, 2.5};
  add("exp", unary<kernel::exp>, one<mpfr_exp>, -110, 92,
      joined(ends, {0x1p-30, 0.5 * M_LN2, 7.5417527749959590e-10}));
  add("exp2", unary<kernel::exp2>, one<mpfr_exp2>, -150, 130, powers);
  add("expm1", unary<kernel::expm1>, one<mpfr_expm1>, -20, 20,
      joined(ends, {-17.33, -37.4, 0.5 * M_LN2, 0x1p-25}));
  std::vector<double> ones{1, 0.5, 2, M_SQRT2, M_SQRT1_2, 4, 8, 10, 100, 1000, M_E};
  add("log", unary<kernel::log>, one<mpfr_log>, 0, 3, ones);
  add("log2", unary<kernel::log2>, one<mpfr_log2>, 0, 3, ones);
  add("log10", unary<kernel::log10>, one<mpfr_log10>, 0, 3, ones);
  add("log1p", unary<kernel::log1p>, one<mpfr_log1p>, -1, 3,
      {-1, M_SQRT2 - 1, M_SQRT1_2 - 1, 1, 0x1p-25, 0x1p-53, -0.5});
}

void add_powers(std::vector<MathFunction>& list) {
  auto add = [&](const char* name, Second second, auto build, Exact exact, double bound, double low,
                 double high) {
    list.push_back(
        {name, "powers", second, build, exact, bound, bound, low, high, {0.25, 0.5, 1, 2, 4, 8, 27, 1e10}});
  };
  add("sqrt", Second::none, unary<kernel::sqrt>, one<mpfr_sqrt>, 1, 0, 4);
  add("rsqrt", Second::none, unary<kernel::rsqrt>, exact::rsqrt, 2, 0, 4);
  add("cbrt", Second::none, unary<kernel::cbrt>, one<mpfr_cbrt>, 2, -8, 8);
  add("pow", Second::power, kernel::pow, two<mpfr_pow>, 2, 0, 3);
  add("hypot", Second::any, kernel::hypot, two<mpfr_hypot>, 2, -3, 3);
  add(
      "pow_integer", Second::integer,
      [](Value x, Value y) { return kernel::pow_integer(x, kernel::convert(y, kernel::Type::i32)); },
      [](Real& result, const Real& x, const Real& y) {
        mpfr_pow_si(result, x, mpfr_get_si(y, MPFR_RNDN), MPFR_RNDN);
      },
      2, -3, 3);
  add(
      "pow_integer_7", Second::none, [](Value x, Value) { return kernel::pow_integer(x, 7); },
      [](Real& result, const Real& x, const Real&) { mpfr_pow_si(result, x, 7, MPFR_RNDN); }, 2, -3, 3);
  add(
      "pow_integer_minus_3", Second::none, [](Value x, Value) { return kernel::pow_integer(x, -3); },
      [](Real& result, const Real& x, const Real&) { mpfr_pow_si(result, x, -3, MPFR_RNDN); }, 2, -3, 3);
}

void add_trigonometric(std::vector<MathFunction>& list) {
  auto add = [&](const char* name, Second second, auto build, Exact exact, double range,
                 std::vector<double> points) {
    list.push_back({name, "trigonometric", second, build, exact, 2, 2, -range, range, std::move(points)});
  };
  add("sin", Second::none, unary<kernel::sin>, one<mpfr_sin>, 100, quarter_turns());
  add("cos", Second::none, unary<kernel::cos>, one<mpfr_cos>, 100, quarter_turns());
  add("tan", Second::none, unary<kernel::tan>, one<mpfr_tan>, 100, quarter_turns());
  add("asin", Second::none, unary<kernel::asin>, one<mpfr_asin>, 1, {0.5, 1, -1, M_SQRT1_2});
  add("acos", Second::none, unary<kernel::acos>, one<mpfr_acos>, 1, {0.5, 1, -1, M_SQRT1_2});
  add("atan", Second::none, unary<kernel::atan>, one<mpfr_atan>, 4, {0.4375, 1, -1, 2.4375, 1e8});
  add("atan2", Second::any, kernel::atan2, two<mpfr_atan2>, 3, {1, 2, 1e10});
}

void add_hyperbolic(std::vector<MathFunction>& list) {
  auto add = [&](const char* name, auto build, Exact exact, double low, double high,
                 std::vector<double> points) {
    list.push_back({name, "hyperbolic", Second::none, build, exact, 2, 2, low, high, std::move(points)});
  };
  std::vector<double> ends{89.4159, 88.72, 710.4758, 709.78, 0.347, 0.55, 1, 9.01, 20, 22};
  add("sinh", unary<kernel::sinh>, one<mpfr_sinh>, -10, 10, ends);
  add("cosh", unary<kernel::cosh>, one<mpfr_cosh>, -10, 10, ends);
  add("tanh", unary<kernel::tanh>, one<mpfr_tanh>, -10, 10, ends);
  add("asinh", unary<kernel::asinh>, one<mpfr_asinh>, -10, 10, {0.5, 1, 0x1p12, 0x1p28, 0x1p64});
  add("acosh", unary<kernel::acosh>, one<mpfr_acosh>, 1, 10, {1, 1.5, 2, 0x1p12, 0x1p28, 0x1p64});
  add("atanh", unary<kernel::atanh>, one<mpfr_atanh>, -1, 1, {0.5, 1, -1, 0.3});
}

void add_special(std::vector<MathFunction>& list) {
  auto add = [&](const char* name, auto build, Exact exact, double bound, double low, double high,
                 std::vector<double> points, double (*term)(double) = nullptr) {
    list.push_back(
        {name, "special", Second::none, build, exact, bound, bound, low, high, std::move(points), term});
  };
  add("erf", unary<kernel::erf>, one<mpfr_erf>, 3, -6, 6, {1, -1, 3.92, 5.92});
  add("erfc", unary<kernel::erfc>, one<mpfr_erfc>, 7, -6, 28, {1, -1, 2, 4, 9.19, 10.05, 26.54, 27.2});
  add("erf_inv", unary<kernel::erf_inv>, exact::erf_inv, 5, -1, 1,
      {1, -1, 0.5, 0.99663, 0.99903, 0.9999999437});
  std::vector<double> steps = half_integers(-12, 8);
  add("lgamma", unary<kernel::lgamma>, exact::lgamma, 7, -10, 12,
      joined(steps, {0.3125, 1.3125, 2.3125, 3.3125, 4.3125, -0.3125, -2.4570247382208006,
                     -2.7476826467274127, 4.085e36}),
      lgamma_term);
  add("digamma", unary<kernel::digamma>, exact::digamma, 8, -10, 12,
      joined(steps, {1.4616321449683622, -0.5040830082644554, -1.5734984731623906, -2.6107208684441447}),
      digamma_term);
  add("trigamma", unary<kernel::trigamma>, exact::trigamma, 8, -10, 12, steps);
  std::vector<double> ends{-88, -87.3, -103.9, -708.4, -745, 16.6, 36.7, 1};
  add("sigmoid", unary<kernel::sigmoid>, exact::sigmoid, 3, -110, 40, ends);
  add("softplus", unary<kernel::softplus>, exact::softplus, 3, -110, 40, ends);
  add("log_sigmoid", unary<kernel::log_sigmoid>, exact::log_sigmoid, 3, -40, 110, ends);
}

void add_rounding(std::vector<MathFunction>& list) {
  auto add = [&](const char* name, Second second, auto build, Exact exact, double bound) {
    std::vector<double> points =
        joined(half_integers(-4, 4), {0x1p22, 0x1p23, 0x1p24, 0x1p51, 0x1p52, 0x1p53, 0.1});
    points.push_back(std::nextafter(0.5, 0));
    list.push_back({name, "rounding", second, build, exact, bound, bound, -20, 20, std::move(points)});
  };
  add("divide", Second::any, kernel::divide, two<mpfr_div>, 1);
  add("fmod", Second::any, kernel::fmod, two<mpfr_fmod>, 0);
  add("remainder", Second::any, kernel::remainder, two<mpfr_remainder>, 0);
  add("floor_mod", Second::any, kernel::floor_mod, exact::floor_mod, 0.5);
  add("copysign", Second::any, kernel::copysign, two<mpfr_copysign>, 0);
  add("sign", Second::none, unary<kernel::sign>, exact::sign, 0);
  add(
      "round", Second::none, unary<kernel::round>,
      [](Real& r, const Real& x, const Real&) { mpfr_round(r, x); }, 0);
  add(
      "round_even", Second::none, unary<kernel::round_even>,
      [](Real& r, const Real& x, const Real&) { mpfr_roundeven(r, x); }, 0);
  add(
      "floor", Second::none, unary<kernel::floor>,
      [](Real& r, const Real& x, const Real&) { mpfr_floor(r, x); }, 0);
  add(
      "ceil", Second::none, unary<kernel::ceil>, [](Real& r, const Real& x, const Real&) { mpfr_ceil(r, x); },
      0);
  add(
      "trunc", Second::none, unary<kernel::trunc>,
      [](Real& r, const Real& x, const Real&) { mpfr_trunc(r, x); }, 0);
}

// Under a Loose they are as sharp as a sum with numbers near 1 shows.
double loose_lgamma_term(double x) { return std::max(2.0, lgamma_term(x)); }
double loose_digamma_term(double x) { return std::max(1.0, digamma_term(x)); }

// Of the functions that have them, the forms in kernels that are written under a Loose.
void add_loose(std::vector<MathFunction>& list) {
  const auto add = [&](const char* name, auto build, double (*term)(double) = nullptr) {
    const auto exact =
        std::find_if(list.begin(), list.end(), [&](const MathFunction& f) { return f.name == name; });
    MathFunction loose = *exact;
    loose.name += "_loose";
    loose.family = "loose";
    loose.build = build;
    loose.bound_f64 = 2 + exact->bound_f64;
    loose.is_loose = true;
    if (term) loose.term = term;
    list.push_back(std::move(loose));
  };
  add("exp", loosely<kernel::exp>);
  add("log", loosely<kernel::log>);
  add("sigmoid", loosely<kernel::sigmoid>);
  add("softplus", loosely<kernel::softplus>);
  add("log_sigmoid", loosely<kernel::log_sigmoid>);
  add("log1p", loosely<kernel::log1p>);
  add("expm1", loosely<kernel::expm1>);
  add("tanh", loosely<kernel::tanh>);
  add("erf", loosely<kernel::erf>);
  add("erfc", loosely<kernel::erfc>);
  add("lgamma", loosely<kernel::lgamma>, loose_lgamma_term);
  add("digamma", loosely<kernel::digamma>, loose_digamma_term);
  add("trigamma", loosely<kernel::trigamma>);
  add("sin", loosely<kernel::sin>);
}

}  // namespace

const std::vector<MathFunction>& math_functions() {
  static const std::vector<MathFunction> list = [] {
    std::vector<MathFunction> all;
    add_exponentials(all);
    add_powers(all);
    add_trigonometric(all);
    add_hyperbolic(all);
    add_special(all);
    add_rounding(all);
    add_loose(all);
    return all;
  }();
  return list;
}

}  // namespace adit::test
