// From a program to an object file, and from an object file to a function.
#include "native/compile.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>
#include <mutex>

#include <adit/error.hpp>

#include "native/emitter.hpp"
#include "source_stamp.hpp"
#include "support/deep_stack.hpp"
#include "support/log.hpp"
#include "support/process_end.hpp"

namespace adit::native {

namespace {

[[noreturn]] void fail(const Program& program, const std::string& what) {
  throw Error(ErrorKind::internal, fmt::format("[kernel {}] {}: {}", program.name, generator(), what));
}

std::string take_error(LLVMErrorRef error) {
  char* text = LLVMGetErrorMessage(error);
  std::string copy = text;
  LLVMDisposeErrorMessage(text);
  return copy;
}

template <class T, void (*dispose)(T)>
struct Owner {
  T ref{};
  ~Owner() {
    if (ref) dispose(ref);
  }
  operator T() const { return ref; }
};

// How long each stage of a kernel takes, told at debug level.
class StageTimes {
 public:
  void tell(const char* stage, const Program& program) {
    const auto now = Clock::now();
    log_debug("[native] {}: {} instructions, {} in {:.1f} ms", program.name, program.instructions.size(),
              stage, std::chrono::duration<double, std::milli>(now - last_).count());
    last_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

struct Lowering {
  StageTimes times;
  Owner<LLVMContextRef, LLVMContextDispose> context{LLVMContextCreate()};
  Owner<LLVMModuleRef, LLVMDisposeModule> module{nullptr};
  Owner<LLVMTargetMachineRef, LLVMDisposeTargetMachine> machine{nullptr};
};

void start_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
  });
}

void make_machine(const Program& program, Lowering& lowering) {
  LLVMTargetRef target = nullptr;
  char* message = nullptr;
  if (LLVMGetTargetFromTriple(host().triple.c_str(), &target, &message)) {
    const std::string text = message;
    LLVMDisposeMessage(message);
    fail(program, text);
  }
  lowering.machine.ref =
      LLVMCreateTargetMachine(target, host().triple.c_str(), host().cpu.c_str(), host().features.c_str(),
                              LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelJITDefault);
}

// Passes over what the emitter writes, which is structured and has its vectors already. Those of -O2 are made
// for source code: on a long kernel they take three times as long as these, and what comes out is no faster
// (GVN keeps more values alive than there are registers: 27 powers of one number, twice the code). Of still
// longer ones, moving work out of loops (which the emitter's callers have done) and combining a second time
// take up to five times as long as all the rest, and the kernel is as fast without. Their loops become
// functions: else LLVM moves what each loop needs in front of all of them, and the time to follow those
// values grows with the square of the loops. A density's loops lie in those of rounds and of leaves, so three
// times.
struct Passes {
  const char* first =
      nullptr;  // after these, functions that take vectors of bits are put back where they are called
  const char* then = nullptr;
};
Passes passes_for([[maybe_unused]] const Program& program) {
#if LLVM_VERSION_MAJOR >= 18  // older ones have no such words
  constexpr size_t long_program = 1000, very_long_program = 5000;
  if (program.instructions.size() >= very_long_program)
    return {
        "function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,loop-simplify,break-crit-edges),loop-"
        "extract,"
        "function(loop-simplify,break-crit-edges),loop-extract,"
        "function(loop-simplify,break-crit-edges),loop-extract",
        "always-inline,function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,"
        "instcombine<no-verify-fixpoint>,early-cse<memssa>,dse,instsimplify,simplifycfg)"};
  if (program.instructions.size() >= long_program)
    return {nullptr,
            "function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
            "loop-mssa(loop-rotate,licm),early-cse<memssa>,dse,instcombine<no-verify-fixpoint>,simplifycfg)"};
#endif
  return {nullptr, "default<O2>"};
}

// LLVM 19 cannot hand a vector of bits to a function on AVX-512: "Cannot emit physreg copy instruction".
bool takes_bits(LLVMValueRef function) {
  std::vector<LLVMValueRef> parameters(LLVMCountParams(function));
  LLVMGetParams(function, parameters.data());
  return std::any_of(parameters.begin(), parameters.end(), [](LLVMValueRef parameter) {
    const LLVMTypeRef type = LLVMTypeOf(parameter);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
           LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(LLVMGetElementType(type)) == 1;
  });
}

void put_back_what_takes_bits(const Lowering& lowering) {
  const std::string_view name = "alwaysinline";
  const LLVMAttributeRef put_back =
      LLVMCreateEnumAttribute(lowering.context, LLVMGetEnumAttributeKindForName(name.data(), name.size()), 0);
  for (auto function = LLVMGetFirstFunction(lowering.module); function;
       function = LLVMGetNextFunction(function))
    if (LLVMCountBasicBlocks(function) > 0 && takes_bits(function))
      LLVMAddAttributeAtIndex(function, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
                              put_back);
}

void run_passes(const Program& program, const Lowering& lowering, const char* passes) {
  // Vectors are explicit: the loop and SLP vectorisers would only cost time.
  const LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMPassBuilderOptionsSetLoopVectorization(options, 0);
  LLVMPassBuilderOptionsSetSLPVectorization(options, 0);
  LLVMPassBuilderOptionsSetLoopUnrolling(options, 0);
  const LLVMErrorRef error = LLVMRunPasses(lowering.module, passes, lowering.machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (error) fail(program, take_error(error));
}

// LLVM selects the instructions of a block at once, in time that grows with the square of their number:
// 17,000 of them, a recurrence that is written out, took 35 s. So long blocks become several. Blocks whose
// address is taken are not put together again.
void split_block(LLVMContextRef context, LLVMValueRef function, LLVMBasicBlockRef block) {
  constexpr size_t most = 1000;
  const auto length = [&] {
    size_t count = 0;
    for (auto at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at)) ++count;
    return count;
  };
  std::vector<LLVMBasicBlockRef> behind;
  const Owner<LLVMBuilderRef, LLVMDisposeBuilder> builder{LLVMCreateBuilderInContext(context)};
  for (size_t left = length(); left > 2 * most; left = length()) {
    const LLVMBasicBlockRef front = LLVMInsertBasicBlockInContext(context, block, "");
    // Who jumps here jumps to the front; without an end the block keeps its name in those behind it.
    const LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    LLVMInstructionRemoveFromParent(end);
    LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(block), LLVMBasicBlockAsValue(front));
    LLVMPositionBuilderAtEnd(builder, block);
    LLVMInsertIntoBuilder(builder, end);
    LLVMPositionBuilderAtEnd(builder, front);
    for (size_t moved = 0; moved < most || LLVMIsAPHINode(LLVMGetFirstInstruction(block)); ++moved) {
      const LLVMValueRef instruction = LLVMGetFirstInstruction(block);
      LLVMInstructionRemoveFromParent(instruction);
      LLVMInsertIntoBuilder(builder, instruction);
    }
    LLVMBuildBr(builder, block);
    behind.push_back(front);
  }
  if (behind.empty()) return;
  behind.front() = block;  // all but the first one
  for (const LLVMBasicBlockRef each : behind) LLVMBlockAddress(function, each);
}

