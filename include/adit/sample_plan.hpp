// What the sampler makes of a model, told before it runs, for people who wonder where the time goes.
//
//   std::cout << explain(model, {.device = "vulkan:0", .chains = 1024});
//
// tells, in this order:
// - the parameters, and how many numbers a chain moves in;
// - of a Stan program: which loops run all rounds together, which stay loops and what they carry, and which
//   are written out and why;
// - the terms of the log density, those of a Stan program by line;
// - device, precision and layout, as `Draws` name them after a run, and what others would take: a long run
//   times those that are close, and the next one takes the fastest;
// - the passes of a gradient: how often each goes round, and what it sums, stores or solves. A small tensor
//   is computed where it is read and has no line;
// - memory, the kernel, and the data that are bound to it.
//
// Nothing is compiled and nothing runs.
#pragma once

#include <string>
#include <vector>

#include <adit/sample.hpp>

#pragma GCC visibility push(default)
namespace adit {

struct SamplePlan {
  std::string model;
  int64_t size = 0;  // unconstrained numbers
  struct Variable {
    std::string name;
    Shape shape;
    int64_t size = 0;  // unconstrained numbers
  };
  std::vector<Variable> variables;
  std::vector<std::string> lowering;  // what became of a Stan program's data and loops, a line each
  struct Term {
    std::string name;      // "y"; of a Stan program the line, "line:12"
    std::string stated{};  // the statement's text, where a Stan program has it
    int64_t elements = 1;  // that are summed
  };
  std::vector<Term> terms;

  std::string device, device_name, precision, metric, layout;
  struct Way {
    std::string name;         // of a layout, or the beginning of one: the sampler decides the rest
    double microseconds = 0;  // of a leapfrog of all chains, roughly
  };
  std::vector<Way> ways;  // that the chains could lie in, the best first; none where the caller asked for one
  bool was_timed = false;  // the layout is the one that an earlier run found to be the fastest
  int64_t chains = 0;
  uint64_t teams = 0;   // of a dispatch of all chains
  std::string density;  // what computes it

  int64_t passes = 0;
  int64_t work = 0, serial = 0;  // elements that a gradient computes, roughly; those one after the other
  std::string schedule;          // a line a pass and an item

  // Of a chain: positions, momenta, the tree's stack, the metric, the scratch that is not near.
  int64_t state_numbers = 0;
  int64_t scratch_numbers = 0;  // what a gradient keeps between its passes
  int64_t near_numbers = 0;     // of it: what lies near a team's lanes
  uint64_t state_bytes = 0;     // of all chains
  uint64_t shared_bytes = 0;    // of a team: its shared memory

  int64_t instructions = 0, parameters = 0;  // of the kernel
  int64_t loop_trips = 0;                    // of one round at most, roughly
  int64_t leaves = 0;                        // tensors of data, or that follow from data alone
  int64_t reals = 0, places = 0;             // numbers in them, and places that they point to
  uint64_t data_bytes = 0;
};

// Throws what sample() would throw of these options.
SamplePlan sample_plan(const Model& model, const SampleOptions& options = {});
std::string to_text(const SamplePlan& plan);
std::string explain(const Model& model, const SampleOptions& options = {});

}  // namespace adit
#pragma GCC visibility pop
