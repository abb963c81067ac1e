// The readable listing and the content hash.
#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include <adit/kernel/program.hpp>

#include "support/hash.hpp"

namespace adit::kernel {

namespace {

std::string constant_text(const Instruction& it) {
  switch (it.type) {
    case Type::f32: return fmt::format("{}", std::bit_cast<float>(static_cast<uint32_t>(it.constant)));
    case Type::f64: return fmt::format("{}", std::bit_cast<double>(it.constant));
    case Type::i8:
    case Type::i16:
    case Type::i32:
    case Type::i64: {
      const int shift = 64 - static_cast<int>(bits_of(it.type));
      return fmt::format("{}", static_cast<int64_t>(it.constant << shift) >> shift);
    }
    case Type::boolean: return it.constant ? "true" : "false";
    case Type::f16:
    case Type::bf16: return fmt::format("{:#x}", it.constant);
    default: return fmt::format("{}", it.constant);
  }
}

std::string width_text(const Instruction& it) {
  if (it.width == 1) return "";
  if (it.width > 1) return fmt::format("x{}", it.width);
  static constexpr std::string_view roles[] = {"a", "b", "accumulator"};
  const MatrixForm form = MatrixForm::of(it.constant);
  return fmt::format(" {}x{} {}", form.rows, form.columns, roles[std::min(static_cast<int>(form.role), 2)]);
}

class Dumper {
 public:
  explicit Dumper(const Program& program) : program_(program), shown_(program.blocks.size()) {}

  std::string run() {
    line(fmt::format("kernel {} ({} {})", program_.name,
                     program_.team.kind == TeamKind::one ? "team of one, workgroup" : "team of",
                     program_.team.lanes));
    for (const Parameter& p : program_.parameters) {
      static constexpr std::string_view access[] = {"read", "write", "read_write"};
      line(p.is_buffer ? fmt::format("  buffer {} : {} {}", p.name, name_of(p.type),
                                     access[std::min(static_cast<int>(p.access), 2)])
                       : fmt::format("  scalar {} : {}", p.name, name_of(p.type)));
    }
    block(0, 1);
    return std::move(text_);
  }

 private:
  void line(const std::string& s) { text_ += s + "\n"; }

  // Also of a program that verify() would reject: each block once, and nothing that is not there.
  void block(uint32_t number, int depth) {
    if (number >= program_.blocks.size() || shown_[number])
      return line("  (a block is missing or used twice)");
    shown_[number] = true;
    for (Id id : program_.blocks[number]) instruction(id, depth);
  }

  void instruction(Id id, int depth) {
    if (id >= program_.instructions.size()) return line("  (an instruction is missing)");
    const Instruction& it = program_[id];
    const std::string indent(static_cast<size_t>(depth) * 2, ' ');
    std::string s = indent;
    if (it.type != Type::none && it.op != Op::store)
      s += fmt::format("%{}: {}{} = ", id, name_of(it.type), width_text(it));
    else if (it.op == Op::reduce)
      s += fmt::format("%{} = ", id);
    s += name_of(it.op);
    for (size_t k = 0; k < std::min<size_t>(it.operand_count, 4); ++k)
      s += fmt::format("{} %{}", k ? "," : "", it.operand[k]);
    s += detail(it);
    line(s);
    for (int k = 0; k < 2; ++k) {
      if (it.block[k] == no_id) continue;
      if (k == 1) line(indent + (it.op == Op::if_ ? "else" : "do"));
      block(it.block[k], depth + 1);
    }
  }

  std::string detail(const Instruction& it) const {
    switch (it.op) {
      case Op::constant: return " " + constant_text(it);
      case Op::argument:
      case Op::buffer:
        return it.constant < program_.parameters.size() ? " " + program_.parameters[it.constant].name : " ?";
      case Op::array:
      case Op::shared: return fmt::format("[{}]", it.constant);
      case Op::extract:
      case Op::subgroup_ballot:
      case Op::reduced: return fmt::format(" [{}]", it.constant);
      case Op::yield:
      case Op::subgroup_reduce:
      case Op::subgroup_inclusive:
      case Op::subgroup_exclusive: return fmt::format(" ({})", name_of(static_cast<Reduction>(it.constant)));
      case Op::matrix_load:
      case Op::matrix_store: {
        const MatrixForm form = MatrixForm::of(it.constant);
        return fmt::format(" ({}, vectors of {})",
                           form.layout == MatrixLayout::row_major ? "row major" : "column major",
                           form.vector);
      }
      default: return "";
    }
  }

  const Program& program_;
  std::string text_;
  std::vector<bool> shown_;  // by block
};

}  // namespace

std::string dump(const Program& program) { return Dumper(program).run(); }

std::string content_hash(const Program& program) {
  std::string bytes;
  const auto put = [&](uint64_t v) { bytes.append(reinterpret_cast<const char*>(&v), sizeof v); };
  const auto put_text = [&](const std::string& text) { put(text.size()), bytes += text; };
  put_text(program.name);
  put(static_cast<uint64_t>(program.team.kind));
  put(program.team.lanes);
  put(program.parameters.size());
  for (const Parameter& p : program.parameters) {
    put_text(p.name);
    put(static_cast<uint64_t>(p.type) | uint64_t{p.is_buffer} << 8 | static_cast<uint64_t>(p.access) << 16);
    put(p.offset);
  }
  put(program.instructions.size());
  for (const Instruction& i : program.instructions) {
    put(static_cast<uint64_t>(i.op) | static_cast<uint64_t>(i.type) << 8 | uint64_t{i.width} << 16 |
        uint64_t{i.operand_count} << 24);
    for (Id id : i.operand) put(id);
    put(i.constant);
    put(i.block[0] | uint64_t{i.block[1]} << 32);
  }
  for (const Block& block : program.blocks) {
    put(block.size());
    for (Id id : block) put(id);
  }
  return hex_hash(bytes);
}

}  // namespace adit::kernel
