// Names and properties of the instructions.
#include <algorithm>

#include <adit/kernel/program.hpp>

namespace adit::kernel {

std::string_view name_of(Op op) {
  static constexpr std::string_view names[] = {"constant",
                                               "argument",
                                               "team",
                                               "index",
                                               "buffer",
                                               "variable",
                                               "array",
                                               "shared",
                                               "add",
                                               "sub",
                                               "mul",
                                               "div",
                                               "rem",
                                               "neg",
                                               "abs",
                                               "fma",
                                               "mul_high",
                                               "sqrt",
                                               "floor",
                                               "ceil",
                                               "trunc",
                                               "round_even",
                                               "bit_and",
                                               "bit_or",
                                               "bit_xor",
                                               "bit_not",
                                               "shift_left",
                                               "shift_right",
                                               "count_ones",
                                               "leading_zeros",
                                               "trailing_zeros",
                                               "equal",
                                               "not_equal",
                                               "less",
                                               "less_equal",
                                               "select",
                                               "convert",
                                               "convert_in_range",
                                               "bitcast",
                                               "pack",
                                               "extract",
                                               "load",
                                               "store",
                                               "atomic_add",
                                               "atomic_min",
                                               "atomic_max",
                                               "atomic_and",
                                               "atomic_or",
                                               "atomic_xor",
                                               "atomic_exchange",
                                               "atomic_compare_exchange",
                                               "if",
                                               "for",
                                               "while",
                                               "each",
                                               "reduce",
                                               "reduced",
                                               "once",
                                               "yield",
                                               "lane",
                                               "barrier",
                                               "fence",
                                               "subgroup_size",
                                               "subgroup_lane",
                                               "subgroup_reduce",
                                               "subgroup_inclusive",
                                               "subgroup_exclusive",
                                               "subgroup_any",
                                               "subgroup_all",
                                               "subgroup_ballot",
                                               "subgroup_first",
                                               "subgroup_shuffle",
                                               "subgroup_shuffle_xor",
                                               "subgroup_number",
                                               "matrix_fill",
                                               "matrix_load",
                                               "matrix_store",
                                               "matrix_multiply_add",
                                               "matrix_convert"};
  static_assert(std::size(names) == static_cast<size_t>(Op::op_count));
  return op < Op::op_count ? names[static_cast<size_t>(op)] : "unknown";
}

std::string_view name_of(Reduction reduction) {
  static constexpr std::string_view names[] = {"add",        "mul",     "min",    "max",    "min_or_nan",
                                               "max_or_nan", "bit_and", "bit_or", "bit_xor"};
  const auto which = static_cast<size_t>(reduction);
  return which < std::size(names) ? names[which] : "unknown";
}

bool is_memory_object(Op op) { return op >= Op::buffer && op <= Op::shared; }
bool is_atomic(Op op) { return op >= Op::atomic_add && op <= Op::atomic_compare_exchange; }

uint64_t identity_of(Reduction reduction, Type type) {
  const uint32_t width = bits_of(type);
  const uint64_t ones = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1,
                 top = uint64_t{1} << (width - 1);
  const uint64_t infinity = type == Type::f64 ? 0x7ff0000000000000 : type == Type::f32 ? 0x7f800000 : 0x7c00;
  const uint64_t one = type == Type::f64 ? 0x3ff0000000000000 : type == Type::f32 ? 0x3f800000 : 0x3c00;
  switch (reduction) {
    case Reduction::mul: return is_float(type) ? one : 1;
    case Reduction::min:
    case Reduction::min_or_nan: return is_float(type) ? infinity : is_signed_integer(type) ? top - 1 : ones;
    case Reduction::max:
    case Reduction::max_or_nan: return is_float(type) ? infinity | top : is_signed_integer(type) ? top : 0;
    case Reduction::bit_and: return ones;
    default: return 0;
  }
}

uint32_t Program::argument_bytes() const {
  uint32_t end = argument_header_bytes;
  for (const Parameter& p : parameters) end = std::max(end, p.offset + (p.is_buffer ? 8 : size_of(p.type)));
  return (end + 7) / 8 * 8;
}

uint32_t Program::shared_bytes() const {
  uint64_t bytes = 0;
  for (const Instruction& i : instructions)
    if (i.op == Op::shared) bytes += i.constant * size_of(i.type);
  return static_cast<uint32_t>(std::min<uint64_t>(bytes, ~uint32_t{0}));
}

bool uses_matrices(const Program& program) {
  return std::any_of(program.instructions.begin(), program.instructions.end(),
                     [](const Instruction& i) { return is_matrix_op(i.op); });
}

bool uses_lanes(const Program& program) {
  const bool many = program.team.kind == TeamKind::many;
  return std::any_of(program.instructions.begin(), program.instructions.end(), [&](const Instruction& i) {
    return i.op == Op::lane || i.op == Op::barrier || (many && i.op >= Op::subgroup_size);
  });
}

}  // namespace adit::kernel
