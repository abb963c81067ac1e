// Symmetric and Hermitian matrices to real tridiagonal form by reflections, q^H a q = t, in one launch.
//
// Teams share the rows of a matrix, which stay in their registers. Column j of what is left gives the
// reflection 1 - tau v v^H; every team makes it for itself, with the product of the matrix and v, to which
// each team gives its rows. That product is all that teams tell each other, once a column: they tell a - x,
// the column that the reflection is made of - as soon as it is there, and with it their numbers of column j +
// 1, by which the product with v is made of the product with x. So the norm of x is summed while the others'
// numbers are on their way.
// Each number that is told has a word of its own (waiting.hpp).
#pragma once

#include "ops/factor_passes.hpp"

namespace adit::ops::tridiagonal {

// How teams hold a matrix: a subgroup has `each` rows, a lane `chunks` times `wide` numbers side by side.
// `kept` of the rows are in registers; the others are in memory, where only their own lanes see them.
struct Teams {
  uint32_t n = 0;
  uint32_t subgroup = 0, subgroups = 0;  // lanes, and of a team
  uint32_t teams = 0;                    // of a matrix
  uint32_t each = 0, kept = 0, chunks = 0, wide = 0;
  uint32_t lanes() const { return subgroup * subgroups; }
  uint32_t chunk() const { return subgroup * wide; }  // columns
  uint32_t stored() const { return each - kept; }
  uint64_t stored_numbers() const { return uint64_t{teams} * subgroups * stored() * chunks * chunk(); }
};

// With no teams where there is no way: registers do not hold it, or teams cannot wait for each other.
Teams teams_for(const FactorPlan& plan, const Limits& limits);

// Reflections are taken together by so many where they are applied, and stored so (ops/qr_blocks.hpp): of
// each panel its rows, `width` numbers side by side. Panel p begins at row width * p + 1.
constexpr uint32_t width = 32;
struct Panel {
  uint32_t start = 0, rows = 0, first = 0;  // rows: to the matrix's end, a multiple of 32; before it
};
std::vector<Panel> panels_of(uint32_t n);
uint32_t panel_rows(uint32_t n);  // of all panels

// Words of a batch, all ones to begin with; 0 where nothing is told.
uint64_t words_of(const FactorPlan& plan, const Teams& teams);

// Buffers: x, of which the lower triangle is read, what it is divided by (a NaN gives zeros), words, rows
// that are stored, if there are any, reflections, tau, the diagonal, what is beside it; the last three [n] of
// each matrix, the last two real.
kernel::Program reduce(const FactorPlan& plan, const Teams& teams);

// A team a panel: 1 - v t v^H is its reflections' product; where there are no reflections or rows, zeros are
// put. Buffers: reflections, tau, t. A number: n.
kernel::Program triangles(const FactorPlan& plan);

// A team some columns of the vectors of the tridiagonal matrix [size, size], of which n by n are taken.
// Buffers: these, scale (a NaN makes all such), reflections, triangles, vectors [n, n]. Numbers: n, size.
inline uint32_t columns_of_team(kernel::Type type) {
  return 16 / static_cast<uint32_t>(kernel::size_of(type));
}
uint32_t back_teams(const FactorPlan& plan);  // of a matrix
bool can_go_back(const FactorPlan& plan, const Limits& limits);
kernel::Program go_back(const FactorPlan& plan);

}  // namespace adit::ops::tridiagonal
