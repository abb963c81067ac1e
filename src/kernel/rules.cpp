#include "kernel/rules.hpp"

#include <fmt/format.h>

#include <adit/error.hpp>

namespace adit::kernel {

void reject(const Program& program, const Instruction& instruction, const std::string& what) {
  throw Error(ErrorKind::bad_argument,
              fmt::format("[kernel {}] {}: {}", program.name, name_of(instruction.op), what));
}

bool is_pure(Op op) {
  return op == Op::constant || op == Op::argument || op == Op::team || op == Op::lane ||
         (op >= Op::add && op <= Op::extract);
}

namespace {

struct Checker {
  const Program& program;
  const Instruction& it;

  const Instruction& operand(int k) const { return program[it.operand[k]]; }
  Type type(int k) const { return operand(k).type; }

  void require(bool good, const char* expected, Type got) const {
    if (!good) reject(program, it, fmt::format("expected {}, got {}", expected, name_of(got)));
  }
  void count(int n) const {
    if (it.operand_count != n)
      reject(program, it, fmt::format("expected {} operands, got {}", n, it.operand_count));
    for (int k = 0; k < n; ++k)
      if (it.operand[k] >= program.instructions.size()) reject(program, it, "operand is no instruction");
  }
  // Operands that are scalars of the result's type.
  void same(int n) const {
    count(n);
    for (int k = 0; k < n; ++k) {
      if (type(k) != it.type)
        reject(
            program, it,
            fmt::format("expected operands of one type, got {} and {}", name_of(it.type), name_of(type(k))));
      scalar(k);
    }
    if (it.width != 1) reject(program, it, "expected scalars, got a vector: take its parts with [i]");
  }
  void scalar(int k) const {
    if (operand(k).width != 1)
      reject(program, it, "expected a scalar, got a vector: take its parts with [i]");
    value(k);
  }
  void value(int k) const {
    if (is_memory_object(operand(k).op)) reject(program, it, "expected a value, got a memory object");
    if (type(k) == Type::none) reject(program, it, "expected a value, got an instruction that yields none");
  }
  void index(int k) const {
    scalar(k);
    require(is_integer(type(k)) && size_of(type(k)) >= 4, "an index of 32 or 64 bits", type(k));
  }
  void condition(int k) const {
    scalar(k);
    require(type(k) == Type::boolean, "a bool", type(k));
  }

  static bool computes(Type t) { return t != Type::none && t != Type::bf16 && t != Type::boolean; }

  void memory() const {
    const bool stores = it.op == Op::store || is_atomic(it.op);
    if (it.operand_count < 1 || it.operand[0] >= program.instructions.size() ||
        !is_memory_object(operand(0).op))
      reject(program, it, "expected a memory object");
    const Instruction& object = operand(0);
    const int indices = object.op == Op::variable ? 0 : 1;
    const int values = it.op == Op::load ? 0 : it.op == Op::atomic_compare_exchange ? 2 : 1;
    count(1 + indices + values);
    if (indices) index(1);
    for (int k = 0; k < values; ++k) {
      const Instruction& given = operand(1 + indices + k);
      value(1 + indices + k);
      if (given.type != object.type)
        reject(
            program, it,
            fmt::format("expected {}, the element type, got {}", name_of(object.type), name_of(given.type)));
      if (given.width != it.width) reject(program, it, "the value's width differs");
    }
    if (it.width > 1 && object.op != Op::buffer && object.op != Op::shared)
      reject(program, it, "expected a buffer or shared memory for a vector access");
    if ((it.width == 0 || object.width == 0) && (it.width != object.width || it.constant != object.constant))
      reject(program, it, "expected a matrix of the variable's form");
    if (it.op != Op::store && it.type != object.type)
      reject(program, it, "the result has the element's type");
    if (object.op == Op::buffer) access(object, stores);
    if (is_atomic(it.op)) atomic(object);
  }
  void access(const Instruction& object, bool stores) const {
    const Parameter& p = program.parameters[object.constant];
    if (stores && p.access == Access::read)
      reject(program, it,
             fmt::format("{}: expected a buffer that may be written, got one declared read", p.name));
    if (!stores && p.access == Access::write)
      reject(program, it,
             fmt::format("{}: expected a buffer that may be read, got one declared write", p.name));
  }
  void atomic(const Instruction& object) const {
    if (object.op != Op::buffer && object.op != Op::shared)
      reject(program, it, "expected a buffer or shared memory");
    const bool arithmetic = it.op == Op::atomic_add || it.op == Op::atomic_min || it.op == Op::atomic_max;
    const bool word = is_integer(it.type) && size_of(it.type) >= 4;
    const bool number = it.type == Type::f32 || it.type == Type::f64;
    require(word || (number && arithmetic), "a type of 32 or 64 bits (floats: add, min, max)", it.type);
  }

