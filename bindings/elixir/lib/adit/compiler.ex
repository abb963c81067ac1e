defmodule Adit.Compiler do
  @moduledoc false
  # From a function of `defn` to a program, and from there to results.
  #
  # A program is found by the function with what it captured, the types, shapes, names and vectorized axes of the
  # arguments, the device and the names of the hooks that are given. A call that finds one traces nothing.

  alias Adit.{Device, Telemetry}
  alias Adit.Compiler.{Cache, Key, Lowering, Program, Survey}
  alias Nx.Defn.Composite

  require Logger

  def jit(key, vars, fun, args_list, opts) do
    case program(key, vars, fun, opts) do
      %Program{} = program -> Enum.map(args_list, &Program.run(program, &1, opts))
      {:evaluate, reason} -> evaluate(reason, key, vars, fun, opts).(args_list)
    end
  end

  def compile(key, vars, fun, opts) do
    case program(key, vars, fun, opts) do
      %Program{} = program -> fn args_list -> Enum.map(args_list, &Program.run(program, &1, opts)) end
      {:evaluate, reason} -> evaluate(reason, key, vars, fun, opts)
    end
  end

  def explain(fun, args, times, opts) do
    {fun, vars, _templates, args} = Nx.Defn.Compiler.to_lazy_params(fun, args)
    opts = Keyword.put(opts, :compiler, __MODULE__.Explain)
    [text] = Nx.Defn.Compiler.__jit__(fun, vars, [{args, times}], opts)
    text
  end

  defmodule Explain do
    @moduledoc false
    # A compiler whose results are the texts that say what would be run.

    def __jit__(key, vars, fun, [{args, times}], opts) do
      case Adit.Compiler.program(key, vars, fun, opts) do
        %Program{} = program -> [Program.explain(program, args, times)]
        {:evaluate, reason} -> raise ArgumentError, "this function is not one graph: #{reason}"
      end
    end
  end

  # --- Programs

  def program(key, vars, fun, opts) do
    hooks = Keyword.get(opts, :hooks, %{})
    named = for {name, callback} <- hooks, callback, do: name
    device = opts |> device() |> Device.mark()

    Cache.fetch({Key.of(key), Enum.map(vars, &looks/1), device, named}, fn ->
      build(key, vars, fun, hooks, device)
    end)
  end

  # The one that is asked for, or else where eager tensors are made.
  defp device(opts) do
    case Keyword.fetch(opts, :device) do
      {:ok, id} ->
        id

      :error ->
        case Nx.default_backend() do
          {Adit.Backend, options} -> options[:device]
          _ -> nil
        end
    end
  end

  defp looks(%Nx.Tensor{type: type, shape: shape, names: names, vectorized_axes: axes}),
    do: {type, shape, names, axes}

  defp looks(container), do: Composite.traverse(container, &looks/1)

  defp build(key, vars, fun, hooks, device) do
    started = System.monotonic_time()
    made = make(fun.(vars), hooks, device)

    duration = System.monotonic_time() - started
    Telemetry.execute([:compiler, :compile], %{duration: duration}, %{key: key, device: device})
    made
  end

  defp make(result, hooks, device) do
    output = Composite.traverse(result, &Nx.to_template/1)
    expr = Composite.traverse(result, &Nx.devectorize/1)
    survey = Survey.of(expr)
    inputs = survey.parameters |> Map.keys() |> Enum.sort()
    {function, values, hooks} = Lowering.run(expr, inputs, survey, hooks, device)
    Program.new(function, inputs, output, values, hooks, device)
  catch
    {:evaluate, reason} -> {:evaluate, reason}
  end

  # --- What cannot be one graph

  defp evaluate(reason, key, vars, fun, opts) do
    Telemetry.execute([:compiler, :evaluate], %{count: 1}, %{key: key, reason: reason})
    tell_once(reason, key)
    backend = Adit.__to_backend__(opts)
    compiled = Nx.with_default_backend(backend, fn -> Nx.Defn.Evaluator.__compile__(key, vars, fun, opts) end)

    fn args_list ->
      Nx.with_default_backend(backend, fn ->
        Enum.flat_map(args_list, fn args -> compiled.([Enum.map(args, &moved(&1, backend))]) end)
      end)
    end
  end

  # What lies on the host would be computed there.
  defp moved(arg, backend) do
    fn ->
      case arg.() do
        %{data: %{__struct__: module}} = tensor when module in [Adit.Backend, Nx.Defn.Expr] -> tensor
        tensor -> Nx.backend_copy(tensor, backend)
      end
    end
  end

  defp tell_once(reason, key) do
    unless :persistent_term.get({__MODULE__, reason}, false) do
      :persistent_term.put({__MODULE__, reason}, true)
      Logger.debug("#{inspect(key)} is evaluated operation by operation on the device: #{reason}")
    end
  end
end
