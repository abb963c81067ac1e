defmodule Adit.Ops.Windows do
  @moduledoc false
  # Windows that move over a tensor, and convolutions.

  import Adit.Ops.Types, only: [is_narrow: 1]
  alias Adit.Ops.{Convert, Function, Graph, Narrow, Types}

  @plain [:window_sum, :window_product, :window_max, :window_min]
  @scatter [:window_scatter_max, :window_scatter_min]

  def operations, do: @plain ++ @scatter ++ [:window_reduce, :conv]

  # Padding is made of the type's own ends, which those of the type that holds a narrow one are not.
  def apply(op, %{type: type}, [x, window, options]) when op in [:window_max, :window_min] and is_narrow(type) do
    number = if op == :window_max, do: Types.lowest(type), else: Types.highest(type)
    {low, high} = Enum.unzip(options[:padding])
    none = Enum.map(low, fn _ -> 0 end)
    padded = Graph.call(:pad, [Convert.ref(x, type), holding(number, type)], low: low, high: high, interior: none)
    Graph.call(op, [padded], attributes(window, Keyword.put(options, :padding, Enum.zip(none, none))))
  end

  def apply(op, %{type: type}, [x, window, options]) when op in @plain do
    Narrow.settle(Graph.call(op, [Convert.ref(x, type)], attributes(window, options)), type)
  end

  def apply(:window_reduce, %{type: type} = out, [x, initial, window, options, fun]) do
    combine = Function.combine(fun, out)
    device = Graph.device_of(x)
    refs = [Convert.ref(x, type, device), Convert.ref(initial, type, device)]
    Graph.call(:window_reduce, refs, [{:combine, combine} | attributes(window, options)])
  end

  # Padding is made of the initial value and may be chosen as well: what falls there is lost.
  def apply(op, %{type: type}, [x, source, initial, window, options]) when op in @scatter do
    device = Graph.device_of(x) || Graph.device_of(source)
    refs = [Convert.ref(source, type, device), Convert.ref(initial, type, device)]
    {low, high} = Enum.unzip(options[:padding])
    none = Enum.map(low, fn _ -> 0 end)

    if low == none and high == none do
      scattered = Graph.call(op, [Graph.ref(x, device) | refs], attributes(window, options))
      Narrow.settle(scattered, type)
    else
      around = Convert.ref(initial, x.type, device)
      padded = Graph.call(:pad, [Graph.ref(x, device), around], low: low, high: high, interior: none)
      inside = attributes(window, Keyword.put(options, :padding, Enum.zip(none, none)))
      scattered = Graph.call(op, [padded | refs], inside)
      lengths = Tuple.to_list(x.shape)
      Narrow.settle(Graph.call(:slice, [scattered], starts: low, lengths: lengths), type)
    end
  end

  def apply(:conv, %{type: type}, [x, kernel, options]) do
    device = Graph.device_of(x) || Graph.device_of(kernel)
    refs = [Convert.ref(x, type, device), Convert.ref(kernel, type, device)]
    {low, high} = Enum.unzip(options[:padding])

    attributes = [
      strides: options[:strides],
      low: low,
      high: high,
      input_dilation: options[:input_dilation],
      kernel_dilation: options[:kernel_dilation],
      feature_groups: options[:feature_group_size],
      batch_groups: options[:batch_group_size],
      input_permutation: options[:input_permutation],
      kernel_permutation: options[:kernel_permutation],
      output_permutation: options[:output_permutation]
    ]

    Narrow.settle(Graph.call(:conv, refs, attributes), type)
  end

  defp attributes(window, options) do
    {low, high} = Enum.unzip(options[:padding])
    attributes = [window: window, strides: options[:strides], low: low, high: high]
    if dilations = options[:window_dilations], do: [{:dilations, dilations} | attributes], else: attributes
  end

  defp holding(number, {kind, _}) when kind in [:s, :u], do: Graph.number(number, {kind, 8})
  defp holding(number, type), do: Graph.call(:full, [], value: number, shape: [], type: Types.dtype(type))
end