  void matrix() const;
  MatrixForm form(int k) const {
    if (operand(k).width != 0) reject(program, it, "expected a matrix");
    value(k);
    return MatrixForm::of(operand(k).constant);
  }

  void subgroup() const {
    const bool vote = it.op == Op::subgroup_any || it.op == Op::subgroup_all;
    const bool shuffle = it.op == Op::subgroup_shuffle || it.op == Op::subgroup_shuffle_xor;
    count(shuffle ? 2 : 1);
    scalar(0);
    if (it.op == Op::subgroup_ballot) {
      require(it.type == Type::u32, "a u32 of bits", it.type);
      if (it.constant > 3) reject(program, it, "a ballot has four words");
      return condition(0);
    }
    if (type(0) != it.type) reject(program, it, "the result has the operand's type");
    if (vote) return condition(0);
    if (shuffle) scalar(1), require(type(1) == Type::u32, "a u32 lane", type(1));
    require(size_of(it.type) >= 4, "a type of 32 or 64 bits", it.type);
    if (it.op <= Op::subgroup_exclusive) check_reduction(program, it);
  }
  void reduction(Reduction op, Type t) const {
    if (op == Reduction::min_or_nan || op == Reduction::max_or_nan)
      require(is_float(t), "a float for a reduction that keeps NaN", t);
    if (op >= Reduction::bit_and) require(is_integer(t), "an integer for a bitwise reduction", t);
    require(computes(t), "a number", t);
  }

  // The yield that a `reduced` reads.
  void reduced() const {
    count(1);
    if (operand(0).op != Op::reduce || operand(0).block[0] >= program.blocks.size())
      reject(program, it, "expected a reduce");
    uint64_t which = 0;
    for (Id id : program.blocks[operand(0).block[0]]) {
      if (id >= program.instructions.size() || program[id].op != Op::yield || which++ != it.constant)
        continue;
      return require(program[program[id].operand[0]].type == it.type, "the type of what was yielded",
                     it.type);
    }
    reject(program, it, "the reduce yields no such result");
  }

