Code.require_file("nif_help.exs", __DIR__)

defmodule Adit.NIFModelTest do
  use ExUnit.Case, async: false
  import Adit.NIFHelp
  alias Adit.NIF

  @schools ~w(A B C D E F G H)
  @options [chains: 2, warmup: 200, draws: 300, seed: 3, device: "cpu"]

  setup do
    device = device()
    %{device: device, number: fn x -> f64(device, [x * 1.0], []) end}
  end

  defp distribution!(name, parameters, attributes \\ []) do
    {:ok, distribution} = NIF.distribution(name, parameters, attributes)
    distribution
  end

  # Eight schools, non-centred.
  defp schools(device, number) do
    {:ok, model} = NIF.model_new("schools")
    :ok = NIF.model_plate(model, "school", 8, @schools)
    {:ok, mu} = NIF.model_sample(model, "mu", distribution!(:normal, [number.(0), number.(5)]), [], false)
    {:ok, tau} = NIF.model_sample(model, "tau", distribution!(:half_cauchy, [number.(5)]), [], false)
    {:ok, theta} = NIF.model_sample(model, "theta", distribution!(:normal, [mu, tau]), ["school"], true)
    {:ok, _} = NIF.model_deterministic(model, "twice", hd(call!(:add, [theta, theta])), ["school"])
    effects = f64(device, [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    errors = f64(device, [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
    {:ok, errors} = NIF.model_data(model, "errors", errors)
    :ok = NIF.model_observe(model, "y", distribution!(:normal, [theta, errors]), effects)
    model
  end

  defp draws!(model, options) do
    {:ok, run} = NIF.run_start(model, options)
    {:ok, true} = NIF.run_wait(run, 120_000)
    {:ok, draws} = NIF.run_draws(run)
    draws
  end

  test "a model is built, and its density computed", %{device: device, number: number} do
    model = schools(device, number)
    assert {:ok, 10} = NIF.model_size(model)
    assert {:ok, value} = NIF.model_log_density(model, f64(device, List.duplicate(0.1, 10)))
    assert [density] = numbers(value)
    assert density < 0
    assert :ok = NIF.model_set_data(model, "errors", f64(device, List.duplicate(10.0, 8)))
    assert {:ok, value} = NIF.model_log_density(model, f64(device, List.duplicate(0.1, 10)))
    assert [other] = numbers(value)
    assert other != density
    assert {:error, _, _} = NIF.model_set_data(model, "nothing", f64(device, [1.0]))
  end

  test "parameters, constraints and terms of the density", %{device: device, number: number} do
    {:ok, model} = NIF.model_new("terms")
    {:ok, positive} = NIF.constraint("positive", [])
    {:ok, above} = NIF.constraint(:lower, [number.(2)])
    assert {:ok, x} = NIF.model_parameter(model, "x", positive, [])
    assert {:ok, y} = NIF.model_parameter(model, "y", above, [3])
    assert {:ok, {:f64, [3]}} = NIF.info(y)
    assert :ok = NIF.model_add_log_density(model, "term", hd(call!(:negate, [x])))
    assert :ok = NIF.model_add_log_density(model, "other", hd(call!(:negate, call!(:sum, [y]))))
    assert {:ok, 4} = NIF.model_size(model)
    assert {:error, :not_found, _} = NIF.constraint("nowhere", [])
    assert {:error, :bad_argument, _} = NIF.constraint("lower", [])
    assert {:error, :bad_argument, _} = NIF.model_parameter(model, "x", positive, [])
    assert {:ok, %{}} = device |> NIF.statistics()
  end

  test "distributions, mixtures of them and censored ones", %{device: device, number: number} do
    normal = distribution!("normal", [number.(0), number.(1)])
    assert {:ok, value} = NIF.distribution_log_density(normal, f64(device, [0.0, 1.0]))
    assert [a, b] = numbers(value)
    assert_in_delta a, -0.9189385332046727, 1.0e-12
    assert_in_delta b, -1.4189385332046727, 1.0e-12
    wide = distribution!("normal", [number.(0), number.(3)])
    assert {:ok, mixture} = NIF.distribution_mixture(f64(device, [0.5, 0.5]), [normal, wide])
    assert {:ok, value} = NIF.distribution_log_density(mixture, number.(0))
    assert_in_delta hd(numbers(value)), :math.log(0.5 * 0.3989422804014327 * (1 + 1 / 3)), 1.0e-12
    assert {:ok, censored} = NIF.distribution_censored(normal, number.(-1), number.(1))
    assert {:ok, _} = NIF.distribution_log_density(censored, number.(1))
    assert {:ok, _} = NIF.distribution(:lkj_corr_cholesky, [number.(2)], size: 3)
    assert {:error, :not_found, _} = NIF.distribution("strange", [], [])
    assert {:error, :bad_argument, _} = NIF.distribution("normal", [number.(0)], [])
    assert {:error, :bad_argument, message} = NIF.distribution_mixture(number.(1), [normal, device])
    assert message =~ "components, element 1: expected a distribution, got a device"
  end

  test "plates", %{device: device} do
    {:ok, model} = NIF.model_new("plates")
    assert :ok = NIF.model_plate(model, "a", 3, [])
    assert :ok = NIF.model_plate(model, "b", 2, ["x", "y"])
    assert {:error, :bad_argument, message} = NIF.model_plate(model, "c", 2, ["x"])
    assert message =~ "coordinates: expected none or 2, got 1"
    assert {:error, :bad_argument, _} = NIF.model_plate(model, "c", -2, [])
    assert {:error, :bad_argument, _} = NIF.model_plate(model, "c", 1, [:x])
    one = distribution!("exponential", [f64(device, [1.0], [])])
    assert {:ok, x} = NIF.model_sample(model, "x", one, ["a", 4], false)
    assert {:ok, {:f64, [3, 4]}} = NIF.info(x)
    assert {:error, :bad_argument, _} = NIF.model_sample(model, "y", one, ["missing"], false)
    assert {:error, :bad_argument, "[model_sample] extents, element 0: " <> _} = NIF.model_sample(model, "y", one, [:a], false)
  end

  test "a posterior, from start to files", %{device: device, number: number} do
    model = schools(device, number)
    assert {:ok, run} = NIF.run_start(model, @options)
    assert {:ok, progress} = NIF.run_progress(run)
    assert Enum.sort(Map.keys(progress)) == Enum.sort(~w(iteration iterations warmup leapfrogs divergences seconds finished)a)
    assert {:ok, true} = NIF.run_wait(run, :infinity)
    assert {:ok, %{finished: true, iterations: 500}} = NIF.run_progress(run)
    assert {:ok, draws} = NIF.run_draws(run)
    assert {:ok, %{chains: 2, draws: 300, finished: true, model: "schools", device: "cpu"}} = NIF.draws_info(draws)
    assert {:ok, variables} = NIF.draws_variables(draws, "posterior")
    assert {"theta", [8], binary} = List.keyfind(variables, "theta", 0)
    assert byte_size(binary) == 2 * 300 * 8 * 8
    assert {_, [8], _} = List.keyfind(variables, "twice", 0)
    assert {:ok, rows} = NIF.draws_summary(draws)
    assert %{mean: mean, r_hat: _, ess_bulk: _} = Enum.find(rows, &(&1.name == "mu"))
    assert mean > 0 and mean < 10
    for row <- rows, {key, value} <- row, key != :name, do: assert(is_float(value) or value in [:nan, :infinity, :neg_infinity])
    assert {:ok, warnings} = NIF.draws_warnings(draws)
    assert Enum.all?(warnings, &is_binary/1)
    assert {:ok, steps} = NIF.draws_numbers(draws, "step_sizes")
    assert byte_size(steps) == 16
    assert {:error, _, _} = NIF.draws_numbers(draws, "nothing")
    assert {:ok, bytes} = NIF.draws_to_binary(draws)
    assert {:ok, same} = NIF.draws_from_binary(bytes)
    assert {:ok, ^rows} = NIF.draws_summary(same)
    assert {:error, _, _} = NIF.draws_from_binary(binary_part(bytes, 0, div(byte_size(bytes), 2)))
    assert {:ok, _} = NIF.draws_join([draws])

    folder = Path.join(System.tmp_dir!(), "adit_nif_#{System.unique_integer([:positive])}")
    File.mkdir_p!(folder)
    on_exit(fn -> File.rm_rf!(folder) end)
    assert :ok = NIF.draws_write_report(draws, Path.join(folder, "report.html"))
    assert :ok = NIF.draws_write_csv(draws, Path.join(folder, "draws"))
    assert [_ | _] = files = Path.wildcard(Path.join(folder, "draws*.csv"))
    assert {:ok, read} = NIF.draws_read(files)
    assert {:ok, %{chains: 2, draws: 300}} = NIF.draws_info(read)
    assert {:error, :io, _} = NIF.draws_write_report(draws, Path.join(folder, "no/where/report.html"))
    assert {:error, _, _} = NIF.draws_read([Path.join(folder, "none.csv")])

    case NIF.draws_write_netcdf(draws, Path.join(folder, "draws.nc")) do
      :ok -> assert File.exists?(Path.join(folder, "draws.nc"))
      {:error, kind, _} -> assert kind == :unsupported
    end
  end

  test "the same seed gives the same draws", %{device: device, number: number} do
    model = schools(device, number)
    assert NIF.draws_variables(draws!(model, @options), "posterior") == NIF.draws_variables(draws!(model, @options), "posterior")
  end

  test "a run is stopped, and a dropped one stops by itself", %{device: device, number: number} do
    model = schools(device, number)
    long = Keyword.merge(@options, draws: 1_000_000, warmup: 100, thin: 1000)
    assert {:ok, run} = NIF.run_start(model, long)
    assert {:ok, false} = NIF.run_wait(run, 0)
    assert {:ok, false} = NIF.run_wait(run, 30)
    assert {:error, _, _} = NIF.run_draws(run)
    assert :ok = NIF.run_stop(run)
    assert {:ok, true} = NIF.run_wait(run, 60_000)

    # Whether deallocating waits for it: it must not.
    assert {:ok, run} = NIF.run_start(model, long)
    {microseconds, :ok} = :timer.tc(fn -> NIF.deallocate(run) end)
    assert microseconds < 500_000
    assert {:error, :bad_argument, "[run_progress] run: the run was deallocated"} = NIF.run_progress(run)

    # A process that waits for a run may be killed.
    assert {:ok, run} = NIF.run_start(model, long)
    {pid, monitor} = spawn_monitor(fn -> NIF.run_wait(run, :infinity) end)
    Process.sleep(50)
    Process.exit(pid, :kill)
    assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}, 5_000
    assert :ok = NIF.run_stop(run)
    assert {:ok, true} = NIF.run_wait(run, 60_000)
    assert {:error, :bad_argument, "[run_wait] milliseconds: " <> _} = NIF.run_wait(run, -1)
  end

  test "options that are wrong are told of", %{device: device, number: number} do
    model = schools(device, number)

    for bad <- [[chains: 0], [chains: -1], [draws: :many], [nonsense: 1], [adapt_delta: 2.0], [device: "none"], [precision: "f12"]] do
      case NIF.run_start(model, Keyword.merge(@options, bad)) do
        {:error, _, message} -> assert is_binary(message)
        {:ok, run} ->
          assert {:ok, true} = NIF.run_wait(run, 60_000)
          assert {:error, _, message} = NIF.run_draws(run), "#{inspect(bad)} is taken"
          assert is_binary(message)
      end
    end
  end

  test "Stan programs" do
    program = "data { int n; vector[n] y; } parameters { real m; } model { m ~ normal(0, 10); y ~ normal(m, 1); }"
    assert {:ok, model} = NIF.model_from_stan("stan", program, ~s({"n": 3, "y": [1.0, 2.0, 3.0]}), 1)
    assert {:ok, 1} = NIF.model_size(model)
    assert {:ok, rows} = NIF.draws_summary(draws!(model, @options))
    assert_in_delta Enum.find(rows, &(&1.name == "m")).mean, 2.0, 0.3
    assert {:error, _, message} = NIF.model_from_stan("stan", "parameters { real m }", "", 1)
    assert is_binary(message)
    assert {:error, _, _} = NIF.model_from_stan("stan", program, "{", 1)
  end
end
