#include "compile/stored.hpp"

#include <fmt/format.h>
#include <map>

#include "compile/packing.hpp"
#include "ops/blas.hpp"
#include "source_stamp.hpp"
#include "support/cache.hpp"
#include "support/hash.hpp"
#include "support/log.hpp"
#include "support/threads.hpp"

namespace adit::compile {

using kernel::Program;

namespace {

constexpr const char* folder = "executables";

// --- Programs ---------------------------------------------------------------------------------------------

void pack(Packer& out, const Program& program) {
  out.put(program.name);
  out.put(program.team.kind);
  out.put(program.team.lanes);
  out.put_size(program.parameters.size());
  for (const kernel::Parameter& p : program.parameters) {
    out.put(p.name);
    out.put(p.type);
    out.put(p.is_buffer);
    out.put(p.access);
    out.put(p.offset);
  }
  out.put_size(program.instructions.size());
  for (const kernel::Instruction& it : program.instructions) {
    const bool has_blocks = it.block[0] != kernel::no_id || it.block[1] != kernel::no_id;
    out.put(it.op);
    out.put(it.type);
    out.put(it.width);
    out.put(static_cast<uint8_t>(it.operand_count | (it.constant != 0) << 4 | has_blocks << 5));
    for (size_t i = 0; i < it.operand_count; ++i) out.put(it.operand[i]);
    if (it.constant != 0) out.put(it.constant);
    if (has_blocks)
      for (const uint32_t block : it.block) out.put(block);
  }
  out.put_size(program.blocks.size());
  for (const kernel::Block& block : program.blocks) {
    out.put_size(block.size());
    for (const kernel::Id id : block) out.put(id);
  }
}

kernel::Instruction unpack_instruction(Unpacker& in) {
  kernel::Instruction it;
  it.op = in.get(kernel::Op::matrix_convert);
  it.type = in.get(kernel::Type::f64);
  it.width = in.get<uint8_t>();
  const auto form = in.get<uint8_t>();
  it.operand_count = form & 15;
  if (it.operand_count > it.operand.size()) Unpacker::fail();
  for (size_t i = 0; i < it.operand_count; ++i) it.operand[i] = in.get<uint32_t>();
  if (form & 16) it.constant = in.get<uint64_t>();
  if (form & 32)
    for (uint32_t& block : it.block) block = in.get<uint32_t>();
  return it;
}

Program unpack_program(Unpacker& in) {
  Program program;
  program.name = in.get_text();
  program.team.kind = in.get(kernel::TeamKind::many);
  program.team.lanes = in.get<uint32_t>();
  program.parameters.resize(in.get_size());
  for (kernel::Parameter& p : program.parameters) {
    p.name = in.get_text();
    p.type = in.get(kernel::Type::f64);
    p.is_buffer = in.get_bool();
    p.access = in.get(kernel::Access::read_write);
    p.offset = in.get<uint32_t>();
  }
  program.instructions.resize(in.get_size(4));
  for (kernel::Instruction& it : program.instructions) it = unpack_instruction(in);
  program.blocks.resize(in.get_size());
  for (kernel::Block& block : program.blocks) {
    block.resize(in.get_size(sizeof(kernel::Id)));
    for (kernel::Id& id : block) id = in.get<kernel::Id>();
  }
  return program;
}

// --- Steps ------------------------------------------------------------------------------------------------

enum class Tag : uint8_t { kernel, copy, fill, product };
enum class Source : uint8_t { place, number, constant };

void pack(Packer& out, const Location& place) {
  out.put(place.in);
  out.put(place.index);
  out.put(place.offset);
  out.put(place.bytes);
}

void pack(Packer& out, const ArgumentSource& source) {
  if (const auto* place = std::get_if<Location>(&source)) {
    out.put(Source::place);
    return pack(out, *place);
  }
  if (const auto* constant = std::get_if<ConstantSource>(&source)) {
    out.put(Source::constant);
    out.put(constant->value);
    return out.put(constant->type);
  }
  const auto& number = std::get<NumberSource>(source);
  out.put(Source::number);
  out.put(number.index);
  out.put(number.imaginary);
  out.put(number.type);
}

void pack(Packer& out, const ProductStep& step) {
  out.put(Tag::product);
  out.put(step.type);
  for (const int64_t extent : {step.form.batch, step.form.m, step.form.n, step.form.k}) out.put(extent);
  out.put(step.form.transpose_a);
  out.put(step.form.transpose_b);
  for (const Location& place : {step.a, step.b, step.to}) pack(out, place);
}

void pack(Packer& out, const Step& step, size_t program) {
  out.put(step.name);
  if (const auto* kernel = std::get_if<KernelStep>(&step.work)) {
    out.put(Tag::kernel);
    out.put_size(program);
    out.put(kernel->teams);
    out.put_size(kernel->arguments.size());
    for (const ArgumentSource& source : kernel->arguments) pack(out, source);
  } else if (const auto* copy = std::get_if<CopyStep>(&step.work)) {
    out.put(Tag::copy);
    pack(out, copy->from);
    pack(out, copy->to);
    out.put(copy->bytes);
  } else if (const auto* fill = std::get_if<FillStep>(&step.work)) {
    out.put(Tag::fill);
    pack(out, fill->place);
  } else {
    pack(out, std::get<ProductStep>(step.work));
  }
}

// Reads an executable; every place is held against what there is.
class StepReader {
 public:
  StepReader(Unpacker& in, Device& device, size_t inputs, size_t numbers)
      : in_(in), device_(device), inputs_(inputs), numbers_(numbers) {}

