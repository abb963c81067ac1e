// Few rows whose elements lie apart, cut into slices.
#include "compile/row_writer.hpp"

namespace adit::compile {

using kernel::Reduction;
using kernel::Type;

void RowWriter::write(Value team, const Slices& slices) {
  slices_ = slices;
  const Value lane = convert(k_.lane(), index_type()), columns = writer_.number(slices.columns);
  slice_ = lane / columns;
  write(limited(team * columns + lane % columns));
}

Value RowWriter::over_slices(Reduction reduction, Value part) {
  const Type type = part.type();
  const kernel::Array cells = k_.shared(type, slices_.lanes);
  cells[k_.lane()] = part;
  k_.barrier();
  const Value columns = k_.constant(Type::u32, slices_.columns), column = k_.lane() % columns;
  const kernel::Variable total = k_.variable(k_.constant_bits(type, kernel::identity_of(reduction, type)));
  k_.for_(k_.constant(Type::u32, slices_.count()),
          [&](Value i) { total = combine(reduction, total.get(), cells[i * columns + column]); });
  return total.get();
}

std::pair<Index, std::optional<Value>> RowWriter::place_of_slice(Value step) {
  const Value own = slice_ + step * writer_.number(slices_.count()), end = writer_.number(plan_.length);
  if (plan_.length % slices_.count() == 0) return {place_in(group_.full, group_.axes, row_, own), {}};
  return {place_in(group_.full, group_.axes, row_, min(own, end - writer_.number(1))), own < end};
}

std::vector<Value> RowWriter::slice_totals(const Level& level, const std::vector<Reduction>& reductions,
                                           const std::vector<Type>& types) {
  const auto body = [&](Value step) {
    const Writer::Scope scope(writer_);
    std::vector<Value> sums;
    const auto place = place_of_slice(step);
    add_contributions(level, reductions, place.first, sums, place.second);
    return sums;
  };
  std::vector<Value> sums = loop_totals(k_, writer_.number(slice_steps()), reductions, types, body);
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = over_slices(reductions[i], sums[i]);
  return sums;
}

}  // namespace adit::compile
