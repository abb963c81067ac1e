// Runs a program's statements once, on known and traced values, and so makes its graph.
//
// Loops whose rounds do not depend on each other are run all rounds at once, as lanes (loops.cpp). Those that
// carry something from round to round become one step of a scan (recurrence.cpp). What is neither is run
// round by round.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>

#include <adit/control.hpp>

#include "stan/jumps.hpp"
#include "stan/levels.hpp"
#include "stan/loop_notes.hpp"
#include "stan/observed.hpp"
#include "stan/syntax.hpp"
#include "stan/workspaces.hpp"

namespace adit::stan {

// What is wrong with a program's run: an index outside, sizes that do not agree, reject().
struct RunError {
  Place place;
  std::string text;
};

// The same where a size follows from parameters: sums over such parts can be had all the same.
struct DrawnSize : RunError {};

// A value that a statement used, in the words of the program; a text alone has no value.
struct Witness {
  std::string name;
  Value value{};
  bool is_round = false;  // the variable of a loop around the statement
};

// A term of the log density.
struct Term {
  Place place;
  Tensor value;                              // [lanes]: summed by the model
  std::shared_ptr<Observed> observed{};      // where it is the likelihood of data
  std::shared_ptr<Observed> parameter_of{};  // no term, but what steps give as a parameter of one
  bool is_jacobian = false;                  // jacobian +=
  bool rejects = false;                      // reject() and what must hold: `uses` are its words
  std::vector<Witness> uses{};               // told where the term is not finite; in lanes as the term is
  // Of what the step of a recurrence gives: the words, and whether the number behind them comes next.
  std::string text{};
  bool tells = false;
};

// What must hold where statements run: 1 where it does, a number a lane. Where it does not, the words are
// told, and the number behind them.
struct Rejection {
  Place place;
  std::string text;
  Value holds;
  Value number{};               // may be none
  std::vector<Witness> uses{};  // instead of the words, where no loop around keeps them
};
// Inside of a function that becomes a graph of its own: it gives what is rejected to whoever called it.
struct Catches {
  int level = 0, inside = 0;
  std::vector<Rejection> list{};
};

// Where indices of one read or write point to.
struct Spot {
  enum class Kind : uint8_t { single, many, all };
  Kind kind = Kind::all;
  Value numbers;  // counted from 0; single: a number; many: a list of them
  bool is_uniform() const { return kind == Kind::all || (numbers.is_known() && numbers.level == 0); }
  bool is_one() const {
    return kind == Kind::single && is_uniform();
  }  // a known place, the same in all lanes
};
using Spots = std::vector<Spot>;

// Rows of an array that a recurrence looks back to: rows[d] is the row written d steps ago, rows[0] this
// step's.
struct Window {
  int level = 0;                // of the recurrence; 0: no window
  int prefix = 1;               // indices that name a row
  bool is_turned = false;       // the last index alone names it: columns of a matrix
  std::vector<double> written;  // the row of each lane of that level
  double stride = 1;            // from the row of a step to the next one's
  std::vector<Value> rows;
  // Where steps look back to any row: all rows that they touch, those of each lane around behind each other.
  Value history{};
  std::vector<double> first{};  // of each lane around: the row that is its first one there
  int64_t extent = 0;           // rows of a lane
  double apart = 1;             // from one of them to the next one
  Value position{};             // of this step's row
};

struct Stored {
  Value value;
  int home = 0;  // the level where it was declared
  Window window;
};

// Elements of a variable that lanes touch: `each` blocks of `block` elements a lane, numbered within the
// value that the lane's ancestor at the variable's home has.
struct Touch {
  int level = 0;
  int64_t each = 1, block = 1;
  std::vector<int64_t> blocks{};
  int64_t when = 0;  // in the order of what happens; 0: not known
  bool is_same_as(const Touch& other) const {
    return level == other.level && each == other.each && block == other.block && blocks == other.blocks;
  }
};

// A condition under which statements run now; and together with those around it, once that was asked for.
struct Mask {
  Value own;
  std::optional<Value> joined{};
  int64_t choice = 0;  // which choice's; 0: of an expression
  bool is_otherwise = false;
};

// A write of rounds that is not in the variable's value yet. Where it stands under conditions, what is there
// already is written in lanes in which they do not hold.
struct Pending {
  Touch touch{};
  Value written{};
  // What branches of the choices at hand wrote, outermost first, and what was there before.
  struct Branch {
    int64_t choice = 0;
    bool is_otherwise = false;
    size_t depth = 0;  // of conditions
    Value own{}, before{};
    int64_t read = 0;  // when that was read
  };
  std::vector<Branch> branches{};
};

// What a loop that is run together does to one variable from outside of it.
struct Tracked {
  enum class Mode : uint8_t { sum, whole, elements };
  Mode mode = Mode::elements;
  bool assigned = false;             // whole: in this round
  bool carries = false;              // a round reads what another one wrote
  bool by_row = false;               // a step of a recurrence writes to it more than once
  std::vector<Touch> reads, writes;  // elements
  std::vector<Pending> pending;      // elements, in their order
  // sum: what is added, and where (nowhere: to the whole).
  struct Addend {
    Value value;
    Spots spots;
    bool is_total = false;         // of all rounds already, in lanes of the variable's home
    std::vector<Touch> touches{};  // of a total: which elements lanes have added to
  };
  std::vector<Addend> addends;
};

// What rounds did to a variable of which each has its own copy, in the order in which they would do it.
struct OwnUse {
  struct Event {
    bool writes = false;
    int64_t lane = 0;             // the round of the loop
    std::vector<int64_t> when{};  // of loops inside of it: when they began, and the round; last, its own time
    std::vector<int64_t> elements{};
  };
  std::vector<std::shared_ptr<const std::vector<Event>>> events{};  // a list for each read and write
  int64_t size = 0;                                                 // of all events
  bool is_known = true;
};

class Evaluator {
 public:
  using Frame = std::vector<Stored>;
  explicit Evaluator(const Program& program);

