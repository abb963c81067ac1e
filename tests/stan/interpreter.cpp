#include "interpreter.hpp"

#include <algorithm>

namespace adit::stan::reference {

namespace {

Number data_number(const nlohmann::json& j, const std::string& name) {
  if (j.is_number()) return j.get<double>();
  expect(j.is_string(), name + ": a number was expected");
  const auto text = j.get<std::string>();
  if (text == "NaN" || text == "nan") return not_a_number;
  expect(text.find("nf") != std::string::npos, name + ": a number was expected");
  return text[0] == '-' ? -infinity : infinity;
}

// As the form (an uninitialised value) has it.
Value data_value(const nlohmann::json& j, const Value& form, const std::string& name) {
  if (form.is(Base::integer)) {
    expect(j.is_number_integer(), name + ": an integer was expected");
    return integer(j.get<int64_t>());
  }
  if (form.is(Base::real)) return real(data_number(j, name));
  Value result = form;
  if (form.is(Base::tuple)) {
    for (size_t i = 0; i < form.parts.size(); ++i)
      result.parts[i] = data_value(j.at(std::to_string(i + 1)), form.parts[i], name);
    return result;
  }
  expect(j.is_array(), name + ": a list was expected");
  const size_t wanted = static_cast<size_t>(form.array > 0              ? form.count()
                                            : form.base == Base::matrix ? form.rows
                                                                        : form.count());
  expect(j.size() == wanted, name + ": the sizes of the data and of the declaration differ");
  for (size_t i = 0; i < j.size(); ++i) {
    if (form.array > 0)
      result.parts[i] = data_value(j[i], form.parts[i], name);
    else if (form.base != Base::matrix)
      result.numbers[i] = data_number(j[i], name);
    else {
      expect(static_cast<int64_t>(j[i].size()) == form.columns,
             name + ": rows of a matrix have another size");
      for (int64_t c = 0; c < form.columns; ++c)
        result.at(static_cast<int64_t>(i), c) = data_number(j[i][static_cast<size_t>(c)], name);
    }
  }
  return result;
}

template <class F>
void for_each_declaration(const Block& block, const F& f) {
  for (const auto& statement : block.statements)
    if (statement->kind == Statement::Kind::declare)
      for (const Declaration& declaration : statement->declarations) f(declaration);
}

std::vector<double> output_values(const Value& value) {
  std::vector<double> result;
  if (value.is(Base::matrix)) {
    for (int64_t i = 0; i < value.rows; ++i)
      for (int64_t j = 0; j < value.columns; ++j) result.push_back(value.at(i, j).value);
    return result;
  }
  if (value.array == 0) {
    for (const Number& x : flat(value)) result.push_back(x.value);
    return result;
  }
  for (const Value& part : value.parts)
    for (const double x : output_values(part)) result.push_back(x);
  return result;
}

// Members of tuples are name:1, name:2; tuples of an array name.1, name.2.
void output_add(std::vector<Output>& outputs, const std::string& name, BlockKind block, const Value& value,
                const SizedType& type) {
  if (value.base != Base::tuple && type.members.empty()) {
    outputs.push_back({name, block, dims(value), output_values(value)});
    return;
  }
  const bool is_array = value.array > 0;
  for (size_t i = 0; i < value.parts.size(); ++i)
    output_add(outputs, name + (is_array ? "." : ":") + std::to_string(i + 1), block, value.parts[i],
               is_array ? type : type.members[i]);
}

}  // namespace

Interpreter::Interpreter(const Program& program, const nlohmann::json& data) : program_(program) {
  Machine machine(program);
  for_each_declaration(program.block(BlockKind::data), [&](const Declaration& declaration) {
    const std::string& name = declaration.name;
    const Value form = machine.fresh(declaration.type);
    const bool is_empty = flat(form).empty();
    expect(data.contains(name) || is_empty, name + ": no data");
    machine.declare(name, is_empty ? form : data_value(data.at(name), form, name));
    const std::string words = broken_constraint(machine, declaration.type, machine.lookup(name));
    expect(words.empty(), name + " " + words);
  });
  machine.run(program.block(BlockKind::transformed_data));
  for_each_declaration(program.block(BlockKind::transformed_data), [&](const Declaration& declaration) {
    const std::string words = broken_constraint(machine, declaration.type, machine.lookup(declaration.name));
    expect(words.empty(), declaration.name + " " + words);
  });
  constants_ = machine.top();
  for_each_declaration(program.block(BlockKind::parameters), [&](const Declaration& declaration) {
    const int64_t count = unconstrained_size(machine, declaration.type);
    places_.push_back({declaration.name, size_, count});
    size_ += count;
  });
}

void Interpreter::read_parameters(Machine& machine, Numbers unconstrained) const {
  expect(static_cast<int64_t>(unconstrained.size()) == size_, "another number of unconstrained numbers");
  Stream stream{std::move(unconstrained), 0};
  for_each_declaration(program_.block(BlockKind::parameters), [&](const Declaration& declaration) {
    machine.declare(declaration.name, constrained(machine, declaration.type, stream, machine.target));
  });
}

void Interpreter::run_transformed(Machine& machine) const {
  const Block& block = program_.block(BlockKind::transformed_parameters);
  machine.run(block);
  for_each_declaration(block, [&](const Declaration& declaration) {
    const std::string words = broken_constraint(machine, declaration.type, machine.lookup(declaration.name));
    if (!words.empty()) throw Rejected(declaration.name + " " + words);
  });
}

Number Interpreter::evaluate(std::span<const double> unconstrained, std::span<const double> direction) const {
  Numbers numbers;
  for (size_t i = 0; i < unconstrained.size(); ++i)
    numbers.emplace_back(unconstrained[i], direction.empty() ? 0 : direction[i]);
  try {
    Machine machine(program_, &constants_);
    read_parameters(machine, std::move(numbers));
    run_transformed(machine);
    machine.run(program_.block(BlockKind::model));
    return machine.target;
  } catch (const Rejected&) {
    return -infinity;
  }
}

double Interpreter::log_density(std::span<const double> unconstrained) const {
  return evaluate(unconstrained, {}).value;
}

double Interpreter::slope(std::span<const double> unconstrained, std::span<const double> direction) const {
  return evaluate(unconstrained, direction).slope;
}

std::vector<double> Interpreter::gradient(std::span<const double> unconstrained) const {
  std::vector<double> result, direction(unconstrained.size());
  for (size_t i = 0; i < direction.size(); ++i) {
    direction[i] = 1;
    result.push_back(slope(unconstrained, direction));
    direction[i] = 0;
  }
  return result;
}

std::vector<Output> Interpreter::outputs(std::span<const double> unconstrained) const {
  Machine machine(program_, &constants_);
  read_parameters(machine, Numbers(unconstrained.begin(), unconstrained.end()));
  run_transformed(machine);
  const Determined sure = determined(program_);
  for (const Statement* statement : sure.statements) machine.run(*statement);
  std::vector<Output> result;
  for (const BlockKind block :
       {BlockKind::parameters, BlockKind::transformed_parameters, BlockKind::generated_quantities})
    for_each_declaration(program_.block(block), [&](const Declaration& declaration) {
      const bool is_random =
          block == BlockKind::generated_quantities &&
          std::find(sure.random.begin(), sure.random.end(), declaration.name) != sure.random.end();
      if (!is_random)
        output_add(result, declaration.name, block, machine.lookup(declaration.name), declaration.type);
    });
  return result;
}

}  // namespace adit::stan::reference
