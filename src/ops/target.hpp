// Code for a kind of processor.
#pragma once

// Functions between these two are compiled for a processor that has more than every one of its family.
#define ADIT_TEXT_OF(...) #__VA_ARGS__
#if defined(__clang__)
#define ADIT_BEGIN_TARGET(FEATURES) \
  _Pragma(ADIT_TEXT_OF(clang attribute push(__attribute__((target(FEATURES))), apply_to = function)))
#define ADIT_END_TARGET _Pragma("clang attribute pop")
#define ADIT_UNROLLED _Pragma("unroll")
#else
#define ADIT_BEGIN_TARGET(FEATURES) _Pragma("GCC push_options") _Pragma(ADIT_TEXT_OF(GCC target(FEATURES)))
#define ADIT_END_TARGET _Pragma("GCC pop_options")
#define ADIT_UNROLLED _Pragma("GCC unroll 16")
#endif
