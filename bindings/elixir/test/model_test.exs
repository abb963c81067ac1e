Code.ensure_loaded?(Adit.TestModels) || Code.require_file("support/models.ex", __DIR__)

defmodule Adit.ModelTest do
  use ExUnit.Case, async: true

  # A software device takes its time.
  @moduletag timeout: 300_000

  import Adit.Distribution
  alias Adit.{Constraint, Distribution, Error, Json, Model, TestModels, Value}

  defp number(value) do
    [number] = Value.to_flat_list(value)
    number
  end

  defp close(a, b, within \\ 1.0e-10), do: assert_in_delta(a, b, within)

  # ln N(x | mu, sigma)
  defp log_normal(x, mu, sigma),
    do: -0.5 * :math.pow((x - mu) / sigma, 2) - :math.log(sigma) - 0.5 * :math.log(2 * :math.pi())

  test "values come from numbers, lists and binaries, and go back" do
    assert Value.to_flat_list(3) == [3.0]
    assert Value.to_flat_list([[1, 2], [3, 4]]) == [1.0, 2.0, 3.0, 4.0]
    assert {:i64, {2}, _} = Value.read([1, 2])
    assert {:f64, {2, 1}, _} = Value.read([[1.5], [2]])
    assert Value.to_flat_list([1.0, :nan, :infinity, :neg_infinity]) == [1.0, :nan, :infinity, :neg_infinity]
    assert Value.to_flat_list({:f32, {2}, <<1.5::float-native-32, 2.5::float-native-32>>}) == [1.5, 2.5]
    assert_raise ArgumentError, ~r/equal lengths/, fn -> Value.to_ref([[1, 2], [3]]) end
    assert_raise ArgumentError, ~r/expected a number/, fn -> Value.to_ref("text") end
  end

  test "every distribution of the library has a function here" do
    half = 0.5

    all = [
      {normal(0, 1), 0.3},
      {half_normal(1), half},
      {lognormal(0, 1), half},
      {student_t(4, 0, 1), half},
      {cauchy(0, 1), half},
      {half_cauchy(1), half},
      {exponential(2), half},
      {gamma(2, 2), half},
      {inv_gamma(2, 2), half},
      {beta(2, 3), half},
      {uniform(0, 2), half},
      {laplace(0, 1), half},
      {logistic(0, 1), half},
      {weibull(2, 1), half},
      {truncated_normal(0, 1, -1, :infinity), half},
      {bernoulli(0.3), 1},
      {bernoulli_logit(0.3), 1},
      {binomial(5, 0.3), 2},
      {binomial_logit(5, 0.3), 2},
      {poisson(3), 2},
      {poisson_log(1), 2},
      {neg_binomial_2(3, 2), 2},
      {categorical([0.2, 0.8]), 1},
      {categorical_logit([0.0, 1.0]), 1},
      {dirichlet([1.0, 2.0]), [0.3, 0.7]},
      {multi_normal([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]), [0.1, 0.2]},
      {multi_normal_cholesky([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]), [0.1, 0.2]},
      {lkj_corr_cholesky(2, 2), [[1.0, 0.0], [0.6, 0.8]]},
      {gaussian_random_walk(1, 3), [0.1, 0.2, 0.3]},
      {mixture([0.3, 0.7], [normal(-1, 1), normal(2, 1)]), half},
      {censored(normal(0, 1), :neg_infinity, 1), 1}
    ]

    for {distribution, x} <- all do
      assert is_float(number(Distribution.log_density(distribution, x))), distribution.name
    end
  end

  test "log densities are those of the formulas" do
    close(number(Distribution.log_density(normal(1, 2), 0.3)), log_normal(0.3, 1, 2))
    close(number(Distribution.log_density(exponential(2), 0.5)), :math.log(2) - 1)
    close(number(Distribution.log_density(poisson(3), 2)), 2 * :math.log(3) - 3 - :math.log(2))

    mixed = :math.log(0.3 * :math.exp(log_normal(0.5, -1, 1)) + 0.7 * :math.exp(log_normal(0.5, 2, 1)))
    close(number(Distribution.log_density(mixture([0.3, 0.7], [normal(-1, 1), normal(2, 1)]), 0.5)), mixed)
    # Seen as the bound: P(X >= 1).
    close(number(Distribution.log_density(censored(normal(0, 1), :neg_infinity, 1), 1)), :math.log(0.15865525393145707))
  end

  test "bad parameters are refused by name" do
    assert_raise Error, ~r/sigma/, fn -> normal(0, -1) end
    assert_raise Error, ~r/no.*such|there is none/, fn -> Distribution.new("nothing", [1]) end
  end

  test "the log density of a model, with its Jacobian" do
    model =
      Model.build("small", fn m ->
        mu = Model.sample(m, "mu", normal(0, 5))
        s = Model.sample(m, :s, half_normal(2))
        Model.observe(m, "y", normal(mu, s), [1.0, 2.0])
      end)

    assert Model.size(model) == 2
    {mu, s} = {0.7, :math.exp(0.2)}

    expected =
      log_normal(mu, 0, 5) + log_normal(s, 0, 2) + :math.log(2) + 0.2 + log_normal(1.0, mu, s) + log_normal(2.0, mu, s)

    close(number(Model.log_density(model, [0.7, 0.2])), expected)
  end

  test "parameters with constraints, and terms of the density" do
    model =
      Model.build("flat", fn m ->
        a = Model.parameter(m, "a", Constraint.interval(0, 2))
        b = Model.parameter(m, "b", Constraint.simplex(), [3])
        c = Model.parameter(m, "c", Constraint.lower(1))
        Model.parameter(m, "d")
        Model.add_log_density(m, "term", Value.call(:multiply, [a, c]))
        Model.add_log_density(m, "sum", b)
      end)

    assert Model.size(model) == 1 + 2 + 1 + 1
    # a = 1 with Jacobian 2 / 4, c = 2 with Jacobian 1; the simplex's own Jacobian is that of [1/3, 1/3, 1/3].
    at = fn d -> number(Model.log_density(model, [0.0, 0.0, 0.0, 0.0, d])) end
    close(at.(0.0), at.(3.0))

    for name <- ~w(real positive unit ordered positive_ordered simplex cholesky_factor_corr corr_matrix cov_matrix
                   cholesky_factor_cov unit_vector sum_to_zero sum_to_zero_matrix column_stochastic)a do
      assert %Constraint{} = apply(Constraint, name, [])
    end

    assert %Constraint{} = Constraint.upper(3)
    assert %Constraint{} = Constraint.offset_multiplier(1, 2)
  end

  test "a custom distribution is a prior and a likelihood" do
    density = fn x -> Value.call(:multiply, [-0.5, Value.call(:multiply, [x, x])]) end

    own =
      Model.build("own", fn m ->
        x = Model.sample(m, "x", custom("half", density, Constraint.positive()))
        Model.observe(m, "y", custom("seen", fn y -> density.(Value.call(:subtract, [y, x])) end), [1.0, 2.0])
      end)

    x = :math.exp(0.3)
    expected = -0.5 * x * x + 0.3 - 0.5 * :math.pow(1 - x, 2) - 0.5 * :math.pow(2 - x, 2)
    close(number(Model.log_density(own, [0.3])), expected)
  end

  test "non-centred forms and plates with coordinates" do
    model =
      Model.build("schools", fn m ->
        school = Model.plate(m, "school", ["north", "south"])
        assert school.size == 2
        tau = Model.sample(m, "tau", half_normal(1))
        Model.sample(m, "theta", normal(0, tau), [school], form: :non_centred)
        Model.sample(m, "phi", normal(0, 1), ["school", 3])
      end)

    assert Model.size(model) == 1 + 2 + 6
    m = Model.new("x")
    assert_raise Error, ~r/plate/, fn -> Model.sample(m, "a", normal(0, 1), ["nowhere"]) end
    assert_raise ArgumentError, ~r/form/, fn -> Model.sample(m, "a", normal(0, 1), [], form: :other) end
  end

  test "data are exchanged" do
    model =
      Model.build("data", fn m ->
        x = Model.sample(m, "x", normal(0, 1))
        s = Model.data(m, "s", [1.0, 2.0])
        Model.observe(m, "y", normal(x, s), [0.5, 0.5])
      end)

    expected = fn a, b -> log_normal(0, 0, 1) + log_normal(0.5, 0, a) + log_normal(0.5, 0, b) end
    close(number(Model.log_density(model, [0.0])), expected.(1, 2))
    changed = Model.set_data(model, "s", [3.0, 4.0])
    close(number(Model.log_density(changed, [0.0])), expected.(3, 4))
    assert_raise Error, fn -> Model.set_data(model, "s", [3.0, 4.0, 5.0]) end
    assert_raise Error, fn -> Model.set_data(model, "t", [3.0, 4.0]) end

    # What other nodes get builds the same.
    again = Model.replay(Model.portable(changed))
    close(number(Model.log_density(again, [0.0])), expected.(3, 4))
  end

  test "Stan programs by text and by file, with data as a map and as a file" do
    folder = Path.join(System.tmp_dir!(), "adit_model_#{System.unique_integer([:positive])}")
    File.mkdir_p!(folder)
    on_exit(fn -> File.rm_rf!(folder) end)
    program = Path.join(folder, "schools.stan")
    data = Path.join(folder, "schools.json")
    File.write!(program, TestModels.eight_schools_stan())
    File.write!(data, Json.encode(TestModels.schools_data()))

    by_text = Model.from_stan(TestModels.eight_schools_stan(), TestModels.schools_data())
    by_file = Model.from_stan(program, data)
    assert by_file.name == "schools"
    assert Model.size(by_text) == 10
    point = for i <- 1..10, do: 0.1 * i
    close(number(Model.log_density(by_text, point)), number(Model.log_density(by_file, point)))
    assert_raise Error, ~r/J/, fn -> Model.from_stan(TestModels.eight_schools_stan(), %{}) end
    assert_raise Error, fn -> Model.from_stan("parameters { real x }") end
  end

  test "data of Stan programs as JSON" do
    assert Json.encode(%{a: [1, 2.5], b: [[1, 2], [3, 4]]}) == ~s({"a":[1,2.5],"b":[[1,2],[3,4]]})
    assert Json.encode([:nan, :infinity, :neg_infinity]) == ~s(["NaN","Inf","-Inf"])
    assert Json.encode([true, false, "a\"b\n"]) == ~s([1,0,"a\\"b\\u000A"])
    assert Json.encode(1..3) == "[1,2,3]"
    assert Json.encode({:i64, {2, 1}, <<1::native-64, 2::native-64>>}) == "[[1],[2]]"
    assert_raise ArgumentError, fn -> Json.encode(%{a: self()}) end
  end

  test "functions that hold tensors stay here, data do not" do
    x = Value.to_ref([1.0, 2.0])
    held = Model.build("held", fn m -> Model.observe(m, "y", normal(Model.sample(m, "a", normal(0, 1)), 1), x) end)
    assert_raise ArgumentError, ~r/holds tensors/, fn -> Model.portable(held) end

    given =
      Model.build("given", %{x: x}, fn m, data ->
        Model.observe(m, "y", normal(Model.sample(m, "a", normal(0, 1)), 1), data.x)
      end)

    close(
      number(Model.log_density(given, [0.3])),
      number(Model.log_density(Model.replay(Model.portable(given)), [0.3]))
    )

    assert_raise ArgumentError, ~r/stated by calls/, fn -> Model.portable(Model.new("x")) end
  end
end
