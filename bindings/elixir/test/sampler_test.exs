Code.ensure_loaded?(Adit.TestModels) || Code.require_file("support/models.ex", __DIR__)

defmodule Adit.SamplerTest do
  use ExUnit.Case, async: false

  # A software device takes its time.
  @moduletag timeout: 300_000

  import Adit.Distribution
  alias Adit.{Draws, Error, Model, Sampler, TestModels, Value}

  # posteriordb's summaries of its reference draws: mean and its Monte Carlo error (eight_schools_noncentered), and the
  # mean of the square (eight_schools_centered, the same posterior).
  @reference [
    {"theta[1]", 6.1505, 0.0557, 69.363},
    {"theta[2]", 4.9396, 0.0462, 45.979},
    {"theta[3]", 3.9059, 0.0542, 43.139},
    {"theta[4]", 4.7960, 0.0475, 45.761},
    {"theta[5]", 3.6144, 0.0461, 34.358},
    {"theta[6]", 4.0511, 0.0485, 39.414},
    {"theta[7]", 6.3172, 0.0499, 64.933},
    {"theta[8]", 4.8840, 0.0543, 52.128},
    {"mu", 4.4105, 0.0330, 30.403},
    {"tau", 3.6021, 0.0319, 23.204}
  ]

  # The shape and the bytes of a variable, with or without Nx.
  defp numbers(draws, name, group \\ "posterior") do
    case Draws.variable(draws, name, group) do
      {shape, binary} -> {shape, binary}
      tensor -> {apply(Nx, :shape, [tensor]), apply(Nx, :to_binary, [tensor])}
    end
  end

  defp agrees(draws) do
    for {name, mean, error, square} <- @reference do
      row = Draws.summary(draws, name)
      assert_in_delta row.mean, mean, 4 * :math.sqrt(error * error + row.mcse * row.mcse), name
      sd = :math.sqrt(square - mean * mean)
      assert_in_delta row.sd, sd, 0.1 * sd, name
      assert row.r_hat < 1.01
    end
  end

  setup_all do
    model = TestModels.eight_schools()
    %{model: model, draws: Sampler.sample(model, chains: 4, draws: 2000, seed: 7, adapt_delta: 0.95)}
  end

  test "eight schools agree with Stan's reference", %{draws: draws} do
    assert %Draws{chains: 4, draws: 2000, finished: true, model: "eight_schools"} = draws
    agrees(draws)
  end

  test "the Stan program of eight schools does too" do
    model = Model.from_stan(TestModels.eight_schools_stan(), TestModels.schools_data())
    agrees(Sampler.sample(model, draws: 2000, seed: 3, adapt_delta: 0.95))
  end

  test "draws by name and group", %{draws: draws} do
    assert Draws.names(draws) == ["mu", "tau", "z", "theta"]
    assert {{4, 2000}, mu} = numbers(draws, "mu")
    assert byte_size(mu) == 4 * 2000 * 8
    assert {{4, 2000, 8}, _} = numbers(draws, :theta)
    assert {{8}, y} = numbers(draws, "y", "observed")
    assert Value.floats(y) == [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0]
    assert map_size(Draws.variables(draws)) == 4
    assert {{4, 2000}, lp} = numbers(draws, "lp__", "sample_stats")
    assert Enum.all?(Value.floats(lp), &is_float/1)
    assert_raise ArgumentError, ~r/expected a variable among mu, tau, z, theta/, fn -> Draws.variable(draws, "nu") end

    # theta = mu + tau z, draw by draw
    [mu, tau, z, theta] = for name <- ~w(mu tau z theta), do: Value.floats(elem(numbers(draws, name), 1))
    at = 4321

    for j <- 0..7 do
      expected = Enum.at(mu, at) + Enum.at(tau, at) * Enum.at(z, at * 8 + j)
      assert_in_delta Enum.at(theta, at * 8 + j), expected, 1.0e-9
    end
  end

  test "summary and diagnostics", %{draws: draws} do
    rows = Draws.summary(draws)
    assert "theta[8]" in Enum.map(rows, & &1.name)
    assert Enum.all?(Map.keys(Draws.summary(draws, "mu")), &is_atom/1)
    d = Draws.diagnostics(draws)
    assert length(d.step_sizes) == 4 and Enum.all?(d.step_sizes, &(&1 > 0))
    assert [[_ | _] | _] = d.inverse_metrics
    assert d.leapfrogs > 8000 and d.finished and d.divergences >= 0
    assert d.seconds.total > 0
    assert is_list(d.warnings)
    assert_raise ArgumentError, fn -> Draws.summary(draws, "nothing") end
  end

  test "chains start where they are told to", %{model: model} do
    # Steps so small that a chain stays where it is.
    options = [chains: 2, warmup: 0, draws: 1, step_size: 1.0e-9]
    start = %{mu: 1.5, tau: 2.5, z: [0.5, 0, 0, 0, 0, 0, 0, 1]}
    mu = fn init -> Value.floats(elem(numbers(Sampler.sample(model, [init: init] ++ options), "mu"), 1)) end
    for value <- mu.(start), do: assert_in_delta(value, 1.5, 1.0e-5)
    [first, second] = mu.([start, %{start | mu: -3}])
    assert_in_delta first, 1.5, 1.0e-5
    assert_in_delta second, -3, 1.0e-5
    assert_raise ArgumentError, ~r/init: expected a map/, fn -> Sampler.sample(model, init: 3) end
    assert_raise Error, ~r/init: expected a variable of the model, got nu/, fn -> Sampler.sample(model, init: %{nu: 1}) end
  end

  test "the same seed gives the same draws, another one others", %{model: model} do
    options = [chains: 2, warmup: 100, draws: 50]
    draw = fn seed -> numbers(Sampler.sample(model, [seed: seed] ++ options), "theta") end
    assert draw.(5) == draw.(5)
    assert draw.(5) != draw.(6)
  end

  test "chain k does not depend on where a run begins", %{model: model} do
    # The layout goes by the number of chains unless it is given.
    all = Sampler.sample(model, chains: 5, warmup: 100, draws: 50)
    options = [warmup: 100, draws: 50, layout: all.layout, precision: String.to_atom(all.precision)]
    head = Sampler.sample(model, [chains: 2] ++ options)
    tail = Sampler.sample(model, [chains: 3, first_chain: 2] ++ options)
    joined = Draws.join([head, tail])
    assert joined.chains == 5

    for name <- Draws.names(all), do: assert(numbers(joined, name) == numbers(all, name))

    for name <- Draws.names(all, "sample_stats"),
        do: assert(numbers(joined, name, "sample_stats") == numbers(all, name, "sample_stats"))

    assert Draws.diagnostics(joined).step_sizes == Draws.diagnostics(all).step_sizes
    assert Draws.summary(joined) == Draws.summary(all)
    assert_raise Error, ~r/seed/, fn -> Draws.join([head, Sampler.sample(model, [chains: 1, seed: 9] ++ options)]) end
  end

  test "log likelihoods and predictions", %{model: model} do
    draws = Sampler.sample(model, chains: 2, warmup: 100, draws: 50, log_likelihood: true, posterior_predictive: true)
    assert {{2, 50, 8}, _} = numbers(draws, "y", "log_likelihood")
    assert {{2, 50, 8}, _} = numbers(draws, "y", "posterior_predictive")
    prior = Sampler.sample_prior(model, draws: 100, chains: 1)
    assert {{1, 100}, _} = numbers(prior, "mu")
  end

  test "files", %{draws: draws} do
    folder = Path.join(System.tmp_dir!(), "adit_sampler_#{System.unique_integer([:positive])}")
    File.mkdir_p!(folder)
    on_exit(fn -> File.rm_rf!(folder) end)
    report = Path.join(folder, "report.html")
    assert :ok = Draws.write_report(draws, report)
    assert File.read!(report) =~ "<html"
    assert :ok = Draws.write_csv(draws, Path.join(folder, "schools"))
    again = Draws.read(for chain <- 1..4, do: Path.join(folder, "schools_#{chain}.csv"))
    assert_in_delta Draws.summary(again, "mu").mean, Draws.summary(draws, "mu").mean, 1.0e-6

    # Builds without netCDF say so.
    try do
      Draws.write_netcdf(draws, Path.join(folder, "schools.nc"))
      assert numbers(Draws.read(Path.join(folder, "schools.nc")), "mu") == numbers(draws, "mu")
    rescue
      error in Error -> assert error.kind == :unsupported
    end

    assert numbers(Draws.from_binary(Draws.to_binary(draws)), "theta") == numbers(draws, "theta")
    assert_raise Error, fn -> Draws.from_binary("no draws") end
    assert_raise Error, fn -> Draws.read(Path.join(folder, "nothing.csv")) end
  end

  test "progress is told, and the last message says so" do
    model = TestModels.mean(20_000)
    run = Sampler.start(model, chains: 2, warmup: 200, draws: 300_000, progress: true, progress_every: 10)
    ref = run.ref
    assert_receive {:adit_progress, ^ref, %{iterations: 300_200, warmup: 200, finished: false}}, 30_000
    assert %{iteration: _, seconds: _} = Sampler.progress(run)
    Sampler.stop(run)
    assert {:ok, _} = Sampler.await(run)
    assert_received {:adit_progress, ^ref, %{finished: true}}
    assert {:error, :not_found, _} = Sampler.await(run)
  end

  test "a run is stopped with the draws so far" do
    model = TestModels.mean(20_000)
    run = Sampler.start(model, chains: 2, warmup: 50, draws: 1_000_000)
    assert {:error, :timeout, _} = Sampler.await(run, 500)
    Sampler.stop(run)
    assert {:ok, draws} = Sampler.await(run, 60_000)
    refute draws.finished
    assert draws.draws < 1_000_000
  end

  test "a run that was stopped goes on from its checkpoint, to the same draws" do
    path = Path.join(System.tmp_dir!(), "adit_checkpoint_#{System.unique_integer([:positive])}")
    on_exit(fn -> File.rm(path) end)
    model = TestModels.mean(5_000)
    options = [chains: 2, warmup: 200, draws: 1500, seed: 11]
    whole = Sampler.sample(model, options)
    run = Sampler.start(model, options ++ [checkpoint: path])

    # As soon as it samples.
    wait = fn wait ->
      progress = Sampler.progress(run)

      if not progress.finished and progress.iteration <= 400,
        do:
          (
            Process.sleep(5)
            wait.(wait)
          )
    end

    wait.(wait)
    Sampler.stop(run)
    {:ok, part} = Sampler.await(run)
    assert part.draws <= 1500
    resumed = Sampler.sample(model, options ++ [checkpoint: path, resume: true])
    assert resumed.finished
    for name <- ["mu", "sigma"], do: assert(numbers(resumed, name) == numbers(whole, name))
  end

  test "a run ends with the process that started it" do
    model = TestModels.mean(20_000)
    me = self()

    owner =
      spawn(fn ->
        send(me, {:run, Sampler.start(model, chains: 1, draws: 1_000_000)})
        Process.sleep(:infinity)
      end)

    assert_receive {:run, run}, 10_000
    watch = Process.monitor(run.pid)
    Process.exit(owner, :kill)
    assert_receive {:DOWN, ^watch, _, _, :normal}, 10_000
  end

  test "what is wrong is said", %{model: model} do
    assert_raise ArgumentError, ~r/colour: expected an option among chains/, fn -> Sampler.sample(model, colour: 3) end
    assert_raise Error, ~r/chains/, fn -> Sampler.sample(model, chains: 0) end
    assert_raise Error, ~r/adapt_delta/, fn -> Sampler.sample(model, adapt_delta: 2.0) end
    assert_raise Error, fn -> Sampler.sample(model, device: "nothing:7") end
    assert_raise Error, ~r/variable/, fn -> Sampler.sample(Model.new("empty")) end

    # Impossible from the start.
    impossible =
      Model.build("impossible", fn m ->
        x = Model.sample(m, "x", normal(0, 1))

        Model.add_log_density(
          m,
          "never",
          Value.call(:log, [Value.call(:subtract, [-1.0, Value.call(:multiply, [x, x])])])
        )
      end)

    assert_raise Error, fn -> Sampler.sample(impossible, chains: 1, draws: 10) end
  end

  test "the layout of a run is told before it", %{model: model, draws: draws} do
    assert Sampler.layout(model, chains: 4) == draws.layout
  end
end
