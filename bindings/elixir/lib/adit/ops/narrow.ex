defmodule Adit.Ops.Narrow do
  @moduledoc false
  # Brings what an operation made in a wider type back onto the grid of a narrow one, on the device.

  import Adit.Ops.Types, only: [is_narrow: 1]
  alias Adit.Ops.Graph

  def settle(ref, type) when not is_narrow(type), do: ref

  # The low bits: shifted up, and down again with the sign.
  def settle(ref, {:s, bits}) do
    by = Graph.number(8 - bits, {:s, 8})
    Graph.call(:right_shift, [Graph.call(:left_shift, [ref, by], []), by], [])
  end

  def settle(ref, {:u, bits}), do: mask(ref, Bitwise.bsl(1, bits) - 1, {:u, 8})

  # f8 is f16 without its last byte: Nx cuts it off.
  def settle(ref, {:f, 8}) do
    halves = Graph.call(:as_type, [ref], type: :f16)
    cut = halves |> bits(:u16) |> mask(0xFF00, {:u, 16}) |> bits(:f16)
    # NaN may hold its mark in the byte that is cut.
    select(Graph.call(:is_nan, [halves], []), halves, cut)
  end

  # The nearest multiple of the unit of its exponent, halves away from zero. As Nx does it a number never grows into the
  # next exponent, and infinities are the largest number.
  def settle(ref, {:f8_e4m3fn, 8}) do
    x = Graph.call(:as_type, [ref], type: :f32)
    size = Graph.call(:clip, [Graph.call(:abs, [x], []), float(0.0), float(448.0)], [])
    exponent = Graph.call(:right_shift, [bits(size, :u32), Graph.number(23, {:u, 32})], as: :i32)
    least = Graph.call(:maximum, [exponent, Graph.number(121, {:s, 32})], [])
    # 2 to the power of the exponent less 3: an eighth of the number's power of two.
    unit =
      [least, Graph.number(3, {:s, 32})]
      |> then(&Graph.call(:subtract, &1, []))
      |> then(&Graph.call(:left_shift, [&1, Graph.number(23, {:s, 32})], []))
      |> bits(:f32)

    below = Graph.call(:less, [exponent, Graph.number(121, {:s, 32})], [])
    most = select(below, float(7.0), float(15.0))
    units = Graph.call(:round, [Graph.call(:divide, [size, unit], [])], [])
    number = Graph.call(:multiply, [Graph.call(:minimum, [units, most], []), unit], [])
    number = Graph.call(:minimum, [number, float(448.0)], [])

    # The sign's bit, so that -0.0 stays.
    sign = mask(bits(x, :u32), 0x80000000, {:u, 32})
    signed = bits(Graph.call(:bitwise_or, [bits(number, :u32), sign], []), :f32)
    select(Graph.call(:is_nan, [x], []), x, signed)
  end

  def float(value), do: Graph.number(value, {:f, 32})
  def bits(ref, type), do: Graph.call(:bitcast, [ref], type: type)
  def mask(ref, pattern, type), do: Graph.call(:bitwise_and, [ref, Graph.number(pattern, type)], [])
  def select(predicate, a, b), do: Graph.call(:select, [predicate, a, b], [])
end
