#include "sample/gathered.hpp"

#include <algorithm>

#include <adit/kernel/builder.hpp>

namespace adit::sampling {

using kernel::Access;
using kernel::Type;
using kernel::Value;

namespace {

kernel::Program gather_program(DType type) {
  kernel::Builder k("gather_states", kernel::Team::one(128));
  const Type real = type == DType::f64 ? Type::f64 : Type::f32;
  const auto from = k.buffer("state", real, Access::read), to = k.buffer("to", real, Access::write);
  const Value first = k.scalar("first", Type::u32), stride = k.scalar("stride", Type::u32),
              offset = k.scalar("offset", Type::u32), count = k.scalar("count", Type::u32);
  const Value i = k.team(), chain = first + i / count;
  to[i] = from[chain * stride + offset + i % count];
  return k.finish();
}

}  // namespace

RawBytes gathered(const std::shared_ptr<Device>& device, const Buffer& state, DType type,
                  const Gathered& what) {
  const auto numbers = static_cast<uint64_t>(what.chains * what.count);
  RawBytes result(numbers * size_of(type));
  if (result.empty()) return result;
  const Buffer to = device->allocate(std::max<uint64_t>(16, result.size()));
  const auto whole = [](int64_t number) { return static_cast<uint32_t>(number); };
  device->run(*device->compile(gather_program(type)), numbers,
              {state, to, whole(what.first), whole(what.stride), whole(what.offset), whole(what.count)});
  device->read(to, result.data(), result.size());
  return result;
}

}  // namespace adit::sampling