  // Whether a built-in function of the table of signatures can be computed.
  static bool computes(const std::string& name);

  Frame& variables() { return *frame_; }
  void run(const Block& block);
  Value value_of(const Expression& expression);
  Tensor real_tensor(const Value& value);  // without lanes
  Value whole(const Value& value);         // pieces put together
  double number_of(const Value& value, const Place& place);
  int64_t integer_of(const Expression& expression);
  Value declared(const SizedType& type);  // a value of that size, of nothing yet
  Shape shape_of(const SizedType& type);
  // Whether a value is what its declaration says.
  void expect_declared(const Declaration& declaration, const Value& value);
  std::string text_at(const Place& place) const;  // of the program, on one line and cut where it is long

  std::vector<Likelihood> likelihoods() const;  // of the terms

  std::vector<Term> terms;
  Tensor jacobian;           // the logarithm of the parameters' Jacobian, which target() has too
  Tensor key;                // of random numbers; none: there are none here
  bool has_density = false;  // whether terms count
  std::function<void(const std::string&)> print;
  bool solves_equations = false;   // to tolerances that single precision does not reach
  bool is_data_only = false;       // transformed data: nothing is traced for longer than a call
  bool is_generating = false;      // generated quantities: terms that reject are checks of the draws
  std::vector<std::string> notes;  // loops that were written out
  LoopNotes loop_notes;            // how every loop was run

 private:
  enum class Flow : uint8_t { next, broke, continued, returned };

  // expressions.cpp
  Value evaluate(const Expression& expression);
  Value binary(const Expression& expression);
  Value prefix(const Expression& expression);
  Value ternary(const Expression& expression);
  Value literal_array(const Expression& expression);
  Value variable(const Expression& expression);
  Value read(const Expression& expression);
  Value call(const Expression& expression);
  std::vector<Value> arguments_of(const Expression& expression);
  Value chosen(const Value& condition, const Value& yes, const Value& no);

