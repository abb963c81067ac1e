#include "ops/cases.hpp"

#include <fmt/format.h>
#include <fstream>

namespace adit::test {
namespace {

Shape shape_of(const ops::Json& entry) { return Shape(entry.at("shape").get<std::vector<int64_t>>()); }
DType type_of(const ops::Json& entry) { return dtype_named(entry.at("type").get<std::string>()); }

}  // namespace

std::vector<std::byte> Case::read(uint64_t at, uint64_t bytes) const {
  std::vector<std::byte> content(bytes);
  std::ifstream file(*folder_ + "/data.bin", std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  file.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(bytes));
  if (!file) throw Error(ErrorKind::io, "[cases] data.bin is too short");
  return content;
}

std::vector<double> Case::read_doubles(uint64_t at, uint64_t count) const {
  const std::vector<std::byte> bytes = read(at, count * 8);
  std::vector<double> numbers(count);
  if (count) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

std::vector<Stored> Case::inputs() const {
  std::vector<Stored> list;
  for (const ops::Json& entry : entry_.at("inputs")) {
    Stored stored{type_of(entry), shape_of(entry), {}};
    const auto bytes = static_cast<uint64_t>(element_count(stored.shape)) * size_of(stored.type);
    stored.bytes = read(entry.at("at").get<uint64_t>(), bytes);
    list.push_back(std::move(stored));
  }
  return list;
}

std::vector<DType> Case::input_types() const {
  std::vector<DType> types;
  for (const ops::Json& entry : entry_.at("inputs")) types.push_back(type_of(entry));
  return types;
}

Expected Case::expected() const {
  const ops::Json& entry = entry_.at("output");
  Expected expected;
  expected.type = type_of(entry);
  expected.shape = shape_of(entry);
  expected.ulp = entry.value("ulp", -1.0);
  expected.zero_signs = entry.value("zero_signs", true);
  const auto count = static_cast<uint64_t>(element_count(expected.shape));
  const uint64_t parts = count * (is_complex(expected.type) ? 2 : 1);
  if (entry.contains("at"))
    expected.bytes = read(entry.at("at").get<uint64_t>(), count * size_of(expected.type));
  else
    expected.high = read_doubles(entry.at("high").get<uint64_t>(), parts);
  if (entry.contains("low")) expected.low = read_doubles(entry.at("low").get<uint64_t>(), parts);
  if (entry.contains("slack")) expected.slack = read_doubles(entry.at("slack").get<uint64_t>(), count);
  return expected;
}

std::string Case::describe() const {
  std::string text = op() + "(";
  for (const ops::Json& entry : entry_.at("inputs"))
    text +=
        (text.back() == '(' ? "" : ", ") + entry.at("type").get<std::string>() + to_string(shape_of(entry));
  return text + ") " + attributes().dump();
}

const std::vector<Case>& all_cases() {
  static const std::string folder = ADIT_OP_CASES_FOLDER;
  static const std::vector<Case> cases = [] {
    std::ifstream file(folder + "/index.json");
    if (!file) throw Error(ErrorKind::io, "[cases] no index in " + folder + ": build the target op_cases");
    std::vector<Case> list;
    ops::Json index = ops::Json::parse(file);
    for (ops::Json& entry : index.at("cases")) list.emplace_back(folder, std::move(entry));
    return list;
  }();
  return cases;
}

}  // namespace adit::test
