// What a node knows beside its operands, by kind of operation.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include <adit/shape.hpp>
#include <adit/tensor.hpp>

namespace adit::graph {

struct None {};
// constant, number: the bits of an element, imaginary part second. Integers lie in 64 bits, floats as double.
struct Literal {
  double real = 0, imag = 0;
  int64_t integer = 0;  // where the type is an integer
};
struct OneAxis {  // iota (-1: over all), concatenate, take_along_axis
  int axis = 0;
};
struct AxisLength {  // irfft: how many numbers there are along it
  int axis = 0;
  int64_t length = 0;
};
struct AxisList {  // transpose (output axis i is input axis axes[i]), broadcast (input axis i is output axis
  Axes axes;       // axes[i]), reverse, gather, indexed_*
};
struct SliceAttributes {  // the lengths are the node's shape
  Dims starts, strides;
};
struct PadAttributes {
  Dims low, high, interior;
};
struct DotAttributes {
  Axes contract_a, batch_a, contract_b, batch_b;
};
struct TriangularAttributes {
  bool lower = true, left_side = true, transpose = false;
};
struct FactorAttributes {  // qr: complete; svd: square factors
  bool full = false;
};
struct SortAttributes {
  int axis = 0;
  bool descending = false;
};
struct CumulativeAttributes {
  int axis = 0;
  bool reverse = false;  // from the end
};
// windows, conv: element k of window o along axis `axes[i]` is the element of x at the place p with
// p * spread = o * stride + k * dilation - low; where there is none, it is the padding.
struct WindowAttributes {
  Axes axes;     // conv: the spatial ones
  Dims lengths;  // of the windows
  Dims results;  // how many windows
  Dims strides, dilations, low, spread;
  bool diagonal = false;  // windows: x has the axes of the windows too, and is read at the same k
  int64_t groups = 1;     // conv: of features
};
struct Which {  // threefry, philox: which word; item: which result; as_type, bitcast: which type
  int number = 0;
};

// A function inside a graph: parameters are `input` nodes without storage; results depend on them alone.
struct Subgraph {
  std::vector<Tensor> parameters, results;
};
// Reductions drop the axes; builders reshape where the caller keeps them.
struct ReduceAttributes {
  Axes axes;
  bool high_tie = false;  // argmax, argmin; reduce_max, reduce_min: the last of equal ones has the gradient
  std::shared_ptr<const Subgraph> combine;  // reduce: of (accumulator, element, captured...)
};
// The operands of a control node are, in order: what its kind needs, then what its functions captured.
struct ControlAttributes {
  std::vector<std::shared_ptr<const Subgraph>> functions;
  // scan: operands are carries, then xs, then captured ones
  int carries = 0, sequences = 0;
  int64_t length = 0;  // while_loop, while_vjp: it has ended after so many rounds; 0: that is not known
  bool reverse = false;
  std::vector<DType> types{};   // of the results
  std::vector<Shape> shapes{};  // of the results
};

using Attributes =
    std::variant<None, Literal, OneAxis, AxisLength, AxisList, SliceAttributes, PadAttributes,
                 ReduceAttributes, DotAttributes, TriangularAttributes, CumulativeAttributes,
                 FactorAttributes, SortAttributes, Which, std::shared_ptr<const ControlAttributes>,
                 std::shared_ptr<const WindowAttributes>>;

// Everything that decides the meaning, as words for hashing and for printing. `number` leaves its value out.
void append_words(const Attributes& attributes, std::vector<uint64_t>& words);

}  // namespace adit::graph