  // part_sums.cpp
  ExpressionPtr cut_as_index(const Expression& e);
  ExpressionPtr length_of(const Expression& list);
  ExpressionPtr element_of(const Expression& list, const Expression& at);
  std::optional<Value> sum_by_running(const Expression& e);
  std::optional<Value> sum_by_elements(const Expression& e);
  bool tilde_by_elements(const Statement& tilde);
  ExpressionPtr common_length(std::span<const Expression* const> lists);
  ExpressionPtr addend_of(const Expression& e, const Expression& round,
                          std::vector<const Expression*>& lists);
  void run_by_elements(ExpressionPtr length, int slot, StatementPtr body);
  // Elements are no values of the statement around them, and have two slots of their own.
  struct Inside {
    Evaluator& evaluator;
    std::vector<Witness>* witnesses;
    ~Inside() { evaluator.scratch_ -= 2, evaluator.witnesses_ = witnesses; }
  };
  Inside inside_of_a_part() {
    scratch_ += 2;
    return {*this, std::exchange(witnesses_, nullptr)};
  }
  // drawn_parts.cpp
  std::optional<int64_t> most_of(const Expression& list);
  std::optional<Value> first_of_variable(const Expression& list, const Value& count, double filling);
  Value first_elements(int64_t longest, const Value& count, int slot, const Expression& element,
                       double filling);
  void expect_lengths(std::span<const Expression* const> wholes, const Value& count);
  std::optional<Value> fold_of_drawn_size(const Expression& e);
  // part_folds.cpp
  static bool folds(const Expression& e);
  static double filling_of(const std::string& name);
  Value repeated_to(int64_t longest, const Value& count, int slot, const Expression& element, double filling);
  std::optional<Value> filled_list(const Expression& list, double filling);
  std::optional<Value> fold_by_elements(const Expression& e);
  Value sum_of_parts(const Expression& e, const std::function<Value()>& of_one_size);  // expressions.cpp

  // operators.cpp
  Value operate(Operator op, const Value& a, const Value& b, const Place& place);
  void expect_integers(const Value& result, const Place& place);
  Value product(const Value& a, const Value& b, const Place& place);
  Value transposed(const Value& value);
  Value elementwise(const Type& type, std::span<const Value> operands, const Place& place,
                    const std::function<double(const double*)>& number,
                    const std::function<Tensor(const Tensor*)>& tensor);
  Value promoted(const Value& value, const Type& type);

  // lanes.cpp
  struct Met {
    int level = 0, inside = 0;
    std::vector<Tensor> tensors;
    std::vector<bool> in_lanes;
    int64_t lanes = 0;
  };
  Met meet(std::span<const Value> values);
  Tensor tensor_at(const Value& value, int level, int inside, bool& in_lanes);
  Tensor leaf(const Value& known, int level);
  Value entered(const Value& value, int inside);
  Value sum_of_lanes(const Value& value, int level);
  Value at_lanes(const Value& value, int level);

  // pieces.cpp
  Value known_whole(const Value& value, const std::vector<Value>& parts, int level) const;
  std::optional<Value> sum_of_pieces(const std::string& name, const Value& value, const Place& place);

