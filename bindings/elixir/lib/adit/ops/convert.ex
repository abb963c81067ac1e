defmodule Adit.Ops.Convert do
  @moduledoc false
  # From one type to another.

  import Adit.Ops.Types, only: [is_narrow: 1]
  alias Adit.Ops.{Graph, Narrow, Types}
  alias Nx.Tensor, as: T

  def apply(:as_type, %{type: to}, [%T{type: from} = x]), do: convert(Graph.ref(x), from, to)
  def apply(:bitcast, %{type: to}, [%T{type: from} = x]), do: bitcast(Graph.ref(x), from, to)

  # An operand in the type of a result.
  def ref(%T{type: type} = x, type), do: Graph.ref(x)
  def ref(%T{type: from} = x, to), do: convert(Graph.ref(x), from, to)

  def ref(%T{type: type} = x, type, device), do: Graph.ref(x, device)
  def ref(%T{type: from} = x, to, device), do: convert(Graph.ref(x, device), from, to)

  def convert(ref, type, type), do: ref

  def convert(ref, {:c, _} = from, {kind, _} = to) when kind in [:s, :u] do
    real = if from == {:c, 128}, do: {:f, 64}, else: {:f, 32}
    ref |> as(Types.dtype(real)) |> convert(real, to)
  end

  # Integers wrap.
  def convert(ref, {kind, _}, {:s, _} = to) when kind in [:s, :u], do: ref |> as(Types.dtype(to)) |> Narrow.settle(to)
  def convert(ref, {kind, _}, {:u, _} = to) when kind in [:s, :u], do: ref |> as(Types.dtype(to)) |> Narrow.settle(to)

  # Floats go toward zero and wrap, by way of 64 bits; infinities become the ends of the type, and NaN 0.
  def convert(ref, _float, {:s, 64}), do: as(ref, :i64)

  def convert(ref, _float, {kind, bits} = to) when kind in [:s, :u] do
    wrapped = ref |> as(:i64) |> as(Types.dtype(to)) |> Narrow.settle(to)

    ends =
      if bits < 8 do
        above = Graph.call(:greater, [ref, Graph.number(0.0, {:f, 32})], [])
        Narrow.select(above, Graph.number(Types.highest(to), to), Graph.number(Types.lowest(to), to))
      else
        as(ref, Types.dtype(to))
      end

    outside =
      if to == {:u, 64} do
        # Beyond what 64 bits with a sign hold.
        large = Graph.call(:greater_equal, [ref, Graph.number(9_223_372_036_854_775_808.0, {:f, 32})], [])
        Graph.call(:logical_or, [Graph.call(:is_infinity, [ref], []), large], [])
      else
        Graph.call(:is_infinity, [ref], [])
      end

    Narrow.select(outside, ends, wrapped)
  end

  def convert(ref, _from, to) when is_narrow(to), do: Narrow.settle(ref, to)
  def convert(ref, _from, to), do: as(ref, Types.dtype(to))

  # The same bits as another type.
  defp bitcast(ref, type, type), do: copy(ref, type)
  defp bitcast(ref, from, to) when is_narrow(from) or is_narrow(to), do: ref |> to_bits(from) |> from_bits(to)
  defp bitcast(ref, _from, to), do: Narrow.bits(ref, Types.dtype(to))

  # A handle of its own: who frees one of the two keeps the other.
  defp copy(ref, type), do: as(ref, Types.dtype(type))

  defp to_bits(ref, {:u, _}), do: ref
  defp to_bits(ref, {:s, _}), do: Narrow.bits(ref, :u8)

  defp to_bits(ref, {:f, 8}) do
    Graph.call(:right_shift, [Narrow.bits(ref, :u16), Graph.number(8, {:u, 16})], as: :u8)
  end

  # Normal numbers: sign, exponent less 120, and the three leading bits of the mantissa; those below 2^-6 are multiples
  # of 2^-9.
  defp to_bits(ref, {:f8_e4m3fn, 8}) do
    bits = Narrow.bits(ref, :u32)
    sign = Narrow.mask(shift(:right_shift, bits, 24), 0x80, {:u, 32})
    size = Narrow.mask(bits, 0x7FFFFFFF, {:u, 32})
    normal = Graph.call(:subtract, [shift(:right_shift, size, 20), Graph.number(120 * 8, {:u, 32})], [])
    tiny = Graph.call(:multiply, [Graph.call(:abs, [ref], []), Narrow.float(512.0)], as: :u32)
    below = Graph.call(:less, [size, Graph.number(Bitwise.bsl(121, 23), {:u, 32})], [])
    joined = Graph.call(:bitwise_or, [Narrow.select(below, tiny, normal), sign], [])
    nan = Graph.call(:is_nan, [ref], [])
    as(Narrow.select(nan, Graph.number(0x7F, {:u, 32}), joined), :u8)
  end

  defp from_bits(ref, {:u, 8}), do: ref
  defp from_bits(ref, {:s, 8}), do: Narrow.bits(ref, :i8)
  defp from_bits(ref, {:u, _} = to), do: Narrow.settle(ref, to)
  defp from_bits(ref, {:s, _} = to), do: ref |> Narrow.bits(:i8) |> Narrow.settle(to)

  defp from_bits(ref, {:f, 8}) do
    wide = as(ref, :u16)
    Narrow.bits(Graph.call(:left_shift, [wide, Graph.number(8, {:u, 16})], []), :f16)
  end

  defp from_bits(ref, {:f8_e4m3fn, 8}) do
    wide = as(ref, :u32)
    sign = shift(:left_shift, Narrow.mask(wide, 0x80, {:u, 32}), 24)
    size = Narrow.mask(wide, 0x7F, {:u, 32})
    normal = shift(:left_shift, Graph.call(:add, [size, Graph.number(120 * 8, {:u, 32})], []), 20)
    tiny = Narrow.bits(Graph.call(:multiply, [as(size, :f32), Narrow.float(1 / 512)], []), :u32)
    below = Graph.call(:less, [size, Graph.number(8, {:u, 32})], [])
    joined = Graph.call(:bitwise_or, [Narrow.select(below, tiny, normal), sign], [])
    nan = Graph.call(:equal, [size, Graph.number(0x7F, {:u, 32})], [])
    Narrow.bits(Narrow.select(nan, Graph.number(0x7FC00000, {:u, 32}), joined), :f32)
  end

  defp shift(name, ref, by), do: Graph.call(name, [ref, Graph.number(by, {:u, 32})], [])
  defp as(ref, dtype), do: Graph.call(:as_type, [ref], type: dtype)
end
