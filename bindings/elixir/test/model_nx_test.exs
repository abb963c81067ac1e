# Models by Nx: operations and functions of `defn` on what a model gives become part of it.
Code.ensure_loaded?(Adit.TestModels) || Code.require_file("support/models.ex", __DIR__)

if Code.ensure_loaded?(Nx) and Code.ensure_loaded?(Adit.Backend) do
  defmodule Adit.ModelNxTest.Densities do
    import Nx.Defn

    defn(log_normal(x, mu, sigma),
      do: -0.5 * ((x - mu) / sigma) ** 2 - Nx.log(sigma) - 0.5 * Nx.log(2 * 3.141592653589793)
    )

    defn contaminated(y, mu, sigma) do
      near = Nx.log(Nx.tensor(0.9, type: :f64)) + log_normal(y, mu, sigma)
      far = Nx.log(Nx.tensor(0.1, type: :f64)) + log_normal(y, mu, 10 * sigma)
      larger = Nx.max(near, far)
      Nx.sum(larger + Nx.log(Nx.exp(near - larger) + Nx.exp(far - larger)))
    end

    # A choice and a loop.
    defn branched(x) do
      steep = if Nx.sum(x) > 0, do: x * 2, else: x * 3

      {_, total, _} =
        while {i = 0, total = Nx.sum(steep) * 0.0, steep}, i < 4 do
          {i + 1, total + Nx.sum(Nx.cos(steep)) / 4, steep}
        end

      total
    end

    defn(line(x, a, b), do: Nx.dot(x, a) + b)
  end

  defmodule Adit.ModelNxTest do
    use ExUnit.Case, async: false

    import Adit.Distribution
    alias Adit.{Draws, Model, Sampler, Value}
    alias Adit.ModelNxTest.Densities

    defp at(model, point), do: model |> Model.log_density(Nx.tensor(point, type: :f64)) |> Nx.to_number()

    defp log_normal(x, mu, sigma),
      do: -0.5 * ((x - mu) / sigma) ** 2 - :math.log(sigma) - 0.5 * :math.log(2 * :math.pi())

    test "what a model gives are lazy tensors of Nx" do
      Model.build("lazy", fn m ->
        x = Model.sample(m, "x", normal(0, 1), [3])
        assert %Nx.Tensor{shape: {3}, type: {:f, 64}, data: %Adit.Backend{lazy: true}} = x
        y = Nx.add(Nx.exp(x), 1)
        assert %Nx.Tensor{shape: {3}, data: %Adit.Backend{lazy: true}} = y
        assert Value.lazy?(y) and Value.lazy?(Densities.log_normal(x, 0, 1))
        refute Value.lazy?(Nx.add(Nx.tensor([1, 2]), 1))
      end)
    end

    test "Nx operations make the density" do
      model =
        Model.build("ops", fn m ->
          x = Model.sample(m, "x", normal(0, 1), [2])
          Model.add_log_density(m, "term", Nx.sum(Nx.multiply(Nx.sin(x), Nx.tensor([1.0, 2.0]))))
        end)

      expected = log_normal(0.3, 0, 1) + log_normal(-0.4, 0, 1) + :math.sin(0.3) + 2 * :math.sin(-0.4)
      assert_in_delta at(model, [0.3, -0.4]), expected, 1.0e-10
    end

    test "functions of defn make it, with choices and loops, whatever the compiler is outside" do
      for options <- [[], [compiler: Adit], [compiler: Nx.Defn.Evaluator]] do
        before = Nx.Defn.default_options(options)

        model =
          Model.build("defn", fn m ->
            x = Model.sample(m, "x", normal(0, 1), [2])
            Model.add_log_density(m, "own", Densities.branched(x))
            Model.add_log_density(m, "other", Densities.log_normal(x, 1.0, 2.0))
          end)

        assert Nx.Defn.default_options(before) == options

        for {a, b, slope} <- [{0.3, 0.4, 2}, {-0.3, -0.4, 3}] do
          expected =
            Enum.sum(for x <- [a, b], do: log_normal(x, 0, 1) + :math.cos(slope * x) + log_normal(x, 1.0, 2.0))

          assert_in_delta at(model, [a, b]), expected, 1.0e-6
        end

        assert %Draws{finished: true} = Sampler.sample(model, chains: 1, warmup: 100, draws: 50)
      end
    end

    test "a custom distribution by defn: mean and sd of the posterior" do
      y = [1.1, 0.8, 1.3, 0.9, 1.0, 1.2, 0.7, 1.1, 30.0]

      model =
        Model.build("robust", fn m ->
          mu = Model.sample(m, "mu", normal(0, 10))
          sigma = Model.sample(m, "sigma", half_normal(5))
          Model.observe(m, "y", custom("contaminated", &Densities.contaminated(&1, mu, sigma)), y)
        end)

      draws = Sampler.sample(model, seed: 5)
      assert_in_delta Draws.summary(draws, "mu").mean, 1.0, 0.15
      assert Draws.summary(draws, "mu").r_hat < 1.02
    end

    test "regression with data as tensors, here and built again from data" do
      key = Nx.Random.key(3)
      {x, key} = Nx.Random.normal(key, shape: {100, 2}, type: :f64)
      {noise, _} = Nx.Random.normal(key, shape: {100}, type: :f64)
      y = x |> Nx.dot(Nx.tensor([1.5, -2.0], type: :f64)) |> Nx.add(0.7) |> Nx.add(Nx.multiply(0.3, noise))

      state = fn m, data ->
        a = Model.sample(m, "a", normal(0, 5), [2])
        b = Model.sample(m, "b", normal(0, 5))
        s = Model.sample(m, "s", half_normal(1))
        Model.observe(m, "y", normal(Densities.line(Model.data(m, "x", data.x), a, b), s), data.y)
      end

      for move <- [& &1, &Nx.backend_transfer(&1, Adit.Backend)] do
        model = Model.build("line", %{x: move.(x), y: move.(y)}, state)
        draws = Sampler.sample(model, seed: 2, draws: 500)

        for {name, truth} <- [{"a[1]", 1.5}, {"a[2]", -2.0}, {"b", 0.7}, {"s", 0.3}] do
          row = Draws.summary(draws, name)
          assert_in_delta row.mean, truth, 4 * row.sd, name
        end

        # The data travel as tensors of the host's.
        recipe = Model.portable(model)
        refute Value.holds_handle?(elem(elem(recipe, 0), 3))
        again = Model.replay(:erlang.binary_to_term(:erlang.term_to_binary(recipe)))
        assert_in_delta at(again, [1.0, -1.0, 0.5, 0.1]), at(model, [1.0, -1.0, 0.5, 0.1]), 1.0e-9
      end
    end

    test "draws are tensors of the default backend" do
      draws = Sampler.sample(Adit.TestModels.eight_schools(), chains: 2, warmup: 200, draws: 100)

      for backend <- [Nx.BinaryBackend, Adit.Backend] do
        Nx.with_default_backend(backend, fn ->
          theta = Draws.variable(draws, "theta")
          assert Nx.shape(theta) == {2, 100, 8} and Nx.type(theta) == {:f, 64}
          mean = theta |> Nx.slice_along_axis(0, 1, axis: 2) |> Nx.mean() |> Nx.to_number()
          assert_in_delta mean, Draws.summary(draws, "theta[1]").mean, 1.0e-9
        end)
      end
    end

    test "data of Stan programs may be tensors" do
      program =
        "data { int N; matrix[N, 2] x; vector[N] y; } parameters { vector[2] a; } model { y ~ normal(x * a, 1); }"

      data = %{N: 3, x: Nx.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), y: Nx.tensor([1.0, 2.0, 3.0])}
      model = Model.from_stan(program, data)
      # Up to a constant; residuals at a = 0 and at a = [0, 0.5] are y and 0.
      assert_in_delta at(model, [0.0, 0.5]) - at(model, [0.0, 0.0]), 7.0, 1.0e-9
    end

    test "reading what has no value is refused in words" do
      Model.build("read", fn m ->
        x = Model.sample(m, "x", normal(0, 1))
        assert_raise ArgumentError, ~r/no value yet/, fn -> Nx.to_number(x) end
      end)
    end
  end
else
  IO.puts("SKIPPED test/model_nx_test.exs: Nx was not found")
end
