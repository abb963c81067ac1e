// What loops and choices need inside of a kernel: schedules of their functions, and memory for what they
// carry.
#pragma once

#include "density/schedule.hpp"

namespace adit::sampling {

inline const graph::ControlAttributes& control_of(const Node& node) {
  return *node.as<std::shared_ptr<const graph::ControlAttributes>>();
}

// The results of which rounds make states: (state, carry) of while_vjp, else the carries.
std::vector<Tensor> carried_by(const Node& node);

// The schedules, with nothing placed yet.
std::shared_ptr<Control> plan_control(const Node& node, const Region& outer);

// Numbers of the chain's memory that control flow wants, and where it wants to be told their place.
struct ControlMemory {
  int64_t* place = nullptr;
  int64_t count = 0;
  int64_t touches = 2;  // of a number, roughly
  bool lasts = false;   // until the last reader of a result; else while the node is computed
};
std::vector<ControlMemory> memory_of(Control& control, const Node& node);

// How the next value of a carry of more than `written` numbers is made of it by updates, where nobody else
// reads what they make: a loop then changes the carry where it lies. None: they do not.
Updates updates_in_place(const Tensor& parameter, const Tensor& result, const graph::Subgraph& function,
                         int64_t written);

}  // namespace adit::sampling
