// Runs that stop, are killed or cannot write, and how they go on from their checkpoint.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <new>
#include <sys/resource.h>

#include "device/vulkan/vulkan.hpp"
#include "devices.hpp"
#include "sample/checkpoint_format.hpp"
#include "sample/so_far.hpp"
#include "sample_runs.hpp"

namespace adit {
namespace {

TEST_F(SampleTest, progress_comes_and_a_stop_keeps_the_draws) {
  const Forced forced{.budget = 50};
  SampleOptions options = few();
  std::vector<Progress> seen;
  options.on_progress = [&](const Progress& now) { seen.push_back(now); };
  const Draws whole = sample(small_model(), options, forced);
  ASSERT_GT(seen.size(), 5u);
  for (size_t i = 1; i < seen.size(); ++i) {
    EXPECT_GE(seen[i].iteration, seen[i - 1].iteration);
    EXPECT_GT(seen[i].leapfrogs, seen[i - 1].leapfrogs);
    EXPECT_EQ(seen[i].iterations, 200);
    EXPECT_EQ(seen[i].warmup, 120);
  }
  EXPECT_EQ(seen.back().iteration, 200);
  EXPECT_EQ(seen.back().leapfrogs, whole.leapfrogs);

  const Draws half = sample(small_model(), stopping(few(), 150), forced);
  EXPECT_FALSE(half.finished);
  ASSERT_GE(half.draws, 30);
  ASSERT_LT(half.draws, 80);
  for (int64_t chain = 0; chain < 3; ++chain)
    for (int64_t draw = 0; draw < half.draws; ++draw)
      EXPECT_EQ(half.variables[0].values[static_cast<size_t>(chain * half.draws + draw)],
                whole.variables[0].values[static_cast<size_t>(chain * 80 + draw)]);
  const Draws none = sample(small_model(), stopping(few(), 10), forced);
  EXPECT_FALSE(none.finished);
  EXPECT_EQ(none.draws, 0);
}

// The error says what happened; the draws so far can be read, and the run goes on to the same draws on the
// device as it opens again. The model's numbers lie on that device too, as they do where it is the best one.
TEST_F(SampleTest, a_device_lost_in_mid_run_leaves_its_draws) {
  std::string id;
  for (const std::string& one : test::device_ids())
    if (one != "cpu") id = one;
  if (id.empty()) GTEST_SKIP() << "no device that can be lost";
  SampleOptions options = few();
  options.device = id;
  set_default_device(Device::open(id));
  const Draws whole = sample(small_model(), options);
  options.checkpoint = checkpoint();
  const Forced forced{.budget = 40, .checkpoint_seconds = 0};
  std::shared_ptr<Device> device = Device::open(id);
  SampleOptions losing = options;
  losing.on_progress = [&](const Progress& now) {
    if (now.iteration >= 150 && device) vulkan::lose_next_submission(*device), device.reset();
  };
  try {
    sample(small_model(), losing, forced);
    FAIL() << "the device was not lost";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device_lost) << error.what();
  }
  device.reset();
  const Draws found = sampling::draws_so_far(read_checkpoint(checkpoint()), checkpoint(),
                                             stats::state_of(small_model()), Device::open("cpu"));
  ASSERT_GE(found.draws, 10);
  ASSERT_LT(found.draws, 80);
  for (int64_t chain = 0; chain < 3; ++chain)
    for (int64_t draw = 0; draw < found.draws; ++draw)
      EXPECT_EQ(found.stats.lp[static_cast<size_t>(chain * found.draws + draw)],
                whole.stats.lp[static_cast<size_t>(chain * 80 + draw)]);
  options.resume = true;
  expect_same(sample(small_model(), options, forced), whole);
  EXPECT_FALSE(default_device()->lost());
  set_default_device(nullptr);
}

TEST_F(SampleTest, a_stopped_run_goes_on_to_the_same_draws) {
  for (const bool warmup_rows : {false, true})
    for (const Adapt adapt : {Adapt::chain, Adapt::pooled})
      for (const int64_t stop : {1, 60, 95, 119, 121, 170}) {
        SampleOptions options = few();
        options.thin = 2;
        options.save_warmup = warmup_rows;
        options.adapt = adapt;
        const Draws whole = sample(small_model(), options);
        const Forced forced{.budget = 11, .ring = warmup_rows ? 9 : 0, .checkpoint_seconds = 0.001};
        options.checkpoint = checkpoint();
        const Draws broken = sample(small_model(), stopping(options, stop), forced);
        EXPECT_FALSE(broken.finished) << stop;
        options.resume = true;
        const Draws again = sample(small_model(), stopping(options, stop + 7), forced);
        EXPECT_FALSE(again.finished) << stop;
        const Draws rest = sample(small_model(), options);
        EXPECT_TRUE(rest.finished);
        expect_same(whole, rest);
        EXPECT_EQ(rest.warmup_draws, warmup_rows ? 60 : 0);
        EXPECT_TRUE(same(whole.warmup_stats.lp, rest.warmup_stats.lp));
        expect_same(whole, sample(small_model(), options));  // a finished one is read
      }
}

// What lay in the device's memory before is no part of the data.
TEST_F(SampleTest, memory_that_was_used_before_does_not_matter) {
  for (const Placement placement : {Placement::automatic, Placement::device})
    for (const int64_t n : {1, 3, 8}) {
      const auto model = [&] {
        Model made("observed");
        const Tensor mu = made.sample("mu", normal(0, 1));
        made.observe("y", normal(mu, 1), full({n}, 0.5, DType::f64));
        return made;
      };
      SampleOptions options = few();
      options.device = "cpu";
      options.placement = placement;
      options.checkpoint = checkpoint() + std::to_string(n) + (placement == Placement::device ? "d" : "a");
      const Draws first = sample(model(), options);
      options.resume = true;
      for (const uint32_t pattern : {0u, 0xAAAAAAAAu, 0x12345678u}) {
        {
          const auto device = Device::open("cpu");
          std::vector<Buffer> used;
          for (uint64_t bytes = 16; bytes <= 512; bytes += 16)
            for (int i = 0; i < 8; ++i) device->fill(used.emplace_back(device->allocate(bytes)), pattern);
        }
        EXPECT_EQ(sample(model(), options).variables[0].values, first.variables[0].values);
      }
    }
}

TEST_F(SampleTest, a_resumed_run_may_ask_for_more_draws) {
  SampleOptions options = few();
  options.checkpoint = checkpoint();
  sample(small_model(), options);
  options.resume = true;
  options.draws = 130;
  const Draws more = sample(small_model(), options);
  SampleOptions at_once = few();
  at_once.draws = 130;
  expect_same(sample(small_model(), at_once), more);
  options.draws = 20;
  const Draws fewer = sample(small_model(), options);
  EXPECT_EQ(fewer.draws, 20);
  EXPECT_EQ(fewer.variables[0].values[21], more.variables[0].values[131]);
}

// Fewer draws than some chains have already: what those are ahead falls away, and nothing else.
TEST_F(SampleTest, a_resumed_run_may_ask_for_fewer_than_a_chain_has) {
  const Model model = family_model("normal", 2);
  SampleOptions options = few();
  options.warmup = 0;
  options.warm_start.step_sizes = {0.01, 0.5, 0.5};  // the first is far behind the others
  const Draws whole = sample(model, options);
  options.checkpoint = checkpoint();
  sample(model, stopping(options, 1), {.budget = 20});
  const std::vector<uint64_t> counts = count_rows(read_checkpoint(checkpoint()));
  const auto [fewest, most] = std::minmax_element(counts.begin(), counts.end());
  ASSERT_GT(*fewest, 0u);
  ASSERT_GT(*most, 2 * *fewest + 1);  // more than there is room for
  for (size_t i = 81; i < 86; ++i) ASSERT_NE(whole.stats.lp[i], whole.stats.lp[i - 1]);  // they move
  options.resume = true;
  options.draws = static_cast<int64_t>(*fewest) + 1;
  const Draws less = sample(model, options);
  for (int64_t chain = 0; chain < 3; ++chain)
    for (int64_t draw = 0; draw < options.draws; ++draw)
      EXPECT_EQ(less.stats.lp[static_cast<size_t>(chain * options.draws + draw)],
                whole.stats.lp[static_cast<size_t>(chain * 80 + draw)]);
}

TEST_F(SampleTest, another_run_is_not_gone_on_with) {
  SampleOptions options = few();
  options.checkpoint = checkpoint();
  sample(small_model(), stopping(options, 150));
  options.resume = true;
  const auto changed = [&](const std::function<void(SampleOptions&)>& change) {
    SampleOptions other = options;
    change(other);
    return [other] { sample(small_model(), other); };
  };
  expect_error(changed([](auto& o) { o.seed = 9; }),
               "[sample] resume: expected seed 1 as in " + checkpoint());
  expect_error(changed([](auto& o) { o.chains = 4; }), "resume: expected ");
  expect_error(changed([](auto& o) { o.warmup = 100; }), "resume: expected warmup 120");
  expect_error(changed([](auto& o) { o.adapt_delta = 0.9; }), "resume: expected adapt_delta 0.8");
  expect_error(changed([](auto& o) { o.precision = Precision::f32; }), "resume: expected ");
  expect_error(changed([](auto& o) { o.init = {{{"mu", {1.0}}}}; }), "resume: expected init and warm_start");
  expect_error(changed([](auto& o) { o.checkpoint += "-none"; }), "checkpoint-none");
  expect_error(changed([](auto& o) { o.checkpoint = ""; }), "[sample] resume: expected the path");
  expect_error([&] { sample(small_model(0.5), options); }, "resume: expected data ");
  Model other("small");
  other.sample("mu", normal(0, 1));
  expect_error([&] { sample(other, options); }, "resume: expected variables ");
  EXPECT_TRUE(sample(small_model(), options).finished);  // and none of these did it harm
}

// A process of its own, which starts this test anew: threads of a device do not survive a fork. Both must
// mean the same file.
class SampleProcessTest : public SampleTest {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    SampleTest::SetUp();
    ::setenv("ADIT_TEST_CHECKPOINT", checkpoint().c_str(), 0);
    options_.checkpoint = std::getenv("ADIT_TEST_CHECKPOINT");
    options_.draws = 400;
  }
  void TearDown() override {
    ::unsetenv("ADIT_TEST_CHECKPOINT");
    SampleTest::TearDown();
  }
  Draws whole() const {
    SampleOptions options = options_;
    options.checkpoint = "";
    options.resume = false;
    return sample(small_model(), options);
  }
  // Another byte at a place of the checkpoint.
  void scribble(uint64_t at) const {
    std::fstream file(checkpoint(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 0x55));
  }
  SampleOptions options_ = few();
};

