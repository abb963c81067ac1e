// Files that are damaged or lie: an Error(io) that says what was expected, never more.
#include <random>

#include "io/files.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

TEST_F(Io, NpyRefusesBadHeaders) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "expected '{'"},
      {"{", "a key"},
      {"{'descr': '<f4'", "'}'"},
      {"{'descr': '<f4', 'fortran_order': False}", "each once"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", "each once"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", "each once"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", "True or False"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "a dimension"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", "')'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "63 bits"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "memory can hold"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0)}", "memory can hold"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976,)}", "got 4"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1)}", "at most 12"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "expected 8 bytes"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}", "expected 0 bytes"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "structured"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': ()}", "'|O'"},
      {"{'descr': '<f16', 'fortran_order': False, 'shape': ()}", "'<f16'"},
      {"{'descr': '<V2', 'fortran_order': False, 'shape': ()}", "'<V2'"},
      {"{'descr': '|f4', 'fortran_order': False, 'shape': ()}", "'|f4'"},
      {"{'descr': '', 'fortran_order': False, 'shape': ()}", "''"},
      {"{'descr': '<f4", "end of a string"},
  };
  for (const auto& c : cases)
    expect_words(error_of([&] { decode_npy_text(npy_text(c.first, "1234")); }),
                 {"[decode_npy] bytes: ", c.second});
  std::string version = npy_text("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", "1234");
  version[6] = 4;
  expect_words(error_of([&] { decode_npy_text(version); }), {"version", "4.0"});
}

TEST_F(Io, NpyHasNoBfloat) {
  const Tensor x = to_tensor(counted(DType::bf16, {2}));
  expect_words(error_of([&] { save_npy(folder_ / "x.npy", x); }, ErrorKind::bad_argument),
               {"[save_npy]", "bf16"});
  error_of([&] { encode_npz({{"x", x}}); }, ErrorKind::bad_argument);
  EXPECT_TRUE(names().empty());
}

TEST_F(Io, TruncatedFilesAreRefused) {
  const Tensor x = to_tensor(counted(DType::f32, {2, 3}));
  expect_whole(encode_npy(x), [](const Bytes& bytes) { decode_npy(bytes); });
  expect_whole(encode_npz({{"x", x}, {"y", x}}), [](const Bytes& bytes) { decode_npz(bytes); });
  expect_whole(encode_npz({{"x", x}}, true), [](const Bytes& bytes) { decode_npz(bytes); });
  expect_whole(encode_safetensors({{"x", x}, {"y", x}}),
               [](const Bytes& bytes) { decode_safetensors(bytes); });
}

TEST_F(Io, NpzChecksEveryByteOfData) {
  const Tensor x = to_tensor(counted(DType::f32, {2, 3}));
  for (const bool compress : {false, true}) {
    const Bytes bytes = encode_npz({{"x", x}}, compress);
    // The last bits of deflated data are padding.
    const size_t start = 30 + 5, end = find(bytes, "PK\1\2") - (compress ? 1 : 0);
    for (size_t at = start; at < end; at++)
      npz_error(patched(bytes, at, {static_cast<int>(bytes[at]) ^ 0x10}));
  }
  const Bytes plain = encode_npz({{"x", x}});
  expect_words(npz_error(patched(plain, 30 + 5 + 130, {9})), {"checksum", "'x.npy'"});
}

// Where the header of the first member and its entry in the directory hold the same numbers.
struct Twin {
  size_t header, entry;
};
constexpr Twin flags{6, 8}, method{8, 10}, checksum{14, 16}, stored_size{18, 20}, size{22, 24};

Bytes patched(const Bytes& bytes, Twin twin, std::initializer_list<int> numbers) {
  return test::patched(test::patched(bytes, twin.header, numbers), find(bytes, "PK\1\2") + twin.entry,
                       numbers);
}

