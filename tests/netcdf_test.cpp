// Draws in netCDF, there and back and beside Python; damaged files.
#include "posterior/files/netcdf.hpp"
#if ADIT_HAS_NETCDF
#include <netcdf.h>
#endif

#include <random>

#include "io/draws.hpp"
#include "posterior/draws_bytes.hpp"
#include "posterior/files/check_sum.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

class NetcdfFiles : public DrawsFiles {
 protected:
  void SetUp() override {
    if (!ADIT_HAS_NETCDF) GTEST_SKIP() << "built without libnetcdf";
  }
  bool python(const std::string& mode, const std::string& file) const {
    const std::string start = std::string(ADIT_PYTHON) + " -B ";
    if (std::system((start + "-c 'import netCDF4' 2>/dev/null").c_str()) != 0) return false;
    const std::string command = start + "'" ADIT_DRAWS_SCRIPT "' " + mode + " '" + file + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return true;
  }
};

TEST_F(DrawsFiles, WithoutLibnetcdf) {
  if (ADIT_HAS_NETCDF) GTEST_SKIP() << "built with libnetcdf";
  expect_words(error_of([&] { write_netcdf(example(), path("a.nc")); }, ErrorKind::unsupported),
               {"[write_netcdf]", "install libnetcdf-dev"});
  const std::string file = text_file("b.nc", "\x89HDF\r\n\x1a\n");
  expect_words(error_of([&] { read_draws({file}); }, ErrorKind::unsupported), {"[read_draws]", "install"});
}

TEST_F(NetcdfFiles, BringsBackWhatWasWritten) {
  for (const std::string precision : {"f64", "f32"}) {
    Draws draws = full_example();
    draws.precision = precision;
    write_netcdf(draws, path("fit.nc"));
    EXPECT_EQ(names().size(), 1u);
    const Draws back = read_draws({path("fit.nc")});
    expect_same(back, draws);
    EXPECT_EQ(back.seconds.open, 0.5);
    EXPECT_EQ(back.seconds.compile, 0.25);
    EXPECT_EQ(back.coordinates, draws.coordinates);
    EXPECT_EQ(back.variables[1].dims, std::vector<std::string>{"school"});
    EXPECT_EQ(back.variables[2].dims, (std::vector<std::string>{"", ""}));
    ASSERT_EQ(back.observed.size(), 2u);
    EXPECT_EQ(back.observed[0].values, draws.observed[0].values);
    EXPECT_EQ(back.observed[0].dims, draws.observed[0].dims);
    EXPECT_EQ(back.observed[1].shape, Shape{});
  }
  Draws draws = example();
  draws.metric = "dense", draws.finished = false, draws.inverse_metrics = {{1, 2, 2, 5}, {3, 4, 4, 7}};
  write_netcdf(draws, path("fit.nc"));
  expect_same(read_draws({path("fit.nc")}), draws);
  draws.stats = {}, draws.step_sizes = {}, draws.inverse_metrics = {};
  write_netcdf(draws, path("fit.nc"));
  expect_same(read_draws({path("fit.nc")}), draws);
}

TEST_F(NetcdfFiles, NamesThatXarrayCannotHave) {
  Draws draws = example();
  draws.variables = {variable(draws, "a", {2, 2}, {"k", "k"}), variable(draws, "b", {3}, {"k"}),
                     variable(draws, "c", {2}, {"a"}), variable(draws, "d", {2}, {"draw"})};
  write_netcdf(draws, path("fit.nc"));
  const Draws back = read_draws({path("fit.nc")});
  expect_same_variables(back.variables, draws.variables);
  EXPECT_EQ(back.variables[0].dims, (std::vector<std::string>{"k", ""}));
  EXPECT_EQ(back.variables[1].dims, std::vector<std::string>{""});
  EXPECT_EQ(back.variables[2].dims, std::vector<std::string>{""});
  draws.variables[0].name = "a/b";
  expect_words(error_of([&] { write_netcdf(draws, path("fit.nc")); }),
               {"fit.nc: posterior/a/b", "libnetcdf says"});
  draws = full_example();
  draws.coordinates["school"].pop_back();
  expect_words(error_of([&] { write_netcdf(draws, path("fit.nc")); }, ErrorKind::bad_argument),
               {"coordinates of school: expected 3, got 2"});
}

TEST_F(NetcdfFiles, PythonOpensIt) {
  write_netcdf(full_example(), path("fit.nc"));
  if (!python("check", path("fit.nc"))) GTEST_SKIP() << "Python has no netCDF4";
}