// A run that is killed; and what is left, cut off or damaged as a kill or a loss of power would leave it.
TEST_F(SampleProcessTest, a_killed_run_goes_on) {
  const auto run = [&] {
    options_.on_progress = [](const Progress& now) {
      if (now.iteration > 300) ::raise(SIGKILL);
    };
    // Rounds enough for a few rows, so that no two states go on from the same.
    sample(small_model(), options_, {.budget = 50, .checkpoint_seconds = 0});
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGKILL), "");
  options_.resume = true;
  const Draws expected = whole();
  const fs::path copy = root_ / "copy";
  fs::copy_file(checkpoint(), copy);
  const auto again = [&](const std::function<void()>& damage) {
    fs::copy_file(copy, checkpoint(), fs::copy_options::overwrite_existing);
    damage();
    expect_same(expected, sample(small_model(), options_));
  };
  const CheckpointContents found = read_checkpoint(checkpoint());
  ASSERT_TRUE(found.state);
  // The draws so far are those that all chains have.
  const std::vector<uint64_t> counts = count_rows(found);
  const auto [fewest, most] = std::minmax_element(counts.begin(), counts.end());
  ASSERT_LT(*fewest, *most);
  const Draws front =
      sampling::draws_so_far(found, checkpoint(), stats::state_of(small_model()), Device::open("cpu"));
  ASSERT_EQ(front.draws, static_cast<int64_t>(*fewest));
  for (int64_t chain = 0; chain < 3; ++chain)
    for (int64_t draw = 0; draw < front.draws; ++draw)
      ASSERT_EQ(front.stats.lp[static_cast<size_t>(chain * front.draws + draw)],
                expected.stats.lp[static_cast<size_t>(chain * 400 + draw)]);
  const uint64_t room = checkpoint::state_room(found.header);
  const uint64_t newest = found.rows_begin - (found.state->place == 0 ? 2 : 1) * room;
  again([] {});
  // Half of the newest state is that of one before: the older state goes on, from its own rows.
  again([&] { scribble(newest + room / 2); });
  again([&] { scribble(newest); });
  // The newest state's rows are not all there.
  again([&] { fs::resize_file(checkpoint(), found.state->rows_end - 1); });
  again([&] { scribble(found.state->rows_end - 9); });
  // Neither state's are, which no kill does.
  fs::copy_file(copy, checkpoint(), fs::copy_options::overwrite_existing);
  fs::resize_file(checkpoint(), found.rows_begin + 3);
  expect_error([&] { sample(small_model(), options_); }, "expected the rows that its states go on from");
}

