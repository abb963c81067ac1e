// A kernel as data: instructions in nested blocks. Builders write it, code generators read it.
//
// The grammar, which verify() holds:
// - An instruction's Id is its index; operands are Ids of earlier instructions that are visible where it
// stands
//   (in the same block before it, or in a block around it).
// - Control flow is structured: if_, for_, while_, each, reduce and once own blocks.
// - The first instruction of a for_, each or reduce block is its `index`.
// - What changes lives in memory: a variable, a private array, a shared array, or a buffer of the caller.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <adit/kernel/type.hpp>

#pragma GCC visibility push(default)
namespace adit::kernel {

using Id = uint32_t;
inline constexpr Id no_id = ~Id{0};

enum class Op : uint8_t {
  // Leaves
  constant,  // constant: the bits
  argument,  // a scalar the caller passes; constant: parameter number
  team,      // number of this team in the dispatch, u32 or u64
  index,     // the counter of the enclosing for_, each or reduce
  // Memory objects; they have an element type and are named by load, store and the atomics
  buffer,    // constant: parameter number
  variable,  // one private cell
  array,     // private; constant: length
  shared,    // of the team; constant: length
  // Arithmetic, elementwise
  add,
  sub,
  mul,
  div,
  rem,
  neg,
  abs,
  fma,
  mul_high,
  sqrt,
  floor,
  ceil,
  trunc,
  round_even,
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  shift_left,
  shift_right,
  count_ones,
  leading_zeros,
  trailing_zeros,
  equal,
  not_equal,
  less,
  less_equal,
  select,
  convert,           // saturating to integers, NaN gives 0
  convert_in_range,  // the same where the caller knows that the value fits
  bitcast,
  // Short vectors, only between memory and scalars
  pack,     // 2 or 4 scalars
  extract,  // constant: which
  // Memory: operands object, [index], [value]. A vector load counts its index in vectors.
  load,
  store,
  atomic_add,
  atomic_min,
  atomic_max,
  atomic_and,
  atomic_or,
  atomic_xor,
  atomic_exchange,
  atomic_compare_exchange,  // operands object, index, expected, value; all atomics yield the old value
  // Control
  if_,      // operand condition; blocks then, else
  for_,     // operands begin, end, step; block body
  while_,   // blocks condition (its last instruction is a yield), body
  each,     // operand count; block body: lanes share the indices; later loops may read what it wrote
  reduce,   // operand count; block body with one yield a result; `reduced` reads a result
  reduced,  // operand the reduce; constant: which
  once,     // block: one lane of the team does it; afterwards all may read what it wrote
  yield,    // operand a value; constant: a Reduction, in a reduce
  // Lanes by hand: for kernels that are written for a GPU only
  lane,
  barrier,
  fence,  // what this invocation wrote before it is seen, and what it reads after it is read, in that order
  // Subgroups: the lanes that run together
  subgroup_size,
  subgroup_lane,
  subgroup_reduce,
  subgroup_inclusive,
  subgroup_exclusive,  // constant: a Reduction
  subgroup_any,
  subgroup_all,
  subgroup_ballot,  // the bits of 32 lanes; constant: which 32
  subgroup_first,
  subgroup_shuffle,
  subgroup_shuffle_xor,
  subgroup_number,  // of the lane's subgroup in the team
  // Matrices that the lanes of a subgroup hold together, for devices that have them (Limits). Their width is
  // 0 and their constant is a MatrixForm; variables hold them too.
  matrix_fill,          // operand a scalar
  matrix_load,          // operands object, index, stride; both counted in vectors of the form's `vector`
  matrix_store,         // operands object, index, stride, matrix
  matrix_multiply_add,  // operands a, b, c: a * b + c
  matrix_convert,       // operand a matrix of another type
  op_count
};

// The smallest and the largest as min and max of builder.hpp have them, of which the latter two keep NaN.
enum class Reduction : uint8_t { add, mul, min, max, min_or_nan, max_or_nan, bit_and, bit_or, bit_xor };

enum class MatrixRole : uint8_t { a, b, accumulator };
enum class MatrixLayout : uint8_t { row_major, column_major };

// What a matrix is besides its element type, and how one lies in memory.
struct MatrixForm {
  uint16_t rows = 0, columns = 0;
  MatrixRole role{};
  MatrixLayout layout{};  // of a load or store
  uint8_t vector = 1;     // elements that the index and the stride of a load or store count by: 1, 2 or 4
  constexpr uint64_t packed() const {
    return rows | uint64_t{columns} << 16 | static_cast<uint64_t>(role) << 32 |
           static_cast<uint64_t>(layout) << 40 | uint64_t{vector} << 48;
  }
  static constexpr MatrixForm of(uint64_t packed) {
    return {static_cast<uint16_t>(packed), static_cast<uint16_t>(packed >> 16),
            static_cast<MatrixRole>(packed >> 32 & 0xff), static_cast<MatrixLayout>(packed >> 40 & 0xff),
            static_cast<uint8_t>(packed >> 48)};
  }
  bool same_matrix(const MatrixForm& other) const {
    return rows == other.rows && columns == other.columns && role == other.role;
  }
};

// A product that a device multiplies at once: a is m x k, b is k x n, the accumulator m x n.
struct MatrixShape {
  uint32_t m = 0, n = 0, k = 0;
  Type operand{}, accumulator{};  // both operands have one type
  bool operator==(const MatrixShape&) const = default;
};

struct Instruction {
  Op op{};
  Type type = Type::none;
  uint8_t width = 1;  // 1, 2 or 4; 0: a matrix
  uint8_t operand_count = 0;
  std::array<Id, 4> operand{no_id, no_id, no_id, no_id};
  uint64_t constant = 0;
  std::array<uint32_t, 2> block{no_id, no_id};
};

using Block = std::vector<Id>;

enum class Access : uint8_t { read, write, read_write };

struct Parameter {
  std::string name;
  Type type{};
  bool is_buffer = false;
  Access access = Access::read;  // buffers only
  uint32_t offset = 0;           // in the argument block
};

// What a team is. `one`: a team is one invocation, `lanes` of them share a GPU workgroup.
// `many`: a team is a workgroup of `lanes`.
enum class TeamKind : uint8_t { one, many };

struct Team {
  TeamKind kind = TeamKind::one;
  uint32_t lanes = 64;
  static Team one(uint32_t workgroup = 64) { return {TeamKind::one, workgroup}; }
  static Team many(uint32_t lanes) { return {TeamKind::many, lanes}; }
};

// The argument block starts with the number of teams (u64); the parameters follow, each naturally aligned.
// A buffer is its 64-bit address.
inline constexpr uint32_t argument_header_bytes = 8;

struct Program {
  std::string name;
  Team team;
  std::vector<Parameter> parameters;
  std::vector<Instruction> instructions;
  std::vector<Block> blocks;  // blocks[0] is the body

  const Instruction& operator[](Id id) const { return instructions[id]; }
  uint32_t argument_bytes() const;
  uint32_t shared_bytes() const;
};

std::string_view name_of(Op op);
std::string_view name_of(Reduction reduction);
bool is_memory_object(Op op);
bool is_atomic(Op op);
inline bool is_matrix_op(Op op) { return op >= Op::matrix_fill && op <= Op::matrix_convert; }
bool uses_matrices(const Program& program);
// What a reduction of nothing yields, as bits: 0, 1, +infinity or the largest for min, and so on.
uint64_t identity_of(Reduction reduction, Type type);

// Throws Error(bad_argument) with the first rule that the program breaks.
void verify(const Program& program);

// A readable listing, one instruction a line, blocks indented.
std::string dump(const Program& program);

// 128 bits as 32 hexadecimal digits, of everything that decides the meaning; the name counts too.
std::string content_hash(const Program& program);

// True where a team program uses lanes, barriers or subgroups by hand, which only a GPU runs.
bool uses_lanes(const Program& program);

}  // namespace adit::kernel
#pragma GCC visibility pop