  // demands.cpp
  void demand(const Value& holds, const Value& number, const Place& place, const std::string& text,
              bool is_of_places = false);
  void demand_each(const Value& value, const Place& place, const std::string& text,
                   const std::function<bool(double)>& number,
                   const std::function<Tensor(const Tensor&)>& tensor, bool is_of_places = false);
  void demand_all(const Value& holds, const Value& value, const Place& place, const std::string& text);
  bool expect_places(const Value& index, int64_t extent, const Place& place, const std::string& who);
  Value places_of(const Value& index, int64_t extent, const Place& place, const std::string& who = "");
  Value nearest_places(const Value& places, int64_t extent);
  void reject_where(Rejection rejection);
  void reject_in_step(const Rejection& rejection);
  Value least_of_lanes(const Value& value, int level);
  struct Caught {
    Tensor which, number;
  };
  Caught first_caught(std::span<const Rejection> list);
  Value with_caught(const Value& value, std::span<const Rejection> list);
  // argument_demands.cpp
  void expect_domains(const std::string& name, std::span<const Value> arguments, const Place& place);
  void expect_argument(char letter, const Value& value, const Place& place, const std::string& who);
  void expect_structure(char letter, const Value& value, const Place& place, const std::string& who);
  void expect_known_structure(char letter, const Value& value, const Place& place, const std::string& who);
  void expect_rising_arguments(const std::string& name, size_t low, size_t high,
                               std::span<const Value> arguments, bool may_be_equal, const Place& place);
  void expect_sparse(const std::string& name, std::span<const Value> arguments, const Place& place);
  // argument_relations.cpp
  void expect_relations(const std::string& name, std::span<const Value> arguments, const Place& place);
  void expect_series(const std::string& name, std::span<const Value> arguments, const Place& place);

  // indexing.cpp
  Spots spots_of(const std::vector<Index>& indices, const Value& value, const Place& place);
  Spot spot_of(const Index& index, int64_t extent, const Place& place);
  Value at(const Value& value, const Spots& spots, const Type& type, const Place& place);
  Value tuple_at(const Value& tuples, const Spots& spots, const Type& type, const Place& place);
  Value tuples_at(const Value& tuples, const Spots& spots, const Type& type,
                  const Place& place);  // tuples.cpp
  Value known_at(const Value& value, const Spots& spots, const Type& type);
  Value traced_at(const Value& value, const Spots& spots, const Type& type, const Place& place);
  Value gathered(const Value& table, const Value& numbers);
  Value with(const Value& value, const Spots& spots, const Value& part, const Place& place);
  Value with_tuples(const Value& value, const Spots& spots, const Value& part, const Place& place);
  Value with_members(const Value& value, const Spots& spots, const Value& part, const Place& place);
  Value joined_members(const Value& form, const std::vector<Value>& members);  // tuples.cpp
  Value flat_places(const Value& value, const Spots& spots, size_t axes, const Place& place);
  Value traced_with(const Value& value, const Spots& spots, const Value& part, const Place& place);
  void expect_size(const Value& value, const Spots& spots, const Value& part, const Place& place);

  // access.cpp: reads and writes that loops keep an eye on
  struct Storage {
    Value* value;
    int home;
    Spots rest;            // of the indices
    bool is_past = false;  // a row that an earlier step wrote
  };
  Storage storage_of(Stored& variable, const Spots& spots);
  Storage storage_of_rows(Stored& variable, const Spots& spots);
  Value read_variable(Stored& variable, int slot, const Spots* spots, const Type& type, const Place& place);
  void write_variable(Stored& variable, int slot, const Spots& spots, const Value& value, const Place& place);
  void add_to_variable(Stored& variable, int slot, const Spots& spots, const Value& value,
                       const Place& place);
  void put_off(Tracked& loop, int slot, const Storage& storage, const Touch& touch, const Value& value);
  size_t masks_around(int slot, int home) const;
  Value masks_from(size_t first, size_t last);
  Value value_there(Tracked& loop, const Storage& storage, const Touch& touch, const Value& form);
  const Value* own_write(const Tracked& loop, const Touch& touch) const;
  bool meets(const Tracked& loop, const Touch& touch, int home, int64_t size) const;
  void make_room(const Storage& storage, Tracked& loop, const Touch& touch);
  bool write_in_place(const Storage& storage, const Value& part);
  void write_at_once(const Storage& storage, const Value& value, const Place& place);
  Value in_part(const Value& value) const;
  std::vector<bool> running(int level) const;  // lanes in which the known conditions at hand hold
  Touch counted_only(Touch touch);
  Value guarded(const Value& value);
  const Value& mask();  // all conditions at hand as one
  Tracked* tracked(int slot, int home);
  std::optional<Touch> touch_of(const Storage& storage, int level);
  bool same_in_steps(const Touch& touch, int inside) const;
  Touch around(const Touch& touch) const;  // as the lanes of the level around see it
  // dependences.cpp
  bool needs_others(const Tracked& tracked, int slot, int level) const;
  bool depends(const Tracked& tracked, const Value& value, int home, int level) const;
  void leave_level();
  Value last_of_lanes(const Value& value, const Value& before, int level);
  Value of_lanes(const Value& all, std::vector<int64_t> last, int level);
  bool has_empty_lanes(int level) const;
  void flush(const Storage& storage, Tracked& tracked);
  Value placed(const Value& whole, int home, const Touch& touch, const Value& part, bool adds);
  Value all_placed(const Value& whole, int home, std::span<const Pending> writes);
  struct Rows {
    Tensor rows;  // [count, block]
    std::vector<int64_t> places;
  };
  std::pair<Tensor, Shape> table_of(const Value& whole, int home, int64_t block, int inside);
  Rows rows_to_place(const Value& whole, int home, const Touch& touch, const Value& part, int64_t block,
                     int inside);

