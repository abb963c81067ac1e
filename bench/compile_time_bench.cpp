// From describing a graph to its first value, with nothing compiled before: how the time grows with the
// graph.
//   compile_time_bench DEVICE [--largest F] [word...]   only families whose names contain a word
// Each is taken at a quarter, a half and the whole of its size (times F), each time in a process of its own
// with the cache on disk off. The exponent is the slope of log time from the half to the whole: 1 is linear.
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compile_families.hpp"

namespace adit::growth {
namespace {

double now() {  // CPU time: the same on a busy machine
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Measured {
  double seconds = NAN;
  uint64_t compiled = 0, run = 0;  // kernels
};

Measured measure(const Family& family, int n, const std::string& device) {
  set_default_device(Device::open(device));
  (small(0) + 1.0).eval();  // the device, its threads and the compiler have started
  default_device()->wait();
  const Statistics before = default_device()->statistics();
  const double start = now();
  const Tensors results = family.make(n);
  eval(results);
  default_device()->wait();
  const double seconds = now() - start;
  const Statistics after = default_device()->statistics();
  return {seconds, after.kernels_compiled - before.kernels_compiled, after.kernels_run - before.kernels_run};
}

// In a child, so that nothing is known from before; nothing where it took too long or died.
Measured measure_apart(const Family& family, int n, const std::string& device) {
  constexpr rlim_t longest = 20;
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{longest, longest};
    setrlimit(RLIMIT_CPU, &limit);
    Measured found;
    try {
      found = measure(family, n, device);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{} {}: {}\n", family.name, n, error.what());
    }
    const bool written = write(ends[1], &found, sizeof(found)) == sizeof(found);
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Measured found;
  if (read(ends[0], &found, sizeof(found)) != sizeof(found)) found = {};
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return found;
}

int run(int argc, char** argv) {
  const std::string device = argc > 1 ? argv[1] : "cpu";
  double factor = 1;
  std::vector<std::string> words;
  for (int i = 2; i < argc; ++i) {
    if (std::string(argv[i]) == "--largest" && i + 1 < argc)
      factor = std::atof(argv[++i]);
    else
      words.emplace_back(argv[i]);
  }
  setenv("ADIT_CACHE", "", 1);
  fmt::print("{:32} {:>6} {:>8} {:>8} {:>8} {:>9} {:>9} {:>6}\n", "family", "n", "n/4 s", "n/2 s", "n s",
             "exponent", "compiled", "run");
  for (const Family& family : families()) {
    bool wanted = words.empty();
    for (const std::string& word : words) wanted = wanted || family.name.find(word) != std::string::npos;
    if (!wanted) continue;
    const int n = static_cast<int>(family.size * factor);
    Measured at[3];
    for (int i = 0; i < 3; ++i)
      if (i == 0 || !std::isnan(at[i - 1].seconds)) at[i] = measure_apart(family, n >> (2 - i), device);
    fmt::print("{:32} {:6} {:>8.3f} {:>8.3f} {:>8.3f} {:>9.2f} {:9} {:6}\n", family.name, n, at[0].seconds,
               at[1].seconds, at[2].seconds, std::log2(at[2].seconds / at[1].seconds), at[2].compiled,
               at[2].run);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace adit::growth

int main(int argc, char** argv) { return adit::growth::run(argc, argv); }
