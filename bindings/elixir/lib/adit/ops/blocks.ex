defmodule Adit.Ops.Blocks do
  @moduledoc false
  # Nx.block by its struct: what Nx makes of several operations is one of ours. The structs are written as maps: Nx
  # before 0.12 has none of them.

  alias Adit.Ops.{Convert, Factors, Graph, Index, Linear, Narrow, Types}

  @cumulative %{
    Nx.Block.CumulativeSum => :cumulative_sum,
    Nx.Block.CumulativeProduct => :cumulative_product,
    Nx.Block.CumulativeMin => :cumulative_min,
    Nx.Block.CumulativeMax => :cumulative_max
  }
  @cumulative_blocks Map.keys(@cumulative)

  # {:ok, reference or tuple of them}, or :none where the struct is not known.
  def apply(%{__struct__: block, axis: axis, reverse: reverse}, %{type: type}, [x]) when block in @cumulative_blocks do
    running = Graph.call(@cumulative[block], [Convert.ref(x, type)], axis: axis, reverse: reverse)
    {:ok, Narrow.settle(running, type)}
  end

  def apply(%{__struct__: Nx.Block.LogicalNot}, _out, [x]), do: {:ok, Graph.call(:logical_not, [Graph.ref(x)], [])}

  def apply(%{__struct__: Nx.Block.Phase}, %{type: type}, [x]) do
    {:ok, Convert.convert(Graph.call(:phase, [complex(x)], []), :float, type)}
  end

  def apply(%{__struct__: Nx.Block.AllClose} = block, _out, [a, b]), do: {:ok, all_close(block, a, b)}

  def apply(%{__struct__: Nx.Block.Take, axis: axis}, _out, [x, indices]) do
    Index.check(indices, x.shape, [axis])
    {:ok, Graph.call(:take, together(x, indices), axis: axis)}
  end

  def apply(%{__struct__: Nx.Block.TakeAlongAxis, axis: axis}, _out, [x, indices]) do
    Index.check(indices, x.shape, [axis])
    {:ok, Graph.call(:take_along_axis, together(x, indices), axis: axis)}
  end

  def apply(%{__struct__: Nx.Block.TopK, k: k}, {_values, %{type: type}}, [x]) do
    [values, places] = Graph.call_all(:top_k, [Graph.ref(x)], k: k)
    {:ok, {values, Graph.call(:as_type, [places], type: Types.dtype(type))}}
  end

  def apply(%{__struct__: Nx.Block.FFT2, axes: axes, lengths: lengths}, %{type: type}, [x]) do
    {:ok, Graph.call(:fft2, [Convert.ref(x, type)], axes: axes, lengths: lengths)}
  end

  def apply(%{__struct__: Nx.Block.IFFT2, axes: axes, lengths: lengths}, %{type: type}, [x]) do
    {:ok, Graph.call(:ifft2, [Convert.ref(x, type)], axes: axes, lengths: lengths)}
  end

  def apply(%{__struct__: Nx.Block.RFFT, axis: axis, length: length}, %{type: type}, [x]) do
    real = if type == {:c, 128}, do: {:f, 64}, else: {:f, 32}
    {:ok, Graph.call(:rfft, [Convert.ref(x, real)], axis: axis, length: length)}
  end

  def apply(%{__struct__: Nx.Block.IRFFT, axis: axis, length: length}, %{type: type}, [x]) do
    {:ok, Convert.convert(Graph.call(:irfft, [complex(x)], axis: axis, length: length), :float, type)}
  end

  def apply(%{__struct__: Nx.Block.LinAlg.Cholesky}, out, [x]), do: {:ok, Factors.cholesky(x, out)}

  def apply(%{__struct__: Nx.Block.LinAlg.Determinant}, %{type: type}, [x]) do
    {:ok, Factors.back(Graph.call(:determinant, [Factors.operand(x, type)], []), type)}
  end

  def apply(%{__struct__: Nx.Block.LinAlg.Solve}, %{type: type, shape: shape}, [a, b]) do
    device = Graph.device_of(a) || Graph.device_of(b)
    wide = Factors.wide(type)
    [ra, rb] = [Convert.ref(a, wide, device), Convert.ref(b, wide, device)]
    rb = if tuple_size(b.shape) < tuple_size(a.shape), do: Linear.matrix(rb, b.shape), else: rb
    {:ok, Factors.back(Graph.call(:solve, [ra, rb], into: shape), type)}
  end

  def apply(%{__struct__: Nx.Block.LinAlg.LU}, {p, l, u}, [x]) do
    [rp, rl, ru] = Graph.call_all(:lu, [Factors.operand(x, l.type)], [])
    {:ok, {Convert.convert(rp, :float, p.type), Factors.back(rl, l.type), Factors.back(ru, u.type)}}
  end

  # Phases of complex reflections follow from their order: they are made by Nx's method, out of our operations.
  def apply(%{__struct__: Nx.Block.LinAlg.QR}, {%{type: {:c, _}}, _r}, _args), do: :none
  def apply(%{__struct__: Nx.Block.LinAlg.QR, mode: mode}, {q, r}, [x]), do: {:ok, Factors.qr(x, q, r, mode == :complete)}
  def apply(%{__struct__: Nx.Block.LinAlg.Eigh}, {values, _vectors}, [x]), do: {:ok, Factors.eigh(x, values)}
  def apply(%{__struct__: Nx.Block.LinAlg.SVD, full_matrices?: full}, outs, [x]), do: {:ok, Factors.svd(x, outs, full)}

  def apply(_block, _out, _args), do: :none

  defp complex(%{type: {kind, bits}} = x) when {kind, bits} in [{:f, 64}, {:c, 128}], do: Convert.ref(x, {:c, 128})
  defp complex(x), do: Convert.ref(x, {:c, 64})

  defp together(a, b) do
    device = Graph.device_of(a) || Graph.device_of(b)
    [Graph.ref(a, device), Graph.ref(b, device)]
  end

  # |a - b| <= atol + rtol |b|, in floats; infinities are close to themselves, NaN to nothing or (equal_nan) to NaN.
  defp all_close(block, a, b) do
    integers = Types.integer?(a.type) and Types.integer?(b.type)
    [ra, rb] = together(a, b)
    distance = Graph.call(:abs, [Graph.call(:subtract, [ra, rb], [])], [])
    size = if integers, do: Graph.call(:abs, [Graph.call(:as_type, [rb], type: :f64)], []), else: Graph.call(:abs, [rb], [])
    relative = Graph.call(:multiply, [Graph.number(block.rtol, {:f, 32}), size], [])
    bound = Graph.call(:add, [Graph.number(block.atol, {:f, 32}), relative], [])
    close = Graph.call(:less_equal, [distance, bound], [])

    if integers do
      Graph.call(:all, [close], [])
    else
      infinite = both(:logical_or, :is_infinity, ra, rb)
      close = Narrow.select(infinite, Graph.call(:equal, [ra, rb], []), close)

      close =
        if block.equal_nan,
          do: Graph.call(:logical_or, [both(:logical_and, :is_nan, ra, rb), close], []),
          else: close

      Graph.call(:all, [close], [])
    end
  end

  defp both(join, test, a, b), do: Graph.call(join, [Graph.call(test, [a], []), Graph.call(test, [b], [])], [])
end
