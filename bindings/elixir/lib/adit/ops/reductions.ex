defmodule Adit.Ops.Reductions do
  @moduledoc false
  # Reductions along axes, products over axes.

  alias Adit.Ops.{Convert, Function, Graph, Narrow, Types}

  @plain [:sum, :product, :reduce_max, :reduce_min, :all, :any]

  def operations, do: @plain ++ [:argmax, :argmin, :reduce, :dot]

  def apply(op, %{type: type, shape: shape}, [x, options]) when op in @plain do
    case options[:axes] do
      # No axes: each element is its own result.
      [] when op in [:all, :any] ->
        Graph.call(:not_equal, [Graph.ref(x), Graph.number(0, {:u, 8})], into: shape)

      [] ->
        Graph.call(:reshape, [Convert.ref(x, type)], shape: shape)

      axes ->
        # `into`: where no axes are named and they are kept.
        attributes = [as: Types.dtype(type), into: shape] ++ named(:axes, axes)
        result = Graph.call(op, [operand(op, x, type)], attributes)
        if op == :product and Types.complex?(type), do: from_one(result, x, type, shape, axes), else: Narrow.settle(result, type)
    end
  end

  def apply(op, %{type: type, shape: shape}, [x, options]) when op in [:argmax, :argmin] do
    ref = Graph.ref(x)
    attributes = [as: Types.dtype(type), into: shape] ++ named(:axis, options[:axis])
    place = fn tie -> Graph.call(op, [ref], [{:tie_break, tie} | attributes]) end

    # Of several NaN Nx takes the last one, whatever it is to do with ties.
    if options[:tie_break] == :low and not Types.integer?(x.type) do
      extreme = if op == :argmax, do: :reduce_max, else: :reduce_min
      axes = if options[:axis], do: [axes: [options[:axis]]], else: []
      nan = Graph.call(:is_nan, [Graph.call(extreme, [ref], axes)], into: shape)
      Narrow.select(nan, place.("high"), place.("low"))
    else
      place.(Atom.to_string(options[:tie_break]))
    end
    |> Narrow.settle(type)
  end

  def apply(:reduce, %{type: type, shape: shape} = out, [x, initial, options, fun]) do
    combine = Function.combine(fun, out)
    device = Graph.device_of(x)
    refs = [Convert.ref(x, type, device), Convert.ref(initial, type, device)]
    axes = options[:axes] || Enum.to_list(0..(tuple_size(x.shape) - 1)//1)

    case axes do
      [] -> reduce_one(refs, combine, shape)
      axes -> Graph.call(:reduce, refs, axes: axes, combine: combine, into: shape)
    end
  end

  def apply(:dot, %{type: type}, [a, contract_a, batch_a, b, contract_b, batch_b]) do
    device = Graph.device_of(a) || Graph.device_of(b)
    refs = [Convert.ref(a, type, device), Convert.ref(b, type, device)]
    axes = [contract_a: contract_a, batch_a: batch_a, contract_b: contract_b, batch_b: batch_b]
    Narrow.settle(Graph.call(:dot, refs, axes), type)
  end

  # A sum of a smaller type is made in the type of the result.
  defp operand(op, x, type) when op in [:sum, :product], do: Convert.ref(x, type)
  defp operand(_op, x, _type), do: Graph.ref(x)

  # Nx begins with 1 + 0i, which makes NaN of an infinity where that comes first.
  defp from_one(product, x, type, shape, axes) do
    extents = Tuple.to_list(x.shape)
    reduced = axes || Enum.to_list(0..(length(extents) - 1)//1)
    lengths = for {extent, axis} <- Enum.with_index(extents), do: if(axis in reduced, do: 1, else: extent)
    starts = Enum.map(extents, fn _ -> 0 end)
    first = Graph.call(:slice, [Graph.ref(x)], starts: starts, lengths: lengths)
    nan = Graph.number(Complex.new(:nan, :nan), type)
    Narrow.select(Graph.call(:is_infinity, [first], into: shape), nan, product)
  end

  # A scalar is folded as the one element of an axis.
  defp reduce_one([x, initial], combine, shape) do
    Graph.call(:reduce, [Graph.call(:reshape, [x], shape: [1]), initial], axes: [0], combine: combine, into: shape)
  end

  defp named(_name, nil), do: []
  defp named(name, value), do: [{name, value}]
end
