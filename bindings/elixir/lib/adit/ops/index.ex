defmodule Adit.Ops.Index do
  @moduledoc false
  # Slices and places. Starts are clamped so that a slice fits. Places outside are clamped too, but for those that are
  # known on the host (tensors of Nx.BinaryBackend, small ones made there), which raise as Nx says.

  alias Adit.Ops.{Convert, Graph, Narrow, Types}
  alias Nx.Tensor, as: T

  def operations, do: [:slice, :put_slice, :gather, :indexed_add, :indexed_put, :sort, :argsort]

  def apply(:slice, _out, [x, starts, lengths, strides]) do
    if Enum.all?(starts, &is_integer/1) do
      starts = clamp(starts, x.shape, lengths)
      Graph.call(:slice, [Graph.ref(x)], starts: starts, lengths: lengths, strides: strides)
    else
      box = Graph.call(:dynamic_slice, [Graph.ref(x) | scalars(starts, x)], lengths: lengths)

      if Enum.all?(strides, &(&1 == 1)) do
        box
      else
        Graph.call(:slice, [box], starts: Enum.map(lengths, fn _ -> 0 end), lengths: lengths, strides: strides)
      end
    end
  end

  def apply(:put_slice, %{type: type}, [x, starts, piece]) do
    device = Graph.device_of(x) || Graph.device_of(piece)
    refs = [Convert.ref(x, type, device), Convert.ref(piece, type, device)]

    if Enum.all?(starts, &is_integer/1) do
      Graph.call(:put_slice, refs, starts: clamp(starts, x.shape, Tuple.to_list(piece.shape)))
    else
      Graph.call(:put_slice, refs ++ scalars(starts, x), [])
    end
  end

  def apply(:gather, _out, [x, indices, options]) do
    axes = options[:axes]
    check(indices, x.shape, axes)
    device = Graph.device_of(x) || Graph.device_of(indices)
    Graph.call(:gather, [Graph.ref(x, device), Graph.ref(indices, device)], axes: axes)
  end

  def apply(op, %{type: type}, [x, indices, updates, options]) when op in [:indexed_add, :indexed_put] do
    axes = options[:axes]
    check(indices, x.shape, axes)
    device = Graph.device_of(x) || Graph.device_of(indices) || Graph.device_of(updates)
    refs = [Convert.ref(x, type, device), Graph.ref(indices, device), Convert.ref(updates, type, device)]
    Narrow.settle(Graph.call(op, refs, axes: axes), type)
  end

  def apply(:sort, %{shape: {}}, [x, _options]), do: Graph.call(:reshape, [Graph.ref(x)], shape: {})
  def apply(:sort, _out, [x, options]), do: Graph.call(:sort, [Graph.ref(x)], order(options))
  def apply(:argsort, %{shape: {}, type: type}, [_x, _options]), do: Graph.number(0, type)

  def apply(:argsort, %{type: type}, [x, options]) do
    places = Graph.call(:argsort, [Graph.ref(x)], [{:as, Types.dtype(type)} | order(options)])
    Narrow.settle(places, type)
  end

  defp order(options) do
    direction = if options[:direction] == :desc, do: "descending", else: "ascending"
    [axis: options[:axis], direction: direction]
  end

  defp clamp([start | starts], shape, lengths), do: clamp([start | starts], Tuple.to_list(shape), lengths, [])
  defp clamp([], _shape, _lengths), do: []

  defp clamp([start | starts], [extent | extents], [length | lengths], done) do
    clamp(starts, extents, lengths, [start |> max(0) |> min(extent - length) | done])
  end

  defp clamp([], [], [], done), do: Enum.reverse(done)

  defp scalars(starts, x) do
    device = Graph.device_of(x)

    Enum.map(starts, fn
      start when is_integer(start) -> Graph.number(start, {:s, 32})
      start -> Graph.ref(start, device)
    end)
  end

  # Coordinates lie along the last axis of the indices.
  def check(%T{type: type, data: %Adit.Backend{host: host}}, shape, axes) when host != nil do
    extents = axes |> Enum.with_index() |> Enum.map(fn {axis, i} -> {i, elem(shape, axis)} end)

    rows =
      case host do
        # One number stands for all elements.
        {:number, value} -> [Enum.map(axes, fn _ -> value end)]
        bits -> Enum.chunk_every(Types.numbers(bits, type) || [], length(axes))
      end

    for row <- rows,
        {index, {i, extent}} <- Enum.zip(row, extents),
        index < 0 or index >= extent do
      # Axes are counted, and the shape is told, with those that are indexed in front.
      told = Enum.map(axes, &elem(shape, &1)) ++ rest(shape, axes)

      raise ArgumentError,
            "index #{index} is out of bounds for axis #{i} in shape #{inspect(List.to_tuple(told))}"
    end

    :ok
  end

  def check(%T{data: %{__struct__: Nx.BinaryBackend}} = indices, shape, axes) do
    check(%{indices | data: %Adit.Backend{ref: nil, host: Nx.to_binary(indices)}}, shape, axes)
  end

  def check(_indices, _shape, _axes), do: :ok

  defp rest(shape, axes) do
    for axis <- Enum.to_list(0..(tuple_size(shape) - 1)//1) -- axes, do: elem(shape, axis)
  end
end