  // statements.cpp
  Flow execute(const Statement& statement);
  Flow execute_list(std::span<const StatementPtr> list);
  // What follows the statement at hand in each list around it, the function's own first.
  using Rest = std::vector<std::span<const StatementPtr>>;
  Flow choice(const Statement& statement);
  Flow branch(const Statement* body, const Rest& rest);
  struct Ways {
    const Statement *yes, *no;  // no: may be none
  };
  Flow split_choice(const Ways& ways, const Value& condition, const Rest& rest);
  Flow masked_choice(const Ways& ways, const Value& condition, const Rest& rest);
  void run_masked(Mask mask, const Statement* body, const Rest& rest, Flow& flow);
  std::set<int> written_by(const Ways& ways, const Rest& rest);
  void merge_variable(const Value& condition, int slot, const Stored& before, const Stored& after_first,
                      const std::vector<std::map<int, Tracked>>& loops_first);
  bool is_by_elements(int slot);
  Value at_touch(const Value& value, const Touch& touch, const Value& form);
  void expect_own_places(const Touch& touch, int home, const Value& condition, bool holds) const;
  Value merged(const Value& condition, const Value& yes, const Value& no);
  Value spread(const Value& value);
  void declare(const Declaration& declaration);
  void assign(const Statement& statement);
  Value read_target(const Target& target, const Place& place);
  std::optional<Spots> joined_spots(const Target& target, const Value& value, const Place& place);
  Value changed(const Value& value, std::span<const Target::Step> steps, const Value& part,
                const Place& place);
  void assign_to(const Target& target, const Value& value, const Place& place);
  void tilde(const Statement& statement);
  std::shared_ptr<Observed> observed_elements(const Statement& statement, const Value& left);
  bool observe(const Statement& statement, const std::vector<Value>& arguments,
               const std::vector<Witness>& used);
  void observe_step(const Value& each, const std::vector<Tensor>& parameters, Term origin);
  void add_truncation(const Statement& statement, const std::vector<Value>& arguments);
  void add_own_truncation(const Statement& statement, const std::vector<Value>& arguments, const Value& low,
                          const Value& high);
  void add_terms(const Statement& statement);
  void add_term(const Value& value, Term origin);
  // witnesses.cpp
  void witness(const Expression& expression, const Value& value);
  std::vector<Witness> told_witnesses();
  Tensor total_of(const Value& value);
  void speak(const Statement& statement);
  void reject(const Statement& statement, const std::vector<Witness>& words);
  std::string to_text(const Value& value);

