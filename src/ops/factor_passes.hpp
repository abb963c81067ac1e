// Factorisations on a GPU (or on a CPU without LAPACK) as passes over panels of columns: small kernels whose
// place in the matrix is an argument, so that each is compiled once however many panels there are.
#pragma once

#include <cstdint>
#include <vector>

#include <adit/device.hpp>
#include <adit/kernel/program.hpp>

#include "ops/triangular.hpp"

namespace adit::ops {

// Which tensor a pass's buffer is; the caller lays them out.
struct FactorPass {
  uint32_t program = 0;  // among the programs
  uint64_t teams = 0;
  std::vector<uint8_t> buffers;     // numbers of tensors, as the plan below names them
  std::vector<uint32_t> numbers{};  // further arguments
};

struct FactorScratch {
  uint64_t bytes = 0;
};

// Passes that are taken again until a number, the bits of an f32, is small enough. They clear it themselves,
// do nothing once it is small, and count how often they did something, so nobody has to look each time.
struct FactorRepeat {
  uint32_t first = 0, count = 0;  // 0: none is
  uint8_t flag = 0;               // the tensor: that number, FactorExtra's, the passes' own, how often
  uint32_t most = 0, likely = 1;  // times
  double enough = 0;
};

// Passes before those that are repeated, in steps, of which the last may be left out: those that have nothing
// left to do do nothing. The words of the flag after the four of FactorRepeat tell how many did something, a
// word for each such stage. Where passes had to be repeated all the same, no stage was of any use.
struct FactorStage {
  uint32_t first = 0;
  std::vector<uint32_t> ends;  // of its steps, in passes from `first` on
};

// Passes, the last ones, that are taken only where the second number of the flag, a u32, is not 0 in the end.
struct FactorExtra {
  uint32_t count = 0;
};

struct Factor {
  std::vector<kernel::Program> programs;
  std::vector<FactorPass> passes;
  std::vector<FactorStage> stages;  // at most two
  FactorRepeat repeat;
  FactorExtra extra;
  std::vector<FactorScratch> scratch;  // tensors after those of the operation
  uint64_t loop_trips =
      0;  // of one invocation at most; a device with a smaller Limits::max_loop_trips is wrong
};

// The passes of another factorisation after those of `made`, an operation with `own` tensors: `tensors` are
// the inner one's own among them, and its scratch follows that of `made`.
void append(Factor& made, size_t own, const Factor& inner, const std::vector<uint8_t>& tensors);

struct FactorPlan {
  kernel::Type type = kernel::Type::f32;  // f32 or f64, or of the parts of complex numbers
  bool complex = false;
  uint32_t m = 0, n = 0;  // rows and columns
  uint64_t batch = 1;
  uint32_t lanes = 256;  // of a team at most
  // Long kernels whose lanes work by hand, rows in registers. Not for software devices: Mesa's compiler takes
  // minutes for one.
  bool by_hand = false;
  bool may_wait = false;  // a team may wait for others that run beside it
};

// Tensors 0: a [n, n], overwritten by its factors; 1: permutation, i32 [n]; 2: its sign, i32.
Factor lu(const FactorPlan& plan);
// Tensors 0: x [n, n], read; 1: its factors; 2: permutation; 3: sign. For devices that have hands, and
// matrices whose columns fit a team's registers.
bool has_lu_by_rows(const FactorPlan& plan, const Limits& limits);
Factor lu_by_rows(const FactorPlan& plan, const Limits& limits);
// Tensors 0: a, read; 1: b, read; 2: x. For devices whose lanes work by hand; b may be x.
bool has_triangular_panels(const TriangularPlan& plan, const Limits& limits);
Factor triangular_by_panels(const TriangularPlan& plan, const Limits& limits);
// Row i of `to` is row order[i] of `from`, [n, columns]; a team an element.
kernel::Program permute_rows(const FactorPlan& plan, uint32_t columns);
// Tensors 0: x [n, n], read; 1: its factor. Of the lower triangle; NaN from the first pivot that is not
// positive on. For devices that have hands.
bool has_cholesky_panels(const FactorPlan& plan, const Limits& limits);
Factor cholesky_by_panels(const FactorPlan& plan, const Limits& limits);
// Tensors 0: x [m, n], read; 1: q [m, columns]; 2: r [columns, n]. `columns`: min(m, n), or m.
Factor qr(const FactorPlan& plan, uint32_t columns, const Limits& limits);

}  // namespace adit::ops
