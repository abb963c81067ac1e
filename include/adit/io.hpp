// Tensors in files: NumPy's .npy and .npz, and safetensors.
//
//   save_npz("fit.npz", {{"weights", w}, {"bias", b}});
//   Tensor w = load_npz("fit.npz").at("weights");
//
// - `load_` and `save_` take a file or a stream (read to its end); `decode_` and `encode_` work in memory.
// - A file is written under a temporary name and renamed: a reader never sees half of one.
// - Booleans become u8. What does not check out (short, damaged, an impossible shape, bytes left over) throws
//   Error(io) that names the file; a missing file is Error(not_found).
// - Tensors are made on `device`, or on the default device.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <adit/tensor.hpp>

#pragma GCC visibility push(default)
namespace adit {

using TensorMap = std::map<std::string, Tensor>;
using Metadata = std::map<std::string, std::string>;

// .npy: versions 1 to 3, either byte order, C and Fortran order; written little-endian in C order. NumPy has
// no bf16: saving one throws.
Tensor load_npy(const std::filesystem::path& path, std::shared_ptr<Device> device = nullptr);
Tensor load_npy(std::istream& in, std::shared_ptr<Device> device = nullptr);
Tensor decode_npy(std::span<const std::byte> bytes, std::shared_ptr<Device> device = nullptr);
void save_npy(const std::filesystem::path& path, const Tensor& tensor);
void save_npy(std::ostream& out, const Tensor& tensor);
std::vector<std::byte> encode_npy(const Tensor& tensor);

// .npz: a zip archive of .npy, stored or deflated; every checksum is checked.
TensorMap load_npz(const std::filesystem::path& path, std::shared_ptr<Device> device = nullptr);
TensorMap load_npz(std::istream& in, std::shared_ptr<Device> device = nullptr);
TensorMap decode_npz(std::span<const std::byte> bytes, std::shared_ptr<Device> device = nullptr);
void save_npz(const std::filesystem::path& path, const TensorMap& tensors, bool compress = false);
void save_npz(std::ostream& out, const TensorMap& tensors, bool compress = false);
std::vector<std::byte> encode_npz(const TensorMap& tensors, bool compress = false);

// safetensors: all types but c128, which the format lacks. `metadata`, where given, receives the file's.
TensorMap load_safetensors(const std::filesystem::path& path, Metadata* metadata = nullptr,
                           std::shared_ptr<Device> device = nullptr);
TensorMap load_safetensors(std::istream& in, Metadata* metadata = nullptr,
                           std::shared_ptr<Device> device = nullptr);
TensorMap decode_safetensors(std::span<const std::byte> bytes, Metadata* metadata = nullptr,
                             std::shared_ptr<Device> device = nullptr);
void save_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                      const Metadata& metadata = {});
void save_safetensors(std::ostream& out, const TensorMap& tensors, const Metadata& metadata = {});
std::vector<std::byte> encode_safetensors(const TensorMap& tensors, const Metadata& metadata = {});

}  // namespace adit
#pragma GCC visibility pop
