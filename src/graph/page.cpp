// docs/ops.md from the table.
#include <fmt/format.h>
#include <iterator>

#include "graph/row.hpp"

namespace adit::graph {

namespace {

struct Composite {
  std::string_view name, doc;
};

// Functions of ops.hpp and windows.hpp that are made of rows.
constexpr Composite composites[] = {
    {"full", "A tensor of one number; also `zeros`, `ones`, `zeros_like`, `ones_like`, `full_integer`."},
    {"arange", "0, 1, 2, ... up to a number."},
    {"linspace", "Numbers at equal distances between two ends."},
    {"eye", "1 on the diagonal, 0 elsewhere."},
    {"square", "x * x."},
    {"reciprocal", "1 / x."},
    {"relu", "x where it is positive, else 0."},
    {"phase", "The angle of a complex number."},
    {"minimum", "`min` of two tensors; `maximum` is `max`."},
    {"flatten", "`reshape` to one axis; `squeeze` and `expand_dims` drop and add axes of extent 1."},
    {"broadcast_to", "`broadcast` along trailing axes, as NumPy does; `broadcast_in` names the axes."},
    {"stack", "`concatenate` along a new axis."},
    {"tile", "Copies side by side."},
    {"take", "Slices along an axis, by `gather`."},
    {"mean", "`sum` divided by the count; of integers in f32."},
    {"variance", "The mean square of the distance from the mean."},
    {"logsumexp", "log(sum(exp(x))) without overflow."},
    {"softmax", "exp(x) divided by its sum, without overflow; `log_softmax` is its logarithm."},
    {"fft2", "`fft` along two axes; `ifft2` goes back; `fftn` and `ifftn` take any number of axes."},
    {"window_sum", "The sum of each window; types stay. Also `window_product`, `window_mean`."},
    {"window_max",
     "The largest element of each window, NaN where there is one; the last of equal ones has the "
     "gradient. Also `window_min`."},
    {"window_reduce", "Each window folded with a function, in row-major order."},
    {"window_scatter_max",
     "Numbers added up where windows have their largest element, the last of equal ones. Also "
     "`window_scatter_min`."},
    {"max_pool", "`window_max` over the spatial axes of [batch, channels, ...]; `average_pool` is the mean."},
    {"matmul", "`dot` as NumPy's matmul: leading axes are batches."},
    {"outer", "All products of the elements of two vectors."},
    {"lu_factor", "`lu`'s packed factors; `lu` of linalg.hpp gives p, l and u."},
    {"eigh_values",
     "The eigenvalues of `eigh` alone; `singular_values` those of `svd`, `eigenvalues` of `eig`."},
    {"inverse", "`solve` of the identity."},
    {"pseudo_inverse", "By `svd`: singular values below a tolerance count as zero."},
    {"least_squares", "The shortest x that makes |a x - b| smallest, by `svd`."},
    {"determinant", "By `lu`; `sign_and_log_determinant` does not overflow."},
    {"trace", "The sum of the `diagonal`."},
    {"matrix_rank", "How many singular values are above a tolerance."},
    {"norm", "Of vectors, for any p; `matrix_norm` of matrices."},
    {"matrix_power", "By squaring; negative powers of the inverse."},
    {"matrix_exponential", "Scaling, Pade's approximation of order 13, squaring."},
    {"argsort", "Where `sort` takes its elements from; `top_k`, `median` and `unique` follow from `sort`."},
    {"einsum",
     "Sums of products by subscripts, as numpy.einsum; two operands at a time, in the order that costs "
     "least."},
    {"kron", "Blocks of one tensor, each times an element of another."},
    {"tensordot", "`dot` over pairs of axes."},
    {"covariance", "Covariances of variables; `corrcoef` divides by the deviations."},
    {"corrcoef", "Correlations of variables."},
    {"cdist",
     "Distances between all rows of two matrices: euclidean, squared, manhattan, chebyshev. Beyond 64 "
     "columns the first two by a product: squares are then within some units of the squares of the rows' "
     "distances from the mean row."},
    {"searchsorted", "Where values go into rows that ascend; i32 (i64 beyond 2^31)."},
    {"bincount", "How often numbers from 0 on occur, or sums of their weights; `histogram` counts in bins."},
    {"histogram", "How many elements lie between edges, or the sums of their weights."},
    {"histogram_edges", "The edges of bins of equal width."},
    {"interpolate", "The line through points, as numpy.interp."},
    {"resize_linear", "Other extents along axes, linearly between elements."},
    {"layer_norm", "Elements less their mean, divided by their deviation, along axes."},
    {"rms_norm", "Elements divided by the root of their mean square, along axes."},
    {"map", "A function of each slice along axis 0, by `scan`."},
};

std::string_view title_of(Kind kind) {
  switch (kind) {
    case Kind::leaf: return "Leaves";
    case Kind::elementwise: return "Elementwise";
    case Kind::view: return "Index maps";
    case Kind::reduction: return "Reductions";
    case Kind::kernel: return "With kernels of their own";
    default: return "Control flow";
  }
}

std::string bound_text(const Row& row) {
  if (row.kind == Kind::leaf || row.kind == Kind::control) return "";
  const std::string number = row.bound.ulp == 0 ? "exact" : fmt::format("{:g}", row.bound.ulp);
  if (row.bound.note.empty()) return number;
  // Of sums and products a note says all.
  const bool note_alone = row.bound.ulp == 0 && row.kind != Kind::elementwise;
  return note_alone ? std::string(row.bound.note) : fmt::format("{}; {}", number, row.bound.note);
}

// A bar would end the cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

bool batches(const Row& row) { return row.batch != nullptr || row.kind == Kind::elementwise; }

void append_row(std::string& page, const Row& row) {
  const std::string operands = row.arity < 0 ? "any" : std::to_string(row.arity);
  const bool differentiable = row.vjp != nullptr || row.jvp != nullptr || row.several_vjp != nullptr;
  fmt::format_to(std::back_inserter(page), "| `{}` | {} | {} | {} | {} | {} | {} |\n", row.name, operands,
                 cell(row.types), cell(bound_text(row)), differentiable ? "yes" : "",
                 batches(row) ? "yes" : "", cell(row.doc));
}

}  // namespace

std::string ops_page() {
  std::string page =
      "# Operations\n\n"
      "This page is written from the op table (`src/graph/rows`) by the build target `ops_page`; do not edit "
      "it.\n\n"
      "Types: u8 u16 u32 u64 i8 i16 i32 i64 (integer), f16 bf16 f32 f64 (float), c64 c128 (complex); truth "
      "values are\n"
      "u8, 0 or 1. Operands of different types are promoted as Nx does, and shapes broadcast, before a row "
      "sees them.\n"
      "Halves (f16, bf16) are computed in f32 and rounded once an operation. A bound is the distance from "
      "the exact\n"
      "result in units in the last place of the result's type (f32 for halves, before the rounding); `exact` "
      "means\n"
      "exact or correctly rounded. `docs/numerics.md` has measured errors.\n";
  for (const Kind kind :
       {Kind::elementwise, Kind::view, Kind::reduction, Kind::kernel, Kind::control, Kind::leaf}) {
    fmt::format_to(std::back_inserter(page),
                   "\n## {}\n\n| op | operands | types | bound (ULP) | differentiable | batches | |\n"
                   "|---|---|---|---|---|---|---|\n",
                   title_of(kind));
    for (const Row& row : table())
      if (row.kind == kind) append_row(page, row);
  }
  page += "\n## Made of these\n\n| function | |\n|---|---|\n";
  for (const Composite& composite : composites)
    fmt::format_to(std::back_inserter(page), "| `{}` | {} |\n", composite.name, composite.doc);
  return page;
}

}  // namespace adit::graph
