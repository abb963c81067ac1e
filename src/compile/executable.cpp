#include "compile/executable.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "ops/blas.hpp"
#include "ops/narrow_product.hpp"
#include "support/estimate.hpp"

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
    case Location::In::output:
      return place.offset == 0 ? outputs_[place.index]
                               : outputs_[place.index].slice(place.offset, place.bytes);
    case Location::In::arena: return arena_.slice(place.offset, place.bytes);
  }
  return {};
}

Argument Run::argument(const ArgumentSource& source) const {
  if (const auto* place = std::get_if<Location>(&source)) return buffer(*place);
  if (const auto* constant = std::get_if<ConstantSource>(&source))
    return typed(constant->type, {0, 0, static_cast<int64_t>(constant->value)}, false);
  const auto& number = std::get<NumberSource>(source);
  return typed(number.type, numbers_[number.index], number.imaginary);
}

namespace {

// Does one step; `run` knows where its tensors lie.
struct Performer {
  Run& run;
  std::vector<Argument>& arguments;

  void operator()(const KernelStep& step) const {
    arguments.clear();
    for (const ArgumentSource& source : step.arguments) arguments.push_back(run.argument(source));
    run.device().run(*step.kernel, step.teams, arguments);
  }
  void operator()(const CopyStep& step) const {
    if (step.bytes) run.device().copy(run.buffer(step.from), run.buffer(step.to), step.bytes);
  }
  void operator()(const FillStep& step) const {
    if (step.place.bytes) run.device().fill(run.buffer(step.place), 0);
  }
  void operator()(const ProductStep& step) const {
    const ProductForm& form = step.form;
    const auto* left = reinterpret_cast<const std::byte*>(run.buffer(step.a).address());
    const auto* right = reinterpret_cast<const std::byte*>(run.buffer(step.b).address());
    auto* result = reinterpret_cast<std::byte*>(run.buffer(step.to).address());
    const ops::NarrowProduct narrow{form.batch, form.m, form.n, form.k, form.transpose_a, form.transpose_b};
    if (ops::is_narrow(step.type, narrow))
      return ops::multiply_narrow(step.type, narrow, left, right, result);
    const int64_t size = size_of(step.type);
    for (int64_t i = 0; i < form.batch; ++i)
      ops::multiply(step.type, form.transpose_a, form.transpose_b, form.m, form.n, form.k,
                    left + i * form.m * form.k * size, right + i * form.k * form.n * size,
                    result + i * form.m * form.n * size);
  }
  void operator()(const HostStep& step) const { step.work(run); }
};

}  // namespace

void Run::perform(const Step& step) { std::visit(Performer{*this, arguments_}, step.work); }

std::vector<Buffer> Executable::allocate_outputs(Device& device) const {
  std::vector<Buffer> own;
  own.reserve(output_bytes_.size());
  for (const uint64_t bytes : output_bytes_) own.push_back(device.allocate(bytes));
  return own;
}

Buffer Executable::allocate_arena(Device& device) const {
  return arena_bytes_ ? device.allocate(arena_bytes_) : Buffer();
}

double Executable::expected_seconds() const {
  const bool by_host = std::ranges::any_of(
      steps_, [](const Step& step) { return std::holds_alternative<HostStep>(step.work); });
  return by_host ? std::numeric_limits<double>::infinity() : last_seconds_.load(std::memory_order_relaxed);
}

uint64_t Executable::bytes() const {
  constexpr uint64_t of_step = 1024;  // its name, its arguments, what holds them
  std::unordered_set<const Kernel*> kernels;
  uint64_t code = 0;
  for (const Step& step : steps_)
    if (const auto* work = std::get_if<KernelStep>(&step.work);
        work && kernels.insert(work->kernel.get()).second)
      code += work->kernel->bytes();
  return sizeof(Executable) + of_step * (1 + steps_.size()) + std::max(code, code_bytes_);
}

std::vector<Buffer> Executable::run(Device& device, std::span<const Buffer> inputs,
                                    std::span<const graph::Literal> numbers) const {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Buffer> own = allocate_outputs(device);
  const Buffer arena = allocate_arena(device);
  Run run(device, inputs, numbers, own, arena);
  for (const Step& step : steps_) run.perform(step);
  std::vector<Buffer> results;
  for (const Output& output : outputs_)
    results.push_back(output.is_input ? inputs[output.place.index] : own[output.place.index]);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  note(last_seconds_, taken.count());
  return results;
}

}  // namespace adit::compile
