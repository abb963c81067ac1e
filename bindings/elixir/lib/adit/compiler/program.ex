defmodule Adit.Compiler.Program do
  @moduledoc false
  # A compiled function with what is known of its arguments and results.
  #
  # - inputs: positions of the arguments that it reads, in order
  # - output: the result as Nx sees it, with templates in the places of tensors; values of hooks come after its tensors
  # - hooks: [{callback, template}], in the order in which they are called
  # - device: the name of the device that it runs on, nil: the default one

  alias Adit.{Backend, Device, Error, NIF}
  alias Adit.Ops.Graph

  defstruct [:compiled, :function, :inputs, :output, :hooks, :device]

  def new(function, inputs, output, values, hooks, device) do
    hooked = Enum.flat_map(hooks, fn {_callback, _template, values} -> values end)
    results = for value <- values ++ hooked, do: value.data.ref

    %__MODULE__{
      compiled: if(results != [], do: finished(function, results)),
      function: function,
      inputs: inputs,
      output: output,
      hooks: for({callback, template, _values} <- hooks, do: {callback, template}),
      device: device
    }
  end

  defp finished(function, results) do
    Error.unwrap(NIF.function_finish(function, results))
    Error.unwrap(NIF.jit(function))
  end

  @doc "Calls it with functions that give its arguments, and then its hooks."
  def run(%__MODULE__{compiled: nil, output: output}, _args, _opts), do: output

  def run(%__MODULE__{} = program, args, opts) do
    {refs, lazy} = arguments(program, args)
    data = %Backend{ref: nil, lazy: lazy, device: program.device}
    {output, rest} = fill(program.output, call(program, refs, lazy), data)
    if program.hooks != [], do: call_hooks(program.hooks, rest, data, Keyword.get(opts, :hooks, %{}))
    if opts[:garbage_collect], do: :erlang.garbage_collect()
    output
  end

  @doc "What a call would run."
  def explain(%__MODULE__{} = program, args, times) do
    {refs, _lazy} = arguments(program, args)
    Error.unwrap(NIF.explain(call(program, refs, true), times))
  end

  # Arguments that have no values yet give results that have none either.
  defp call(program, refs, false), do: Error.unwrap(NIF.run(program.compiled, refs))
  defp call(program, refs, true), do: Error.unwrap(NIF.function_call(program.function, refs))

  # --- Arguments

  defp arguments(program, args), do: arguments(args, 0, program.inputs, program.device, [], false)

  defp arguments(_args, _position, [], _device, refs, lazy), do: {:lists.reverse(refs), lazy}

  defp arguments([arg | args], position, [position | inputs], device, refs, lazy) do
    {ref, this} = argument(arg.(), device)
    arguments(args, position + 1, inputs, device, [ref | refs], lazy or this)
  end

  defp arguments([_ | args], position, inputs, device, refs, lazy) do
    arguments(args, position + 1, inputs, device, refs, lazy)
  end

  defp argument(%{data: %Backend{ref: ref, lazy: lazy, device: device}}, device), do: {ref, lazy}
  defp argument(%{data: %Backend{ref: ref, lazy: true}}, _device), do: {ref, true}

  defp argument(%{data: %Backend{ref: ref}}, device) do
    {Error.unwrap(NIF.to_device(ref, Device.get(device))), false}
  end

  defp argument(%{data: %{__struct__: Nx.Defn.Expr}} = tensor, _device) do
    raise ArgumentError, "cannot pass a tensor expression as argument to defn, got: #{inspect(tensor)}"
  end

  defp argument(tensor, device), do: {Graph.ref(Nx.devectorize(tensor), device), false}

  # --- Results

  defp fill(%Nx.Tensor{} = template, [ref | refs], data) do
    {%{template | data: %{data | ref: ref}}, refs}
  end

  defp fill(container, refs, data) when is_tuple(container) do
    {tensors, refs} = container |> Tuple.to_list() |> Enum.map_reduce(refs, &fill(&1, &2, data))
    {List.to_tuple(tensors), refs}
  end

  defp fill(container, refs, data), do: Nx.Container.traverse(container, refs, &fill(&1, &2, data))

  defp call_hooks([{callback, template} | hooks], refs, data, given) do
    {value, refs} = fill(template, refs, data)
    callback_of(callback, given).(value)
    call_hooks(hooks, refs, data, given)
  end

  defp call_hooks([], [], _data, _given), do: :ok

  defp callback_of({:fn, fun}, _given), do: fun
  defp callback_of({:named, name, fun}, given), do: given[name] || fun
end
