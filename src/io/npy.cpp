// .npy: "\x93NUMPY", two bytes of version, the header's length (2 bytes in version 1, else 4), the header (a
// Python dict as text, padded with spaces), then the elements.
#include "io/npy.hpp"

#include <fmt/format.h>
#include <string_view>
#include <utility>

#include <adit/io.hpp>

namespace adit::npy {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;
};

// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } with its keys in any order.
class HeaderReader {
 public:
  HeaderReader(const Place& place, std::string_view text) : place_(place), text_(text) {}

  Header read() {
    Header header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = read_string("a key");
      expect(':');
      if (key == "descr" && !std::exchange(descr, true))
        header.descr = read_descr();
      else if (key == "fortran_order" && !std::exchange(order, true))
        header.fortran = read_bool();
      else if (key == "shape" && !std::exchange(shape, true))
        header.shape = read_shape();
      else
        fail("the keys descr, fortran_order and shape, each once");
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size() || !descr || !order || !shape)
      fail("the keys descr, fortran_order and shape, each once");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& wanted) const {
    place_.fail(fmt::format("header: expected {} at character {}, got {}", wanted, at_,
                            in_quotes(text_.substr(at_))));
  }
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      at_++;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    at_++;
    return true;
  }
  bool take_word(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("'{}'", c));
  }
  std::string read_string(const char* what) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail(what);
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("the end of a string");
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }
  std::string read_descr() {
    if (peek() == '[') fail("one number an element (structured types have no tensor)");
    return read_string("a type as '<f4'");
  }
  bool read_bool() {
    if (take_word("True")) return true;
    if (!take_word("False")) fail("True or False");
    return false;
  }
  std::vector<int64_t> read_shape() {
    std::vector<int64_t> shape;
    expect('(');
    while (!take(')')) {
      shape.push_back(read_integer());
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }
  int64_t read_integer() {
    int64_t number = 0;
    const size_t start = (skip_space(), at_);
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; at_++)
      if (__builtin_mul_overflow(number, 10, &number) ||
          __builtin_add_overflow(number, text_[at_] - '0', &number)) {
        at_ = start;
        fail("a dimension that 63 bits hold");
      }
    if (at_ == start) fail("a dimension");
    take('L');  // Python 2 wrote 3L
    return number;
  }

  const Place& place_;
  std::string_view text_;
  size_t at_ = 0;
};

struct ElementType {
  DType type = DType::f32;
  std::endian order = std::endian::native;
  bool boolean = false;
};

constexpr struct {
  std::string_view code;
  DType type;
} codes[] = {{"u1", DType::u8},   {"u2", DType::u16}, {"u4", DType::u32}, {"u8", DType::u64},
             {"i1", DType::i8},   {"i2", DType::i16}, {"i4", DType::i32}, {"i8", DType::i64},
             {"f2", DType::f16},  {"f4", DType::f32}, {"f8", DType::f64}, {"c8", DType::c64},
             {"c16", DType::c128}};

ElementType element_type(const Place& place, const std::string& descr) {
  if (descr.size() > 2 && std::string_view("<>=|").find(descr[0]) != std::string_view::npos) {
    const std::string_view code = std::string_view(descr).substr(1);
    const std::endian order = descr[0] == '<'   ? std::endian::little
                              : descr[0] == '>' ? std::endian::big
                                                : std::endian::native;
    if (code == "b1") return {DType::u8, order, true};
    for (const auto& known : codes)
      if (code == known.code && (descr[0] != '|' || size_of(known.type) == 1))
        return {known.type, order, false};
  }
  place.fail(
      fmt::format("descr: expected a boolean, integer, float (2, 4 or 8 bytes) or complex type, got {}",
                  in_quotes(descr)));
}

// The header's text, and where the elements begin.
std::pair<std::string_view, size_t> find_header(const Place& place, ByteSpan bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.substr(0, magic.size()) != magic)
    place.fail(
        fmt::format("expected the magic bytes of .npy, got {}", in_quotes(text.substr(0, magic.size()))));
  if (bytes.size() < 8) place.fail(fmt::format("expected a header, got {} bytes in all", bytes.size()));
  const int major = static_cast<int>(bytes[6]), minor = static_cast<int>(bytes[7]);
  if (major < 1 || major > 3 || minor != 0)
    place.fail(fmt::format("version: expected 1.0, 2.0 or 3.0, got {}.{}", major, minor));
  const size_t start = major == 1 ? 10 : 12;
  if (bytes.size() < start) place.fail(fmt::format("expected a header, got {} bytes in all", bytes.size()));
  const size_t length = major == 1 ? read_number<uint16_t>(bytes, 8) : read_number<uint32_t>(bytes, 8);
  if (length > bytes.size() - start)
    place.fail(fmt::format("header: expected {} bytes, got {}", length, bytes.size() - start));
  return {text.substr(start, length), start + length};
}

// What the header says of the elements.
struct Layout {
  ElementType element;
  Shape shape;
  bool fortran;
  uint64_t start, bytes;
};

