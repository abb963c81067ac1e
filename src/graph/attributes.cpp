#include "graph/attributes.hpp"

#include <bit>

namespace adit::graph {

namespace {

using Words = std::vector<uint64_t>;

void append(Words& words, const Dims& dims) {
  words.push_back(static_cast<uint64_t>(dims.size()));
  for (const int64_t number : dims) words.push_back(static_cast<uint64_t>(number));
}

struct Append {
  Words& words;
  void operator()(const None&) const {}
  void operator()(const Literal& a) const {
    words.insert(words.end(), {std::bit_cast<uint64_t>(a.real), std::bit_cast<uint64_t>(a.imag),
                               static_cast<uint64_t>(a.integer)});
  }
  void operator()(const OneAxis& a) const { words.push_back(static_cast<uint64_t>(a.axis)); }
  void operator()(const AxisList& a) const { append(words, a.axes); }
  void operator()(const SliceAttributes& a) const {
    append(words, a.starts);
    append(words, a.strides);
  }
  void operator()(const PadAttributes& a) const {
    append(words, a.low);
    append(words, a.high);
    append(words, a.interior);
  }
  void operator()(const ReduceAttributes& a) const {
    append(words, a.axes);
    words.push_back(a.high_tie);
  }
  void operator()(const DotAttributes& a) const {
    append(words, a.contract_a);
    append(words, a.batch_a);
    append(words, a.contract_b);
    append(words, a.batch_b);
  }
  void operator()(const TriangularAttributes& a) const {
    words.push_back(static_cast<uint64_t>(a.lower | a.left_side << 1 | a.transpose << 2));
  }
  void operator()(const CumulativeAttributes& a) const {
    words.insert(words.end(), {static_cast<uint64_t>(a.axis), static_cast<uint64_t>(a.reverse)});
  }
  void operator()(const FactorAttributes& a) const { words.push_back(a.full); }
  void operator()(const SortAttributes& a) const {
    words.insert(words.end(), {static_cast<uint64_t>(a.axis), static_cast<uint64_t>(a.descending)});
  }
  void operator()(const AxisLength& a) const {
    words.insert(words.end(), {static_cast<uint64_t>(a.axis), static_cast<uint64_t>(a.length)});
  }
  void operator()(const Which& a) const { words.push_back(static_cast<uint64_t>(a.number)); }
  void operator()(const std::shared_ptr<const WindowAttributes>& a) const {
    for (const Dims* dims :
         {&a->axes, &a->lengths, &a->results, &a->strides, &a->dilations, &a->low, &a->spread})
      append(words, *dims);
    words.insert(words.end(), {static_cast<uint64_t>(a->diagonal), static_cast<uint64_t>(a->groups)});
  }
  // Functions are hashed by whoever walks them (structure.cpp): here only what stands beside them.
  void operator()(const std::shared_ptr<const ControlAttributes>& a) const {
    words.insert(words.end(), {static_cast<uint64_t>(a->carries), static_cast<uint64_t>(a->sequences),
                               static_cast<uint64_t>(a->length), static_cast<uint64_t>(a->reverse)});
  }
};

}  // namespace

void append_words(const Attributes& attributes, Words& words) {
  words.push_back(attributes.index());
  std::visit(Append{words}, attributes);
}

}  // namespace adit::graph