TEST_F(Io, NpzRefusesWhatItCannotRead) {
  const Bytes bytes =
      encode_npz({{"x", to_tensor(counted(DType::f32, {2}))}, {"y", to_tensor(counted(DType::f32, {2}))}});
  const size_t entry = find(bytes, "PK\1\2"), end = bytes.size() - 22;
  expect_words(npz_error(bytes_of("no zip archive at all, truly")), {"zip archive"});
  expect_words(npz_error({}), {"zip archive"});
  expect_words(npz_error(patched(bytes, flags, {1})), {"'x.npy'", "encrypt"});
  expect_words(npz_error(patched(bytes, method, {12})), {"'x.npy'", "method 12"});
  expect_words(npz_error(patched(bytes, checksum, {1})), {"'x.npy'", "checksum"});
  // The header and the directory, or the directory and its end, tell different things.
  for (const size_t at : {method.entry, checksum.entry, size.entry, stored_size.entry, size_t{46}})
    expect_words(npz_error(test::patched(bytes, entry + at, {'z'})), {"a whole zip archive"});
  expect_words(npz_error(test::patched(bytes, entry + 42, {1})), {"zip archive"});
  expect_words(npz_error(test::patched(bytes, entry + 42, {255, 255, 255, 255})), {"zip archive"});
  expect_words(npz_error(patched(bytes, stored_size, {255, 255, 255, 0})), {"zip archive"});
  expect_words(npz_error(test::patched(bytes, end + 10, {3})), {"zip archive"});
  expect_words(npz_error(test::patched(bytes, end + 16, {255, 255, 0, 0})), {"zip archive"});
  expect_words(npz_error(test::patched(bytes, end + 4, {1})), {"zip archive"});
}

Bytes archive_of(const std::vector<std::pair<std::string, Bytes>>& members, bool compress = false) {
  zip::Writer writer({"test", "archive"}, compress);
  for (const auto& member : members)
    writer.add(member.first, member.second.size(), [&member] { return member.second; });
  return writer.finish();
}

TEST_F(Io, NpzRefusesMembersThatShareBytesOrNames) {
  const Place place{"test", "archive"};
  const Bytes member = npy::encode(place, counted(DType::u8, {3}));
  Bytes twice = archive_of({{"x.npy", member}, {"y.npy", member}});
  for (size_t at = 0; at + 5 <= twice.size(); at++)
    if (find({twice.begin() + static_cast<std::ptrdiff_t>(at), twice.end()}, "y.npy") == 0)
      twice[at] = std::byte{'x'};
  expect_words(npz_error(twice), {"a whole zip archive", "exists"});
  expect_words(npz_error(archive_of({{"x.txt", member}})), {"*.npy", "x.txt"});

  // The bytes of x hold an archive with y, and the outer directory points there.
  const Bytes inside = archive_of({{"y.npy", npy::encode(place, counted(DType::u8, {2000}))}});
  Bytes bytes = archive_of(
      {{"x.npy", npy::encode(place, {DType::u8, {std::ssize(inside)}, inside})}, {"y.npy", member}});
  EXPECT_EQ(decode_npz(bytes).size(), 2u);
  const size_t from = inside.size() - 22 - (46 + 5), to = bytes.size() - 22 - (46 + 5);
  std::copy_n(inside.begin() + static_cast<std::ptrdiff_t>(from + 16), 12,
              bytes.begin() + static_cast<std::ptrdiff_t>(to + 16));  // checksum and sizes
  expect_words(npz_error(test::patched(bytes, to + 42, {30 + 5 + 128, 0})), {"apart from each other"});
}