void split_long_blocks(const Lowering& lowering) {
  for (auto function = LLVMGetFirstFunction(lowering.module); function;
       function = LLVMGetNextFunction(function)) {
    std::vector<LLVMBasicBlockRef> blocks(LLVMCountBasicBlocks(function));
    LLVMGetBasicBlocks(function, blocks.data());
    for (const LLVMBasicBlockRef block : blocks) split_block(lowering.context, function, block);
  }
}

void lower(const Program& program, Lowering& lowering) {
  if (uses_matrices(program))
    throw Error(
        ErrorKind::unsupported,
        fmt::format("[kernel {}] needs cooperative matrices, which the cpu device lacks", program.name));
  if (uses_lanes(program))
    throw Error(
        ErrorKind::unsupported,
        fmt::format(
            "[kernel {}] uses lanes, barriers or subgroups of a team by hand, which the cpu device lacks",
            program.name));
  start_llvm();
  make_machine(program, lowering);
  lowering.module.ref = LLVMModuleCreateWithNameInContext(program.name.c_str(), lowering.context);
  LLVMSetTarget(lowering.module, host().triple.c_str());
  const LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(lowering.machine);
  LLVMSetModuleDataLayout(lowering.module, layout);
  LLVMDisposeTargetData(layout);
  Emitter(lowering.context, lowering.module, program, lanes_of(program)).run();
  lowering.times.tell("written", program);
#ifndef NDEBUG
  char* message = nullptr;
  const bool broken = LLVMVerifyModule(lowering.module, LLVMReturnStatusAction, &message);
  const std::string text = message ? message : "";
  LLVMDisposeMessage(message);
  if (broken) fail(program, text);
#endif
  const Passes passes = passes_for(program);
  if (passes.first) {
    run_passes(program, lowering, passes.first);
    put_back_what_takes_bits(lowering);
  }
  run_passes(program, lowering, passes.then);
  split_long_blocks(lowering);
  lowering.times.tell("optimised", program);
}

std::vector<std::byte> emit_file(const Program& program, LLVMCodeGenFileType kind) {
  Lowering lowering;
  lower(program, lowering);
  char* message = nullptr;
  LLVMMemoryBufferRef buffer = nullptr;
  if (LLVMTargetMachineEmitToMemoryBuffer(lowering.machine, lowering.module, kind, &message, &buffer)) {
    const std::string text = message;
    LLVMDisposeMessage(message);
    fail(program, text);
  }
  lowering.times.tell("machine code", program);
  std::vector<std::byte> bytes(LLVMGetBufferSize(buffer));
  std::memcpy(bytes.data(), LLVMGetBufferStart(buffer), bytes.size());
  LLVMDisposeMemoryBuffer(buffer);
  return bytes;
}

