defmodule Adit.Draws do
  @moduledoc """
  Draws of a posterior and what is known about how they were made.

      draws = Adit.Sampler.sample(model)
      Adit.Draws.variable(draws, "theta")       # f64 {chains, draws, 8}
      Adit.Draws.summary(draws, "mu")           # %{mean: 4.4, sd: 3.3, r_hat: 1.0, ...}
      Adit.Draws.write_report(draws, "report.html")

  Groups are `"posterior"`, `"sample_stats"`, `"log_likelihood"`, `"posterior_predictive"`, `"observed"` and `"warmup"`.
  """
  alias Adit.{Error, NIF, Value}

  defstruct [:ref, :model, :chains, :draws, :finished, :device, :precision, :layout]
  @type t :: %__MODULE__{}

  @doc false
  def of_handle(ref),
    do: struct!(__MODULE__, Map.put(Error.unwrap(NIF.draws_info(ref)), :ref, ref))

  @doc "Draws of files: CmdStan's CSV or ours, one a chain, or one netCDF file."
  def read(paths),
    do: paths |> List.wrap() |> Enum.map(&to_string/1) |> NIF.draws_read() |> Error.unwrap() |> of_handle()

  @doc "The names of the variables of a group, in their order."
  def names(%__MODULE__{} = draws, group \\ "posterior"), do: for({name, _, _} <- group(draws, group), do: name)

  @doc """
  A variable as an f64 tensor `{chains, draws, shape...}`, one of `"observed"` as `{shape...}`.

  Without Nx it is `{shape, binary}`.
  """
  def variable(%__MODULE__{} = draws, name, group \\ "posterior") do
    name = to_string(name)
    variables = group(draws, group)

    case List.keyfind(variables, name, 0) do
      {_, shape, binary} ->
        tensor(draws, group, shape, binary)

      nil ->
        names = Enum.map_join(variables, ", ", &elem(&1, 0))
        raise ArgumentError, "#{name}: expected a variable among #{names} of #{group}"
    end
  end

  @doc "All variables of a group by name."
  def variables(%__MODULE__{} = draws, group \\ "posterior") do
    for {name, shape, binary} <- group(draws, group), into: %{} do
      {name, tensor(draws, group, shape, binary)}
    end
  end

  @doc """
  Mean, mcse, sd, mad, q5, q50, q95, ess_bulk, ess_tail and r_hat of every number, as a list of maps with `name`.

  Elements are counted from 1, as Stan counts: `"theta[1]"`.
  """
  def summary(%__MODULE__{ref: ref}), do: Error.unwrap(NIF.draws_summary(ref))

  @doc "The summary of one number by its name, a map."
  def summary(%__MODULE__{} = draws, name) do
    name = to_string(name)

    Enum.find(summary(draws), &(&1.name == name)) ||
      raise ArgumentError, "#{name}: expected a number such as mu or theta[1], and there is none of this name"
  end

  @doc """
  How the run went: `divergences`, `warnings` (in words), `step_sizes` and `inverse_metrics` by chain, `seconds`,
  `leapfrogs`, `warmup_divergences`, `energy_error`, `finished`.
  """
  def diagnostics(%__MODULE__{} = draws) do
    metrics = numbers(draws, "inverse_metrics")

    %{
      divergences: whole(draws, "divergences"),
      warnings: warnings(draws),
      step_sizes: numbers(draws, "step_sizes"),
      inverse_metrics: by_chain(metrics, draws.chains),
      seconds: Map.new(Enum.zip([:open, :compile, :warmup, :sampling, :total], numbers(draws, "seconds"))),
      leapfrogs: whole(draws, "leapfrogs"),
      warmup_divergences: whole(draws, "warmup_divergences"),
      energy_error: List.first(numbers(draws, "energy_error")),
      finished: draws.finished
    }
  end

  @doc "What is wrong with a run, in plain words with what to do; empty where nothing was found."
  def warnings(%__MODULE__{ref: ref}), do: Error.unwrap(NIF.draws_warnings(ref))

  @doc "The report: one HTML file with everything in it."
  def write_report(%__MODULE__{ref: ref}, path), do: Error.unwrap(NIF.draws_write_report(ref, to_string(path)))

  @doc "CmdStan's CSV files, one a chain: stem_1.csv, stem_2.csv, ..."
  def write_csv(%__MODULE__{ref: ref}, stem), do: Error.unwrap(NIF.draws_write_csv(ref, to_string(stem)))

  @doc "A netCDF file as ArviZ opens it."
  def write_netcdf(%__MODULE__{ref: ref}, path), do: Error.unwrap(NIF.draws_write_netcdf(ref, to_string(path)))

  @doc "As bytes, for another node with the same library; `from_binary/1` reads them."
  def to_binary(%__MODULE__{ref: ref}), do: Error.unwrap(NIF.draws_to_binary(ref))

  @doc "The draws of `to_binary/1`."
  def from_binary(binary), do: binary |> NIF.draws_from_binary() |> Error.unwrap() |> of_handle()

  @doc """
  Draws of runs that differ in `first_chain` alone, one after the other, as those of one run.

  Where runs were stopped all chains have as many draws as the shortest.
  """
  def join([_ | _] = parts), do: parts |> Enum.map(& &1.ref) |> NIF.draws_join() |> Error.unwrap() |> of_handle()

  defp group(draws, group), do: Error.unwrap(NIF.draws_variables(draws.ref, to_string(group)))

  # The NIF gives the shape of one draw; binaries hold all of them.
  defp tensor(_, "observed", shape, binary), do: Value.tensor(binary, shape)

  defp tensor(draws, _, shape, binary) do
    each = Enum.product(shape)
    rows = if each * draws.chains == 0, do: 0, else: div(byte_size(binary), 8 * each * draws.chains)
    Value.tensor(binary, [draws.chains, rows | shape])
  end

  defp numbers(draws, name), do: draws.ref |> NIF.draws_numbers(name) |> Error.unwrap() |> Value.floats()

  defp whole(draws, name) do
    case numbers(draws, name) do
      [number] when is_float(number) -> trunc(number)
      _ -> nil
    end
  end

  defp by_chain([], _), do: []
  defp by_chain(metrics, chains), do: Enum.chunk_every(metrics, div(length(metrics), chains))
end