// Every layout that a CPU has: killed, then stopped, and gone on with to the same bits.
TEST_F(SampleProcessTest, a_killed_run_goes_on_in_every_layout) {
  const std::vector<std::string> layouts = {"lane:3:array",  "lane:4:buffer",   "team:8:buffer",
                                            "team:8:shared", "team:8:buffer:2", "device"};
  const std::string base = options_.checkpoint;
  options_.chains = 4;
  options_.draws = 60;
  // All kills come first: the process that is killed goes through everything before its own.
  for (const std::string& layout : layouts) {
    const auto run = [&] {
      options_.checkpoint = base + layout;
      options_.layout = layout;
      options_.on_progress = [](const Progress& now) {
        if (now.iteration > 90) ::raise(SIGKILL);
      };
      sample(small_model(), options_, {.budget = 20, .checkpoint_seconds = 0});
    };
    EXPECT_EXIT(run(), testing::KilledBySignal(SIGKILL), "");
  }
  for (const std::string& layout : layouts) {
    SCOPED_TRACE(layout);
    options_.layout = layout;
    const Draws expected = whole();
    EXPECT_TRUE(expected.layout.starts_with(layout)) << expected.layout;
    options_.checkpoint = base + layout;
    options_.resume = true;
    ASSERT_TRUE(read_checkpoint(options_.checkpoint).state);
    EXPECT_FALSE(sample(small_model(), stopping(options_, 150), {.budget = 20}).finished);
    options_.layout = "";  // what the checkpoint says
    expect_same(expected, sample(small_model(), options_));
  }
}

