// Single elements at places that only the data tell, many of them, from a large table.
//
// Random reads over 16 MiB take longer than over 8, even where they touch few lines: what counts is the range
// of addresses in use at a time, so more likely their translation than the size of a cache. So all teams go
// through the table together: each lane first reads its indices, then takes what lies in the first part of
// the table, then what lies in the second, and so on. 4M f32 from 16 MiB on an H200: 36 us instead of 65.
#pragma once

#include <optional>

#include <adit/device.hpp>
#include <adit/kernel/program.hpp>

namespace adit::ops {

struct GatherPlan {
  kernel::Type index_type = kernel::Type::i32;
  uint64_t table = 0, count = 0;  // elements of 32 bits, whatever they mean; indices, clamped to the table
};

struct GatherTuning {
  uint32_t lanes = 512, each = 16;  // of a team; elements that a lane reads
  uint32_t phases = 4;              // parts of the table
};

struct PhasedGather {
  kernel::Program program;  // of the output, the table, the indices
  uint64_t teams = 0;
};

// None where plain reads serve: small tables, few indices, tables so large that no near part helps.
std::optional<GatherTuning> choose_phases(const GatherPlan& plan, const Limits& limits);
PhasedGather phased_gather(const GatherPlan& plan, const GatherTuning& tuning);

}  // namespace adit::ops
