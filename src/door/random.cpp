// Random numbers from keys.
#include <adit/random.hpp>

#include "door/call.hpp"

namespace adit::door {

std::vector<Operation> random_operations() {
  return {
      {{"random_key", "", "seed"},
       0,
       0,
       [](const Call& c) -> Tensors { return {random::key(static_cast<uint64_t>(c.integer("seed")))}; }},
      {{"random_split", "key", "parts=2"},
       1,
       1,
       [](const Call& c) -> Tensors { return {random::split(c[0], c.integer("parts", 2))}; }},
      {{"random_fold_in", "key, data", ""},
       2,
       2,
       [](const Call& c) -> Tensors { return {random::fold_in(c[0], c[1])}; }},
      {{"random_bits", "key", "shape, type=u32"},
       1,
       1,
       [](const Call& c) -> Tensors {
         return {random::bits(c[0], c.dims("shape"), c.dtype("type", DType::u32))};
       }},
      {{"random_uniform", "key", "shape, low=0, high=1, type=f32"},
       1,
       1,
       [](const Call& c) -> Tensors {
         return {random::uniform(c[0], c.dims("shape"), c.real("low", 0), c.real("high", 1),
                                 c.dtype("type", DType::f32))};
       }},
      {{"random_normal", "key", "shape, mean=0, deviation=1, type=f32"},
       1,
       1,
       [](const Call& c) -> Tensors {
         return {random::normal(c[0], c.dims("shape"), c.real("mean", 0), c.real("deviation", 1),
                                c.dtype("type", DType::f32))};
       }},
      {{"random_randint", "key", "shape, low, high, type=i32"},
       1,
       1,
       [](const Call& c) -> Tensors {
         return {random::randint(c[0], c.dims("shape"), c.integer("low"), c.integer("high"),
                                 c.dtype("type", DType::i32))};
       }},
      {{"random_gumbel", "key", "shape, type=f32"},
       1,
       1,
       [](const Call& c) -> Tensors {
         return {random::gumbel(c[0], c.dims("shape"), c.dtype("type", DType::f32))};
       }},
      {{"random_gamma", "key, alpha", "shape"},
       2,
       2,
       [](const Call& c) -> Tensors { return {random::gamma(c[0], c[1], c.dims("shape"))}; }},
      {{"random_categorical", "key, logits", "axis=-1"},
       2,
       2,
       [](const Call& c) -> Tensors { return {random::categorical(c[0], c[1], c.axis("axis", -1))}; }},
      {{"random_exponential", "key", "shape, rate=1, type=f32"},
       1,
       1,
       [](const Call& c) -> Tensors {
         return {random::exponential(c[0], c.dims("shape"), c.real("rate", 1), c.dtype("type", DType::f32))};
       }},
      {{"random_bernoulli", "key, p", "shape"},
       2,
       2,
       [](const Call& c) -> Tensors { return {random::bernoulli(c[0], c[1], c.dims("shape"))}; }},
      {{"random_permutation", "key", "n"},
       1,
       1,
       [](const Call& c) -> Tensors { return {random::permutation(c[0], c.integer("n"))}; }},
      {{"random_shuffle", "key, x", "axis=0"},
       2,
       2,
       [](const Call& c) -> Tensors { return {random::permutation(c[0], c[1], c.axis("axis", 0))}; }},
  };
}

}  // namespace adit::door