// A checkpoint is as long as its rows and two states, however often one was written.
TEST_F(SampleTest, a_checkpoint_keeps_rows_once_and_two_states) {
  for (const bool warmup_rows : {false, true}) {
    SampleOptions options = few();
    options.chains = 9;
    options.save_warmup = warmup_rows;
    options.checkpoint = checkpoint();
    sample(small_model(), options, {.budget = 50, .ring = 30, .checkpoint_seconds = 0});
    const CheckpointContents found = read_checkpoint(checkpoint());
    ASSERT_TRUE(found.state);
    EXPECT_GT(found.state->generation, 10u);
    const uint64_t rows = 9 * (80 + (warmup_rows ? 120 : 0)) * found.header.row_bytes();
    const uint64_t heads = found.rows.size() * (9 * 4 + checkpoint::record_bytes);
    EXPECT_EQ(fs::file_size(checkpoint()), found.rows_begin + rows + heads);
    EXPECT_LT(found.rows_begin, 2 * checkpoint::state_room(found.header) + 8192);
    for (const uint64_t count : count_rows(found)) EXPECT_EQ(count, warmup_rows ? 200u : 80u);
  }
}

TEST_F(SampleProcessTest, a_full_disk_is_named_and_the_draws_stay) {
  const auto run = [&] {
    options_.on_progress = [](const Progress& now) {
      if (now.iteration < 200) return;
      // Files of this process may not grow further.
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit small{1 << 16, 1 << 16};
      ::setrlimit(RLIMIT_FSIZE, &small);
    };
    const std::string error =
        error_of([&] { sample(small_model(), options_, {.budget = 9, .checkpoint_seconds = 0}); });
    std::fprintf(stderr, "%s\n", error.c_str());
    ::_exit(7);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(7),
              checkpoint() + ": expected to write it, got: File too large");
  ASSERT_TRUE(read_checkpoint(checkpoint()).state.has_value());
  options_.resume = true;
  expect_same(whole(), sample(small_model(), options_));
}

// Memory that ends in mid-run, as an allocation or a device tells it.
TEST_F(SampleTest, the_end_of_memory_is_named_and_the_draws_stay) {
  const Forced often{.budget = 40, .checkpoint_seconds = 0};
  const std::function<void()> ends[] = {
      [] { throw std::bad_alloc(); },
      [] { throw Error(ErrorKind::out_of_memory, "[allocate] bytes: expected 1, got 2"); }};
  for (const auto& end : ends) {
    SampleOptions options = few();
    const auto told = [&] {
      SampleOptions ending = options;
      ending.on_progress = [&](const Progress& now) {
        if (now.iteration >= 150) end();
      };
      try {
        sample(small_model(), ending, often);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
        return std::string(error.what());
      }
      return std::string("no error");
    };
    const std::string first = "[sample] memory: expected enough for 80 draws of 3 chains, got no more";
    EXPECT_EQ(told().rfind(first, 0), 0u) << told();
    EXPECT_EQ(told().find("kept"), std::string::npos) << told();
    options.checkpoint = checkpoint();
    EXPECT_NE(told().find("; what was drawn is kept in " + checkpoint() + ": resume goes on"),
              std::string::npos)
        << told();
    EXPECT_EQ(told().find("log_likelihood"), std::string::npos) << told();
    options.log_likelihood = true;
    EXPECT_NE(told().find("without log_likelihood and posterior_predictive"), std::string::npos) << told();
    options.log_likelihood = false;
    options.resume = true;
    expect_same(sample(small_model(), few()), sample(small_model(), options));
  }
}

TEST_F(SampleTest, a_checkpoint_that_cannot_be_written) {
  SampleOptions options = few();
  options.checkpoint = (root_ / "nowhere" / "checkpoint").string();
  expect_error([&] { sample(small_model(), options); }, options.checkpoint);
}

}  // namespace
}  // namespace adit
