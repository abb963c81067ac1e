// The file of a run that goes on: there and back, states by turns, kill -9, a full disk, damage.
#include <csignal>
#include <functional>
#include <map>
#include <sys/resource.h>
#include <sys/wait.h>

#include "io/files.hpp"
#include "sample/checkpoint_format.hpp"

namespace adit::test {
namespace {

// 12 bytes a row, and states of up to 40.
const CheckpointHeader header{R"({"seed":1})", "normal mu; normal y", 2, 1, 2, true, 40};
using Counts = std::vector<uint32_t>;

Bytes rows_bytes(uint64_t first, const Counts& counts) {
  Bytes bytes;
  for (uint64_t i = 0; i < (counts[0] + counts[1]) * 3; i++) {
    const float value = static_cast<float>(first) * 100 + static_cast<float>(i);
    append_text(bytes, {reinterpret_cast<const char*>(&value), sizeof value});
  }
  return bytes;
}

void add_rows(CheckpointWriter& writer, uint64_t first, const Counts& counts) {
  writer.rows(counts, rows_bytes(first, counts));
}

void expect_rows(const CheckpointRows& rows, uint64_t first, const Counts& counts) {
  EXPECT_EQ(rows.counts, counts);
  EXPECT_EQ(rows.bytes, rows_bytes(first, counts));
}

// The blocks of make(), and the states after some of them.
const Counts blocks[] = {{2, 2}, {3, 4}, {1, 0}, {2, 2}};
const std::string states[] = {"none", "state one", "state two!", "the third state"};

class Checkpoint : public Io {
 protected:
  fs::path path_ = folder_ / "run.checkpoint";
  Bytes contents() const { return read_file({"test", "run"}, path_); }
  // Three blocks, each with a state that goes on from it, and a fourth. The first state is overwritten.
  void make() const {
    CheckpointWriter writer(path_, header);
    for (uint64_t i = 0; i < 4; i++) {
      add_rows(writer, i, blocks[i]);
      if (i < 3) writer.state(i + 1, bytes_of(states[i + 1]));
    }
  }
  // Whatever is read is what was written, from the front.
  static void expect_front(const CheckpointContents& read) {
    EXPECT_EQ(read.header, header);
    ASSERT_LE(read.rows.size(), 4u);
    for (size_t i = 0; i < read.rows.size(); i++) expect_rows(read.rows[i], i, blocks[i]);
    if (!read.state) return;
    ASSERT_LE(read.state->generation, 3u);
    EXPECT_EQ(read.state->bytes, bytes_of(states[read.state->generation]));
    EXPECT_EQ(read.state->blocks, read.state->generation);
    EXPECT_LE(read.state->blocks, read.rows.size());
  }
  uint64_t place_of(int which) const {
    return read_checkpoint(path_).rows_begin -
           static_cast<uint64_t>(2 - which) * checkpoint::state_room(header);
  }
};

TEST_F(Checkpoint, BringsBackWhatWasWritten) {
  make();
  const CheckpointContents read = read_checkpoint(path_);
  expect_front(read);
  EXPECT_EQ(read.rows.size(), 4u);
  EXPECT_FALSE(read.torn);
  EXPECT_EQ(read.state->generation, 3u);
  EXPECT_EQ(read.good_end, contents().size());
  EXPECT_EQ(header.numbers(read.rows[0].bytes)[11], 11);
  EXPECT_EQ(header.numbers(read.rows[0].bytes).size(), 12u);
  EXPECT_EQ(count_rows(read), (std::vector<uint64_t>{8, 8}));
}

// Chains that are apart: rows of each in their own order.
TEST_F(Checkpoint, RowsOfChains) {
  make();
  const CheckpointContents read = read_checkpoint(path_);
  const auto numbers = [&](std::vector<uint64_t> firsts, std::vector<uint64_t> counts) {
    std::vector<double> firsts_of_rows;
    const auto all = header.numbers(rows_of(read, firsts, counts));
    for (size_t i = 0; i < all.size(); i += 3) firsts_of_rows.push_back(all[i]);
    return firsts_of_rows;
  };
  const std::vector<double> zero{0, 3, 100, 103, 106, 200, 300, 303}, one{6, 9, 109, 112, 115, 118, 306, 309};
  for (uint64_t a = 0; a <= 8; a++)
    for (uint64_t n = 0; a + n <= 8; n++)
      for (uint64_t b = 0; b <= 8; b++) {
        const uint64_t m = std::min<uint64_t>(3, 8 - b);
        std::vector<double> want(zero.begin() + static_cast<int64_t>(a),
                                 zero.begin() + static_cast<int64_t>(a + n));
        want.insert(want.end(), one.begin() + static_cast<int64_t>(b),
                    one.begin() + static_cast<int64_t>(b + m));
        ASSERT_EQ(numbers({a, b}, {n, m}), want) << a << " " << n << " " << b;
      }
}

TEST_F(Checkpoint, GoesOnBehindTheRowsOfItsState) {
  make();
  {
    CheckpointWriter writer(path_, read_checkpoint(path_));
    EXPECT_EQ(read_checkpoint(path_).rows.size(), 3u);  // the block behind the state is made again
    add_rows(writer, 9, {4, 4});
    writer.state(4, {});
  }
  CheckpointContents read = read_checkpoint(path_);
  ASSERT_EQ(read.rows.size(), 4u);
  expect_rows(read.rows[3], 9, {4, 4});
  EXPECT_EQ(read.state->generation, 4u);
  EXPECT_TRUE(read.state->bytes.empty());
  EXPECT_EQ(read.state->blocks, 4u);
  // It went over the second state, not over the one that it went on from.
  Bytes bytes = contents();
  bytes[place_of(1)] ^= std::byte{1};
  write(path_, bytes);
  read = read_checkpoint(path_);
  EXPECT_EQ(read.state->generation, 3u);
  EXPECT_TRUE(read.torn);
}

TEST_F(Checkpoint, StatesTakeTurns) {
  CheckpointWriter writer(path_, header);
  const auto size = contents().size();
  for (uint64_t i = 1; i <= 50; i++) {
    writer.state(i, bytes_of("state " + std::to_string(i)));
    const CheckpointContents read = read_checkpoint(path_);
    EXPECT_EQ(read.state->bytes, bytes_of("state " + std::to_string(i)));
    EXPECT_EQ(contents().size(), size);
    // A writer that was killed over it leaves the one before.
    Bytes bytes = contents();
    bytes[place_of(read.state->place) + 50] ^= std::byte{1};
    const fs::path copy = folder_ / "copy";
    write(copy, bytes);
    const CheckpointContents before = read_checkpoint(copy);
    EXPECT_TRUE(before.torn);
    ASSERT_EQ(before.state.has_value(), i > 1);
    if (i > 1) {
      EXPECT_EQ(before.state->generation, i - 1);
    }
  }
}

// A state that was dropped with its rows does not come back with others that end at the same byte.
TEST_F(Checkpoint, AStateKnowsItsRows) {
  make();
  Bytes bytes = contents();
  const CheckpointContents read = read_checkpoint(path_);
  // The last block that the newest state goes on from is damaged: the state before it goes on.
  bytes[read.state->rows_end - 1] ^= std::byte{1};
  write(path_, bytes);
  const CheckpointContents older = read_checkpoint(path_);
  EXPECT_EQ(older.state->generation, 2u);
  EXPECT_EQ(older.rows.size(), 2u);
  EXPECT_TRUE(older.torn);
  CheckpointWriter writer(path_, older);
  add_rows(writer, 7, blocks[2]);
  const CheckpointContents again = read_checkpoint(path_);
  EXPECT_EQ(again.good_end, read.state->rows_end);
  EXPECT_EQ(again.state->generation, 2u);
  EXPECT_EQ(again.rows.size(), 3u);
}

TEST_F(Checkpoint, WithoutAStateItStartsAnew) {
  {
    CheckpointWriter writer(path_, header);
    add_rows(writer, 0, {2, 2});
  }
  EXPECT_EQ(read_checkpoint(path_).rows.size(), 1u);
  {
    CheckpointWriter writer(path_, read_checkpoint(path_));
    add_rows(writer, 0, {3, 3});
  }
  const CheckpointContents read = read_checkpoint(path_);
  ASSERT_EQ(read.rows.size(), 1u);
  expect_rows(read.rows[0], 0, {3, 3});
  EXPECT_FALSE(read.state);
}

TEST_F(Checkpoint, CutAnywhere) {
  make();
  const Bytes whole = contents();
  const CheckpointContents all = read_checkpoint(path_);
  const uint64_t head = checkpoint::encode_head(header).size(), second = whole.size() - 2 * (24 + 8) - 5 * 12;
  size_t most_rows = 0;
  for (size_t length = 0; length < whole.size(); length++) {
    if (length > head && length + 1 < all.rows_begin && length % 64 > 1)
      continue;  // states and room for them
    write(path_, Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)));
    const auto refused = [&](const char* why) {
      expect_words(error_of([&] { read_checkpoint(path_); }), {path_.string(), why});
    };
    if (length < head) {
      refused("ends in its head");
      continue;
    }
    if (length > head && length < all.rows_begin) {
      refused("ends in its states");
      continue;
    }
    CheckpointContents read;
    try {
      read = read_checkpoint(path_);
    } catch (const Error&) {  // rows of the older state are missing
      EXPECT_LT(length, second);
      refused("expected the rows that its states go on from, got fewer");
      continue;
    }
    expect_front(read);
    if (length > head) {
      EXPECT_EQ(read.state->generation, read.rows.size() < 3 ? 2u : 3u);
    }
    EXPECT_GE(read.rows.size(), most_rows);
    most_rows = read.rows.size();
    { CheckpointWriter writer(path_, read); }  // cuts
    const CheckpointContents again = read_checkpoint(path_);
    EXPECT_EQ(again.rows.size(), read.state ? read.state->blocks : 0);
    EXPECT_EQ(again.state.has_value(), read.state.has_value());
  }
  EXPECT_EQ(most_rows, 3u);
}