  std::shared_ptr<const Executable> read() {
    auto made = std::make_shared<Executable>();
    if (in_.get_size(0) != inputs_ || in_.get_size(0) != numbers_) Unpacker::fail();
    arena_bytes_ = made->arena_bytes_ = in_.get<uint64_t>();
    made->output_bytes_.resize(in_.get_size(8));
    for (uint64_t& bytes : made->output_bytes_) bytes = in_.get<uint64_t>();
    output_bytes_ = made->output_bytes_;
    made->outputs_.resize(in_.get_size());
    for (Executable::Output& output : made->outputs_) {
      output.is_input = in_.get_bool();
      output.place = location();
      if (output.place.in != (output.is_input ? Location::In::input : Location::In::output)) Unpacker::fail();
    }
    read_kernels();
    const size_t steps = in_.get_size();
    for (size_t i = 0; i < steps; ++i) made->steps_.push_back(step());
    in_.expect_end();
    return made;
  }

 private:
  void read_kernels() {
    std::vector<kernel::Program> programs(in_.get_size());
    for (kernel::Program& program : programs) program = unpack_program(in_);
    kernels_.resize(programs.size());
    parallel(static_cast<unsigned>(std::min<uint64_t>(thread_count(), programs.size())), programs.size(), 1,
             [&](uint64_t begin, uint64_t end) {
               for (uint64_t i = begin; i < end; ++i) kernels_[i] = device_.compile(programs[i]);
             });
  }

  static bool fits_into(uint64_t bytes, const Location& place) {
    return place.offset <= bytes && place.bytes <= bytes - place.offset;
  }

  Location location() {
    Location place;
    place.in = in_.get(Location::In::arena);
    place.index = in_.get<uint32_t>();
    place.offset = in_.get<uint64_t>();
    place.bytes = in_.get<uint64_t>();
    const bool fits = place.in == Location::In::input ? place.index < inputs_
                      : place.in == Location::In::output
                          ? place.index < output_bytes_.size() && fits_into(output_bytes_[place.index], place)
                          : fits_into(arena_bytes_, place);
    if (!fits) Unpacker::fail();
    return place;
  }

  ArgumentSource argument() {
    const Source source = in_.get(Source::constant);
    if (source == Source::place) return location();
    if (source == Source::constant) {
      const auto value = in_.get<uint64_t>();
      return ConstantSource{value, in_.get(kernel::Type::f64)};
    }
    NumberSource number;
    number.index = in_.get<uint32_t>();
    number.imaginary = in_.get_bool();
    number.type = in_.get(kernel::Type::f64);
    if (number.index >= numbers_) Unpacker::fail();
    return number;
  }

  Step step() {
    Step made;
    made.name = in_.get_text();
    switch (in_.get(Tag::product)) {
      case Tag::kernel: made.work = kernel_step(); break;
      case Tag::copy: {
        const Location from = location(), to = location();
        made.work = CopyStep{from, to, in_.get<uint64_t>()};
        break;
      }
      case Tag::fill: made.work = FillStep{location()}; break;
      case Tag::product: made.work = product_step(); break;
    }
    return made;
  }

  KernelStep kernel_step() {
    const size_t which = in_.get_size(0);
    if (which >= kernels_.size()) Unpacker::fail();
    KernelStep made{kernels_[which], in_.get<uint64_t>(), {}};
    const size_t count = in_.get_size();
    const auto& parameters = made.kernel->parameters();
    if (count != parameters.size()) Unpacker::fail();
    for (const kernel::Parameter& p : parameters) {
      made.arguments.push_back(argument());
      if (p.is_buffer != std::holds_alternative<Location>(made.arguments.back())) Unpacker::fail();
    }
    return made;
  }