Layout read_layout(const Place& place, ByteSpan bytes) {
  const auto [text, start] = find_header(place, bytes);
  const Header header = HeaderReader(place, text).read();
  const ElementType element = element_type(place, header.descr);
  if (header.shape.size() > max_rank)
    place.fail(fmt::format("shape: expected at most {} dimensions, got {}", max_rank, header.shape.size()));
  const auto size = checked_bytes(element.type, header.shape);
  const Shape shape(header.shape);
  if (!size) place.fail(fmt::format("shape: expected a size that memory can hold, got {}", to_string(shape)));
  return {element, shape, header.fortran, start, static_cast<uint64_t>(*size)};
}

HostArray from_fortran(const HostArray& array) {
  HostArray result{array.type, array.shape, Bytes(array.bytes.size())};
  Dims strides = Dims::filled(array.shape.size(), 0);
  int64_t stride = size_of(array.type);
  for (int axis = 0; axis < array.shape.size(); axis++) {
    strides[axis] = stride;
    stride *= array.shape[axis];
  }
  gather_elements(result.bytes.data(), array.bytes.data(), array.shape, strides, size_of(array.type));
  return result;
}

std::string descr_of(const Place& place, DType type) {
  for (const auto& known : codes)
    if (known.type == type) return (size_of(type) == 1 ? "|" : "<") + std::string(known.code);
  throw Error(ErrorKind::bad_argument,
              fmt::format("[{}] tensor: expected a type that NumPy has, got {} (convert it to f32, or save "
                          "safetensors)",
                          place.function, name_of(type)));
}

}  // namespace

HostArray decode(const Place& place, ByteSpan bytes) {
  const Layout layout = read_layout(place, bytes);
  const ByteSpan rest = bytes.subspan(layout.start);
  if (rest.size() != layout.bytes)
    place.fail(fmt::format("expected {} bytes of elements for shape {} of {}, got {}", layout.bytes,
                           to_string(layout.shape), name_of(layout.element.type), rest.size()));
  HostArray array = host_array(layout.element.type, layout.shape, rest, layout.element.order);
  if (layout.element.boolean)
    for (std::byte& value : array.bytes) value = static_cast<std::byte>(value != std::byte{0});
  return layout.fortran ? from_fortran(array) : array;
}

uint64_t promised_bytes(const Place& place, ByteSpan first) {
  const Layout layout = read_layout(place, first);
  return layout.start + layout.bytes;
}

Bytes encode_header(const Place& place, DType type, const Shape& shape) {
  std::string extents;
  for (const int64_t extent : shape) extents += fmt::format("{}, ", extent);
  if (shape.size() > 1) extents.resize(extents.size() - 2);
  if (shape.size() == 1) extents.resize(extents.size() - 1);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   descr_of(place, type), extents);
  const size_t unpadded = magic.size() + 4 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  Bytes bytes;
  append_text(bytes, magic);
  append_number<uint16_t>(bytes, 1);  // version 1.0; twelve dimensions always fit
  append_number<uint16_t>(bytes, static_cast<uint16_t>(header.size()));
  append_text(bytes, header);
  return bytes;
}

Bytes encode(const Place& place, const HostView& array) {
  Bytes bytes = encode_header(place, array.type, array.shape);
  bytes.reserve(bytes.size() + array.bytes.size());
  append_elements(bytes, array);
  return bytes;
}

}  // namespace adit::npy

namespace adit {
namespace {
Tensor to_tensor(const HostArray& array, std::shared_ptr<Device> device) {
  return from_bytes(array.type, array.shape, array.bytes, std::move(device));
}
Bytes encode_tensor(const Place& place, const Tensor& tensor) {
  const Bytes bytes = tensor.to_bytes();
  return npy::encode(place, {tensor.dtype(), tensor.shape(), bytes});
}
}  // namespace

Tensor load_npy(const std::filesystem::path& path, std::shared_ptr<Device> device) {
  const Place place{"load_npy", path.string()};
  return to_tensor(npy::decode(place, read_file(place, path)), std::move(device));
}

Tensor load_npy(std::istream& in, std::shared_ptr<Device> device) {
  const Place place{"load_npy", "stream"};
  return to_tensor(npy::decode(place, read_stream(place, in)), std::move(device));
}

Tensor decode_npy(std::span<const std::byte> bytes, std::shared_ptr<Device> device) {
  return to_tensor(npy::decode({"decode_npy", "bytes"}, bytes), std::move(device));
}

void save_npy(const std::filesystem::path& path, const Tensor& tensor) {
  const Place place{"save_npy", path.string()};
  write_file(place, path, encode_tensor(place, tensor));
}

void save_npy(std::ostream& out, const Tensor& tensor) {
  const Place place{"save_npy", "stream"};
  write_stream(place, out, encode_tensor(place, tensor));
}

std::vector<std::byte> encode_npy(const Tensor& tensor) {
  return encode_tensor({"encode_npy", "bytes"}, tensor);
}

}  // namespace adit