TEST_F(Checkpoint, DamageAnywhere) {
  make();
  const Bytes whole = contents();
  const CheckpointContents all = read_checkpoint(path_);
  const uint64_t head = checkpoint::encode_head(header).size();
  std::map<uint64_t, int> went_on;  // from which state
  int errors = 0, unnoticed = 0;
  for (size_t at = 0; at < whole.size(); at++) {
    if (at > head && at < all.rows_begin && whole[at] == std::byte{0} && at % 512 > 60) continue;  // room
    for (const int flip : {1, 128, 255}) {
      Bytes bytes = whole;
      bytes[at] ^= static_cast<std::byte>(flip);
      write(path_, bytes);
      try {
        const CheckpointContents read = read_checkpoint(path_);
        expect_front(read);
        ASSERT_TRUE(read.state) << at;
        if (read.torn) {
          went_on[read.state->generation]++;
        } else {
          EXPECT_TRUE(at >= head && at < all.rows_begin && whole[at] == std::byte{0}) << at;
          unnoticed++;
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io);
        expect_words(error.what(), {path_.string()});
        errors++;
      }
    }
  }
  const auto record = [](const Counts& counts) {
    return static_cast<int>(checkpoint::record_bytes + 8 + 12 * (counts[0] + counts[1]));
  };
  const auto state = [](size_t which) {
    return static_cast<int>(checkpoint::state_head_bytes + states[which].size());
  };
  EXPECT_EQ(errors, 3 * (static_cast<int>(head) + record(blocks[0]) + record(blocks[1])));
  EXPECT_EQ(went_on[3], 3 * (state(2) + record(blocks[3])));
  EXPECT_EQ(went_on[2], 3 * (state(3) + record(blocks[2])));
  EXPECT_GT(unnoticed, 0);
}

