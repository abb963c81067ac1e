// {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ..., "__metadata__": {"key": "text"}}
//
// The header is read as a stream of events with one state a level, so that no header, however deep or long,
// costs more than it describes.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/safetensors.hpp"

namespace adit::safetensors {
namespace {

constexpr struct {
  std::string_view name;
  DType type;
  bool boolean;
} types[] = {{"U8", DType::u8, false},     {"U16", DType::u16, false}, {"U32", DType::u32, false},
             {"U64", DType::u64, false},   {"I8", DType::i8, false},   {"I16", DType::i16, false},
             {"I32", DType::i32, false},   {"I64", DType::i64, false}, {"F16", DType::f16, false},
             {"BF16", DType::bf16, false}, {"F32", DType::f32, false}, {"F64", DType::f64, false},
             {"C64", DType::c64, false},   {"BOOL", DType::u8, true}};

constexpr std::string_view metadata_key = "__metadata__";

class HeaderEvents final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderEvents(const Place& place) : place_(place) {}
  Header take() { return std::move(header_); }

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a boolean"); }
  bool number_integer(number_integer_t value) override { unexpected(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { unexpected(in_quotes(text)); }
  bool binary(binary_t&) override { unexpected("bytes"); }
  bool number_unsigned(number_unsigned_t value) override;
  bool string(string_t& text) override;
  bool start_object(size_t) override;
  bool end_object() override;
  bool start_array(size_t) override;
  bool end_array() override;
  bool key(string_t& name) override;
  bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception& error) override {
    place_.fail(fmt::format("header: expected JSON, got at byte {}: {}", at, in_quotes(error.what())));
  }

 private:
  enum class State {
    start,
    top,
    metadata,
    metadata_text,
    tensor,
    type,
    shape,
    shape_list,
    offsets,
    offsets_list,
    done
  };

  [[noreturn]] void unexpected(const std::string& got) const {
    constexpr std::string_view wanted[] = {"an object",
                                           "an object for each name",
                                           "a key",
                                           "a text",
                                           "dtype, shape and data_offsets, each once",
                                           "a type's name",
                                           "a list of dimensions",
                                           "a dimension that 63 bits hold",
                                           "a list of two offsets",
                                           "two offsets",
                                           "the end"};
    place_.fail(fmt::format("header: {}expected {}, got {}", name_.empty() ? "" : in_quotes(name_) + ": ",
                            wanted[static_cast<int>(state_)], got));
  }
  bool choose_field(const std::string& field);
  void finish_tensor();

  const Place& place_;
  Header header_;
  State state_ = State::start;
  std::string name_, metadata_name_;
  Entry entry_;
  std::vector<int64_t> shape_;
  std::vector<uint64_t> offsets_;
  bool has_type_ = false, has_shape_ = false, has_offsets_ = false, has_metadata_ = false;
};

bool HeaderEvents::number_unsigned(number_unsigned_t value) {
  if (state_ == State::shape_list && value <= static_cast<uint64_t>(INT64_MAX) && shape_.size() < 1000)
    shape_.push_back(static_cast<int64_t>(value));
  else if (state_ == State::offsets_list && offsets_.size() < 2)
    offsets_.push_back(value);
  else
    unexpected(std::to_string(value));
  return true;
}

bool HeaderEvents::string(string_t& text) {
  if (state_ == State::metadata_text) {
    if (!header_.metadata.emplace(metadata_name_, text).second)
      unexpected(in_quotes(metadata_name_) + " twice");
    state_ = State::metadata;
    return true;
  }
  if (state_ != State::type) unexpected(in_quotes(text));
  for (const auto& known : types)
    if (text == known.name) {
      entry_.type = known.type;
      entry_.boolean = known.boolean;
      state_ = State::tensor;
      return true;
    }
  place_.fail(
      fmt::format("header: {}: expected a type that tensors have (U8 to F64, BF16, C64, BOOL), got {}",
                  in_quotes(name_), in_quotes(text)));
}

bool HeaderEvents::start_object(size_t) {
  if (state_ == State::start)
    state_ = State::top;
  else if (state_ != State::top || name_.empty())
    unexpected("an object");
  else
    state_ = name_ == metadata_key ? State::metadata : State::tensor;
  return true;
}

bool HeaderEvents::end_object() {
  if (state_ == State::tensor) finish_tensor();
  state_ = state_ == State::top ? State::done : State::top;
  name_.clear();
  return true;
}

bool HeaderEvents::start_array(size_t) {
  if (state_ == State::shape)
    state_ = State::shape_list;
  else if (state_ == State::offsets)
    state_ = State::offsets_list;
  else
    unexpected("a list");
  return true;
}

bool HeaderEvents::end_array() {
  if (state_ == State::offsets_list && offsets_.size() != 2) unexpected(std::to_string(offsets_.size()));
  state_ = State::tensor;
  return true;
}

bool HeaderEvents::key(string_t& name) {
  if (state_ == State::metadata) {
    metadata_name_ = name;
    state_ = State::metadata_text;
    return true;
  }
  if (state_ == State::tensor) return choose_field(name);
  if (name.empty()) unexpected("an empty name");
  if (header_.entries.contains(name) || (name == metadata_key && has_metadata_))
    unexpected(in_quotes(name) + " twice");
  has_metadata_ |= name == metadata_key;
  name_ = name;
  entry_ = {};
  shape_.clear();
  offsets_.clear();
  has_type_ = has_shape_ = has_offsets_ = false;
  return true;
}

bool HeaderEvents::choose_field(const std::string& field) {
  if (field == "dtype" && !std::exchange(has_type_, true))
    state_ = State::type;
  else if (field == "shape" && !std::exchange(has_shape_, true))
    state_ = State::shape;
  else if (field == "data_offsets" && !std::exchange(has_offsets_, true))
    state_ = State::offsets;
  else
    unexpected(in_quotes(field));
  return true;
}

void HeaderEvents::finish_tensor() {
  if (!has_type_ || !has_shape_ || !has_offsets_) unexpected("fewer");
  if (shape_.size() > max_rank)
    place_.fail(fmt::format("header: {}: expected at most {} dimensions, got {}", in_quotes(name_), max_rank,
                            shape_.size()));
  entry_.shape = Shape(shape_);
  entry_.begin = offsets_[0];
  entry_.end = offsets_[1];
  header_.entries.emplace(name_, entry_);
}

}  // namespace

Header read_header(const Place& place, std::string_view json) {
  HeaderEvents events(place);
  nlohmann::json::sax_parse(json.begin(), json.end(), &events);
  return events.take();
}

std::string_view type_name(DType type) {
  for (const auto& known : types)
    if (known.type == type && !known.boolean) return known.name;
  return "";
}

}  // namespace adit::safetensors