  ProductStep product_step() {
    ProductStep made;
    made.type = in_.get(DType::c128);
    for (int64_t* extent : {&made.form.batch, &made.form.m, &made.form.n, &made.form.k})
      *extent = in_.get<int64_t>();
    made.form.transpose_a = in_.get_bool();
    made.form.transpose_b = in_.get_bool();
    for (Location* place : {&made.a, &made.b, &made.to}) *place = location();
    const ProductForm& f = made.form;
    check_matrices(f.batch, f.m, f.k, made.type, made.a);
    check_matrices(f.batch, f.k, f.n, made.type, made.b);
    check_matrices(f.batch, f.m, f.n, made.type, made.to);
    return made;
  }

  // A library does not look where a matrix ends.
  static void check_matrices(int64_t batch, int64_t rows, int64_t columns, DType type,
                             const Location& place) {
    uint64_t bytes = size_of(type);
    for (const int64_t extent : {batch, rows, columns})
      if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes))
        Unpacker::fail();
    if (bytes > place.bytes) Unpacker::fail();
  }

  Unpacker& in_;
  Device& device_;
  size_t inputs_, numbers_;
  std::vector<uint64_t> output_bytes_;
  uint64_t arena_bytes_ = 0;
  std::vector<std::shared_ptr<const Kernel>> kernels_;
};

// All that the compiler asks a device. The binding names every member, so that a new one is not forgotten.
std::string device_key(const Device& device) {
  const auto& [trips, buffer, lanes, shared, subgroup, processors, multiprocessors, near, sure, float16,
               float64, int8, int16, int64, storage8, storage16, fma, denormals, arithmetic, shuffle, vote,
               ballot, fixed, atomics64, float_atomics, by_hand, ordered, unified, matrices] =
      device.limits();
  std::string key = fmt::format("{} {} {} {} {} {} {} {} {} {}", device.info().name, device.info().driver,
                                name_of(device.info().kind), ops::has_blas(), trips, buffer, lanes, shared,
                                subgroup, processors) +
                    fmt::format(" {} {} {}", multiprocessors, near, sure);
  for (const bool has :
       {float16, float64, int8, int16, int64, storage8, storage16, fma, denormals, arithmetic, shuffle, vote,
        ballot, fixed, atomics64, float_atomics, by_hand, ordered, unified})
    key += has ? '1' : '0';
  for (const kernel::MatrixShape& m : matrices)
    key += fmt::format(" {}x{}x{}:{}:{}", m.m, m.n, m.k, static_cast<int>(m.operand),
                       static_cast<int>(m.accumulator));
  return key;
}

}  // namespace

std::string stored_name(const Device& device, const Key& key) {
  return fmt::format("{:016x}{:016x}-{}", key[0], key[1], hex_hash(device_key(device) + source_stamp));
}

std::shared_ptr<const Executable> load_stored(Device& device, const std::string& name, size_t inputs,
                                              size_t numbers) {
  const auto bytes = cache::load(folder, name);
  if (!bytes) return nullptr;
  try {
    Unpacker in(*bytes);
    return StepReader(in, device, inputs, numbers).read();
  } catch (const Error& error) {
    log_debug("cache: executable {} does not load ({}); made anew", name, error.what());
    return nullptr;
  }
}

void save_stored(const std::string& name, const Executable& executable, const std::vector<Program>& programs,
                 size_t inputs, size_t numbers) {
  if (!cache::directory()) return;
  for (const Step& step : executable.steps())
    if (std::holds_alternative<HostStep>(step.work)) return;
  Packer out;
  out.put_size(inputs);
  out.put_size(numbers);
  out.put(executable.arena_bytes());
  out.put_size(executable.output_bytes_.size());
  for (const uint64_t bytes : executable.output_bytes_) out.put(bytes);
  out.put_size(executable.outputs_.size());
  for (const Executable::Output& output : executable.outputs_) {
    out.put(output.is_input);
    pack(out, output.place);
  }
  // A kernel that several steps run is written once.
  std::map<const Kernel*, size_t> places;
  std::vector<size_t> first;
  for (size_t i = 0; i < executable.steps().size(); ++i)
    if (const auto* step = std::get_if<KernelStep>(&executable.steps()[i].work))
      if (places.try_emplace(step->kernel.get(), first.size()).second) first.push_back(i);
  out.put_size(first.size());
  for (const size_t i : first) pack(out, programs.at(i));
  out.put_size(executable.steps().size());
  for (const Step& step : executable.steps()) {
    const auto* kernel = std::get_if<KernelStep>(&step.work);
    pack(out, step, kernel ? places.at(kernel->kernel.get()) : 0);
  }
  cache::save(folder, name, out.bytes());
}

}  // namespace adit::compile