TEST_F(Checkpoint, BothStatesDamaged) {
  make();
  Bytes bytes = contents();
  for (const int which : {0, 1}) bytes[place_of(which) + 49] ^= std::byte{1};
  write(path_, bytes);
  expect_words(error_of([&] { read_checkpoint(path_); }), {path_.string(), "one whole state of two"});
}

TEST_F(Checkpoint, PiecesLostMovedOrForeign) {
  make();
  const Bytes whole = contents();
  const CheckpointContents read = read_checkpoint(path_);
  const auto dropped = [&](const Bytes& bytes) {
    write(path_, bytes);
    const CheckpointContents found = read_checkpoint(path_);
    expect_front(found);
    EXPECT_TRUE(found.torn);
    EXPECT_EQ(found.rows.size(), 4u);
    EXPECT_EQ(found.state->generation, 3u);
  };
  Bytes zeros = whole;  // a machine that lost its power: the file is longer than what reached the disk
  zeros.resize(whole.size() + 5000);
  dropped(zeros);
  zeros.back() = std::byte{1};
  dropped(zeros);
  Bytes moved = whole;  // a record that is whole, at another place
  moved.insert(moved.end(), whole.begin() + static_cast<ptrdiff_t>(read.rows_begin), whole.end());
  dropped(moved);
  moved = whole;  // a state, at the other's place
  std::copy_n(whole.begin() + static_cast<ptrdiff_t>(place_of(1)), 64,
              moved.begin() + static_cast<ptrdiff_t>(place_of(0)));
  write(path_, moved);
  EXPECT_EQ(read_checkpoint(path_).state->generation, 2u);
  write(path_, bytes_of(std::string(100, 'x')));
  expect_words(error_of([&] { read_checkpoint(path_); }), {"expected a checkpoint", "'xxxxxxxx'"});
  error_of([&] { read_checkpoint(folder_); });
  error_of([&] { read_checkpoint(folder_ / "none"); }, ErrorKind::not_found);
}