  // loops.cpp
  struct Together;
  struct Rounds {  // of a loop
    const Statement* statement = nullptr;
    Value low, high;  // bounds, of one level
    Value items;      // what a loop over elements goes through
    bool by_element = false;
    int64_t count = 0;  // where it is the same for all lanes
    bool is_regular = true;
    bool is_padded = false;  // lanes that are done wait for the longest
    // Of variables from outside that follow from data: what they are when a round begins, lane by lane.
    std::map<int, std::vector<double>> counters{};
    std::set<int> own{};  // variables from outside of which each round has a copy of its own
  };
  struct Snapshot;
  Flow for_range(const Statement& statement);
  Flow for_each(const Statement& statement);
  Flow run_loop(Rounds rounds);
  Flow one_by_one(const Rounds& rounds, bool is_plain);
  Flow written_out(const Rounds& rounds, const std::string& why);
  std::string together_text(const Rounds& rounds) const;
  void give_sizes(const std::map<int, Tracked>& carries, const Frame& tried);
  bool in_turn(const Rounds& rounds, const Snapshot& start);
  bool after_the_first(const Rounds& rounds, const Snapshot& start);
  bool with_all_written(const Rounds& rounds, const Snapshot& start);
  bool is_plain(const Statement& statement);
  void set_loop_variable(const Rounds& rounds, const Value& index);
  Value index_by_lane(const Rounds& rounds);
  void push_level(const Rounds& rounds, bool is_scan);
  void track(Together& loop, const Statement& statement);
  std::optional<std::vector<double>> by_lanes_around(const Differs& size, int level) const;
  void in_groups(const Statement& body);
  std::map<int, Tracked> all_at_once(const Rounds& rounds);  // what carries; none: it is done
  void finish(Together& loop, const Frame& before);
  void add_total(Stored& variable, Tracked& loop, const Value& total, const std::vector<Touch>& touches);
  Snapshot snapshot();
  void restore(const Snapshot& snapshot);

  // own_copies.cpp
  std::set<int> scratch_of(const Rounds& rounds) const;
  bool with_own_copies(Rounds rounds);
  void begin_own(const Rounds& rounds, Together& loop);
  void note_own(const Stored& variable, int slot, const Spots& spots, bool writes);
  bool is_own(int slot) const;
  void expect_own(const Together& loop) const;

  // lengths.cpp
  static int64_t most_rounds_of(const Rounds& rounds);  // in a lane
  Flow of_like_lengths(const Rounds& rounds);
  void run_padded(const Rounds& rounds);
  Rounds padded(const Rounds& rounds) const;
  Value lasting(const Rounds& rounds) const;
  void run_rounds(const Rounds& rounds);

  // counters.cpp
  bool is_counter(int slot) const;
  void find_counters(Rounds& rounds);
  std::map<int, std::vector<double>> counter_values(const Rounds& rounds, const std::set<int>& slots,
                                                    const Statement& part);
  struct OnNumbers;
  void set_counters(const Rounds& rounds, Together& loop);

  // whiles.cpp
  struct WhileState;
  Flow while_loop(const Statement& statement);
  Flow traced_while(const Statement& statement);
  Flow traced_for(const Statement& statement, const Value& low, const Value& high);
  std::optional<int64_t> most_between(const Value& low, const Value& high);
  Flow rounds_up_to(const Statement& statement, const Value& low, const Value& high, int64_t most);
  Flow counting_for(const Statement& statement, const Value& low, const Value& high, int64_t length);
  Flow run_while(const Statement& statement, WhileState loop);
  bool holds_somewhere(const Value& condition) const;
  Flow in_some_lanes(const Statement& body, const Value& condition);
  Tensor state_tensor(const Value& value, const WhileState& loop);
  void add_state(Value value, const WhileState& loop, std::vector<Tensor>& state);
  std::vector<Value> state_values(const WhileState& loop, const std::vector<Tensor>& state) const;
  Value tried(const Statement& body, int slot);
  std::vector<Tensor> begin_while(const Statement& statement, WhileState& loop);
  void enter_round(const WhileState& loop, const std::vector<Tensor>& state);
  Value while_condition(const Statement& statement, const WhileState& loop);
  std::vector<Tensor> while_round(const Statement& statement, WhileState& loop);
  template <class Run>
  std::vector<Rejection> catching(int inside, Run run);
  std::vector<Tensor> while_graph(const Statement& statement, WhileState& loop);
  void demand_of_rounds(const WhileState& loop, const Tensor& which, const Tensor& number);
  void end_while(const Statement& statement, const WhileState& loop, const std::vector<Tensor>& end);

