// Ends of processes: whatever is open, queued or alive on other threads, a process ends as it was asked to.
//
// Every end is a process of its own, started anew, since a copy made by fork has no threads.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <pthread.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <adit/adit.hpp>

#include "devices.hpp"
#include "own_folder.hpp"

namespace adit::test {
namespace {

using namespace std::chrono_literals;

std::string text_of(const char* variable, const std::string& otherwise) {
  const char* text = std::getenv(variable);
  return text ? text : otherwise;
}

// --- What the children do ---------------------------------------------------------------------------------

// Work that differs by `number` is compiled anew.
Tensor some_work(const Tensor& x, int number) {
  Tensor y = x;
  for (int i = 0; i <= number % 7; ++i) y = sin(y) * 1.25f + static_cast<float>(i);
  return sum(y * y) + sum(slice(x, {number % 50}, {1 + number % 40}));
}
Tensor numbers(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 17) * 0.1f;
  return tensor(values);
}

// Leaves work queued, where the device has a queue.
void leave_work(int kernels) {
  static Tensor x = numbers(40'000);
  for (int i = 0; i < kernels; ++i) {
    x = tanh(x) * 1.5f + 0.25f;
    x.eval();
  }
}

// Threads that nobody joins. What they throw ends the child with another status.
void busy_thread(const std::function<void(int)>& round) {
  std::thread([round] {
    try {
      for (int i = 0;; ++i) round(i);
    } catch (const std::exception& error) {
      ::fprintf(stderr, "thread: %s\n", error.what());
      ::_exit(9);
    }
  }).detach();
}
void evaluate_for_ever() {
  busy_thread([x = numbers(3000)](int i) { some_work(x * static_cast<float>(i), 3).item<float>(); });
}
void compile_for_ever(int first) {
  busy_thread([x = numbers(100), first](int i) { some_work(x, first + i).item<float>(); });
}
void multiply_for_ever() {
  const Tensor a = reshape(numbers(200 * 200), {200, 200}).eval();
  busy_thread([a](int) { sum(dot(a, a)).item<float>(); });
}

// A copy of the process by fork has no threads of the device; it must still be able to end. (A driver may be
// holding a lock when it is copied: with one at work nothing can be promised.)
void end_a_copy() {
  const pid_t copy = ::fork();
  if (copy == 0) std::exit(0);
  int status = -1;
  if (::waitpid(copy, &status, 0) != copy || status != 0) ::_exit(8);
}

// Its destructor runs after main. By then it may be refused, but nothing worse.
struct ComputesLate {
  Tensor x;
  ~ComputesLate() {
    try {
      if (x) some_work(x * 2.0f, 30).item<float>();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::device_lost) ::_exit(7);
    }
  }
};

// A library with the engine inside of it comes and goes.
void load_and_unload() {
  void* library = ::dlopen(ADIT_TEST_PLUGIN, RTLD_NOW);
  if (!library) ::_exit(6);
  const auto work = reinterpret_cast<int (*)(const char*)>(::dlsym(library, "plugin_work"));
  if (!work || work(text_of("ADIT_TEST_DEVICE", "cpu").c_str()) != 42) ::_exit(5);
  ::dlclose(library);
}

void use_device() { some_work(numbers(1000), 2).item<float>(); }

void after(std::chrono::microseconds time, const std::function<void()>& then) {
  std::thread([time, then] {
    std::this_thread::sleep_for(time);
    then();
  }).detach();
}

using Body = std::function<void(std::chrono::microseconds)>;
struct Variant {
  Body body;
  int status = 0;  // as waitpid tells it
};

const std::map<std::string, Variant>& variants() {
  const auto pause = [](std::chrono::microseconds time) { std::this_thread::sleep_for(time); };
  static const std::map<std::string, Variant> all{
      {"device_open", {[](auto) { use_device(); }}},
      {"tensors_in_statics", {[](auto) {
         static Tensor computed = some_work(numbers(500), 1).eval(), lazy = some_work(numbers(500), 4);
         use_device();
       }}},
      {"work_queued", {[](auto) {
         use_device();
         leave_work(60);
       }}},
      {"first_work_queued", {[](auto) { leave_work(3); }}},
      {"device_dropped_late", {[](auto) {
         static const std::shared_ptr<Device> mine = default_device();
         set_default_device(nullptr);
       }}},
      {"computes_late", {[](auto) {
         static ComputesLate before;
         use_device();
         static ComputesLate behind;
         before.x = behind.x = numbers(64);
       }}},
      {"threads_evaluate", {[=](auto time) {
         evaluate_for_ever();
         evaluate_for_ever();
         pause(time);
       }}},
      {"threads_compile", {[=](auto time) {
         compile_for_ever(0);
         compile_for_ever(1000);
         pause(time);
       }}},
      {"threads_multiply", {[=](auto time) {
         multiply_for_ever();
         evaluate_for_ever();
         pause(time);
       }}},
      {"threads_open", {[=](auto time) {
         const std::string id = default_device()->info().id;
         set_default_device(nullptr);
         busy_thread([id](int) { Device::open(id)->allocate(1 << 20); });
         busy_thread([](int) { Device::list(); });
         pause(time);
       }}},
      {"exit_elsewhere",
       {[](auto time) {
          evaluate_for_ever();
          after(time, [] { std::exit(3); });
          for (int i = 0;; ++i) some_work(numbers(200), i).item<float>();
        },
        3 << 8}},
      {"exception_in_main",
       {[=](auto time) {
          evaluate_for_ever();
          leave_work(20);
          pause(time);
          throw std::runtime_error("an exception that nobody catches");
        },
        SIGABRT}},
      // Only the thread ends: the others go on, and one of them ends the process.
      {"main_leaves", {[](auto) {
         use_device();
         std::thread([] {
           for (int i = 0; i < 4; ++i) some_work(numbers(200), i).item<float>();
           std::exit(0);
         }).detach();
         ::pthread_exit(nullptr);
       }}},
      {"quick_exit",
       {[=](auto time) {
          evaluate_for_ever();
          leave_work(20);
          pause(time);
          std::quick_exit(4);
        },
        4 << 8}},
      {"copies", {[](auto) {
         use_device();
         if (default_device()->info().kind == DeviceKind::cpu)
           for (int i = 0; i < 3; ++i) end_a_copy();
       }}},
      {"library_unloaded", {[](auto) { load_and_unload(); }}},
  };
  return all;
}

// --- The parent -------------------------------------------------------------------------------------------

// Turns a process into one end.
[[noreturn]] void become_child(const std::string& self, const std::string& variant, const std::string& device,
                               int64_t microseconds) {
  ::setenv("ADIT_TEST_VARIANT", variant.c_str(), 1);
  ::setenv("ADIT_TEST_DEVICE", device.c_str(), 1);
  ::setenv("ADIT_TEST_PAUSE", std::to_string(microseconds).c_str(), 1);
  ::setenv("OPENBLAS_NUM_THREADS", "2", 1);
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // what is open at the end, the system takes back
  if (!std::freopen("/dev/null", "w", stdout) || !std::freopen("/dev/null", "w", stderr)) ::_exit(10);
  ::execl(self.c_str(), self.c_str(), "--gtest_filter=OneEnd.DISABLED_ChildOfProcessEnd",
          "--gtest_also_run_disabled_tests", "--gtest_catch_exceptions=0", nullptr);
  ::_exit(11);
}

std::string told(int status) {
  if (WIFSIGNALED(status)) return std::string("signal ") + ::strsignal(WTERMSIG(status));
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

// The status of one end; a child that does not end is killed.
int end_of(const std::string& variant, const std::string& device, int64_t microseconds) {
  const std::string self = testing::internal::GetArgvs()[0];
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);  // its copies end with it
    become_child(self, variant, device, microseconds);
  }
  const auto limit = std::chrono::steady_clock::now() + 120s;
  int status = -1;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > limit) {
      ADD_FAILURE() << variant << " on " << device << ": still there after two minutes";
      break;
    }
    std::this_thread::sleep_for(1ms);
  }
  ::kill(-child, SIGKILL);
  if (status == -1) ::waitpid(child, &status, 0);
  return status & ~0x80;  // with or without a core file
}