TEST_F(Io, NpzDoesNotTrustSizes) {
  // A member that says it holds 4 GiB must not ask for them, nor give more than it says.
  const Place place{"test", "archive"};
  const Bytes bytes = archive_of({{"x.npy", npy::encode(place, counted(DType::u8, {3}))}}, true);
  expect_words(npz_error(patched(bytes, size, {254, 255, 255, 255})), {"'x.npy'", "4294967294"});
  expect_words(npz_error(patched(bytes, size, {10, 0})), {"'x.npy'", "expected 10 "});
  // What its own header does not promise is not unpacked.
  for (const int64_t more : {200'000, 4'000'000}) {
    Bytes bomb = npy::encode(place, counted(DType::u8, {3}));
    bomb.resize(bomb.size() + static_cast<size_t>(more));
    expect_words(npz_error(archive_of({{"x.npy", bomb}}, true)), {"'x.npy'", "131 bytes by its own header"});
  }
}

TEST_F(Io, NpzIsReadInPieces) {
  for (const int64_t count : {131072 - 128 - 1, 131072 - 128, 131072 - 128 + 1, 262144 - 128, 1'000'003})
    for (const bool compress : {false, true}) {
      const HostArray array = counted(DType::u8, {count});
      const Bytes bytes = encode_npz({{"x", to_tensor(array)}}, compress);
      expect_same(decode_npz(bytes).at("x"), array, std::to_string(count));
      const size_t inside = bytes.size() - 200;
      npz_error(test::patched(bytes, inside, {static_cast<int>(bytes[inside]) ^ 0x10}));
    }
}

TEST_F(Io, WhatAMemberThrowsComesOut) {
  zip::Writer writer({"test", "archive"}, true);
  writer.add("x.npy", 3, []() -> Bytes { throw Error(ErrorKind::out_of_memory, "no more"); });
  expect_words(error_of([&] { writer.finish(); }, ErrorKind::out_of_memory), {"no more"});
}

TEST_F(Io, SafetensorsRefusesBadHeaders) {
  const auto tensor_of = [](const std::string& type, const std::string& shape, const std::string& offsets) {
    return "{\"dtype\":" + type + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
  };
  const std::string good = tensor_of("\"U8\"", "[4]", "[0,4]");
  const std::pair<std::string, std::string> cases[] = {
      {"", "expected '{'"},
      {"{", "JSON"},
      {"[]", "expected '{'"},
      {"{} x", "JSON"},
      {"{\"x\":1}", "an object for each name"},
      {"{\"x\":{}}", "each once"},
      {"{\"\":" + good + "}", "empty name"},
      {"{\"x\":" + good + ",\"x\":" + good + "}", "twice"},
      {"{\"__metadata__\":{\"a\":1},\"x\":" + good + "}", "a text"},
      {"{\"__metadata__\":{\"a\":\"b\",\"a\":\"b\"},\"x\":" + good + "}", "twice"},
      {"{\"__metadata__\":{},\"__metadata__\":{},\"x\":" + good + "}", "twice"},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4],\"more\":1}}", "each once"},
      {"{\"x\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", "each once"},
      {"{\"x\":" + tensor_of("\"F8_E4M3\"", "[4]", "[0,4]") + "}", "F8_E4M3"},
      {"{\"x\":" + tensor_of("3", "[4]", "[0,4]") + "}", "a type's name"},
      {"{\"x\":" + tensor_of("\"U8\"", "4", "[0,4]") + "}", "a list of dimensions"},
      {"{\"x\":" + tensor_of("\"U8\"", "[[4]]", "[0,4]") + "}", "a dimension"},
      {"{\"x\":" + tensor_of("\"U8\"", "[-4]", "[0,4]") + "}", "got -4"},
      {"{\"x\":" + tensor_of("\"U8\"", "[4.0]", "[0,4]") + "}", "'4.0'"},
      {"{\"x\":" + tensor_of("\"U8\"", "[18446744073709551615]", "[0,4]") + "}", "63 bits"},
      {"{\"x\":" + tensor_of("\"U8\"", "[4294967296,4294967296]", "[0,4]") + "}", "memory can hold"},
      {"{\"x\":" + tensor_of("\"U8\"", "[4,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]") + "}", "at most 12"},
      {"{\"x\":" + tensor_of("\"U8\"", "[4]", "[0]") + "}", "two offsets"},
      {"{\"x\":" + tensor_of("\"U8\"", "[4]", "[0,4,4]") + "}", "two offsets"},
      {"{\"x\":" + tensor_of("\"U8\"", "[4]", "[4,0]") + "}", "inside the data"},
      {"{\"x\":" + tensor_of("\"U8\"", "[5]", "[0,5]") + "}", "inside the data"},
      {"{\"x\":" + tensor_of("\"U8\"", "[0]", "[18446744073709551615,18446744073709551615]") + "}",
       "inside the data"},
      {"{\"x\":" + tensor_of("\"U8\"", "[3]", "[0,4]") + "}", "3 bytes apart"},
      {"{\"x\":" + tensor_of("\"U8\"", "[3]", "[0,3]") + "}", "expected 3 bytes of data, got 4"},
      {"{\"x\":" + tensor_of("\"U8\"", "[3]", "[1,4]") + "}", "from byte 0 on"},
      {"{\"x\":" + good + ",\"y\":" + good + "}", "nothing shared"},
      {"{\"x\":" + tensor_of("\"U8\"", "[3]", "[0,3]") + ",\"y\":" + tensor_of("\"U8\"", "[2]", "[2,4]") +
           "}",
       "nothing shared"},
      {std::string("{\"x\":") + std::string(100000, '['), "an object for each name"},
      {std::string("{\"\xff\":") + good + "}", "JSON"},
  };
  for (const auto& c : cases)
    expect_words(safe_error(c.first, "1234"), {"[decode_safetensors] bytes: ", c.second});
  Bytes huge = safe_bytes("{}", "");
  huge[7] = std::byte{0x7f};
  expect_words(error_of([&] { decode_safetensors(huge); }), {"header length", "at most 100000000"});
}

