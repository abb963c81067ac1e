// The op table: everything the engine knows about an operation stands in its row.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <adit/kernel/builder.hpp>
#include <adit/ops.hpp>

#include "graph/index.hpp"
#include "graph/node.hpp"

namespace adit::graph {

// One element while a kernel is written. Halves are held in f32, rounded to their type; complex numbers are
// pairs.
struct Scalar {
  kernel::Value re, im;
  bool is_complex = false;
};
inline Scalar pair(kernel::Value re, kernel::Value im) { return {re, im, true}; }

// Reads elements of a node's operands; the compiler implements it.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual Scalar read(const Tensor& operand, const Index& at) = 0;
  virtual kernel::Builder& builder() = 0;
  // Whether the places of a gather were found to lie inside: they are read without clamps then.
  virtual bool are_inside(const Node&) const { return false; }
};

// Elementwise: the result from the operands' elements, in the compute type. Rounding to halves is the
// caller's.
using ScalarMeaning = Scalar (*)(std::span<const Scalar> x, const Node& node);
// An index map: the element of the result at a place.
using ViewMeaning = Scalar (*)(Reader& reader, const Node& node, const Index& at);

// Gradients of a node's operands from the gradient of its result; an empty Tensor where there is none.
using Vjp = std::vector<Tensor> (*)(const Tensor& result, const std::vector<Tensor>& operands,
                                    const Tensor& g);
// The tangent of the result (control flow; all others follow from their vjp). Empty tangents are zero.
using Jvp = std::vector<Tensor> (*)(const Tensor& result, const std::vector<Tensor>& operands,
                                    const std::vector<Tensor>& tangents);
// The node for operands that all have one more leading axis, of `size`.
using Batch = Tensor (*)(const Node& node, const std::vector<Tensor>& operands, int64_t size);

// Of operations with several results, each picked by an `item` node: the types and shapes of all of them, and
// the gradients of the operands from those of the results, of which some may be empty.
struct Slot;
using ResultsRule = std::vector<Slot> (*)(std::string_view op, const std::vector<Tensor>& operands,
                                          const Attributes& attributes);
using SeveralVjp = std::vector<Tensor> (*)(const std::vector<Tensor>& results,
                                           const std::vector<Tensor>& operands, const std::vector<Tensor>& g);

// The type of the result, or an error that names the operand. `op` is the row's name.
using TypeRule = DType (*)(std::string_view op, const std::vector<Tensor>& operands,
                           const Attributes& attributes);
// The shape of the result, or an error.
using ShapeRule = Shape (*)(std::string_view op, const std::vector<Tensor>& operands,
                            const Attributes& attributes);

enum class Kind : uint8_t { leaf, elementwise, view, reduction, kernel, control };
std::string_view name_of(Kind kind);

// How far a result may lie from the exact one, in units of the last place of the result's type.
struct Bound {
  double ulp = 0;           // 0: exact (or correctly rounded)
  std::string_view note{};  // where the bound is of another kind
};

struct Row {
  Op op{};
  std::string_view name;
  Kind kind{};
  int arity = 0;              // -1: any number
  std::string_view types;     // what it accepts and gives, for the documentation
  TypeRule type = nullptr;    // null: builders decide (leaves, control)
  ShapeRule shape = nullptr;  // null: builders decide
  ScalarMeaning scalar = nullptr;
  ViewMeaning view = nullptr;
  Vjp vjp = nullptr;      // null: no derivative
  Batch batch = nullptr;  // null: elementwise rows batch by themselves
  Bound bound{};
  int cost = 1;            // of one element, in units of an addition: whether to compute it twice
  std::string_view doc{};  // one sentence
  Jvp jvp = nullptr;
  ResultsRule results = nullptr;  // null: one result, by `type` and `shape`
  SeveralVjp several_vjp = nullptr;
};

const Row& row_of(Op op);
std::span<const Row> table();
inline std::string_view name_of(Op op) { return row_of(op).name; }

// True of control flow and of rows with several results: their results are `item` nodes.
bool has_several(const Node& node);
std::vector<Slot> results_of(const Node& node);  // of such a node
// By the row: checks, makes the node, and an item for each of its results.
std::vector<Tensor> make_several(Op op, std::vector<Tensor> operands, Attributes attributes = {});
Tensor item_of(const Tensor& several, int number);

// The groups of rows; table() joins them.
std::vector<Row> leaf_rows();
std::vector<Row> unary_rows();
std::vector<Row> binary_rows();
std::vector<Row> view_rows();
std::vector<Row> index_rows();
std::vector<Row> reduction_rows();
std::vector<Row> product_rows();
std::vector<Row> linear_rows();
std::vector<Row> cumulative_rows();
std::vector<Row> sort_rows();
std::vector<Row> fft_rows();
std::vector<Row> window_rows();
std::vector<Row> control_rows();

// docs/ops.md, from the rows.
std::string ops_page();

// --- For rules -------------------------------------------------------------------------------------------
[[noreturn]] void fail(std::string_view op, std::string_view argument, const std::string& message);
int normal_axis(std::string_view op, int64_t axis, int rank);  // negative axes from the end; throws outside
Axes normal_axes(std::string_view op, const Axes& axes, int rank);  // normal, sorted, distinct; throws

}  // namespace adit::graph
