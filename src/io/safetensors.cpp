#include "io/safetensors.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <adit/io.hpp>

namespace adit::safetensors {
namespace {

constexpr uint64_t longest_header = 100'000'000;  // as the format's own library has it

// Tensors must tile the data: nothing shared, nothing left over.
void check_ranges(const Place& place, const Header& header, uint64_t data_bytes) {
  using Item = std::pair<const std::string, Entry>;
  std::vector<const Item*> order;
  for (const Item& item : header.entries) order.push_back(&item);
  std::sort(order.begin(), order.end(), [](const Item* a, const Item* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  uint64_t at = 0;
  for (const Item* item : order) {
    const Entry& entry = item->second;
    const auto bytes = checked_bytes(entry.type, {entry.shape.begin(), entry.shape.end()});
    const auto expected = [&](const std::string& wanted) {
      place.fail(fmt::format("{}: expected {}, got [{}, {}] for shape {} of {} in {} bytes",
                             in_quotes(item->first), wanted, entry.begin, entry.end, to_string(entry.shape),
                             name_of(entry.type), data_bytes));
    };
    if (!bytes) expected("a size that memory can hold");
    if (entry.begin > entry.end || entry.end > data_bytes) expected("offsets inside the data");
    if (entry.end - entry.begin != bytes) expected(fmt::format("offsets {} bytes apart", *bytes));
    if (entry.begin != at) expected(fmt::format("data from byte {} on (no gaps, nothing shared)", at));
    at = entry.end;
  }
  if (at != data_bytes) place.fail(fmt::format("expected {} bytes of data, got {}", at, data_bytes));
}

// The widest elements first, so that all are aligned; then by name.
std::vector<std::pair<std::string, const HostArray*>> file_order(
    const std::map<std::string, HostArray>& arrays) {
  std::vector<std::pair<std::string, const HostArray*>> order;
  for (const auto& [name, array] : arrays) order.emplace_back(name, &array);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return size_of(a.second->type) > size_of(b.second->type);
  });
  return order;
}

}  // namespace

std::map<std::string, HostArray> decode(const Place& place, ByteSpan bytes, Texts* metadata) {
  if (bytes.size() < 8) place.fail(fmt::format("expected 8 bytes of header length, got {}", bytes.size()));
  const uint64_t length = read_number<uint64_t>(bytes, 0);
  if (length > longest_header)
    place.fail(fmt::format("header length: expected at most {}, got {}", longest_header, length));
  if (length > bytes.size() - 8)
    place.fail(fmt::format("header: expected {} bytes, got {}", length, bytes.size() - 8));
  const std::string_view json(reinterpret_cast<const char*>(bytes.data()) + 8, length);
  if (!json.starts_with('{'))
    place.fail(fmt::format("header: expected '{{', got {}", in_quotes(json.substr(0, 8))));
  Header header = read_header(place, json);
  const ByteSpan data = bytes.subspan(8 + length);
  check_ranges(place, header, data.size());
  std::map<std::string, HostArray> arrays;
  for (const auto& [name, entry] : header.entries) {
    HostArray array = host_array(entry.type, entry.shape, data.subspan(entry.begin, entry.end - entry.begin),
                                 std::endian::little);
    if (entry.boolean)
      for (std::byte& value : array.bytes) value = static_cast<std::byte>(value != std::byte{0});
    arrays.emplace(name, std::move(array));
  }
  if (metadata) *metadata = std::move(header.metadata);
  return arrays;
}

Bytes encode(const Place& place, const std::map<std::string, HostArray>& arrays, const Texts& metadata) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::bad_argument, fmt::format("[{}] {}", place.function, what));
  };
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t offset = 0;
  const auto order = file_order(arrays);
  for (const auto& [name, array] : order) {
    if (name.empty() || name == "__metadata__")
      refuse(fmt::format("name: expected one that the format does not reserve, got {}", in_quotes(name)));
    const std::string_view type = type_name(array->type);
    if (type.empty())
      refuse(fmt::format("{}: expected a type of the format, got {}", in_quotes(name), name_of(array->type)));
    header[name] = {{"dtype", type},
                    {"shape", std::vector<int64_t>(array->shape.begin(), array->shape.end())},
                    {"data_offsets", {offset, offset + array->bytes.size()}}};
    offset += array->bytes.size();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    refuse("names and metadata: expected UTF-8, got other bytes");
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > longest_header)
    refuse(fmt::format("names and metadata: expected at most {} bytes, got {}", longest_header, text.size()));
  Bytes bytes;
  bytes.reserve(8 + text.size() + offset);
  append_number<uint64_t>(bytes, text.size());
  append_text(bytes, text);
  for (const auto& [name, array] : order) append_elements(bytes, *array);
  return bytes;
}

}  // namespace adit::safetensors

namespace adit {
namespace {

TensorMap decode_tensors(const Place& place, ByteSpan bytes, Metadata* metadata,
                         const std::shared_ptr<Device>& device) {
  TensorMap tensors;
  for (const auto& [name, array] : safetensors::decode(place, bytes, metadata))
    tensors.emplace(name, from_bytes(array.type, array.shape, array.bytes, device));
  return tensors;
}

Bytes encode_tensors(const Place& place, const TensorMap& tensors, const Metadata& metadata) {
  std::map<std::string, HostArray> arrays;
  for (const auto& [name, tensor] : tensors)
    arrays.emplace(name, HostArray{tensor.dtype(), tensor.shape(), tensor.to_bytes()});
  return safetensors::encode(place, arrays, metadata);
}

}  // namespace

TensorMap load_safetensors(const std::filesystem::path& path, Metadata* metadata,
                           std::shared_ptr<Device> device) {
  const Place place{"load_safetensors", path.string()};
  return decode_tensors(place, read_file(place, path), metadata, device);
}

TensorMap load_safetensors(std::istream& in, Metadata* metadata, std::shared_ptr<Device> device) {
  const Place place{"load_safetensors", "stream"};
  return decode_tensors(place, read_stream(place, in), metadata, device);
}

TensorMap decode_safetensors(std::span<const std::byte> bytes, Metadata* metadata,
                             std::shared_ptr<Device> device) {
  return decode_tensors({"decode_safetensors", "bytes"}, bytes, metadata, device);
}

void save_safetensors(const std::filesystem::path& path, const TensorMap& tensors, const Metadata& metadata) {
  const Place place{"save_safetensors", path.string()};
  write_file(place, path, encode_tensors(place, tensors, metadata));
}

void save_safetensors(std::ostream& out, const TensorMap& tensors, const Metadata& metadata) {
  const Place place{"save_safetensors", "stream"};
  write_stream(place, out, encode_tensors(place, tensors, metadata));
}

std::vector<std::byte> encode_safetensors(const TensorMap& tensors, const Metadata& metadata) {
  return encode_tensors({"encode_safetensors", "bytes"}, tensors, metadata);
}

}  // namespace adit