TEST_F(Io, SafetensorsRefusesWhatTheFormatLacks) {
  const Tensor x = to_tensor(counted(DType::u8, {2}));
  const auto refused = [](const TensorMap& tensors, const Metadata& metadata = {}) {
    return error_of([&] { encode_safetensors(tensors, metadata); }, ErrorKind::bad_argument);
  };
  expect_words(refused({{"x", to_tensor(counted(DType::c128, {2}))}}), {"[encode_safetensors]", "c128"});
  expect_words(refused({{"__metadata__", x}}), {"reserve"});
  expect_words(refused({{"", x}}), {"reserve"});
  expect_words(refused({{"\xff", x}}), {"UTF-8"});
  expect_words(refused({{"x", x}}, {{"a", "\xff"}}), {"UTF-8"});
}

Bytes mutated(Bytes bytes, std::mt19937& random) {
  const auto below = [&](size_t limit) { return static_cast<size_t>(random()) % limit; };
  for (size_t changes = 1 + below(3); changes-- > 0 && bytes.size() > 16;) {
    const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size() - 8));
    switch (below(4)) {
      case 0: *at = static_cast<std::byte>(random() & 255); break;
      case 1: std::fill_n(at, 1 + below(8), std::byte{255}); break;
      case 2: bytes.erase(at); break;
      default: bytes.insert(at, static_cast<std::byte>(random() & 127));
    }
  }
  return bytes;
}

// Nothing but an Error(io) may come of it; what is read must be whole. The sanitizers watch.
TEST_F(Io, MutatedFilesAreTensorsOrErrors) {
  const TensorMap tensors = {{"x", to_tensor(counted(DType::f32, {2, 3}))},
                             {"y", to_tensor(counted(DType::u8, {}))}};
  const Bytes npy = encode_npy(tensors.at("x")), stored = encode_npz(tensors),
              deflated = encode_npz(tensors, true), safe = encode_safetensors(tensors, {{"a", "b"}});
  int refused = 0, all = 0;
  const auto attempt = [&](auto decode) {
    try {
      decode();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
      refused++;
    }
  };
  const auto check = [](const Tensor& x) { EXPECT_EQ(x.to_bytes().size(), x.bytes()); };
  const auto check_all = [&](const TensorMap& map) {
    for (const auto& [name, x] : map) check(x);
  };
  each_seed(2000, [&](uint64_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    attempt([&] { check(decode_npy(mutated(npy, random))); });
    attempt([&] { check_all(decode_npz(mutated(stored, random))); });
    attempt([&] { check_all(decode_npz(mutated(deflated, random))); });
    attempt([&] { check_all(decode_safetensors(mutated(safe, random))); });
    all += 4;
  });
  EXPECT_GT(2 * refused, all);
}

}  // namespace
}  // namespace adit::test
