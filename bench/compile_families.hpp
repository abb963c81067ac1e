// Families of graphs that grow: each makes a graph of about n operations or operands. Who measures how the
// time to compile grows takes them at n, 2n and 4n.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include <adit/adit.hpp>

namespace adit::growth {

struct Family {
  std::string name;
  int size;  // at which the result should be there within a second
  std::function<Tensors(int n)> make;
};

inline Tensor small(int i, const Shape& shape = {4}) {
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (size_t k = 0; k < values.size(); ++k) values[k] = 0.1f + 0.001f * static_cast<float>((i * 7 + k) % 97);
  return tensor(values, shape);
}
inline Tensors smalls(int n, const Shape& shape = {4}) {
  Tensors list;
  for (int i = 0; i < n; ++i) list.push_back(small(i, shape));
  return list;
}
inline Tensor chain_sum(const Tensors& list) {
  Tensor sum = list[0];
  for (size_t i = 1; i < list.size(); ++i) sum = sum + list[i];
  return sum;
}
inline Tensor tree_sum(Tensors list) {
  while (list.size() > 1) {
    Tensors next;
    for (size_t i = 0; i + 1 < list.size(); i += 2) next.push_back(list[i] + list[i + 1]);
    if (list.size() % 2) next.push_back(list.back());
    list = std::move(next);
  }
  return list[0];
}
// n operations on x: two in each round.
inline Tensor chained(Tensor x, int n) {
  for (int i = 0; i < n / 3; ++i) x = sin(x) + 0.1 * x;
  return x;
}
inline Tensor chained_plain(Tensor x, int n) {
  for (int i = 0; i < n / 2; ++i) x = (x + 0.5) * 0.75;
  return x;
}
// Operations in an order that never repeats.
inline Tensor chained_random(Tensor x, int n, unsigned seed) {
  std::mt19937 draw(seed);
  Tensor other = x * 0.5;
  for (int i = 0; i < n; ++i) {
    Tensor next;
    switch (draw() % 8) {
      case 0: next = x + other; break;
      case 1: next = x * other; break;
      case 2: next = x - 0.25; break;
      case 3: next = maximum(x, other); break;
      case 4: next = select(x < other, x, other); break;
      case 5: next = abs(x); break;
      case 6: next = clip(x, -1.0, 1.0); break;
      default: next = negate(x); break;
    }
    if (draw() % 3 == 0) other = x;
    x = next;
  }
  return x;
}
inline Tensor nested_where(const Tensor& x, int n) {
  Tensor y = x;
  for (int i = 0; i < n / 2; ++i) y = select(x < 0.01 * i, x, y);
  return y;
}
inline Tensor chained_reductions(Tensor x, int n) {
  for (int i = 0; i < n / 3; ++i) x = x - 0.01 * mean(x);
  return x;
}
inline Tensor chained_products(Tensor x, int n) {
  const Tensor w = small(3, {8, 8});
  for (int i = 0; i < n / 2; ++i) x = tanh(matmul(x, w));
  return x;
}
inline Tensor chained_gathers(Tensor x, int n) {
  const Tensor order = tensor(std::vector<int32_t>{3, 1, 0, 2, 7, 5, 4, 6}, {8});
  for (int i = 0; i < n / 2; ++i) x = take(x, order, 0) + 0.25;
  return x;
}
inline Tensor chained_scatters(Tensor x, int n) {
  const Tensor order = tensor(std::vector<int32_t>{3, 1, 3, 2, 7, 5, 4, 6}, {8, 1});
  for (int i = 0; i < n / 2; ++i) x = indexed_add(x, order, 0.01 * x, {0});
  return x;
}
inline Tensor fan_out(const Tensor& x, int n) {
  const Tensor y = exp(x);
  Tensors parts;
  for (int i = 0; i < n; ++i) parts.push_back(y * (0.001 * i));
  return chain_sum(parts);
}
// Every step reads the one before it and the one before that.
inline Tensor ladder(const Tensor& x, int n) {
  Tensor a = x, b = x * 0.5;
  for (int i = 0; i < n / 2; ++i) {
    const Tensor c = a + 0.5 * b;
    a = b;
    b = c;
  }
  return b;
}
inline Tensor network(const Tensor& x0, int steps) {
  const Tensor a = small(1, {8, 8}), b = small(2, {8, 8}), c = small(3, {8, 8});
  Tensor x = x0;
  for (int i = 0; i < steps; ++i) x = tanh(matmul(tanh(matmul(tanh(matmul(x, a)), b)), c));
  return sum(x);
}
inline Tensor slices(const Tensor& x, int n) {
  Tensors parts;
  for (int i = 0; i < n; ++i) parts.push_back(slice(x, {i}, {4}) * 2.0);
  return concatenate(parts);
}

inline Tensors grad_of(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  return {grad([&](Tensor t) { return sum(f(t)); })(x)};
}

inline std::vector<Family> families() {
  const auto one = [](Tensor t) { return Tensors{std::move(t)}; };
  const Shape row{16};
  std::vector<Family> list;
  const auto family = [&](std::string name, int size, std::function<Tensors(int)> make) {
    list.push_back({std::move(name), size, std::move(make)});
  };
  // f(x, n) alone, its gradient, and over a batch.
  const auto three = [&](const std::string& name, int size, const Shape& shape,
                         const std::function<Tensor(const Tensor&, int)>& f) {
    family(name, size, [=](int n) { return one(f(small(0, shape), n)); });
    family("grad " + name, size / 2,
           [=](int n) { return grad_of([&](const Tensor& x) { return f(x, n); }, small(0, shape)); });
    Shape batch = shape;
    batch.insert(0, 3);
    family("vmap " + name, size,
           [=](int n) { return one(vmap([&](Tensor x) { return f(x, n); })(small(0, batch))); });
  };
  const auto parts_of = [](const Tensor& x, int n) {
    Tensors parts;
    for (int i = 0; i < n; ++i) parts.push_back(x * (0.001 * i));
    return parts;
  };
  family("stack", 1000, [=](int n) { return one(stack(smalls(n))); });
  family("stack last axis", 1000, [=](int n) { return one(stack(smalls(n), -1)); });
  family("concatenate", 1000, [=](int n) { return one(concatenate(smalls(n))); });
  family("sum of tensors", 1000, [=](int n) { return one(chain_sum(smalls(n))); });
  family("tree of tensors", 1000, [=](int n) { return one(tree_sum(smalls(n))); });
  three("stack of products", 1000, row, [=](const Tensor& x, int n) { return stack(parts_of(x, n)); });
  three("sum of products", 1000, row, [=](const Tensor& x, int n) { return chain_sum(parts_of(x, n)); });
  three("tree of products", 1000, row, [=](const Tensor& x, int n) { return tree_sum(parts_of(x, n)); });
  three("sin chain", 5000, row, [](const Tensor& x, int n) { return chained(x, n); });
  three("plain chain", 5000, row, [](const Tensor& x, int n) { return chained_plain(x, n); });
  three("random chain", 5000, row, [](const Tensor& x, int n) { return chained_random(x, n, 7); });
  three("nested where", 2000, row, nested_where);
  three("reductions", 2000, row, [](const Tensor& x, int n) { return chained_reductions(x, n); });
  three("products", 1000, {8, 8}, [](const Tensor& x, int n) { return chained_products(x, n); });
  three("gathers", 1000, {8}, [](const Tensor& x, int n) { return chained_gathers(x, n); });
  three("scatters", 500, {8}, [](const Tensor& x, int n) { return chained_scatters(x, n); });
  three("fan out", 1000, row, fan_out);
  three("ladder", 5000, row, ladder);
  three("slices", 1000, {4096}, slices);
  family("large sin chain", 5000, [=](int n) { return one(chained(small(0, {100000}), n)); });
  family("grad large sin chain", 2000,
         [=](int n) { return grad_of([&](const Tensor& x) { return chained(x, n); }, small(0, {100000})); });
  family("many outputs", 1000, [=](int n) { return parts_of(small(0, row), n); });
  family("independent outputs", 1000, [=](int n) {
    Tensors results;
    for (const Tensor& x : smalls(n)) results.push_back(exp(x) + 1.0);
    return results;
  });
  family("outputs of all sizes", 1000, [=](int n) {
    Tensors results;
    for (int i = 0; i < n; ++i) results.push_back(exp(small(i, {1 + i})) + 1.0);
    return results;
  });
  family("chain, every step an output", 1000, [=](int n) {
    Tensors results;
    Tensor x = small(0, row);
    for (int i = 0; i < n; ++i) results.push_back(x = sin(x) * 0.5);
    return results;
  });
  family("jit of many arguments", 1000,
         [=](int n) { return Jit([](const Tensors& x) { return Tensors{chain_sum(x)}; })(smalls(n)); });
  family("grad of many arguments", 1000, [=](int n) {
    const Tensors x = smalls(n);
    return value_and_grad_of([](const Tensors& t) { return Tensors{sum(square(chain_sum(t)))}; }, x,
                             detail::first_numbers(x.size()))
        .grads;
  });
  family("scan with a long body", 1000, [=](int n) {
    return scan(
               [&](const Tensors& carry, const Tensors&) {
                 return Step{{chained_plain(carry[0], n)}, {}};
               },
               {small(0, row)}, {}, 3)
        .carry;
  });
  family("grad scan with a long body", 500, [=](int n) {
    return grad_of(
        [&](const Tensor& x) {
          return scan(
                     [&](const Tensors& carry, const Tensors&) {
                       return Step{{chained_plain(carry[0], n)}, {}};
                     },
                     {x}, {}, 3)
              .carry[0];
        },
        small(0, row));
  });
  family("while with a long body", 1000, [=](int n) {
    return while_loop([](const Tensors& s) { return s[1] < 3; },
                      [&](const Tensors& s) {
                        return Tensors{chained_plain(s[0], n), s[1] + 1};
                      },
                      {small(0, row), zeros({}, DType::i32)});
  });
  family("many scans", 100, [=](int n) {
    Tensor x = small(0, row);
    for (int i = 0; i < n; ++i)
      x = scan(
              [](const Tensors& c, const Tensors&) {
                return Step{{c[0] * 0.5 + 0.1}, {}};
              },
              {x}, {}, 2)
              .carry[0];
    return one(x);
  });
  family("grad network", 300, [=](int n) {
    return grad_of([&](const Tensor& x) { return network(x, n); }, small(0, {8, 8}));
  });
  family("grad grad sin chain", 300, [=](int n) {
    return grad_of([&](const Tensor& x) { return grad([&](Tensor t) { return sum(chained(t, n)); })(x); },
                   small(0, row));
  });
  return list;
}

}  // namespace adit::growth
