#include <fmt/format.h>

#include <adit/sample.hpp>

#include "graph/row.hpp"

namespace adit {

namespace {

struct Family {
  std::string_view name;
  Distribution (*make)();
};

constexpr Family families[] = {
    {"normal", [] { return normal(0, 1); }},
    {"exponential", [] { return exponential(2); }},
    {"student_t", [] { return student_t(5, 0, 1); }},
    {"cauchy", [] { return cauchy(0, 1); }},
    {"half_normal", [] { return half_normal(1); }},
    {"weibull", [] { return weibull(2, 1.5); }},
    {"beta", [] { return beta(2, 5); }},
    {"gamma", [] { return gamma(3, 2); }},
    {"lognormal", [] { return lognormal(0, 1); }},
};

}  // namespace

Model family_model(const std::string& family, int64_t d) {
  if (d < 1) graph::fail("family_model", "d", fmt::format("expected at least 1, got {}", d));
  std::string names;
  for (const Family& one : families) {
    names += (names.empty() ? "" : ", ") + std::string(one.name);
    if (one.name != family) continue;
    Model model(family);
    model.sample("x", one.make(), {d});
    return model;
  }
  throw Error(ErrorKind::not_found,
              fmt::format("[family_model] family: expected one of {}, got \"{}\"", names, family));
}

}  // namespace adit