// Of every variant; by default the few that a run of all tests has time for.
int rounds(int otherwise) {
  return std::atoi(text_of("ADIT_PROCESS_ENDS", std::to_string(otherwise)).c_str());
}

class ProcessEnd : public InOwnFolder {
 protected:
  void ends_on(const std::string& device, int count) const;
};

void ProcessEnd::ends_on(const std::string& device, int count) const {
  ::setenv("ADIT_CACHE", root_.c_str(), 1);
  const std::string only = text_of("ADIT_PROCESS_END", "");
  std::map<std::string, int> wrong;
  for (int round = 0; round < count; ++round)
    for (const auto& [name, variant] : variants()) {
      if (!only.empty() && only != name) continue;
      // Ends come at many moments, other ones with each seed.
      const auto moment = static_cast<int64_t>(first_seed() % 1000) + round;
      const int64_t pause = (moment * 7919 + 13) % 40'000;
      const int status = end_of(name, device, pause);
      EXPECT_EQ(status, variant.status)
          << name << " on " << device << ", round " << round << ": " << told(status);
      if (status != variant.status) ++wrong[name];
    }
  for (const auto& [name, times] : wrong)
    std::printf("%s: %d of %d ends went wrong\n", name.c_str(), times, count);
}

bool usable(const std::string& id) {
  for (const std::string& known : device_ids())
    if (known == id) return true;
  return false;
}

TEST_F(ProcessEnd, OnTheCpu) {
  if (!usable("cpu")) GTEST_SKIP() << "no cpu device here";
  ends_on("cpu", rounds(1));
}

TEST_F(ProcessEnd, OnVulkan) {
  if (!usable("vulkan:0")) GTEST_SKIP() << "no Vulkan device here";
  ends_on("vulkan:0", rounds(1));
}

// The other half: what one process does before it ends.
TEST(OneEnd, DISABLED_ChildOfProcessEnd) {
  const Variant& variant = variants().at(text_of("ADIT_TEST_VARIANT", "device_open"));
  set_default_device(Device::open(text_of("ADIT_TEST_DEVICE", "cpu")));
  variant.body(std::chrono::microseconds(std::atoll(text_of("ADIT_TEST_PAUSE", "0").c_str())));
}

}  // namespace
}  // namespace adit::test
