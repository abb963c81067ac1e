// The file of a run that goes on: there and back, kill -9, a full disk, damage.
#include "sample/checkpoint.hpp"

#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>

#include "io/files.hpp"

namespace adit::test {
namespace {

const CheckpointHeader header{R"({"seed":1})", "normal mu; normal y", 2, 1, 2, true};  // 24 bytes a row

Bytes rows_bytes(uint64_t first, uint64_t count) {
  Bytes bytes;
  for (uint64_t i = 0; i < header.chains * count * header.row_elements(); i++) {
    const float value = static_cast<float>(first) * 100 + static_cast<float>(i);
    append_text(bytes, {reinterpret_cast<const char*>(&value), sizeof value});
  }
  return bytes;
}

void expect_rows(const CheckpointRows& rows, uint64_t first, uint64_t count) {
  EXPECT_EQ(rows.first, first);
  EXPECT_EQ(rows.count, count);
  EXPECT_EQ(rows.bytes, rows_bytes(first, count));
}

class Checkpoint : public Io {
 protected:
  fs::path path_ = folder_ / "run.checkpoint";
  Bytes contents() const { return read_file({"test", "run"}, path_); }
  // Blocks 0-1, a state, block 2-4, a state, block 5.
  void make() const {
    CheckpointWriter writer(path_, header);
    writer.rows(0, 2, rows_bytes(0, 2));
    writer.state(1, bytes_of("state one"));
    writer.rows(2, 3, rows_bytes(2, 3));
    writer.state(2, bytes_of("state two!"));
    writer.rows(5, 1, rows_bytes(5, 1));
  }
  // Whatever is read is what was written, from the front.
  static void expect_front(const CheckpointContents& read) {
    const uint64_t firsts[] = {0, 2, 5}, counts[] = {2, 3, 1};
    EXPECT_EQ(read.header, header);
    ASSERT_LE(read.rows.size(), 3u);
    for (size_t i = 0; i < read.rows.size(); i++) expect_rows(read.rows[i], firsts[i], counts[i]);
    if (!read.state) return;
    ASSERT_TRUE(read.state->generation == 1 || read.state->generation == 2);
    EXPECT_EQ(read.state->bytes, bytes_of(read.state->generation == 1 ? "state one" : "state two!"));
    EXPECT_EQ(read.state->blocks, read.state->generation);
    EXPECT_LE(read.state->blocks, read.rows.size());
  }
};

TEST_F(Checkpoint, BringsBackWhatWasWritten) {
  make();
  const CheckpointContents read = read_checkpoint(path_);
  expect_front(read);
  EXPECT_EQ(read.rows.size(), 3u);
  EXPECT_FALSE(read.torn);
  EXPECT_EQ(read.state->generation, 2u);
  EXPECT_EQ(read.good_end, contents().size());
  EXPECT_EQ(read.rows[0].numbers(header)[11], 11);
  EXPECT_EQ(read.rows[0].numbers(header).size(), 12u);
}

TEST_F(Checkpoint, GoesOnBehindTheLastState) {
  make();
  {
    CheckpointWriter writer(path_, read_checkpoint(path_));
    EXPECT_EQ(read_checkpoint(path_).rows.size(), 2u);  // the block behind the state is made again
    writer.rows(5, 4, rows_bytes(5, 4));
    writer.state(3, {});
  }
  const CheckpointContents read = read_checkpoint(path_);
  ASSERT_EQ(read.rows.size(), 3u);
  expect_rows(read.rows[2], 5, 4);
  EXPECT_EQ(read.state->generation, 3u);
  EXPECT_TRUE(read.state->bytes.empty());
  EXPECT_EQ(read.state->blocks, 3u);
}

TEST_F(Checkpoint, WithoutAStateItStartsAnew) {
  { CheckpointWriter(path_, header).rows(0, 2, rows_bytes(0, 2)); }
  EXPECT_EQ(read_checkpoint(path_).rows.size(), 1u);
  { CheckpointWriter(path_, read_checkpoint(path_)).rows(0, 3, rows_bytes(0, 3)); }
  const CheckpointContents read = read_checkpoint(path_);
  ASSERT_EQ(read.rows.size(), 1u);
  expect_rows(read.rows[0], 0, 3);
  EXPECT_FALSE(read.state);
}

TEST_F(Checkpoint, CutAnywhere) {
  make();
  const Bytes whole = contents();
  const uint64_t head = read_checkpoint(path_).head_end;
  size_t most_rows = 0;
  for (size_t length = 0; length < whole.size(); length++) {
    write(path_, Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)));
    if (length < head) {
      expect_words(error_of([&] { read_checkpoint(path_); }), {path_.string(), "ends in its head"});
      continue;
    }
    const CheckpointContents read = read_checkpoint(path_);
    expect_front(read);
    EXPECT_EQ(read.torn, read.good_end != length);
    EXPECT_GE(read.rows.size(), most_rows);
    most_rows = read.rows.size();
    { CheckpointWriter writer(path_, read); }  // cuts
    const CheckpointContents again = read_checkpoint(path_);
    EXPECT_FALSE(again.torn);
    EXPECT_EQ(again.rows.size(), read.state ? read.state->blocks : 0);
  }
  EXPECT_EQ(most_rows, 2u);
}

