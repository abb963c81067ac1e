// Data beside the declarations of a program.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include <adit/error.hpp>

#include "stan/data_checks.hpp"

namespace adit::stan {
namespace {

using Kind = Transform::Kind;

DataValue value_of(const std::string& json) { return data_from_json("{\"y\":" + json + "}", "d").at("y"); }

// Empty: nothing is wrong.
std::string complaint(const std::string& json, const Wanted& wanted) {
  try {
    check_data("y", value_of(json), wanted);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    return error.what();
  }
  return "";
}

Wanted number(Base base, Shape shape = {}) {
  return {array_of(scalar_type(base), shape.size()), shape, {}, {}, {}, {}};
}
Wanted vectors(Shape shape, Kind kind) {
  return {array_of(scalar_type(Base::vector), shape.size() - 1), shape, kind, {}, {}, {}};
}
Wanted matrices(Shape shape, Kind kind) {
  return {array_of(scalar_type(Base::matrix), shape.size() - 2), shape, kind, {}, {}, {}};
}

TEST(DataChecks, Shapes) {
  EXPECT_EQ(complaint("5", number(Base::real)), "");
  EXPECT_EQ(complaint("[1,2]", number(Base::real, {2})), "");
  EXPECT_EQ(complaint("[[1,2]]", matrices({1, 2}, Kind::none)), "");
  EXPECT_EQ(complaint("[[1,2,3],[4,5,6],[7,8,9],[1,2,3],[1,2,3]]", number(Base::real, {3, 5})),
            "[data] y: expected array of shape (3, 5), found (5, 3)");
  EXPECT_EQ(complaint("5", number(Base::real, {1})), "[data] y: expected array of shape (1), found a number");
  EXPECT_EQ(complaint("[5]", number(Base::real)), "[data] y: expected a number, found (1)");
  EXPECT_EQ(complaint("[1,2]", number(Base::real, {2, 1})),
            "[data] y: expected array of shape (2, 1), found (2)");
  EXPECT_EQ(complaint("[1,2]", number(Base::real, {3})), "[data] y: expected array of shape (3), found (2)");
}

TEST(DataChecks, ShapesWithoutElements) {
  EXPECT_EQ(complaint("[]", number(Base::integer, {0})), "");
  EXPECT_EQ(complaint("[]", number(Base::real, {0, 3})), "");
  EXPECT_EQ(complaint("[[],[]]", number(Base::real, {2, 0, 3})), "");
  EXPECT_EQ(complaint("[]", number(Base::real, {2})), "[data] y: expected array of shape (2), found (0)");
  EXPECT_EQ(complaint("[1]", number(Base::real, {0})), "[data] y: expected array of shape (0), found (1)");
  EXPECT_EQ(complaint("[]", number(Base::real)), "[data] y: expected a number, found (0)");
  EXPECT_EQ(complaint("[]", vectors({0}, Kind::ordered)), "");
  EXPECT_EQ(complaint("[]", vectors({0, 3}, Kind::simplex)), "");
  EXPECT_EQ(complaint("[]", matrices({0, 0}, Kind::cov_matrix)), "");
  EXPECT_EQ(complaint("[]", vectors({0}, Kind::simplex)),
            "[data] y: expected vectors of at least one element, found none");
}

TEST(DataChecks, Integers) {
  EXPECT_EQ(complaint("[1,-2]", number(Base::integer, {2})), "");
  EXPECT_EQ(complaint("[1,2,2.5]", number(Base::integer, {3})),
            "[data] y[3]: expected an integer, found 2.5");
  EXPECT_EQ(complaint("[[1,2],[3.5,4]]", number(Base::integer, {2, 2})),
            "[data] y[2, 1]: expected an integer, found 3.5");
  EXPECT_EQ(complaint("2.0", number(Base::integer)),
            "[data] y: expected an integer, found 2, which is written as a real number");
  EXPECT_EQ(complaint("3000000000", number(Base::integer)),
            "[data] y: expected an integer of 32 bits, found 3000000000");
  EXPECT_EQ(complaint("NaN", number(Base::integer)), "[data] y: expected an integer, found nan");
  EXPECT_EQ(complaint("3000000000", number(Base::real)), "");
  EXPECT_EQ(complaint("[NaN, \"-Inf\"]", number(Base::real, {2})), "");
}

TEST(DataChecks, Bounds) {
  Wanted wanted = number(Base::real, {3});
  wanted.transform = Kind::lower_upper;
  wanted.lower = {0};
  wanted.upper = {1, 2, 3};
  EXPECT_EQ(complaint("[0, 2, 3]", wanted), "");
  EXPECT_EQ(complaint("[0, -0.5, 3]", wanted),
            "[data] y[2]: expected at least 0, as its bound says, found -0.5");
  EXPECT_EQ(complaint("[0, 2.5, 3]", wanted),
            "[data] y[2]: expected at most 2, as its bound says, found 2.5");
  EXPECT_EQ(complaint("[0, 1, NaN]", wanted),
            "[data] y[3]: expected at least 0, as its bound says, found nan");
  wanted.upper = {1, 2};
  EXPECT_THROW(check_data("y", value_of("[0, 1, 1]"), wanted), Error);
  wanted.upper = {std::numeric_limits<double>::infinity()};
  EXPECT_EQ(complaint("[0, 1, Inf]", wanted), "");
}

TEST(DataChecks, Vectors) {
  EXPECT_EQ(complaint("[1, 2, 3]", vectors({3}, Kind::ordered)), "");
  EXPECT_EQ(complaint("[1, 3, 3]", vectors({3}, Kind::ordered)),
            "[data] y[3]: expected more than 3, the element before it, found 3");
  EXPECT_EQ(complaint("[[1, 2], [2, 1]]", vectors({2, 2}, Kind::ordered)),
            "[data] y[2, 2]: expected more than 2, the element before it, found 1");
  EXPECT_NE(complaint("[NaN]", vectors({1}, Kind::ordered)), "");
  EXPECT_EQ(complaint("[0, 2]", vectors({2}, Kind::positive_ordered)), "");
  EXPECT_EQ(complaint("[-1, 2]", vectors({2}, Kind::positive_ordered)),
            "[data] y[1]: expected at least 0, found -1");
  EXPECT_EQ(complaint("[0.5, 0.5]", vectors({2}, Kind::simplex)), "");
  EXPECT_EQ(complaint("[0.5, 0.500000001]", vectors({2}, Kind::simplex)), "");
  EXPECT_EQ(complaint("[0.5, 0.75]", vectors({2}, Kind::simplex)),
            "[data] y: expected a simplex, whose elements add up to 1, found 1.25 instead");
  EXPECT_EQ(complaint("[[0.5, 0.5], [1.5, -0.5]]", vectors({2, 2}, Kind::simplex)),
            "[data] y[2, 2]: expected at least 0, as an element of a simplex, found -0.5");
  EXPECT_EQ(complaint("[[0.5, 0.5], [0.5, 0.75]]", vectors({2, 2}, Kind::simplex)),
            "[data] y[2]: expected a simplex, whose elements add up to 1, found 1.25 instead");
  EXPECT_EQ(complaint("[0.6, 0.8]", vectors({2}, Kind::unit_vector)), "");
  EXPECT_NE(complaint("[0.6, 0.9]", vectors({2}, Kind::unit_vector)), "");
  EXPECT_EQ(complaint("[1, -1]", vectors({2}, Kind::sum_to_zero_vector)), "");
  EXPECT_NE(complaint("[1, -1.1]", vectors({2}, Kind::sum_to_zero_vector)), "");
  EXPECT_NE(complaint("[1, NaN]", vectors({2}, Kind::sum_to_zero_vector)), "");
}

TEST(DataChecks, Matrices) {
  EXPECT_EQ(complaint("[[1,-1],[-1,1]]", matrices({2, 2}, Kind::sum_to_zero_matrix)), "");
  EXPECT_NE(complaint("[[1,-1],[1,-1]]", matrices({2, 2}, Kind::sum_to_zero_matrix)), "");
  EXPECT_NE(complaint("[[1,1],[-1,-1]]", matrices({2, 2}, Kind::sum_to_zero_matrix)), "");
  EXPECT_EQ(complaint("[[1,0],[2,3],[4,5]]", matrices({3, 2}, Kind::cholesky_factor_cov)), "");
  EXPECT_NE(complaint("[[1,0,0],[2,3,0]]", matrices({2, 3}, Kind::cholesky_factor_cov)), "");
  EXPECT_EQ(complaint("[[1,0.5],[2,3]]", matrices({2, 2}, Kind::cholesky_factor_cov)),
            "[data] y[1, 2]: expected 0 above the diagonal of a Cholesky factor, found 0.5");
  EXPECT_NE(complaint("[[1,0],[2,-3]]", matrices({2, 2}, Kind::cholesky_factor_cov)), "");
  EXPECT_EQ(complaint("[[1,0],[0.6,0.8]]", matrices({2, 2}, Kind::cholesky_factor_corr)), "");
  EXPECT_NE(complaint("[[1,0],[0.6,0.7]]", matrices({2, 2}, Kind::cholesky_factor_corr)), "");
  EXPECT_EQ(complaint("[[2,1],[1,2]]", matrices({2, 2}, Kind::cov_matrix)), "");
  EXPECT_EQ(complaint("[[2,1],[1.1,2]]", matrices({2, 2}, Kind::cov_matrix)),
            "[data] y[2, 1]: expected 1 as on the other side of the diagonal, found 1.1");
  EXPECT_EQ(complaint("[[[2,1],[1,2]],[[1,2],[2,1]]]", matrices({2, 2, 2}, Kind::cov_matrix)),
            "[data] y[2]: expected a matrix that is positive definite, found one that is not");
  EXPECT_NE(complaint("[[1,2,3],[2,1,3]]", matrices({2, 3}, Kind::cov_matrix)), "");
  EXPECT_NE(complaint("[[0]]", matrices({1, 1}, Kind::cov_matrix)), "");
  EXPECT_NE(complaint("[[NaN]]", matrices({1, 1}, Kind::cov_matrix)), "");
  EXPECT_EQ(complaint("[[1,0.5],[0.5,1]]", matrices({2, 2}, Kind::corr_matrix)), "");
  EXPECT_EQ(complaint("[[1,0.5],[0.5,2]]", matrices({2, 2}, Kind::corr_matrix)),
            "[data] y[2, 2]: expected 1 on the diagonal of a correlation matrix, found 2");
  EXPECT_EQ(complaint("[[0.5,1],[0.5,0]]", matrices({2, 2}, Kind::column_stochastic_matrix)), "");
  EXPECT_NE(complaint("[[0.5,0.5],[1,0]]", matrices({2, 2}, Kind::column_stochastic_matrix)), "");
  EXPECT_EQ(complaint("[[0.5,0.5],[1,0]]", matrices({2, 2}, Kind::row_stochastic_matrix)), "");
  EXPECT_NE(complaint("[[0.5,1],[0.5,0]]", matrices({2, 2}, Kind::row_stochastic_matrix)), "");
}

TEST(DataChecks, Tuples) {
  Wanted wanted;
  wanted.type.base = Base::tuple;
  wanted.members = {number(Base::integer), vectors({2}, Kind::simplex)};
  EXPECT_EQ(complaint(R"({"1": 3, "2": [0.5, 0.5]})", wanted), "");
  EXPECT_EQ(complaint(R"({"1": 3.5, "2": [0.5, 0.5]})", wanted),
            "[data] y.1: expected an integer, found 3.5");
  EXPECT_EQ(complaint(R"({"1": 3})", wanted),
            "[data] y: expected a tuple of 2 slots, found a tuple of 1 slots");
  EXPECT_EQ(complaint("3", wanted), "[data] y: expected a tuple of 2 slots, found a number");
  EXPECT_EQ(complaint(R"({"1": 3})", number(Base::integer)),
            "[data] y: expected a number, found a tuple of 1 slots");
  wanted.shape = {2};
  EXPECT_EQ(complaint(R"([{"1": 3, "2": [0.5, 0.5]}, {"1": 3, "2": [0, 1]}])", wanted), "");
  EXPECT_EQ(complaint(R"([{"1": 3, "2": [0.5, 0.5]}, {"1": 3, "2": [0]}])", wanted),
            "[data] y[2].2: expected array of shape (2), found (1)");
  EXPECT_EQ(complaint("[1, 2]", wanted), "[data] y: expected array of tuples of shape (2), found (2)");
  wanted.shape = {0};
  EXPECT_EQ(complaint("[]", wanted), "");
}

}  // namespace
}  // namespace adit::stan