// Files of the first version, with states among the records, are not misread.
TEST_F(Checkpoint, OtherVersionsAreRefused) {
  make();
  for (const uint32_t version : {0u, 1u, 2u, 4u, 0xffffffffu}) {
    Bytes number;
    append_number<uint32_t>(number, version);
    Bytes bytes = contents();
    std::copy(number.begin(), number.end(), bytes.begin() + 8);
    const fs::path other = folder_ / "other";
    write(other, bytes);
    expect_words(
        error_of([&] { read_checkpoint(other); }),
        {other.string(), "expected a checkpoint of version 3, got version " + std::to_string(version),
         "another release"});
  }
}

TEST_F(Checkpoint, KilledWhileWriting) {
  for (const int microseconds : {300, 1000, 3000}) {
    const pid_t child = fork();
    if (child == 0) {
      CheckpointHeader wide = header;
      wide.state_bytes = 5000;
      CheckpointWriter writer(path_, wide);
      for (uint64_t i = 0;; i++) {
        add_rows(writer, i, {20, 30});
        writer.state(i + 1, Bytes(5000, static_cast<std::byte>(i + 1)));
      }
    }
    while (!fs::exists(path_) || fs::file_size(path_) < 22000) usleep(100);
    usleep(static_cast<useconds_t>(microseconds));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const CheckpointContents read = read_checkpoint(path_);
    EXPECT_GT(read.rows.size(), 0u);
    for (size_t i = 0; i < read.rows.size(); i++) expect_rows(read.rows[i], i, {20, 30});
    if (read.state) {
      EXPECT_EQ(read.state->blocks, read.state->generation);
      EXPECT_EQ(read.state->bytes, Bytes(5000, static_cast<std::byte>(read.state->generation)));
      EXPECT_LE(read.rows.size(), read.state->blocks + 2);
    }
    fs::remove(path_);
  }
}

