#include "stan/page.hpp"

#include <fmt/format.h>

#include "stan/signature_rows.hpp"
#include "stan/signature_words.hpp"

namespace adit::stan {

namespace {

constexpr const char* page_head = R"(# Stan

This page is written from the table of built-in functions (`src/stan/signature_*.cpp`); do not edit it.

Programs are written in the Stan language as its reference manual has it: all blocks, functions of the
program's own (overloaded ones, and recursive ones that end by data), loops, conditions, tuples, arrays, vectors and matrices
with every form of index, all constrained types, `~` with truncation, `target +=`, `jacobian +=`, print,
reject, profile and include files.

## Old forms

| form | |
|---|---|
| `real x[3]`, `real[,]` as the type of an argument | read with a warning; `array[3] real x` |
| comments that begin with `#` | read with a warning; `//` |
| `fabs`, `multiply_log`, `cov_exp_quad`, `integrate_ode_rk45` and other old names | read with a warning that tells the new one |
| `foo_cdf(y, a)` with a comma for the bar | read with a warning; of `foo_lpdf` and the like it is an error |
| `x <- 3`, `increment_log_prob(x)` | refused, with the new form |

## Words that are read and ignored

`profile("name")` runs its block and measures nothing. `T[,]` without bounds changes nothing.

## Limits

| what | at most |
|---|---|
| bytes of a program with all that it includes | 8,388,608 |
| files that it includes, and how deep they nest | 1,000; 32 |
| levels that brackets, statements and operators nest | 1,000,000, and what the address space holds: a level takes some kilobytes while the program is read |
| members of a tuple, those of tuples inside of it too | 100 |
| calls of functions inside of calls | 100,000, and what the address space holds: a call takes some kilobytes |
| axes of a value, those of vectors and matrices too | 10 |
| numbers of a variable | 2^31 |
| errors, warnings that are told | 100; 200 |

## Words

| word | stands for |
|---|---|
| `int` `real` `vector` `row_vector` `matrix` | that type; an int goes where a real is wanted |
| `array[] real`, `array[,] int`, ... | arrays with that number of axes; `real[...]`: with any number |
| `ints` | int or array[] int |
| `reals` | real, vector, row_vector or array[] real: sizes agree, a scalar stands for all |
| `vectors` | vector, row_vector or an array of them |
| `line` | vector or row_vector |
| `list` | vector, row_vector or array[] real |
| `numbers` | scalars, containers and arrays of them: element by element |
| `dense` | int, real, vector, row_vector or matrix: element by element |
| `scalars`, `integers` | real or int (int alone) and arrays of any number of axes: element by element |
| `any`, `array` | anything; an array of anything |
| `same` | the type of the first argument |
| `elementwise` | of results: the widest of the arguments, integers as reals |
| `reals of rng`, `ints of rng`, `vectors of rng` | of results: a draw, or an array where an argument is one |
| `function`, `...` | the name of a function of the program, and what it takes besides |

A density `foo_lpdf` may be written `foo_lupdf` where constants may be dropped (so with `_lpmf` and `_lupmf`),
and `y ~ foo(...)` adds it to the target.
)";

constexpr const char* page_tail = R"(
## Operators by name

| function | operator | | function | operator |
|---|---|---|---|---|
| `add` | `a + b` | | `subtract` | `a - b` |
| `multiply` | `a * b` | | `divide` | `a / b` |
| `elt_multiply` | `a .* b` | | `elt_divide` | `a ./ b` |
| `minus` | `-a` | | `plus` | `+a` |
| `logical_eq` | `a == b` | | `logical_neq` | `a != b` |
| `logical_lt` | `a < b` | | `logical_lte` | `a <= b` |
| `logical_gt` | `a > b` | | `logical_gte` | `a >= b` |
| `logical_and` | `a && b` | | `logical_or` | `a \|\| b` |
| `logical_negation` | `!a` | | | |

## What is checked where

What Stan throws, Adit refuses. In transformed data and generated quantities it is an error with line and column
that names the value and the bound, and for generated quantities the draw; the run ends, and draws in a checkpoint stay
there. In transformed parameters and the model the point is rejected: it has no density, and a start point that is rejected
is a failed start. What is known from data is looked at once, before anything runs; it costs nothing afterwards.

| what | in transformed data | in transformed parameters and the model | in generated quantities |
|---|---|---|---|
| places: indices, ranges, `segment`, `head`, `block`, `csr_*`, read or written | error | known: error, or under a condition on parameters a rejection; else rejection | error |
| divisors of integers | error | as places | error |
| integers beyond 32 bits, where Stan's wrap, `to_int` of what is none, `min` and `max` of no integers | error | known: error | error: of functions where they are called, of operators where a variable of the block keeps the result |
| arguments of draws | error | - | error |
| known arguments of densities and functions | error | rejection | error |
| parameters of densities | error | rejection: there is no density | error |
| simplexes, ordered cut points, Cholesky factors, triangles and correlations as arguments | error | rejection; not looked at again where a declaration says so | error |
| symmetric and semidefinite matrices as arguments | error | known: rejection; of parameters the lower half is taken | error |
| scales of `gp_*_cov` | error | rejection | error |
| other functions outside of their domains (`log1m(2)`, `inv_Phi(2)`) | error | no number, and so a rejection where it is used | error |
| declarations: bounds and whole vectors and matrices | error | rejection, of transformed parameters | error |
| `reject`, solvers that find nothing | error | rejection | error |
| `while` loops without an end | error after 20,000,000 rounds | conditions on parameters: rejection after 1,024 rounds, whose states a gradient keeps; on data: as in transformed data | error after 1,000,000 rounds of a draw |
| rounds that are written out one by one (`adit explain` tells of them) | - | error after 200,000 in all | error after 200,000 in all |

Inside of a function that a solver calls there is no error: what is outside makes its result no number, and the solver
finds nothing.

## What is not there

Of Stan's functions reference:

- complex numbers and their functions, types and Fourier transforms;
- sizes of local variables, and the sparse form of a matrix, that follow from parameters;
- solvers of differential-algebraic equations (`dae`) and the embedded Laplace approximation
  (`laplace_marginal`);
- decompositions with complex factors (`eigendecompose`, `eigenvalues`, `complex_schur_decompose`).

A program that calls one of them is refused before it runs, with the name and the place.
)";

// A bar would end a cell of the table.
std::string page_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? "\\|" : std::string(1, c);
  return cell;
}

std::string page_result(const Signature& signature, const Word& word) {
  if (word.kind == Word::Kind::plain) return to_text(word.type);
  const std::string text = signature.text;
  return text.substr(0, text.find(" ("));
}

std::string page_row(const Signature& signature) {
  const auto row = row_of(signature);
  if (!row) return "";
  return fmt::format("| `{}` | `{}` | `{}` | {} |\n", signature.name, page_cell(row->written),
                     page_result(signature, row->result), page_cell(signature.doc));
}

}  // namespace

std::string stan_page() {
  std::string page = page_head;
  for (const Topic& topic : topics()) {
    page += fmt::format("\n## {}\n\n| function | takes | gives | |\n|---|---|---|---|\n", topic.title);
    for (const Signature& signature : topic.rows) page += page_row(signature);
  }
  return page + page_tail;
}

}  // namespace adit::stan
