// Logarithms that are summed over rows are one logarithm of a product: a density's rows then have one
// multiplication instead of a series. Factors lie between 1 and 2: 1 + exp(-|x|) of softplus and log_sigmoid,
// and of other numbers what is left without their exponents, which are summed. So many factors as a product
// may have are multiplied, then its exponent is taken out too. (A CPU in f64; a GPU's f32 has short series.)
#include <bit>
#include <cmath>
#include <numbers>

#include "density/writer.hpp"
#include "graph/op.hpp"
#include "kernel/decay.hpp"
#include "lower/reduction.hpp"

namespace adit::sampling {

using graph::Op;

namespace {

constexpr int64_t most_factors = 960;  // the largest product is 2^1023
constexpr int64_t fewest_steps = 16;   // of which a logarithm after the loop is less than one in each

bool is_bent(const Node& node) { return node.op == Op::softplus || node.op == Op::log_sigmoid; }
bool has_logarithm(const Node& node) { return is_bent(node) || node.op == Op::log || node.op == Op::log1p; }

// What it takes an exponential of, whatever its sign.
const Node* bent_at(const Node& node) {
  const Node* of = &graph::node_of(node.operands[0]);
  while (of->op == Op::negate) of = &graph::node_of(of->operands[0]);
  return of;
}

}  // namespace

// Terms of a density that are added to it, or taken away: a product's error is as small as the density's
// then, and not as that of a small term which a large number multiplies.
std::unordered_set<const Node*> DensityWriter::plain_terms(const Tensor& value) {
  std::unordered_set<const Node*> found{&graph::node_of(value)};
  std::vector<const Node*> open{&graph::node_of(value)};
  while (!open.empty()) {
    const Node& node = *open.back();
    open.pop_back();
    if (node.op != Op::add && node.op != Op::subtract && node.op != Op::negate) continue;
    for (const Tensor& operand : node.operands)
      if (found.insert(&graph::node_of(operand)).second) open.push_back(&graph::node_of(operand));
  }
  return found;
}

// Through additions that nobody else reads.
DensityWriter::LogTerms DensityWriter::log_terms(const Node& total) const {
  LogTerms found;
  std::vector<std::pair<const Node*, int>> open{{&graph::node_of(total.operands[0]), 0}};
  while (!open.empty()) {
    const auto [node, sign] = open.back();
    open.pop_back();
    if (readers_.at(node) > 1 || stored_.contains(node) || totals_.contains(node) || leaves_.contains(node))
      continue;
    if (has_logarithm(*node)) found.terms[node->op == Op::log_sigmoid ? 1 - sign : sign].push_back(node);
    const bool adds = node->op == Op::add || node->op == Op::subtract;
    if (adds || node->op == Op::negate || node->op == Op::reshape)
      open.emplace_back(&graph::node_of(node->operands[0]), node->op == Op::negate ? 1 - sign : sign);
    if (adds) open.emplace_back(&graph::node_of(node->operands[1]), node->op == Op::add ? sign : 1 - sign);
  }
  return found;
}

void DensityWriter::find_logs(const Pass& pass, const std::vector<Total>& totals, Loop& loop) {
  loop.logs.resize(totals.size());
  if (!schedule_.on_cpu || !builder().has_loose_functions() || share_ || pass.limit || pass.is_lower ||
      pass.count < fewest_steps || row_length(pass) > 0)
    return;
  int64_t most = 0;
  for (size_t t = 0; t < totals.size(); ++t) {
    const Node& node = *totals[t].node;
    if (node.op != Op::sum || node.type != DType::f64 || !plain_.contains(&node)) continue;
    loop.logs[t] = log_terms(node);
    for (const auto& terms : loop.logs[t].terms) most = std::max(most, std::ssize(terms));
  }
  // Tiles are shorter than half of what a product may have.
  if (most > 2 && pass.count > most_factors / most)
    loop.logs.assign(totals.size(), {});
  else if (most > 0)
    loop.most_steps = most_factors / most;
}

void DensityWriter::begin_factors(const std::vector<LogTerms>& logs) {
  bent_.clear();
  bent_at_.clear();
  factors_.clear();
  for (const LogTerms& of_total : logs)
    for (const auto& terms : of_total.terms)
      for (const Node* term : terms) {
        bent_.insert(term);
        if (is_bent(*term)) bent_at_.insert(bent_at(*term));
      }
}

// What is left of a term without its logarithm. A sigmoid of the same argument has no use for a division that
// serves a logarithm too.
std::optional<Value> DensityWriter::without_logarithm(const Node& node, Value x) {
  const bool is_term = bent_.contains(&node);
  if (is_term && !is_bent(node)) return exponent_of(node, node.op == Op::log ? x : 1.0 + x);
  if (!is_term && !(node.op == Op::sigmoid && bent_at_.contains(bent_at(node)))) return std::nullopt;
  const Value e = kernel::decay(x), one = 1.0 + e;
  if (!is_term) return select(x < 0.0, e, e.like(1)) * (1.0 / one);
  factors_[&node] = one;
  return node.op == Op::softplus ? max(x, 0.0) : min(x, -0.0);
}

// The part of log(u) that u's exponent is, and all of it where it is no number or infinite.
Value DensityWriter::exponent_of(const Node& node, Value u) {
  constexpr double whole = 0x1p52;  // added to a smaller whole number, its bits
  const auto bits_of = [&](uint64_t bits) { return builder().constant_bits(Type::u64, bits); };
  const Value bits = bitcast(u, Type::u64);
  factors_[&node] = bitcast((bits & bits_of(0x000fffffffffffff)) | bits_of(0x3ff0000000000000), Type::f64);
  const Value raised =
      bitcast((bits >> bits_of(52)) | bits_of(std::bit_cast<uint64_t>(whole)), Type::f64) - (whole + 1023);
  const Value infinite = u.like(INFINITY);
  const Value outside = select(u < 0.0, u.like(NAN), -infinite);
  return select(u < infinite, select(u < 0x1p-1021, outside, raised * std::numbers::ln2), u);
}

std::vector<Value> DensityWriter::products_of(const LogTerms& logs) const {
  std::vector<Value> products;
  for (const auto& terms : logs.terms) {
    Value product;
    for (const Node* term : terms)
      product = product.type() == Type::none ? factors_.at(term) : product * factors_.at(term);
    if (!terms.empty()) products.push_back(product);
  }
  return products;
}

// Products between 1 and 2, and their exponents behind all totals. A NaN stays one.
void DensityWriter::normalise(const Loop& loop, const std::vector<Variable>& totals) {
  Builder& k = builder();
  const auto whole = [&](uint64_t bits) { return k.constant_bits(Type::u64, bits); };
  for (size_t i = 0; i < loop.products.size(); ++i) {
    const Variable& product = totals[loop.products[i]];
    const Variable& exponent = totals[loop.types.size() + i];
    const Value number = product.get(), bits = bitcast(number, Type::u64);
    const Value raised = convert(convert(bits >> whole(52), Type::i32), Type::f64) - 1023.0;
    exponent = exponent.get() + raised + (number - number);
    product = bitcast((bits & whole(0x000fffffffffffff)) | whole(0x3ff0000000000000), Type::f64);
  }
}

// Rows by blocks of as many as a product may have; blocks of whole vectors, and the rest of the rows.
std::vector<Value> DensityWriter::write_blocks(int64_t count, const Loop& loop) {
  constexpr int64_t whole = 8;
  Builder& k = builder();
  const std::vector<Variable> totals = open_totals(loop);
  // The rest is shorter than a block: a product of more factors could leave the range of numbers.
  int64_t length = loop.most_steps / whole * whole;
  const int64_t fewest = (count + loop.most_steps - 1) / loop.most_steps;
  for (int64_t more = fewest; more < 2 * fewest; ++more)
    if (count % (more * whole) == 0) {
      length = count / more;
      break;
    }
  const int64_t blocks = count / length, done = blocks * length;
  const auto add_block = [&](Value begin, int64_t rows) {
    const auto body = [&](Value i) { return loop.body(begin + i); };
    if (chain_.by_team()) return add_totals(loop, totals, chain_.index(rows), body);
    const std::vector<Value> parts =
        lower::loop_totals(k, chain_.index(rows), loop.reductions, loop.types, body);
    for (size_t i = 0; i < parts.size(); ++i)
      totals[i] = lower::combine(loop.reductions[i], totals[i].get(), parts[i]);
    normalise(loop, totals);
  };
  k.for_(chain_.index(blocks), [&](Value block) {
    const Scope scope(*this);
    add_block(block * length, length);
  });
  if (done < count) add_block(chain_.index(done), count - done);
  std::vector<Value> results;
  for (const Variable& total : totals) results.push_back(total.get());
  return results;
}

}  // namespace adit::sampling
