#include "door/call.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <map>

#include <adit/ops.hpp>

namespace adit::door {

namespace {

constexpr size_t most_attributes = 64;  // the bits of `used_`

}  // namespace

Call::Call(std::string_view name, Tensors tensors, std::span<const adit_attribute> attributes)
    : name_(name), tensors_(std::move(tensors)), attributes_(attributes) {
  if (attributes.size() > most_attributes)
    fail(name, "attributes", fmt::format("expected at most {}, got {}", most_attributes, attributes.size()));
  for (size_t i = 0; i < attributes.size(); ++i)
    if (!attributes[i].name) fail(name, fmt::format("attribute {}", i), "expected a name, got NULL");
}

const adit_attribute* Call::find(const char* attribute) const {
  for (size_t i = 0; i < attributes_.size(); ++i)
    if (std::strcmp(attributes_[i].name, attribute) == 0) {
      used_ |= uint64_t{1} << i;
      return &attributes_[i];
    }
  return nullptr;
}

const adit_attribute* Call::expected(const char* attribute) const {
  const adit_attribute* it = find(attribute);
  if (!it) fail(name_, attribute, "expected it, got none");
  return it;
}

void Call::wrong(const adit_attribute& it, std::string_view what) const {
  constexpr const char* kinds[] = {"an integer", "a real number", "integers",  "real numbers",
                                   "text",       "a dtype",       "a function"};
  const auto kind = static_cast<size_t>(it.kind);
  fail(name_, it.name,
       fmt::format("expected {}, got {}", what, kind < std::size(kinds) ? kinds[kind] : "an unknown kind"));
}

bool Call::has(const char* attribute) const { return find(attribute) != nullptr; }

int64_t Call::integer(const char* attribute) const {
  const adit_attribute& it = *expected(attribute);
  if (it.kind != ADIT_INTEGER) wrong(it, "an integer");
  return it.integer;
}
int64_t Call::integer(const char* attribute, int64_t otherwise) const {
  return find(attribute) ? integer(attribute) : otherwise;
}

int Call::axis(const char* attribute, int otherwise) const {
  const int64_t number = integer(attribute, otherwise);
  if (number < -max_rank || number > max_rank)
    fail(name_, attribute, fmt::format("expected an axis, got {}", number));
  return static_cast<int>(number);
}

int Call::small(const char* attribute, int otherwise) const {
  const int64_t number = integer(attribute, otherwise);
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max())
    fail(name_, attribute, fmt::format("expected a number of 32 bits, got {}", number));
  return static_cast<int>(number);
}

bool Call::flag(const char* attribute, bool otherwise) const {
  return integer(attribute, otherwise ? 1 : 0) != 0;
}

double Call::real(const char* attribute) const {
  const adit_attribute& it = *expected(attribute);
  if (it.kind == ADIT_INTEGER) return static_cast<double>(it.integer);
  if (it.kind != ADIT_REAL) wrong(it, "a number");
  return it.real;
}
double Call::real(const char* attribute, double otherwise) const {
  return find(attribute) ? real(attribute) : otherwise;
}

Dims Call::dims(const char* attribute) const {
  const adit_attribute& it = *expected(attribute);
  if (it.kind != ADIT_INTEGERS) wrong(it, "a list of integers");
  return dims_of(name_, attribute, it.integers, it.count);
}
Dims Call::dims(const char* attribute, const Dims& otherwise) const {
  return find(attribute) ? dims(attribute) : otherwise;
}

DType Call::dtype(const char* attribute) const {
  const adit_attribute& it = *expected(attribute);
  if (it.kind == ADIT_TEXT && it.text) return dtype_named(it.text);
  if (it.kind != ADIT_DTYPE) wrong(it, "a dtype");
  return dtype_of(name_, attribute, it.integer);
}
DType Call::dtype(const char* attribute, DType otherwise) const {
  return find(attribute) ? dtype(attribute) : otherwise;
}

std::string Call::text(const char* attribute, const char* otherwise) const {
  const adit_attribute* it = find(attribute);
  if (!it) return otherwise;
  if (it->kind != ADIT_TEXT || !it->text) wrong(*it, "text");
  return it->text;
}

