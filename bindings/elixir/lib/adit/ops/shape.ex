defmodule Adit.Ops.Shape do
  @moduledoc false
  # Operations that move elements, and tensors that are made of none.

  alias Adit.Device
  alias Adit.Ops.{Convert, Graph, Narrow, Types}

  def operations do
    [:constant, :from_binary, :iota, :eye, :reshape, :squeeze, :broadcast, :transpose, :pad, :reverse] ++
      [:concatenate, :stack]
  end

  def apply(:constant, %{type: {:f, 8} = type, shape: shape}, [value, _options]) do
    value |> Graph.full({:f, 32}, shape) |> Narrow.settle(type)
  end

  def apply(:constant, %{type: {:f8_e4m3fn, 8} = type, shape: shape}, [value, _options]) do
    value |> Graph.full({:f, 32}, shape) |> Narrow.settle(type)
  end

  def apply(:constant, %{type: type, shape: shape}, [value, _options]), do: Graph.full(value, type, shape)

  def apply(:from_binary, %{type: type, shape: shape}, [bits, options]) do
    Graph.upload(bits, type, shape, Device.get(if(is_list(options), do: options[:device])))
  end

  def apply(:iota, %{type: type, shape: shape}, [axis, _options]) do
    attributes = [shape: shape, type: Types.dtype(type)]
    attributes = if axis, do: [{:axis, axis} | attributes], else: attributes
    Narrow.settle(Graph.call(:iota, [], attributes), type)
  end

  def apply(:eye, %{type: type, shape: shape}, [_options]) do
    rank = tuple_size(shape)
    attributes = [rows: elem(shape, rank - 2), columns: elem(shape, rank - 1), type: Types.dtype(type)]
    eye = Graph.call(:eye, [], attributes)
    if rank == 2, do: eye, else: Graph.call(:broadcast_to, [eye], shape: shape)
  end

  def apply(:reshape, %{shape: shape}, [x]), do: Graph.call(:reshape, [Graph.ref(x)], shape: shape)
  def apply(:squeeze, %{shape: shape}, [x, _axes]), do: Graph.call(:reshape, [Graph.ref(x)], shape: shape)

  def apply(:broadcast, _out, [x, shape, axes]) do
    Graph.call(:broadcast_in, [Graph.ref(x)], shape: shape, axes: axes)
  end

  def apply(:transpose, %{shape: {}}, [x, _axes]), do: Graph.call(:reshape, [Graph.ref(x)], shape: {})
  def apply(:transpose, _out, [x, axes]), do: Graph.call(:transpose, [Graph.ref(x)], axes: axes)
  def apply(:reverse, %{shape: shape}, [x, []]), do: Graph.call(:reshape, [Graph.ref(x)], shape: shape)
  def apply(:reverse, _out, [x, axes]), do: Graph.call(:reverse, [Graph.ref(x)], axes: axes)

  def apply(:pad, %{type: type, shape: shape}, [x, value, config]) do
    device = Graph.device_of(x) || Graph.device_of(value)
    refs = [Convert.ref(x, type, device), Convert.ref(value, type, device)]

    if config == [] do
      Graph.call(:reshape, [hd(refs)], shape: shape)
    else
      {low, high, interior} = unzip3(config)
      Graph.call(:pad, refs, low: low, high: high, interior: interior)
    end
  end

  def apply(op, %{type: type}, [parts, axis]) when op in [:concatenate, :stack] do
    device = Enum.find_value(parts, &Graph.device_of/1)
    Graph.call(op, Enum.map(parts, &Convert.ref(&1, type, device)), axis: axis)
  end

  defp unzip3(list) do
    {for({x, _, _} <- list, do: x), for({_, x, _} <- list, do: x), for({_, _, x} <- list, do: x)}
  end
end
