// Threads with deep stacks.
//
// A dirty scheduler's stack has 320 kB, a normal one's a megabyte; LLVM, LAPACK and drivers were written for
// the eight that programs have.
#pragma once

namespace adit::nif {

class Work {
 public:
  virtual void run() noexcept = 0;

 protected:
  ~Work() = default;
};

// Runs it on a thread of its own and waits. Throws std::bad_alloc where there is no memory for one.
void run_deeply(Work& work);

template <class F>
void run_deeply(F& function) {
  struct Of final : Work {
    explicit Of(F& f) : function(f) {}
    void run() noexcept override { function(); }
    F& function;
  } work(function);
  run_deeply(static_cast<Work&>(work));
}

}  // namespace adit::nif
