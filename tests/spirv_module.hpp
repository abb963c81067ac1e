// Modules of the SPIR-V code generator under test: targets, the validator, and what a module holds.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <spirv/unified1/spirv.hpp11>
#include <string>
#include <unistd.h>

#include <adit/error.hpp>
#include <adit/kernel/builder.hpp>

#include "spirv/emit.hpp"

namespace adit::test {

using namespace kernel;
using adit::spirv::emit;
using adit::spirv::Target;
using spv::Capability;
using Words = std::vector<uint32_t>;

inline constexpr Type integers[] = {Type::i8, Type::i16, Type::i32, Type::i64,
                                    Type::u8, Type::u16, Type::u32, Type::u64};
inline constexpr Type floats[] = {Type::f16, Type::f32, Type::f64};
inline constexpr Type all_types[] = {Type::boolean, Type::i8,  Type::i16, Type::i32, Type::i64,
                                     Type::u8,      Type::u16, Type::u32, Type::u64, Type::f16,
                                     Type::f32,     Type::f64, Type::bf16};

inline Target everything() {
  Target t;
  t.float16 = t.float64 = t.int64 = t.storage8 = t.storage16 = true;
  t.denorm_preserve16 = t.denorm_preserve32 = t.denorm_preserve64 = true;
  t.signed_zero_inf_nan16 = t.signed_zero_inf_nan32 = t.signed_zero_inf_nan64 = true;
  t.rounding_rte16 = true;
  t.subgroup_arithmetic = t.subgroup_shuffle = t.subgroup_vote = t.subgroup_ballot = true;
  t.int64_atomics = t.float_atomics = true;
  t.max_lanes = 1024;
  t.shared_bytes = 49152;
  return t;
}

// Types but no other comfort: no fma, no float controls, no subgroups, no float atomics.
inline Target plain() {
  Target t;
  t.float16 = t.float64 = t.int64 = t.storage8 = t.storage16 = true;
  t.fused_fma = false;
  t.int64_atomics = true;
  t.max_lanes = 1024;
  t.shared_bytes = 49152;
  return t;
}

// Small types may lie in memory and no more; no 64-bit types.
inline Target storage_only() {
  Target t;
  t.storage8 = t.storage16 = true;
  return t;
}

// What spirv-val has to say; empty when it is content.
inline std::string complaints(const Words& words) {
  const auto path =
      std::filesystem::temp_directory_path() / ("adit_spirv_" + std::to_string(getpid()) + ".spv");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * 4));
  const std::string command = "spirv-val --target-env vulkan1.2 '" + path.string() + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "cannot run spirv-val";
  std::string text;
  char part[512];
  while (fgets(part, sizeof part, pipe) != nullptr) text += part;
  const int status = pclose(pipe);
  std::filesystem::remove(path);
  return status != 0 && text.empty() ? "spirv-val failed" : text;
}

inline void expect_valid(const Program& program, const Target& target) {
  const std::string text = complaints(emit(program, target));
  EXPECT_EQ(text, "") << dump(program);
}

// Calls f(op, operands after the first word) for each instruction.
template <class F>
void for_each_instruction(const Words& words, F f) {
  for (size_t at = 5; at < words.size(); at += words[at] >> 16)
    f(static_cast<spv::Op>(words[at] & 0xffff), &words[at + 1]);
}

inline std::set<Capability> capabilities(const Words& words) {
  std::set<Capability> found;
  for_each_instruction(words, [&](spv::Op op, const uint32_t* x) {
    if (op == spv::Op::OpCapability) found.insert(static_cast<Capability>(x[0]));
  });
  return found;
}

inline int count(const Words& words, spv::Op wanted) {
  int found = 0;
  for_each_instruction(words, [&](spv::Op op, const uint32_t*) { found += op == wanted; });
  return found;
}

inline void expect_unsupported(const Program& program, const Target& target, const std::string& what) {
  try {
    emit(program, target);
    ADD_FAILURE() << "expected an error about " << what;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("[kernel " + program.name + "]"), std::string::npos)
        << error.what();
  }
}

inline Program axpy() {
  Builder k("axpy", Team::one());
  const auto x = k.buffer("x", Type::f32, Access::read);
  const auto y = k.buffer("y", Type::f32, Access::read_write);
  const Value a = k.scalar("a", Type::f32), i = k.team();
  y[i] = fma(a, x[i], y[i]);
  return k.finish();
}

inline Program elementwise(Type type, const std::function<Value(Value, Value)>& f, Type result) {
  Builder k("elementwise", Team::one());
  const auto x = k.buffer("x", type, Access::read);
  const auto y = k.buffer("y", type, Access::read);
  const auto out = k.buffer("out", result, Access::write);
  const Value i = k.team();
  out[i] = f(x[i], y[i]);
  return k.finish();
}

}  // namespace adit::test