TEST_F(NetcdfFiles, ReadsWhatArviZWrites) {
  if (!python("write", path("arviz.nc"))) GTEST_SKIP() << "Python has no netCDF4";
  const Draws draws = read_draws({path("arviz.nc")});
  EXPECT_EQ(draws.chains, 2);
  EXPECT_EQ(draws.draws, 4);
  EXPECT_EQ(draws.warmup, 500);
  EXPECT_EQ(draws.model, "schoöls");
  EXPECT_EQ(draws.seconds.sampling, 2.5);
  ASSERT_EQ(draws.variables.size(), 4u);
  EXPECT_EQ(draws.variables[0].name, "mu");
  EXPECT_EQ(draws.variables[0].values[7], 42 / 4.0);
  EXPECT_EQ(draws.variables[1].dims, std::vector<std::string>{""});
  EXPECT_EQ(draws.variables[2].dims, (std::vector<std::string>{"school", "year"}));
  EXPECT_EQ(draws.variables[2].shape, (Shape{3, 2}));
  EXPECT_EQ(draws.variables[2].values[47], 47);
  EXPECT_EQ(draws.variables[3].values[1], 6 * 0.5 + 10);
  EXPECT_EQ(draws.coordinates.at("school"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(draws.coordinates.at("year"), (std::vector<std::string>{"2001", "2002"}));
  EXPECT_EQ(draws.stats.divergent, (std::vector<double>{1, 0, 0, 1, 0, 0, 1, 0}));
  EXPECT_EQ(draws.stats.lp[3], -3);
  EXPECT_TRUE(draws.stats.energy.empty() && draws.step_sizes.empty());
  EXPECT_EQ(draws.observed.at(0).values, (std::vector<double>{1, 2, 3}));
}

// --- Damage ---

// One change of a kind that disks, transfers and people make. It may happen to change nothing.
Bytes damaged(Bytes bytes, std::mt19937_64& random) {
  const auto below = [&](size_t end) { return static_cast<size_t>(random() % end); };
  const auto at = [&](size_t index) { return bytes.begin() + static_cast<ptrdiff_t>(index); };
  const size_t first = below(bytes.size()), second = below(bytes.size());
  const size_t length = std::min(size_t{1} << below(11), bytes.size() - std::max(first, second));
  switch (below(6)) {
    case 0: bytes[first] ^= std::byte{1} << static_cast<int>(below(8)); break;
    case 1: bytes[first] = static_cast<std::byte>(random()); break;
    case 2: bytes.resize(first); break;
    case 3: std::fill_n(at(first), length, std::byte{0}); break;
    case 4:
      std::swap_ranges(at(first), at(first + std::min(length, second > first ? second - first : length)),
                       at(second));
      break;
    default:
      for (int i = 0; i < 5; ++i) bytes[below(bytes.size())] ^= std::byte{1} << static_cast<int>(below(8));
  }
  return bytes;
}

// The larger of the two has what libhdf5 compresses, and more than fits into one block.
std::vector<Draws> to_be_damaged() {
  Draws large = full_example();
  large.precision = "f32";
  large.draws = 60;
  large.stats = {};
  large.log_likelihood = large.posterior_predictive = {};
  large.variables = {variable(large, "x", {20}, {""}), variable(large, "mu", {}, {})};
  return {full_example(), large};
}

// Equal in every bit.
bool same(const Draws& a, const Draws& b) { return to_bytes(a) == to_bytes(b); }

TEST_F(NetcdfFiles, DamageToOurFilesIsNoticed) {
  for (const Draws& draws : to_be_damaged()) {
    write_netcdf(draws, path("fit.nc"));
    const Bytes whole = read_file({"test", "fit.nc"}, path("fit.nc"));
    const Draws right = read_draws({path("fit.nc")});
    int unnoticed = 0;
    each_seed(400, [&](uint64_t seed) {
      std::mt19937_64 random(seed);
      const Bytes bytes = damaged(whole, random);
      if (bytes == whole) return;
      write(folder_ / "bad.nc", bytes);
      try {
        // Where the sum alone is gone, the draws must be there.
        unnoticed += !same(read_draws({path("bad.nc")}), right);
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("bad.nc"), std::string::npos) << error.what();
      }
    });
    EXPECT_EQ(unnoticed, 0);
  }
}

// Every bit of the sum, and every byte where the file may be cut.
TEST_F(NetcdfFiles, DamageToTheSumIsNoticed) {
  write_netcdf(example(), path("fit.nc"));
  const Bytes whole = read_file({"test", "fit.nc"}, path("fit.nc"));
  const size_t end = *netcdf::hdf5_size(whole);
  ASSERT_GT(whole.size() - end, 32u);
  for (size_t at = end; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bytes = whole;
      bytes[at] ^= std::byte{1} << bit;
      EXPECT_EQ(netcdf::check(bytes).sum, netcdf::CheckSum::wrong) << at - end << " " << bit;
    }
  for (size_t size = end + 1; size < whole.size(); ++size)
    EXPECT_EQ(netcdf::check(ByteSpan(whole).first(size)).sum, netcdf::CheckSum::wrong) << size - end;
  for (size_t at = end - 40; at < whole.size(); ++at) {
    Bytes bytes = whole;
    std::fill(bytes.begin() + static_cast<ptrdiff_t>(at), bytes.end(), std::byte{0});
    EXPECT_EQ(netcdf::check(bytes).sum, netcdf::CheckSum::wrong) << "zeros from " << at - end;
  }
  write(folder_ / "bad.nc",
        damaged(Bytes(whole.begin(), whole.end() - 1), *std::make_unique<std::mt19937_64>(3)));
  expect_words(error_of([&] { read_draws({path("bad.nc")}); }), {"bad.nc: ", "check sum", "damaged"});
}

// Files of others have no sum: from the library as they are, or filled up with zeros.
TEST_F(NetcdfFiles, AFileWithoutASumIsRead) {
  for (const Draws& draws : to_be_damaged()) {
    write_netcdf(draws, path("fit.nc"));
    Bytes bytes = netcdf::encode({"test", "fit.nc"}, draws);
    for (const size_t more : {0, 1, 4096}) {
      bytes.resize(bytes.size() + more);
      write(folder_ / "bare.nc", bytes);
      EXPECT_TRUE(same(read_draws({path("bare.nc")}), read_draws({path("fit.nc")}))) << more;
    }
  }
}

#if ADIT_HAS_NETCDF
// libhdf5 drops the sum from a file that it opens to be changed.
TEST_F(NetcdfFiles, OtherProgramsPassOverTheSum) {
  write_netcdf(example(), path("fit.nc"));
  const Draws right = read_draws({path("fit.nc")});
  int file = -1, group = -1;
  ASSERT_EQ(nc_open(path("fit.nc").c_str(), NC_NOWRITE, &file), NC_NOERR);
  EXPECT_EQ(nc_inq_grp_ncid(file, "posterior", &group), NC_NOERR);
  ASSERT_EQ(nc_close(file), NC_NOERR);
  const Bytes whole = read_file({"test", "fit.nc"}, path("fit.nc"));
  EXPECT_EQ(netcdf::check(whole).sum, netcdf::CheckSum::right);

  if (nc_open(path("fit.nc").c_str(), NC_WRITE, &file) == NC_NOERR) nc_close(file);
  EXPECT_TRUE(same(read_draws({path("fit.nc")}), right));
}
#endif

TEST_F(NetcdfFiles, DamagedFilesOfOthersAreDrawsOrErrors) {
  int read = 0, refused = 0, ended = 0;
  const std::vector<Draws> all = to_be_damaged();
  each_seed(60, [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    const Bytes whole = netcdf::encode({"test", "bad.nc"}, all[seed % all.size()]);
    write(folder_ / "bad.nc", damaged(whole, random));
    try {
      const Draws draws = read_draws({path("bad.nc")});
      ++read;
      for (const DrawsVariable& variable : draws.variables)
        EXPECT_EQ(std::ssize(variable.values), draws.chains * draws.draws * variable.size());
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("bad.nc"), std::string::npos) << text;
      ++(text.find("whose reading") == std::string::npos ? refused : ended);
    }
  });
  std::cout << read << " read, " << refused << " refused, " << ended
            << " ended in a crash or without an end\n";
  EXPECT_GT(refused, 0);
}