  // recurrence.cpp
  struct Carried;
  void by_steps(const Rounds& rounds, const std::map<int, Tracked>& carries);
  bool find_window(const Tracked& tracked, Carried& carried) const;
  bool window_of(const Tracked& tracked, Carried& carried) const;
  bool written_rows(const Tracked& tracked, Carried& carried) const;
  // history.cpp
  bool history_of(const Tracked& tracked, Carried& carried) const;
  Tensor first_history(const Value& value, const Carried& carried, const Place& place);
  void begin_history(Window& window, const Carried& carried, const Tensor& carry);
  Value history_with_row(const Window& window);
  Storage history_storage(Window& window, const Value& row, const Spots& rest);
  bool complete_rows(Carried& carried) const;
  bool rows_of(const Touch& touch, const Carried& carried, std::vector<double>& rows) const;
  Value row_at(const Value& value, const Carried& carried, const Value& number, const Place& place);
  Value column_at(const Value& value, const Value& number, const Place& place);
  bool by_steps_with(const Rounds& rounds, std::map<int, Tracked>& carries, bool with_windows);
  static std::string steps_text(const Rounds& rounds, const std::vector<Carried>& carried);
  std::vector<Carried> begin_carries(const Rounds& rounds, Together& loop,
                                     const std::map<int, Tracked>& carries, bool with_windows,
                                     std::vector<Tensor>& initial);
  std::vector<Tensor> step(const Rounds& rounds, Together& loop, const std::vector<Carried>& carried,
                           const std::vector<Tensor>& carry);
  void collect_outputs(Together& loop, const std::vector<Carried>& carried);
  void take_outputs(Together& loop, const std::vector<Carried>& carried, const std::vector<Tensor>& outputs);

  // calls.cpp
  Value call_function(const Function& function, std::vector<Value> arguments, const Place& place);
  // element_calls.cpp
  Value call_own(const Function& function, std::span<const Expression* const> arguments, const Place& place);
  const Function* by_elements(const Function& function, std::span<const Expression* const> arguments,
                              std::vector<const Expression*>& passed);
  Value call_with_function(const Expression& expression);  // ode_rk45, reduce_sum
  Value mapped(const Expression& expression, std::vector<Value>& arguments);
  // integral_calls.cpp: integrate_1d, solve_newton
  Value integrated(const Expression& expression, std::vector<Value>& arguments);
  void expect_rising_bounds(const Expression& expression, const Value& from, const Value& to) const;
  Value root_found(const Expression& expression, std::vector<Value>& arguments);
  Value found_or_rejected(const Expression& expression, Tensor found, const Shape& shape,
                          const std::string& words);
  Tensor tensor_here(const Value& value, const Shape& own);
  // In a solver, where nothing is a number yet, in transformed data neither.
  Value call_traced(const Function& function, std::vector<Value> arguments, const Place& place);
  Value solved(const Expression& expression, std::vector<Value>& arguments);
  void expect_rising(const Expression& expression, const Value& start, const Value& times) const;
  void reject_late(const Expression& expression, const Tensor& states, double most_steps);
  Value call_builtin(std::string name, std::vector<Value>& arguments, const Type& type, const Place& place);
  Value with_jacobian(const std::string& stem, std::vector<Value>& arguments, const Type& type,
                      const Place& place);
  Value computed(const std::string& name, std::vector<Value>& arguments, const Type& type,
                 const Place& place);
  Value density(const std::string& name, std::vector<Value>& arguments, const Place& place, bool& found);
  Value draw(const std::string& name, std::vector<Value>& arguments, const Type& type, const Place& place,
             bool& found);
  Value general(const std::string& name, std::vector<Value>& arguments, const Type& type, const Place& place);
  Value settled(const Value& value);
  Tensor next_key();
  Tensor key_of_step(const Tensor& own_key, int inside);
  Value where_drawn(const Value& value);
  void lift_smallest(std::vector<Value>& values);

