// .npz: a zip archive in which each array is a member "<name>.npy".
#include <fmt/format.h>

#include <adit/io.hpp>

#include "io/npy.hpp"
#include "io/zip.hpp"

namespace adit {
namespace {

constexpr std::string_view suffix = ".npy";

TensorMap decode(const Place& place, ByteSpan bytes, const std::shared_ptr<Device>& device) {
  TensorMap tensors;
  const zip::Reader reader(place, bytes);
  for (size_t i = 0; i < reader.names().size(); i++) {
    const std::string& name = reader.names()[i];
    if (!name.ends_with(suffix))
      place.fail(fmt::format("expected members named *.npy, got {}", in_quotes(name)));
    const Place member = place.inside(in_quotes(name));
    const HostArray array = npy::decode(
        member, reader.read(i, [&](ByteSpan first) { return npy::promised_bytes(member, first); }));
    tensors.emplace(name.substr(0, name.size() - suffix.size()),
                    from_bytes(array.type, array.shape, array.bytes, device));
  }
  return tensors;
}

Bytes encode(const Place& place, const TensorMap& tensors, bool compress) {
  zip::Writer writer(place, compress);
  for (const auto& entry : tensors) {
    const Tensor& tensor = entry.second;
    const uint64_t header = npy::encode_header(place, tensor.dtype(), tensor.shape()).size();
    writer.add(entry.first + std::string(suffix), header + static_cast<uint64_t>(tensor.bytes()),
               [&place, &tensor] {
                 return npy::encode(place, {tensor.dtype(), tensor.shape(), tensor.to_bytes()});
               });
  }
  return writer.finish();
}

}  // namespace

TensorMap load_npz(const std::filesystem::path& path, std::shared_ptr<Device> device) {
  const Place place{"load_npz", path.string()};
  return decode(place, read_file(place, path), device);
}

TensorMap load_npz(std::istream& in, std::shared_ptr<Device> device) {
  const Place place{"load_npz", "stream"};
  return decode(place, read_stream(place, in), device);
}

TensorMap decode_npz(std::span<const std::byte> bytes, std::shared_ptr<Device> device) {
  return decode({"decode_npz", "bytes"}, bytes, device);
}

void save_npz(const std::filesystem::path& path, const TensorMap& tensors, bool compress) {
  const Place place{"save_npz", path.string()};
  write_file(place, path, encode(place, tensors, compress));
}

void save_npz(std::ostream& out, const TensorMap& tensors, bool compress) {
  const Place place{"save_npz", "stream"};
  write_stream(place, out, encode(place, tensors, compress));
}

std::vector<std::byte> encode_npz(const TensorMap& tensors, bool compress) {
  return encode({"encode_npz", "bytes"}, tensors, compress);
}

}  // namespace adit