const adit_function& Call::function(const char* attribute) const {
  const adit_attribute& it = *expected(attribute);
  if (it.kind != ADIT_FUNCTION || !it.function) wrong(it, "a function");
  return *it.function;
}

void Call::expect_all_used(std::string_view known) const {
  for (size_t i = 0; i < attributes_.size(); ++i)
    if (!(used_ >> i & 1))
      fail(name_, attributes_[i].name,
           fmt::format("expected one of its attributes ({}), got one it does not have",
                       known.empty() ? "cast, as, into" : fmt::format("{}; cast, as, into", known)));
}

namespace {

const std::vector<Operation>& operations() {
  static const std::vector<Operation>& all = *new std::vector<Operation>([] {
    std::vector<Operation> list;
    for (const auto& part :
         {elementwise_operations(), shape_operations(), reduction_operations(), linear_operations(),
          window_operations(), random_operations(), function_operations()})
      list.insert(list.end(), part.begin(), part.end());
    std::ranges::sort(list, {}, [](const Operation& it) -> std::string_view { return it.description.name; });
    return list;
  }());
  return all;
}

const Operation& operation_named(std::string_view name) {
  const auto& all = operations();
  const auto it = std::ranges::lower_bound(
      all, name, {}, [](const Operation& o) -> std::string_view { return o.description.name; });
  if (it == all.end() || it->description.name != name)
    throw Error(ErrorKind::not_found, fmt::format("[call] operation: there is none named '{}'", name));
  return *it;
}

void check_count(const Operation& operation, size_t count) {
  const auto got = static_cast<int64_t>(count);
  if (got >= operation.least && (operation.most < 0 || got <= operation.most)) return;
  fail(operation.description.name, "tensors",
       fmt::format("expected {} ({}), got {}",
                   operation.most < 0 ? fmt::format("at least {}", operation.least)
                   : operation.most == operation.least
                       ? fmt::format("{}", operation.least)
                       : fmt::format("{} to {}", operation.least, operation.most),
                   operation.description.tensors, count));
}

Tensors made(const char* name, Tensors tensors, std::span<const adit_attribute> attributes) {
  const Operation& operation = operation_named(name);
  check_count(operation, tensors.size());
  const Call first(operation.description.name, {}, attributes);
  if (first.has("cast")) {
    const DType type = first.dtype("cast");
    for (Tensor& x : tensors) x = as_type(x, type);
  }
  const Call call(operation.description.name, std::move(tensors), attributes);
  Tensors results = operation.make(call);
  if (call.has("cast")) call.dtype("cast");
  if (call.has("as")) {
    const DType type = call.dtype("as");
    for (Tensor& x : results)
      if (x.dtype() != type) x = as_type(x, type);
  }
  if (call.has("into")) {
    const Shape shape = call.dims("into");
    for (Tensor& x : results)
      if (!(x.shape() == shape)) x = reshape(x, shape);
  }
  call.expect_all_used(operation.description.attributes);
  return results;
}

}  // namespace

}  // namespace adit::door

using namespace adit;

adit_status adit_call(const char* operation, size_t count, const adit_tensor* const* tensors,
                      size_t attribute_count, const adit_attribute* attributes, size_t capacity,
                      adit_tensor** results, size_t* result_count, adit_error** error) {
  return door::guarded(error, [&] {
    const char* name = &door::expect("call", "operation", operation);
    const Tensors list = door::made(name, door::tensors_of(name, "tensors", tensors, count),
                                    door::expect_list(name, "attributes", attributes, attribute_count));
    if (result_count) *result_count = list.size();
    if (list.size() > capacity)
      door::fail(name, "capacity", fmt::format("expected at least {}, got {}", list.size(), capacity));
    door::give(list, door::expect_list(name, "results", results, list.size()).data());
  });
}

size_t adit_operation_count(void) { return door::operations().size(); }
const adit_operation* adit_operation_at(size_t i) {
  const auto& all = door::operations();
  return i < all.size() ? &all[i].description : nullptr;
}
