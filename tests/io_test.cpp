// Tensors in files: every type both ways, against NumPy itself, and the bytes of each format.
#include <csignal>
#include <ctime>
#include <sstream>
#include <sys/resource.h>

#include "io/files.hpp"

namespace adit::test {
namespace {

void python(const std::string& mode, const fs::path& folder) {
  const std::string command =
      std::string(ADIT_PYTHON) + " -B '" ADIT_IO_SCRIPT "' " + mode + " '" + folder.string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

// --- Beside NumPy ---

TEST_F(Io, ReadsWhatNumPyWrites) {
  python("write", folder_);
  const auto arrays = every_type(true);
  for (const auto& [name, array] : arrays)
    for (const char* form : {"little", "big", "fortran", "v2", "v3"})
      expect_same(load_npy(folder_ / (name + "-" + form + ".npy")), array, name + " " + form);
  expect_same(load_npz(folder_ / "plain.npz"), arrays);
  expect_same(load_npz(folder_ / "packed.npz"), arrays);
  expect_same(load_npz(folder_ / "long.npz"), arrays);
  expect_same(load_npy(folder_ / "bool.npy"), {DType::u8, {2, 2}, bytes_of({"\1\0\0\1", 4})}, "bool");
}

TEST_F(Io, NumPyReadsWhatIsWritten) {
  const auto arrays = every_type(true);
  const TensorMap tensors = to_tensors(arrays);
  for (const auto& [name, tensor] : tensors) save_npy(folder_ / (name + ".npy"), tensor);
  save_npz(folder_ / "plain.npz", tensors);
  save_npz(folder_ / "packed.npz", tensors, true);
  TensorMap safe = tensors;
  std::erase_if(safe, [](const auto& entry) { return entry.second.dtype() == DType::c128; });
  save_safetensors(folder_ / "all.safetensors", safe, {{"made by", "io_test"}, {"ünï", "cödé"}});
  python("check", folder_);
}

// --- Files ---

TEST_F(Io, FilesAndStreamsBringBackWhatWasSaved) {
  const auto arrays = every_type(true), safe = every_type(false);
  const TensorMap tensors = to_tensors(arrays), safe_tensors = to_tensors(safe);
  for (const bool compress : {false, true}) {
    save_npz(folder_ / "a.npz", tensors, compress);
    expect_same(load_npz(folder_ / "a.npz"), arrays);
    std::stringstream stream;
    save_npz(stream, tensors, compress);
    expect_same(load_npz(stream), arrays);
  }
  Metadata metadata;
  save_safetensors(folder_ / "a.safetensors", safe_tensors, {{"format", "pt"}});
  expect_same(load_safetensors(folder_ / "a.safetensors", &metadata), safe);
  EXPECT_EQ(metadata, (Metadata{{"format", "pt"}}));
  std::stringstream stream, one;
  save_safetensors(stream, safe_tensors);
  expect_same(load_safetensors(stream, &metadata), safe);
  EXPECT_TRUE(metadata.empty());
  save_npy(one, tensors.at("c64-cube"));
  expect_same(load_npy(one), arrays.at("c64-cube"), "stream");
}

TEST_F(Io, NoTensorsAtAll) {
  EXPECT_TRUE(decode_npz(encode_npz({})).empty());
  EXPECT_TRUE(decode_safetensors(encode_safetensors({})).empty());
}

TEST_F(Io, WritingReplacesAndLeavesNothingBehind) {
  save_npy(folder_ / "x.npy", to_tensor(counted(DType::f32, {5})));
  fs::create_symlink("x.npy", folder_ / "link.npy");
  save_npy(folder_ / "link.npy", to_tensor(counted(DType::i8, {2, 3})));
  EXPECT_EQ(load_npy(folder_ / "x.npy").dtype(), DType::i8);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.npy"));
  EXPECT_EQ(names().size(), 2u);
}

// The name of the file that is written beside it is no longer than names may be.
TEST_F(Io, LongNamesHaveRoom) {
  const fs::path path = folder_ / (std::string(251, 'x') + ".npy");
  save_npy(path, to_tensor(counted(DType::f32, {5})));
  EXPECT_EQ(load_npy(path).size(), 5);
  EXPECT_EQ(names().size(), 1u);
}

TEST_F(Io, ErrorsNameTheFile) {
  const Tensor x = to_tensor(counted(DType::f32, {2}));
  const std::string missing = (folder_ / "missing.npy").string();
  expect_words(error_of([&] { load_npy(missing); }, ErrorKind::not_found), {"[load_npy] " + missing});
  expect_words(error_of([&] { load_npz(missing); }, ErrorKind::not_found), {"[load_npz] " + missing});
  expect_words(error_of([&] { load_safetensors(missing); }, ErrorKind::not_found),
               {"[load_safetensors] " + missing});
  expect_words(error_of([&] { load_npy(folder_); }), {"[load_npy] " + folder_.string()});
  expect_words(error_of([&] { save_npy(folder_, x); }), {"[save_npy] " + folder_.string(), "regular file"});
  expect_words(error_of([&] { save_npy(folder_ / "no" / "x.npy", x); }, ErrorKind::not_found), {"no/x.npy"});
  write(folder_ / "bad.npy", bytes_of("not an array"));
  expect_words(error_of([&] { load_npy(folder_ / "bad.npy"); }), {"bad.npy: expected the magic bytes"});
}

TEST_F(Io, AFailedWriteLeavesTheOldFileAndNoOther) {
  save_npy(folder_ / "x.npy", to_tensor(counted(DType::u8, {3})));
  const Tensor larger = to_tensor(counted(DType::f64, {5}));
  larger.eval();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 64;  // bytes: a disk that is full
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = error_of([&] { save_npy(folder_ / "x.npy", larger); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  expect_words(message, {"x.npy: expected to write it"});
  EXPECT_EQ(load_npy(folder_ / "x.npy").dtype(), DType::u8);
  EXPECT_EQ(names().size(), 1u);
}

// --- The formats ---

TEST_F(Io, NpyIsWhatNumPyWouldWrite) {
  // np.save of np.array([[1, 2], [3, 4]], '<i2')
  const std::string header =
      "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }" + std::string(58, ' ') + "\n";
  const std::string file = npy_text(header, raw<int16_t>({1, 2, 3, 4}));
  EXPECT_EQ(file.size(), 136u);
  const HostArray array{DType::i16, {2, 2}, bytes_of(raw<int16_t>({1, 2, 3, 4}))};
  EXPECT_EQ(encode_npy(to_tensor(array)), bytes_of(file));
  expect_same(decode_npy_text(file), array, "decoded");
}

TEST_F(Io, NpyHeadersMayVary) {
  const HostArray array{DType::u8, {2}, bytes_of("ab")};
  for (const char* header :
       {"{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n",
        "{'shape':(2,),'descr':'|u1','fortran_order':True}",
        "{ \"descr\" : \"<u1\" , \"fortran_order\" : False, \"shape\" : ( 2L , ) , }   \n"})
    expect_same(decode_npy_text(npy_text(header, "ab")), array, header);
}

TEST_F(Io, NpzLongForm) {
  python("write", folder_);
  const Bytes bytes = read_file({"test", "long-one.npz"}, folder_ / "long-one.npz");
  expect_same(decode_npz(bytes).at("x"), counted(DType::i16, {2, 3}), "zip64");
  expect_whole(bytes, [](const Bytes& b) { decode_npz(b); });
  const size_t locator = find(bytes, "PK\6\7");
  expect_words(npz_error(patched(bytes, locator + 8, {255, 255, 255, 255, 255, 255, 255, 255})),
               {"zip archive"});
  const Bytes lost =
      patched(bytes, bytes.size() - 22 + 16, {255, 255, 255, 255});  // "look in the long record"
  expect_same(decode_npz(lost).at("x"), counted(DType::i16, {2, 3}), "by the long record alone");
  expect_words(npz_error(patched(lost, locator, {0})), {"zip archive"});
}

// More members than 16 bits count.
TEST_F(Io, NpzOfManyMembers) {
  zip::Writer writer({"test", "archive"}, false);
  const Bytes member = npy::encode({"test", "x"}, counted(DType::u8, {}));
  for (int i = 0; i < 65540; i++) writer.add(std::to_string(i), member.size(), [&] { return member; });
  const Bytes bytes = writer.finish();
  const zip::Reader reader({"test", "archive"}, bytes);
  ASSERT_EQ(reader.names().size(), 65540u);
  EXPECT_EQ(reader.names().back(), "65539");
  EXPECT_EQ(reader.read(65539, [](ByteSpan) { return 0; }), member);
}

TEST_F(Io, NpzIsTheSameEachTime) {
  const TensorMap tensors = {{"x", to_tensor(counted(DType::f32, {50}))},
                             {"y", to_tensor(counted(DType::u8, {}))}};
  for (const bool compress : {false, true}) {
    const Bytes first = encode_npz(tensors, compress);
    const char* zone = std::getenv("TZ");
    const std::string before = zone ? zone : "";
    ::setenv("TZ", "Asia/Tokyo", 1);
    ::tzset();
    EXPECT_EQ(encode_npz(tensors, compress), first);
    if (zone)
      ::setenv("TZ", before.c_str(), 1);
    else
      ::unsetenv("TZ");
    ::tzset();
    // 1 January 1980, midnight, in the header and in the directory
    const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
    EXPECT_EQ(text.substr(10, 4), std::string_view("\0\0\x21\0", 4));
    EXPECT_EQ(text.substr(find(first, "PK\1\2") + 12, 4), std::string_view("\0\0\x21\0", 4));
  }
}

TEST_F(Io, NpzNamesAreAnyUtf8) {
  const Tensor x = to_tensor(counted(DType::u8, {3}));
  const TensorMap tensors = {{"", x}, {"ünï/cödé", x}, {"a\nb", x}, {std::string(60000, 'n'), x}};
  EXPECT_EQ(decode_npz(encode_npz(tensors)).size(), tensors.size());
  for (const auto& entry : decode_npz(encode_npz(tensors))) EXPECT_TRUE(tensors.contains(entry.first));
  const auto refused = [&](const std::string& name) {
    return error_of([&] { encode_npz({{name, x}}); }, ErrorKind::bad_argument);
  };
  expect_words(refused("\xff"), {"[encode_npz] name: expected UTF-8", "xff"});
  expect_words(refused(std::string("a\0b", 3)), {"[encode_npz] name: expected no byte 0"});
  expect_words(refused(std::string(70000, 'n')), {"[encode_npz] name: expected at most 65535 bytes"});
}

TEST_F(Io, SafetensorsBytes) {
  const std::string header =
      R"({"__metadata__":{"a":"b"},"x":{"dtype":"I16","shape":[2],"data_offsets":[0,4]},)"
      R"("y":{"dtype":"U8","shape":[],"data_offsets":[4,5]}})";
  const HostArray x{DType::i16, {2}, bytes_of(raw<int16_t>({1, -2}))}, y{DType::u8, {}, bytes_of("\7")};
  const Bytes file =
      safe_bytes(header + std::string((8 - header.size() % 8) % 8, ' '), raw<int16_t>({1, -2}) + "\7");
  EXPECT_EQ(encode_safetensors({{"y", to_tensor(y)}, {"x", to_tensor(x)}}, {{"a", "b"}}), file);
  Metadata metadata;
  expect_same(decode_safetensors(file, &metadata), {{"x", x}, {"y", y}});
  EXPECT_EQ(metadata, (Metadata{{"a", "b"}}));
}

TEST_F(Io, SafetensorsReadsBooleansAndOddPlaces) {
  // An f32 at byte 1 is legal, if unkind; so is a header of any length.
  const std::string header = R"( {"b":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},)"
                             R"("f":{"shape":[1],"data_offsets":[1,5],"dtype":"F32"}})";
  const TensorMap tensors = decode_safetensors(safe_bytes(header.substr(1), "\2" + raw<float>({1.5f})));
  EXPECT_EQ(tensors.at("b").to_bytes(), bytes_of("\1"));
  EXPECT_EQ(tensors.at("f").to_bytes(), bytes_of(raw<float>({1.5f})));
  expect_words(safe_error(header, "\2" + raw<float>({1.5f})), {"expected '{'"});
}

}  // namespace
}  // namespace adit::test