// The way through another process brings every field back.
TEST_F(DrawsFiles, DrawsAsBytes) {
  Draws draws = full_example();
  draws.finished = false, draws.warmup_draws = 1;
  draws.warmup_variables = {variable(draws, "mu", {}, {})};
  draws.warmup_stats.lp = {1, 2};
  const Place place{"test", "file"};
  const Bytes bytes = to_bytes(draws);
  const Draws back = draws_of(place, bytes);
  expect_same(back, draws);
  EXPECT_EQ(back.coordinates, draws.coordinates);
  EXPECT_EQ(back.warmup_stats.lp, draws.warmup_stats.lp);
  EXPECT_EQ(back.warmup_variables.at(0).values, draws.warmup_variables.at(0).values);
  EXPECT_EQ(to_bytes(back), bytes);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(draws_of(place, ByteSpan(bytes).first(size)), Error) << size;
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_THROW(draws_of(place, longer), Error);
  // The rank of mu stands behind its name: no shape has so many axes, though there are bytes for their
  // lengths.
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Bytes deep = bytes;
  const uint64_t rank = max_rank + 1;
  std::memcpy(deep.data() + text.find("mu") + 2, &rank, sizeof rank);
  expect_words(error_of([&] { draws_of(place, deep); }),
               {"file: expected draws from the process that read it"});
  std::mt19937_64 random(4);
  for (int i = 0; i < 2000; ++i) {
    try {
      draws_of(place, damaged(bytes, random));
    } catch (const Error&) {
    }
  }
}

TEST_F(NetcdfFiles, Errors) {
  write_netcdf(full_example(), path("fit.nc"));
  const Bytes whole = read_file({"test", "fit.nc"}, path("fit.nc"));
  for (const size_t length : {size_t{4}, size_t{100}, whole.size() / 2}) {
    write(folder_ / "cut.nc", Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)));
    expect_words(error_of([&] { read_draws({path("cut.nc")}); }), {"[read_draws] ", "cut.nc: "});
  }
  write_csv(example(), path("fit"));
  expect_words(error_of(
                   [&] {
                     read_draws({path("fit_1.csv"), path("fit.nc")});
                   },
                   ErrorKind::bad_argument),
               {"one netCDF file or CSV files alone"});
}

}  // namespace
}  // namespace adit::test