  void shape() const;
  void arithmetic() const;
  void leaf() const;
  void check() const;
};

// What an instruction is made of, before anything looks at its meaning.
void Checker::shape() const {
  if (it.op >= Op::op_count) reject(program, it, "no such instruction");
  if (it.type > Type::f64) reject(program, it, "no such type");
  const bool may_be_vector = it.op == Op::load || it.op == Op::store || it.op == Op::pack;
  const bool may_be_matrix = it.op == Op::load || it.op == Op::store || it.op == Op::variable;
  const bool is_matrix = is_matrix_op(it.op);
  if (it.width == 0 && (may_be_matrix || is_matrix)) {
    const MatrixForm f = MatrixForm::of(it.constant);
    const bool good = f.rows > 0 && f.columns > 0 && f.role <= MatrixRole::accumulator &&
                      f.layout <= MatrixLayout::column_major &&
                      (f.vector == 1 || f.vector == 2 || f.vector == 4);
    if (!good) reject(program, it, "expected a matrix's rows, columns, role and layout");
  } else if (is_matrix) {
    reject(program, it, "width: expected 0, a matrix");
  } else if (it.width != 1 && !(may_be_vector && (it.width == 2 || it.width == 4)))
    reject(program, it,
           fmt::format("width: expected 1{}, got {}", may_be_vector ? ", 2 or 4" : "", int{it.width}));
  const bool yields_none = it.op == Op::store || (it.op >= Op::if_ && it.op <= Op::reduce) ||
                           it.op == Op::once || it.op == Op::yield || it.op == Op::barrier ||
                           it.op == Op::fence || it.op == Op::matrix_store;
  if (yields_none != (it.type == Type::none))
    reject(program, it, yields_none ? "expected no type: it yields nothing" : "expected a type, got none");
}

void Checker::leaf() const {
  count(0);
  switch (it.op) {
    case Op::constant:
      if (bits_of(it.type) < 64 && it.constant >> bits_of(it.type) != 0)
        reject(program, it, fmt::format("expected the bits of a {}, got more", name_of(it.type)));
      break;
    case Op::argument:
    case Op::buffer: {
      if (it.constant >= program.parameters.size()) reject(program, it, "no such parameter");
      const Parameter& p = program.parameters[it.constant];
      if (p.is_buffer != (it.op == Op::buffer) || p.type != it.type)
        reject(program, it, "differs from its declaration");
      break;
    }
    case Op::team: require(it.type == Type::u32 || it.type == Type::u64, "u32 or u64", it.type); break;
    case Op::array:
    case Op::shared:
      if (it.constant == 0 || it.constant > (1u << 24)) reject(program, it, "length: expected 1 to 2^24");
      break;
    default: break;
  }
}

void Checker::arithmetic() const {
  switch (it.op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
      return same(2), require(computes(it.type), "a number (convert a bf16 to f32 first)", it.type);
    case Op::rem: return same(2), require(is_integer(it.type), "integers", it.type);
    case Op::neg:
    case Op::abs: return same(1), require(computes(it.type), "a number", it.type);
    case Op::fma: return same(3), require(is_float(it.type) && computes(it.type), "f16, f32 or f64", it.type);
    case Op::mul_high:
      return same(2), require(it.type == Type::u32 || it.type == Type::u64, "u32 or u64", it.type);
    case Op::sqrt:
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
    case Op::round_even:
      return same(1), require(is_float(it.type) && computes(it.type), "f16, f32 or f64", it.type);
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
      return same(2), require(is_integer(it.type) || it.type == Type::boolean, "integers or bools", it.type);
    case Op::bit_not:
      return same(1), require(is_integer(it.type) || it.type == Type::boolean, "integers or bools", it.type);
    case Op::shift_left:
    case Op::shift_right: return same(2), require(is_integer(it.type), "integers", it.type);
    case Op::count_ones:
    case Op::leading_zeros:
    case Op::trailing_zeros: return same(1), require(is_integer(it.type), "integers", it.type);
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
      count(2), scalar(0), scalar(1);
      if (type(0) != type(1))
        reject(
            program, it,
            fmt::format("expected operands of one type, got {} and {}", name_of(type(0)), name_of(type(1))));
      require(computes(type(0)) || (type(0) == Type::boolean && it.op <= Op::not_equal), "numbers", type(0));
      return require(it.type == Type::boolean, "a bool result", it.type);
    case Op::select:
      count(3), condition(0), scalar(1), scalar(2);
      if (type(1) != it.type || type(2) != it.type)
        reject(
            program, it,
            fmt::format("expected branches of one type, got {} and {}", name_of(type(1)), name_of(type(2))));
      return;
    case Op::convert:
    case Op::convert_in_range:
      count(1), scalar(0);
      require(type(0) != Type::none && type(0) != Type::bf16, "a number or a bool", type(0));
      return require(it.type != Type::none && it.type != Type::bf16, "a number or a bool", it.type);
    case Op::bitcast:
      count(1), scalar(0);
      if (size_of(type(0)) != size_of(it.type) || type(0) == Type::boolean || it.type == Type::boolean)
        reject(program, it,
               fmt::format("expected types of one size, got {} and {}", name_of(type(0)), name_of(it.type)));
      return;
    case Op::pack:
      if (it.width != 2 && it.width != 4) reject(program, it, "expected 2 or 4 scalars");
      count(it.width);
      for (int k = 0; k < it.width; ++k) {
        scalar(k);
        if (type(k) != it.type) reject(program, it, "expected scalars of one type");
      }
      return;
    case Op::extract:
      count(1);
      value(0);
      if (operand(0).width == 1 || it.constant >= operand(0).width || type(0) != it.type)
        reject(program, it, "expected a part of a vector");
      return;
    default: reject(program, it, "not arithmetic");
  }
}

void Checker::matrix() const {
  const MatrixForm own = MatrixForm::of(it.constant);
  const bool stores = it.op == Op::matrix_store;
  switch (it.op) {
    case Op::matrix_fill:
      count(1), scalar(0);
      return require(type(0) == it.type && (size_of(it.type) >= 4 || it.type == Type::f16),
                     "an f16 or a number of 32 or 64 bits", type(0));
    case Op::matrix_load:
    case Op::matrix_store: {
      count(stores ? 4 : 3);
      const Instruction& object = operand(0);
      if (object.op != Op::buffer && object.op != Op::shared)
        reject(program, it, "expected a buffer or shared memory");
      if (object.op == Op::buffer) access(object, stores);
      index(1), scalar(2), require(type(2) == Type::u32, "a u32 stride", type(2));
      if (stores && !form(3).same_matrix(own)) reject(program, it, "expected the form of the matrix");
      return;
    }
    case Op::matrix_multiply_add: {
      count(3);
      const MatrixForm a = form(0), b = form(1), c = form(2);
      const bool fits = a.role == MatrixRole::a && b.role == MatrixRole::b && c.same_matrix(own) &&
                        own.role == MatrixRole::accumulator && a.rows == own.rows && a.columns == b.rows &&
                        b.columns == own.columns && type(0) == type(1) && type(2) == it.type;
      if (!fits) reject(program, it, "expected a (m x k), b (k x n) and an accumulator (m x n)");
      return;
    }
    default:
      count(1);
      if (!form(0).same_matrix(own)) reject(program, it, "expected a matrix of the same form");
      return require(is_float(type(0)) == is_float(it.type) && it.type != Type::boolean,
                     "floats or integers on both sides", it.type);
  }
}

void Checker::check() const {
  shape();
  if (is_matrix_op(it.op)) return matrix();
  if (it.op <= Op::shared && it.op != Op::index) return leaf();
  if (it.op >= Op::add && it.op <= Op::extract) return arithmetic();
  if (it.op >= Op::load && it.op <= Op::atomic_compare_exchange) return memory();
  if (it.op >= Op::subgroup_reduce && it.op <= Op::subgroup_shuffle_xor) return subgroup();
  switch (it.op) {
    case Op::index:
      return count(0),
             require(is_integer(it.type) && size_of(it.type) >= 4, "a 32- or 64-bit integer", it.type);
    case Op::if_: return count(1), condition(0);
    case Op::for_:
      count(3);
      for (int k = 0; k < 3; ++k) index(k);
      if (type(0) != type(1) || type(1) != type(2))
        reject(program, it, "expected begin, end and step of one type");
      return;
    case Op::each:
    case Op::reduce:
      count(1), scalar(0), require(type(0) == Type::u32, "a u32 count", type(0));
      if (operand(0).op == Op::constant && operand(0).constant > uint64_t{1} << 31)
        reject(program, it, "expected a count of at most 2^31");
      return;
    case Op::reduced: return reduced();
    case Op::yield: return count(1), scalar(0);
    case Op::lane:
    case Op::subgroup_size:
    case Op::subgroup_lane:
    case Op::subgroup_number: return count(0), require(it.type == Type::u32, "u32", it.type);
    case Op::while_:
    case Op::once:
    case Op::barrier:
    case Op::fence: return count(0);
    default: reject(program, it, "unknown instruction");
  }
}

}  // namespace

void check_types(const Program& program, const Instruction& instruction) {
  Checker{program, instruction}.check();
}

void check_reduction(const Program& program, const Instruction& instruction) {
  if (instruction.constant > static_cast<uint64_t>(Reduction::bit_xor))
    reject(program, instruction, "unknown reduction");
  Checker{program, instruction}.reduction(static_cast<Reduction>(instruction.constant),
                                          program[instruction.operand[0]].type);
}

}  // namespace adit::kernel