TEST_F(Checkpoint, OneWriterAtATime) {
  make();
  const CheckpointContents read = read_checkpoint(path_);
  const CheckpointWriter writer(path_, read);
  expect_words(error_of([&] { CheckpointWriter(path_, read); }), {path_.string(), "another run is writing"});
  expect_words(error_of([&] { CheckpointWriter(path_, header); }), {"another run is writing"});
  EXPECT_EQ(read_checkpoint(path_).rows.size(), 3u);
}

// What has come to the names since then is not a writer's to remove.
TEST_F(Checkpoint, FilesOfOthersStay) {
  const auto is_mine = [](const fs::path& path) { return fs::exists(path) && fs::file_size(path) == 4; };
  {
    CheckpointWriter writer(path_, header);
    fs::rename(path_, folder_ / "moved");
    write(path_, bytes_of("mine"));
    writer.discard();
  }
  EXPECT_TRUE(is_mine(path_));
  fs::rename(folder_ / "moved", path_);
  {
    CheckpointWriter writer(path_, header);  // beside the old one
    fs::remove(path_);
    write(path_, bytes_of("mine"));
    add_rows(writer, 0, blocks[0]);
    expect_words(error_of([&] { writer.state(1, bytes_of(states[1])); }),
                 {"expected the old checkpoint or none, got another file"});
  }
  EXPECT_TRUE(is_mine(path_));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Checkpoint, FullDisk) {
  if (fs::exists("/dev/full"))
    expect_words(error_of([&] { CheckpointWriter("/dev/full", header); }),
                 {"/dev/full: expected to write it", "No space"});
  CheckpointWriter writer(path_, header);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const auto within = [&](uint64_t bytes, const std::function<void()>& work) {
    rlimit small = before;
    small.rlim_cur = bytes;
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string message = error_of(work);
    setrlimit(RLIMIT_FSIZE, &before);
    expect_words(message, {path_.string() + ": expected to write it"});
  };
  add_rows(writer, 0, blocks[0]);
  writer.state(1, bytes_of(states[1]));
  within(fs::file_size(path_) + 300, [&] { add_rows(writer, 1, {100, 100}); });
  CheckpointContents read = read_checkpoint(path_);
  EXPECT_FALSE(read.torn);
  expect_front(read);
  EXPECT_EQ(read.rows.size(), 1u);
  add_rows(writer, 1, blocks[1]);  // somebody made room
  EXPECT_EQ(read_checkpoint(path_).rows.size(), 2u);
  // A state that finds no room leaves the one before, however often, and the rows.
  for (const uint64_t bytes : {0, 50, 10})
    within(place_of(1) + bytes, [&] { writer.state(2, bytes_of(states[2])); });
  read = read_checkpoint(path_);
  expect_front(read);
  EXPECT_EQ(read.state->generation, 1u);
  EXPECT_EQ(read.rows.size(), 2u);
  writer.state(2, bytes_of(states[2]));
  std::signal(SIGXFSZ, handler);
  expect_front(read_checkpoint(path_));
  EXPECT_EQ(read_checkpoint(path_).state->generation, 2u);
}

TEST_F(Checkpoint, Errors) {
  expect_words(error_of([&] { CheckpointWriter(folder_ / "no" / "x", header); }, ErrorKind::not_found),
               {"no/x"});
  expect_words(error_of([&] { CheckpointWriter writer(folder_, header); }), {folder_.string()});
  CheckpointWriter writer(path_, header);
  const auto refused = [&](const std::function<void()>& work, const std::string& words) {
    expect_words(error_of(work, ErrorKind::bad_argument), {words});
  };
  refused(
      [&] {
        writer.rows(Counts{1, 1}, rows_bytes(0, {1, 0}));
      },
      "expected 24 bytes for 2 rows of 2 chains, got 12 of 2");
  refused([&] { writer.rows(Counts{2}, rows_bytes(0, {1, 1})); }, "of 2 chains, got 24 of 1");
  refused([&] { writer.state(1, Bytes(41)); }, "[checkpoint] state: expected at most 40 bytes, got 41");
}

}  // namespace
}  // namespace adit::test
