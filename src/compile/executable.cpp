#include "compile/executable.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace adit::compile {

namespace {

Argument typed(kernel::Type type, const graph::Literal& number, bool imaginary) {
  using kernel::Type;
  const double real = imaginary ? number.imag : number.real;
  switch (type) {
    case Type::f32: return static_cast<float>(real);
    case Type::f64: return real;
    case Type::u8: return static_cast<uint8_t>(number.integer);
    case Type::u16: return static_cast<uint16_t>(number.integer);
    case Type::u32: return static_cast<uint32_t>(number.integer);
    case Type::u64: return static_cast<uint64_t>(number.integer);
    case Type::i8: return static_cast<int8_t>(number.integer);
    case Type::i16: return static_cast<int16_t>(number.integer);
    case Type::i32: return static_cast<int32_t>(number.integer);
    case Type::i64: return number.integer;
    default: throw Error(ErrorKind::internal, "[run] number: expected a type that kernels take");
  }
}

}  // namespace

Buffer Run::buffer(const Location& place) const {
  switch (place.in) {
    case Location::In::input: return inputs_[place.index];
    case Location::In::output: return outputs_[place.index];
    case Location::In::arena: return arena_.slice(place.offset, place.bytes);
  }
  return {};
}

Argument Run::argument(const ArgumentSource& source) const {
  if (const auto* place = std::get_if<Location>(&source)) return buffer(*place);
  const auto& number = std::get<NumberSource>(source);
  return typed(number.type, numbers_[number.index], number.imaginary);
}

std::vector<Buffer> Executable::run(Device& device, std::span<const Buffer> inputs,
                                    std::span<const graph::Literal> numbers) const {
  std::vector<Buffer> own;
  own.reserve(output_bytes_.size());
  for (const uint64_t bytes : output_bytes_) own.push_back(device.allocate(bytes));
  const Buffer arena = arena_bytes_ ? device.allocate(arena_bytes_) : Buffer();
  Run run(device, inputs, numbers, own, arena);
  std::vector<Argument> arguments;
  for (const Step& step : steps_) {
    if (const auto* kernel = std::get_if<KernelStep>(&step.work)) {
      arguments.clear();
      for (const ArgumentSource& source : kernel->arguments) arguments.push_back(run.argument(source));
      device.run(*kernel->kernel, kernel->teams, arguments);
    } else {
      std::get<HostStep>(step.work).work(run);
    }
  }
  std::vector<Buffer> results;
  for (const Output& output : outputs_)
    results.push_back(output.is_input ? inputs[output.place.index] : own[output.place.index]);
  return results;
}

std::string Executable::explain() const {
  std::string text = listing_;
  text += fmt::format("{} kernels, {} bytes of scratch memory\n", steps_.size(), arena_bytes_);
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const auto* kernel = std::get_if<KernelStep>(&step.work);
    text += fmt::format("{:3} {:<60} {:>12} teams {:>14} bytes\n", i, step.name, kernel ? kernel->teams : 0, step.bytes);
  }
  return text;
}

}  // namespace adit::compile
