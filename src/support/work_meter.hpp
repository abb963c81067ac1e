// Processor time of work that threads of the process share.
#pragma once

#include <cstdint>

namespace adit {

// Processor seconds of the calling thread, and of those that helped with jobs (threads.hpp), since the meter
// was made. What else the machine does takes nothing of them. Jobs of other callers meanwhile count too.
class WorkMeter {
 public:
  WorkMeter();
  ~WorkMeter();
  WorkMeter(const WorkMeter&) = delete;
  WorkMeter& operator=(const WorkMeter&) = delete;
  double seconds() const;  // asked by the thread that made it

 private:
  int64_t begin_;
};

}  // namespace adit
