defmodule Adit.Sampler.Options do
  @moduledoc false
  # What the engine takes, and what is for this side of it.

  @engine [
    :chains,
    :warmup,
    :draws,
    :thin,
    :seed,
    :device,
    :precision,
    :placement,
    :layout,
    :metric,
    :adapt,
    :adapt_delta,
    :step_size,
    :max_depth,
    :init_buffer,
    :term_buffer,
    :window,
    :init_radius,
    :init,
    :restart_stuck,
    :save_warmup,
    :log_likelihood,
    :posterior_predictive,
    :checkpoint,
    :resume,
    :first_chain,
    :prior,
    :fixed
  ]
  @ours [:progress, :progress_every, :nodes, :block]

  defstruct engine: [], progress: nil, every: 250, nodes: nil, block: nil

  def parse(options, caller) do
    unless Keyword.keyword?(options),
      do: raise(ArgumentError, "expected options as a keyword list, got #{inspect(options)}")

    {ours, engine} = Keyword.split(options, @ours)

    for {name, _} <- engine, name not in @engine do
      raise ArgumentError,
            "#{name}: expected an option among #{Enum.map_join(@engine ++ @ours, ", ", &to_string/1)}"
    end

    %__MODULE__{
      engine: engine |> Enum.reject(fn {_, value} -> value == nil end) |> Enum.map(&plain/1),
      progress: progress(Keyword.get(ours, :progress), caller),
      every: positive(ours, :progress_every, 250),
      nodes: nodes(Keyword.get(ours, :nodes)),
      block: positive(ours, :block, nil)
    }
  end

  @doc "A run's device is that of this node's tensors unless it is named."
  def here(engine) do
    case System.get_env("ADIT_DEVICE") || Application.get_env(:adit, :device) do
      nil -> engine
      id -> Keyword.put_new(engine, :device, id)
    end
  end

  @doc "Where the chains of a block start, out of those of the whole run: `at` comes before them."
  def starts_of_block(engine, at, chains) do
    case Keyword.get(engine, :init) do
      starts when is_list(starts) -> Keyword.put(engine, :init, Enum.slice(starts, at, chains))
      _ -> engine
    end
  end

  @doc "As the library takes them: several starts are one text."
  def native(engine) do
    case Keyword.get(engine, :init) do
      starts when is_list(starts) -> Keyword.put(engine, :init, "[" <> Enum.join(starts, ",") <> "]")
      _ -> engine
    end
  end

  # Names go as text: among atoms some are types.
  defp plain({:init, starts}) when is_list(starts) and starts != [] and is_map(hd(starts)),
    do: {:init, Enum.map(starts, &Adit.Json.encode/1)}

  defp plain({:init, start}) when is_map(start), do: {:init, Adit.Json.encode(start)}

  defp plain({:init, other}),
    do: raise(ArgumentError, "init: expected a map of values by variable, or a list of those, got #{inspect(other)}")

  defp plain({name, value}) when is_boolean(value) or is_number(value), do: {name, value}
  defp plain({name, value}), do: {name, to_string(value)}

  defp progress(nil, _), do: nil
  defp progress(false, _), do: nil
  defp progress(true, caller), do: caller
  defp progress(pid, _) when is_pid(pid), do: pid

  defp progress(other, _),
    do: raise(ArgumentError, "progress: expected true, false or a process, got #{inspect(other)}")

  defp positive(options, name, default) do
    case Keyword.get(options, name, default) do
      ^default -> default
      number when is_integer(number) and number > 0 -> number
      other -> raise ArgumentError, "#{name}: expected a positive integer, got #{inspect(other)}"
    end
  end

  defp nodes(nil), do: nil

  defp nodes([_ | _] = nodes) do
    for node <- nodes, not is_atom(node) do
      raise ArgumentError, "nodes: expected names of Erlang nodes, got #{inspect(node)}"
    end

    Enum.uniq(nodes)
  end

  defp nodes(other), do: raise(ArgumentError, "nodes: expected a list of Erlang nodes, got #{inspect(other)}")
end
