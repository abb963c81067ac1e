// Tensors exchanged by DLPack: layouts, types, strides, and who frees what.
#include <cstring>
#include <gtest/gtest.h>

#include <adit/dlpack.hpp>

#include "devices.hpp"

namespace adit::test {
namespace {

using namespace dlpack;

// A foreign library's array: counts the calls of its deleter.
struct Foreign {
  Foreign(void* data, DLDataType type, std::vector<int64_t> extents, std::vector<int64_t> steps = {})
      : shape(std::move(extents)), strides(std::move(steps)) {
    const auto count = [](auto* self) { static_cast<Foreign*>(self->manager_ctx)->deleted++; };
    old.dl_tensor = {data, {kDLCPU, 0},  static_cast<int32_t>(shape.size()),
                     type, shape.data(), strides.empty() ? nullptr : strides.data(),
                     0};
    old.manager_ctx = this;
    old.deleter = count;
    versioned.version = {1, 1};
    versioned.manager_ctx = this;
    versioned.deleter = count;
    versioned.dl_tensor = old.dl_tensor;
  }
  std::vector<int64_t> shape, strides;
  DLManagedTensor old{};
  DLManagedTensorVersioned versioned{};
  int deleted = 0;
};

constexpr DLDataType int32_type{kDLInt, 32, 1};

// The deleter has run once, and the message has the word.
template <class Managed>
void expect_refused(Foreign& foreign, Managed* managed, const std::string& word) {
  foreign.deleted = 0;
  try {
    from_dlpack(managed);
    ADD_FAILURE() << "expected an error with " << word;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
  EXPECT_EQ(foreign.deleted, 1) << word;
}

TEST(Dlpack, CopiesAndDeletesOnce) {
  int32_t data[] = {1, 2, 3, 4, 5, 6};
  Foreign foreign(data, int32_type, {2, 3});
  const Tensor x = from_dlpack(&foreign.old);
  EXPECT_EQ(foreign.deleted, 1);
  data[0] = 100;
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(x.to_vector<int32_t>(), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(from_dlpack(&foreign.versioned).to_vector<int32_t>()[0], 100);
  EXPECT_EQ(foreign.deleted, 2);
  foreign.old.deleter = nullptr;  // allowed: nothing to free
  EXPECT_EQ(from_dlpack(&foreign.old).to_vector<int32_t>()[0], 100);
}

TEST(Dlpack, AnyStrides) {
  int32_t data[12];
  for (int i = 0; i < 12; i++) data[i] = i;
  const auto read = [](Foreign foreign, uint64_t byte_offset = 0) {
    foreign.old.manager_ctx = &foreign;
    foreign.old.dl_tensor.shape = foreign.shape.data();
    foreign.old.dl_tensor.strides = foreign.strides.empty() ? nullptr : foreign.strides.data();
    foreign.old.dl_tensor.byte_offset = byte_offset;
    return from_dlpack(&foreign.old).to_vector<int32_t>();
  };
  using Numbers = std::vector<int32_t>;
  EXPECT_EQ(read({data, int32_type, {2, 2}}, 8), (Numbers{2, 3, 4, 5}));
  EXPECT_EQ(read({data, int32_type, {3, 2}, {1, 3}}), (Numbers{0, 3, 1, 4, 2, 5}));        // transposed
  EXPECT_EQ(read({data + 5, int32_type, {2, 3}, {-3, -1}}), (Numbers{5, 4, 3, 2, 1, 0}));  // backwards
  EXPECT_EQ(read({data, int32_type, {4}, {-1}}, 12), (Numbers{3, 2, 1, 0}));               // from an offset
  EXPECT_EQ(read({data, int32_type, {2, 3}, {0, 1}}), (Numbers{0, 1, 2, 0, 1, 2}));        // broadcast
  EXPECT_EQ(read({data, int32_type, {2, 2, 2}, {6, 2, 1}}), (Numbers{0, 1, 2, 3, 6, 7, 8, 9}));
  EXPECT_EQ(read({data + 7, int32_type, {}}), (Numbers{7}));
  EXPECT_EQ(read({data + 7, int32_type, {1, 1}, {INT64_MAX, INT64_MIN}}), (Numbers{7}));  // never taken
  EXPECT_EQ(read({nullptr, int32_type, {3, 0}}), Numbers{});
}

TEST(Dlpack, EveryType) {
  unsigned char data[32] = {2, 0, 1};
  const std::pair<DLDataType, DType> types[] = {
      {{kDLUInt, 8, 1}, DType::u8},      {{kDLUInt, 16, 1}, DType::u16},
      {{kDLUInt, 32, 1}, DType::u32},    {{kDLUInt, 64, 1}, DType::u64},
      {{kDLInt, 8, 1}, DType::i8},       {{kDLInt, 16, 1}, DType::i16},
      {{kDLInt, 32, 1}, DType::i32},     {{kDLInt, 64, 1}, DType::i64},
      {{kDLFloat, 16, 1}, DType::f16},   {{kDLFloat, 32, 1}, DType::f32},
      {{kDLFloat, 64, 1}, DType::f64},   {{kDLBfloat, 16, 1}, DType::bf16},
      {{kDLComplex, 64, 1}, DType::c64}, {{kDLComplex, 128, 1}, DType::c128}};
  for (const auto& [type, wanted] : types) {
    Foreign foreign(data, type, {2});
    const Tensor x = from_dlpack(&foreign.old);
    EXPECT_EQ(x.dtype(), wanted);
    const std::vector<std::byte> bytes = x.to_bytes();
    ASSERT_EQ(bytes.size(), 2 * size_of(wanted));
    EXPECT_EQ(std::memcmp(bytes.data(), data, bytes.size()), 0) << name_of(wanted);
    DLManagedTensor* out = to_dlpack(x);
    EXPECT_EQ(std::memcmp(&out->dl_tensor.dtype, &type, sizeof type), 0) << name_of(wanted);
    out->deleter(out);
  }
  Foreign boolean(data, {kDLBool, 8, 1}, {3});
  EXPECT_EQ(from_dlpack(&boolean.old).to_vector<uint8_t>(), (std::vector<uint8_t>{1, 0, 1}));
}

TEST(Dlpack, RefusesAndStillDeletes) {
  int32_t data[4] = {};
  Foreign f(data, int32_type, {2, 2}, {2, 1});
  const auto with = [&](auto change, const std::string& word) {
    Foreign changed(data, int32_type, {2, 2}, {2, 1});
    change(changed.old.dl_tensor);
    expect_refused(changed, &changed.old, word);
  };
  with([](DLTensor& t) { t.device.device_type = 2; }, "device type 2");
  with([](DLTensor& t) { t.dtype.bits = 4; }, "4 bits");
  with([](DLTensor& t) { t.dtype.lanes = 4; }, "4 lanes");
  with([](DLTensor& t) { t.dtype.code = kDLOpaqueHandle; }, "code 3");
  with([](DLTensor& t) { t.dtype = {kDLBool, 32, 1}; }, "code 6");
  with([](DLTensor& t) { t.ndim = -1; }, "ndim");
  with([](DLTensor& t) { t.ndim = 13; }, "ndim");
  with([](DLTensor& t) { t.shape = nullptr; }, "shape");
  with([](DLTensor& t) { t.data = nullptr; }, "data");
  with([](DLTensor& t) { t.shape[0] = -1; }, "shape");
  with([](DLTensor& t) { t.shape[0] = t.shape[1] = INT64_MAX; }, "shape");
  with([](DLTensor& t) { t.strides[0] = INT64_MAX; }, "strides");
  with([](DLTensor& t) { t.strides[0] = INT64_MIN / 8; }, "strides");
  f.versioned.version = {2, 0};
  expect_refused(f, &f.versioned, "version");
  EXPECT_THROW(from_dlpack(static_cast<DLManagedTensor*>(nullptr)), Error);
  EXPECT_THROW(from_dlpack(static_cast<DLManagedTensorVersioned*>(nullptr)), Error);
  EXPECT_THROW(to_dlpack(Tensor()), Error);
}

class DlpackOnDevice : public testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<Device> device_ = Device::open(GetParam());
};

TEST_P(DlpackOnDevice, ExportOutlivesTheTensor) {
  Tensor x = tensor(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}, device_);
  DLManagedTensorVersioned* out = to_dlpack_versioned(x);
  const bool is_cpu = device_->info().kind == DeviceKind::cpu;
  if (is_cpu) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(out->dl_tensor.data), x.buffer().address());
  }
  EXPECT_EQ(out->flags, is_cpu ? read_only_flag : is_copied_flag);
  EXPECT_EQ(out->version.major, 1u);
  x = Tensor();
  const Tensor other =
      tensor(std::vector<float>(6, 9), {2, 3}, device_);  // would take memory that was given back
  other.eval();
  const DLTensor& t = out->dl_tensor;
  EXPECT_EQ(t.device.device_type, kDLCPU);
  ASSERT_EQ(t.ndim, 2);
  EXPECT_EQ(std::vector<int64_t>(t.shape, t.shape + 2), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::vector<int64_t>(t.strides, t.strides + 2), (std::vector<int64_t>{3, 1}));
  const auto* values = static_cast<const float*>(t.data);
  EXPECT_EQ(std::vector<float>(values, values + 6), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(from_dlpack(out, device_).to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST_P(DlpackOnDevice, ScalarsAndEmptyTensors) {
  const Tensor scalar = tensor(std::vector<double>{2.5}, {}, device_),
               empty = tensor(std::vector<double>{}, {3, 0}, device_);
  EXPECT_EQ(from_dlpack(to_dlpack(scalar)).item<double>(), 2.5);
  const Tensor back = from_dlpack(to_dlpack(empty));
  EXPECT_EQ(back.shape(), (Shape{3, 0}));
  EXPECT_EQ(back.dtype(), DType::f64);
}

INSTANTIATE_TEST_SUITE_P(Devices, DlpackOnDevice, testing::ValuesIn(device_ids()), test_name);

}  // namespace
}  // namespace adit::test