TEST_F(Checkpoint, DamageAnywhere) {
  make();
  const Bytes whole = contents();
  int errors = 0, shorter = 0;
  for (size_t at = 0; at < whole.size(); at++)
    for (const int flip : {1, 128, 255}) {
      Bytes bytes = whole;
      bytes[at] ^= static_cast<std::byte>(flip);
      write(path_, bytes);
      try {
        const CheckpointContents read = read_checkpoint(path_);
        expect_front(read);
        EXPECT_TRUE(read.torn) << at;  // of the last record, which cannot be told from one cut off
        shorter++;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io);
        expect_words(error.what(), {path_.string()});
        errors++;
      }
    }
  EXPECT_GT(errors, 500);
  EXPECT_EQ(shorter, 3 * (16 + 24));  // the payload of the last block alone
}

TEST_F(Checkpoint, PiecesLostMovedOrForeign) {
  make();
  const Bytes whole = contents();
  const CheckpointContents read = read_checkpoint(path_);
  Bytes zeros = whole;  // a machine that lost its power: the file is longer than what reached the disk
  zeros.resize(whole.size() + 5000);
  write(path_, zeros);
  EXPECT_TRUE(read_checkpoint(path_).torn);
  EXPECT_EQ(read_checkpoint(path_).rows.size(), 3u);
  zeros.back() = std::byte{1};
  write(path_, zeros);
  expect_words(error_of([&] { read_checkpoint(path_); }), {"record at byte", "damage"});
  Bytes moved = whole;  // a record that is whole, at another place
  moved.insert(moved.end(), whole.begin() + static_cast<ptrdiff_t>(read.head_end), whole.end());
  write(path_, moved);
  expect_words(error_of([&] { read_checkpoint(path_); }), {"damage"});
  write(path_, bytes_of(std::string(100, 'x')));
  expect_words(error_of([&] { read_checkpoint(path_); }), {"expected a checkpoint", "'xxxxxxxx'"});
  error_of([&] { read_checkpoint(folder_); });
  error_of([&] { read_checkpoint(folder_ / "none"); }, ErrorKind::not_found);
}

TEST_F(Checkpoint, KilledWhileWriting) {
  for (const int microseconds : {300, 1000, 3000}) {
    const pid_t child = fork();
    if (child == 0) {
      CheckpointWriter writer(path_, header);
      for (uint64_t i = 0;; i += 50) writer.rows(i, 50, rows_bytes(i, 50));
    }
    while (!fs::exists(path_) || fs::file_size(path_) < 200) usleep(100);
    usleep(static_cast<useconds_t>(microseconds));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const CheckpointContents read = read_checkpoint(path_);
    EXPECT_GT(read.rows.size(), 0u);
    for (size_t i = 0; i < read.rows.size(); i++) expect_rows(read.rows[i], 50 * i, 50);
    fs::remove(path_);
  }
}

TEST_F(Checkpoint, OneWriterAtATime) {
  make();
  const CheckpointContents read = read_checkpoint(path_);
  const CheckpointWriter writer(path_, read);
  expect_words(error_of([&] { CheckpointWriter(path_, read); }), {path_.string(), "another run is writing"});
  expect_words(error_of([&] { CheckpointWriter(path_, header); }), {"another run is writing"});
  EXPECT_EQ(read_checkpoint(path_).rows.size(), 2u);
}

TEST_F(Checkpoint, FullDisk) {
  if (fs::exists("/dev/full"))
    expect_words(error_of([&] { CheckpointWriter("/dev/full", header); }),
                 {"/dev/full: expected to write it", "No space"});
  CheckpointWriter writer(path_, header);
  writer.rows(0, 2, rows_bytes(0, 2));
  writer.state(1, bytes_of("state one"));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 300;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = error_of([&] { writer.rows(2, 100, rows_bytes(2, 100)); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  expect_words(message, {path_.string() + ": expected to write it"});
  const CheckpointContents read = read_checkpoint(path_);
  EXPECT_FALSE(read.torn);
  expect_front(read);
  EXPECT_EQ(read.rows.size(), 1u);
  writer.rows(2, 3, rows_bytes(2, 3));  // somebody made room
  EXPECT_EQ(read_checkpoint(path_).rows.size(), 2u);
}

TEST_F(Checkpoint, Errors) {
  expect_words(error_of([&] { CheckpointWriter(folder_ / "no" / "x", header); }, ErrorKind::not_found),
               {"no/x"});
  expect_words(error_of([&] { CheckpointWriter writer(folder_, header); }), {folder_.string()});
  CheckpointWriter writer(path_, header);
  expect_words(error_of([&] { writer.rows(0, 2, rows_bytes(0, 1)); }, ErrorKind::bad_argument),
               {"expected 48 bytes for 2 rows, got 24"});
}

}  // namespace
}  // namespace adit::test
