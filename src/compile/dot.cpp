// Large matrix products: BLAS on a CPU, tiled kernels on a GPU.
#include <algorithm>
#include <map>
#include <memory>

#include "compile/kernels.hpp"
#include "lower/product_form.hpp"
#include "ops/matmul.hpp"

namespace adit::compile {

namespace {

std::vector<Work> blas_work(const Node& node, const ProductForm& form) {
  Work work;
  work.name = "blas_product";
  const Node &a = graph::node_of(node.operands[0]), &b = graph::node_of(node.operands[1]);
  work.touches = {&a, &b, &node};
  work.operations = 2.0 * static_cast<double>(form.batch * form.m * form.n) * static_cast<double>(form.k);
  work.conduct = [&node, &a, &b, form](const LocationOf& location_of) {
    return ProductStep{node.type, form, location_of(a), location_of(b), location_of(node)};
  };
  std::vector<Work> list;
  list.push_back(std::move(work));
  return list;
}

// What the group computes from the sums of its product, written into the product's kernel.
class Epilogue {
 public:
  Epilogue(const Group& group, const ProductForm& form, Workshop& shop)
      : group_(group), form_(form), shop_(shop) {}

  bool is_needed() const { return group_.roots.size() > 1; }
  // What the kernel itself stores; other results are stored from the hook.
  const Node& result() const { return *group_.roots.back(); }
  const std::vector<Binding>& bindings() const { return bindings_; }

  ops::MatmulHooks hooks() {
    if (!is_needed()) return {};
    ops::MatmulHooks hooks;
    hooks.declare = [this](kernel::Builder& k) {
      arguments_ = std::make_unique<Arguments>(k);
      writer_ = std::make_unique<Writer>(k, *arguments_, shop_.partition, group_,
                                         index_type_for(group_, shop_.partition));
      Group around = group_;  // without the operands of the product, and without what the kernel stores
      around.roots.erase(around.roots.begin());
      Partition others = shop_.partition;
      others.stored.erase(&result());
      others.in_memory.insert(group_.roots[0]);
      declare_around(around, others);
      bindings_ = arguments_->bindings();
    };
    hooks.epilogue = [this](kernel::Builder& k, Value sum, Value batch, Value row, Value column) {
      return apply(k, sum, batch, row, column);
    };
    return hooks;
  }

 private:
  void declare_around(const Group& around, const Partition& others) {
    std::map<uint64_t, const Node*> reads;
    for_each_read(around, others, [&](const Node& node, Reading) { reads[node.number] = &node; });
    for (const Node* root : group_.roots)
      if (others.stored.contains(root)) arguments_->tensor(*root, kernel::Access::write);
    for (const auto& [number, node] : reads) {
      if (node == group_.roots[0]) continue;
      if (others.arguments.contains(node))
        arguments_->number(*node);
      else
        arguments_->tensor(*node, kernel::Access::read);
    }
  }

  Value apply(kernel::Builder& k, Value sum, Value batch, Value row, Value column) {
    const Writer::Scope scope(*writer_);
    const auto as_index = [&](Value x) { return convert(x, writer_->index_type()); };
    Value linear = as_index(row) * writer_->number(form_.n) + as_index(column);
    if (form_.batch > 1) linear = as_index(batch) * writer_->number(form_.m * form_.n) + linear;
    const Node& product = *group_.roots[0];
    writer_->fix(product,
                 lower::rounded({convert(sum, compute_type(product.type)), {}, false}, product.type));
    const Index at(k, product.shape, linear);
    const Scalar last = writer_->read(result(), at.reshaped(result().shape));
    for (const Node* root : group_.roots) {
      if (root == &result() || !shop_.partition.stored.contains(root)) continue;
      const Index place = at.reshaped(root->shape);
      writer_->store(*root, place, writer_->read(*root, place));
    }
    return last.re;
  }

  const Group& group_;
  const ProductForm& form_;
  Workshop& shop_;
  std::unique_ptr<Arguments> arguments_;
  std::unique_ptr<Writer> writer_;
  std::vector<Binding> bindings_;
};

Work product_work(kernel::Program program, uint64_t teams, std::initializer_list<const Node*> tensors,
                  const std::vector<Binding>& more, Device& device) {
  Launch launch{std::move(program), teams, {}};
  for (const Node* node : tensors)
    launch.bindings.push_back({Binding::Kind::tensor, node, node == *(tensors.end() - 1)});
  launch.bindings.insert(launch.bindings.end(), more.begin(), more.end());
  return work_of(std::move(launch), device);
}

std::vector<Work> gpu_work(const Group& group, const ProductForm& form, Workshop& shop, Device& device) {
  const Node& node = *group.roots[0];
  const Node &a = graph::node_of(node.operands[0]), &b = graph::node_of(node.operands[1]);
  Epilogue epilogue(group, form, shop);
  ops::MatmulShape shape;
  shape.type = storage_type(node.type);
  shape.result = storage_type(epilogue.result().type);
  shape.m = static_cast<uint32_t>(form.m);
  shape.n = static_cast<uint32_t>(form.n);
  shape.k = static_cast<uint32_t>(form.k);
  shape.batch = static_cast<uint32_t>(form.batch);
  shape.transpose_a = form.transpose_a;
  shape.transpose_b = form.transpose_b;
  shape.a_stride = static_cast<uint64_t>(form.m * form.k);
  shape.b_stride = static_cast<uint64_t>(form.k * form.n);
  const ops::MatmulTiling tiling = ops::choose_tiling(shape, device.limits());
  const uint64_t teams = ops::matmul_teams(shape, tiling);
  std::vector<Work> list;
  if (tiling.split_k == 1) {
    kernel::Program program = ops::matmul_program(shape, tiling, epilogue.hooks());
    list.push_back(
        product_work(std::move(program), teams, {&a, &b, &epilogue.result()}, epilogue.bindings(), device));
  } else {
    const auto words = static_cast<int64_t>(ops::matmul_workspace_bytes(shape, tiling) / 4);
    const Node& parts = shop.make_scratch(DType::u32, {words});
    list.push_back(product_work(ops::matmul_program(shape, tiling), teams, {&a, &b, &parts}, {}, device));
    kernel::Program program = ops::matmul_sum_program(shape, tiling, epilogue.hooks());
    list.push_back(product_work(std::move(program), ops::matmul_sum_teams(shape),
                                {&parts, &epilogue.result()}, epilogue.bindings(), device));
  }
  const auto elements = static_cast<double>(form.batch * form.m * form.n);
  list[0].operations = 2 * elements * static_cast<double>(form.k);
  if (list.size() > 1) list[1].operations = elements * static_cast<double>(tiling.split_k);
  return list;
}

}  // namespace

std::vector<Work> dot_work(const Group& group, Workshop& shop, Device& device) {
  const Node& node = *group.roots[0];
  const auto form = product_form(node);
  if (!form) throw Error(ErrorKind::internal, "[dot] axes: expected them in the order of a product");
  if (form->batch == 0 || form->m == 0 || form->n == 0) return {};
  return shop.target.gpu ? gpu_work(group, *form, shop, device) : blas_work(node, *form);
}

}  // namespace adit::compile