class JitCode final : public Code {
 public:
  JitCode(const Program& program, const std::vector<std::byte>& object) {
    start_llvm();
    if (LLVMErrorRef error = LLVMOrcCreateLLJIT(&jit_, nullptr)) fail(program, take_error(error));
    bytes_ = own_bytes + 2 * object.size();
    try {
      load(program, object);
    } catch (...) {
      close();
      throw;
    }
  }
  ~JitCode() override {
    if (const process_end::Visit visit; visit) close();
  }
  JitCode(const JitCode&) = delete;
  JitCode& operator=(const JitCode&) = delete;

 private:
  static constexpr uint64_t own_bytes = uint64_t{100} << 10;  // of a session of LLVM's, as measured

  void load(const Program& program, const std::vector<std::byte>& object) {
    const LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(jit_);
    LLVMOrcDefinitionGeneratorRef process = nullptr;  // memcpy and the like
    if (LLVMErrorRef error = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
            &process, LLVMOrcLLJITGetGlobalPrefix(jit_), nullptr, nullptr))
      fail(program, take_error(error));
    LLVMOrcJITDylibAddGenerator(library, process);
    const LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
        reinterpret_cast<const char*>(object.data()), object.size(), program.name.c_str());
    if (LLVMErrorRef error = LLVMOrcLLJITAddObjectFile(jit_, library, buffer))
      fail(program, take_error(error));
    LLVMOrcExecutorAddress address = 0;
    if (LLVMErrorRef error = LLVMOrcLLJITLookup(jit_, &address, entry_name)) fail(program, take_error(error));
    function_ = reinterpret_cast<Function>(address);
  }
  void close() {
    if (LLVMErrorRef error = LLVMOrcDisposeLLJIT(jit_)) LLVMConsumeError(error);
  }
  LLVMOrcLLJITRef jit_ = nullptr;
};

}  // namespace

namespace {

// Whether what differs between lanes is of 8 bits alone: such values leave three quarters of a register
// unused that has lanes for 32.
bool only_bytes_vary(const Program& program) {
  const auto is_narrow = [](const Instruction& it) {
    return it.type == Type::u8 || it.type == Type::i8 || it.type == Type::boolean;
  };
  const std::vector<Instruction>& all = program.instructions;
  if (std::none_of(all.begin(), all.end(), is_narrow)) return false;
  if (std::any_of(all.begin(), all.end(), [](const Instruction& it) { return it.op >= Op::subgroup_size; }))
    return false;
  const Shapes shapes = find_shapes(program);
  for (size_t id = 0; id < all.size(); ++id)
    if (shapes.of[id] == Shape::varying && all[id].type != Type::none && !is_narrow(all[id])) return false;
  return true;
}

}  // namespace

// Two registers a value of 32 bits where there are 32 registers: the second hides the latency of the first
// (1.3 times the leapfrogs of one). Values of 64 bits fill as many with half the lanes.
uint32_t lanes_of(const Program& program) {
  const bool wide = std::any_of(program.instructions.begin(), program.instructions.end(),
                                [](const Instruction& it) { return it.type == Type::f64; });
  const uint32_t most =
      host().vector_bits / 32 * (host().many_registers && !wide ? 2 : 1) * (only_bytes_vary(program) ? 4 : 1);
  if (program.team.kind != TeamKind::one) return most;
  // A small workgroup asks for narrow vectors: few long-running teams are then shared among threads.
  return std::min(most, std::bit_ceil(program.team.lanes));
}

std::vector<std::byte> emit_object(const Program& program) {
  const process_end::Visit visit;
  visit.expect();
  constexpr size_t few = 1000;  // instructions that any stack has room for
  if (program.instructions.size() <= few) return emit_file(program, LLVMObjectFile);
  std::vector<std::byte> object;
  on_large_stack([&] { object = emit_file(program, LLVMObjectFile); });
  return object;
}

std::string emit_listing(const Program& program) {
  Lowering lowering;
  lower(program, lowering);
  char* text = LLVMPrintModuleToString(lowering.module);
  std::string listing = text;
  LLVMDisposeMessage(text);
  const std::vector<std::byte> assembly = [&] {
    char* message = nullptr;
    LLVMMemoryBufferRef buffer = nullptr;
    std::vector<std::byte> bytes;
    if (LLVMTargetMachineEmitToMemoryBuffer(lowering.machine, lowering.module, LLVMAssemblyFile, &message,
                                            &buffer)) {
      LLVMDisposeMessage(message);
      return bytes;
    }
    bytes.resize(LLVMGetBufferSize(buffer));
    std::memcpy(bytes.data(), LLVMGetBufferStart(buffer), bytes.size());
    LLVMDisposeMemoryBuffer(buffer);
    return bytes;
  }();
  return listing + std::string(reinterpret_cast<const char*>(assembly.data()), assembly.size());
}

std::shared_ptr<const Code> load_object(const Program& program, const std::vector<std::byte>& object) {
  const process_end::Visit visit;
  visit.expect();
  return std::make_shared<JitCode>(program, object);
}

std::string host_key() {
  return fmt::format("{} {} {} {} {}", source_stamp, generator(), host().triple, host().cpu, host().features);
}

}  // namespace adit::native
