#include "ops/halves.hpp"

namespace adit::ops {

using namespace kernel;

Value half_to_float(Value bits) {
  const Value word = convert(bits, Type::u32), sign = (word & 0x8000) << 16, size = word & 0x7fff;
  const Value tiny =
      bitcast(convert(size, Type::f32) * 0x1p-24f, Type::u32);  // a subnormal half counts 2^-24
  const Value finite = (size << 13) + (112u << 23);
  const Value special = (size << 13) | 0x7f800000u;
  const Value magnitude = select(size < 0x400, tiny, select(size < 0x7c00, finite, special));
  return bitcast(magnitude | sign, Type::f32);
}

Value float_to_half(Value x) {
  const Value word = bitcast(x, Type::u32), sign = (word >> 16) & 0x8000, size = word & 0x7fffffff;
  // Below 2^-14 the sum with 1/2 has a unit of 2^-24 and rounds as the half would.
  const Value half = x.like(0.5f);
  const Value tiny = bitcast(bitcast(size, Type::f32) + half, Type::u32) - bitcast(half, Type::u32);
  const Value normal = ((size + 0xfff + ((size >> 13) & 1)) >> 13) - (112u << 10);
  const Value finite = select(size < 0x38800000, tiny, min(normal, normal.like(0x7c00)));
  const Value magnitude =
      select(size > 0x7f800000, size.like(0x7e00), select(size >= 0x47800000, size.like(0x7c00), finite));
  return convert(magnitude | sign, Type::u16);
}

}  // namespace adit::ops