  // structural.cpp: what only moves or counts numbers
  using Structural = Value (Evaluator::*)(const std::string& name, std::vector<Value>& arguments,
                                          const Type& type, const Place& place);
  static const std::map<std::string, Structural>& structural();
  Value sizes(const std::string&, std::vector<Value>&, const Type&, const Place&);
  Value repeated(const std::string&, std::vector<Value>&, const Type&, const Place&);
  Value reshaped(const std::string&, std::vector<Value>&, const Type&, const Place&);
  Value appended(const std::string&, std::vector<Value>&, const Type&, const Place&);
  Value cut_out(const std::string&, std::vector<Value>&, const Type&, const Place&);
  Value constants(const std::string&, std::vector<Value>&, const Type&, const Place&);
  Value made(const std::string&, std::vector<Value>&, const Type&, const Place&);
  Value reduced(const std::string&, std::vector<Value>&, const Type&, const Place&);
  Value quantiles(const Value& value, const Value& shares, const Type& type, const Place& place);
  Value ordered(const std::string&, std::vector<Value>&, const Type&, const Place&);
  Value decomposed(const std::string&, std::vector<Value>&, const Type&, const Place&);  // tuples.cpp
  static std::vector<double> numbers_of_size(const std::string& name, const Shape& shape, int64_t lanes,
                                             const Place& place);
  Value flattened(const Value& value, const Type& type, const Shape& shape);

  [[noreturn]] void fail(const Place& place, const std::string& text) const;

  const Program& program_;
  Levels levels_;
  Frame own_;
  Frame* frame_ = &own_;
  int depth_ = 0;  // of calls
  // The last places of a frame, for what loops of the evaluator's own add up.
  static constexpr int scratch_slots = 8;
  int scratch_ = 0;
  std::vector<StatementPtr> sums_;  // those loops: notes point at them
  Value returned_;
  // Loops that could not be run together, by statement and level: they are not tried again.
  std::map<std::pair<const Statement*, int>, std::string> given_up_;
  int64_t rounds_left_;  // of loops that are run round by round with traced values
  uint64_t draws_ = 0;
  int key_inside_ = 0;  // the recurrence in whose step the key of random numbers is
  // Loops that are run together, outermost first, with the frame they stand in.
  struct Together {
    Frame* frame = nullptr;
    int level = 0;
    size_t masks = 0;  // conditions around it
    std::map<int, Tracked> variables{};
    // Of a recurrence: what its step reads of each round, and gives of each round.
    bool is_scan = false;
    std::vector<Tensor> sequences{};  // by step, along axis 0
    std::vector<Tensor> slices{};     // the step's own
    std::vector<Tensor> outputs{};
    std::vector<Term> output_terms{};  // of the first outputs: the terms that they are
    size_t next_sequence = 0;
    int64_t began = 0;            // in the order of what happens
    std::map<int, OwnUse> own{};  // variables of which each round has its own copy
  };
  Together* together_of(int level);
  static Tensor slice_of(Together& step, const Tensor& stacked);
  std::vector<Together*> together_;
  Rest rests_;
  // Loops around the statement at hand, outermost first, with the frames of their variables.
  struct Around {
    const Statement* loop;
    const Frame* frame;
  };
  std::vector<Around> around_;
  std::vector<Witness>* witnesses_ = nullptr;  // of the statement at hand; none: nobody asks
  std::vector<Mask> masks_;
  Catches* catches_ = nullptr;
  std::set<const Statement*> demanding_;  // while loops whose rounds demand something
  WithoutJumps without_jumps_;
  std::vector<std::unique_ptr<Function>> element_functions_;  // functions that take lists element by element
  std::vector<ExpressionPtr> element_arguments_;              // what they take instead
  const Workspaces workspaces_;
  int64_t now_ = 0;  // counts what happens
};

}  // namespace adit::stan
