defmodule Adit.Ops.Linear do
  @moduledoc false
  # Triangular systems and Fourier transforms.

  alias Adit.Ops.{Convert, Factors, Graph, Types}
  alias Nx.Tensor, as: T

  def operations, do: [:triangular_solve, :fft, :ifft]

  def apply(:triangular_solve, %{type: type, shape: shape}, [a, b, options]) do
    check(a)
    device = Graph.device_of(a) || Graph.device_of(b)
    wide = Factors.wide(type)
    [ra, rb] = [Convert.ref(a, wide, device), Convert.ref(b, wide, device)]
    left_side = options[:left_side]
    ra = if options[:transform_a] == :conjugate and Types.complex?(type), do: Graph.call(:conjugate, [ra], []), else: ra

    # A vector is a matrix of one column, or row.
    rb = if tuple_size(b.shape) < tuple_size(a.shape), do: matrix(rb, b.shape, left_side), else: rb

    attributes = [
      lower: options[:lower],
      left_side: left_side,
      transpose: options[:transform_a] == :transpose,
      into: shape
    ]

    Factors.back(Graph.call(:triangular_solve, [ra, rb], attributes), type)
  end

  def apply(op, %{type: type}, [x, options]) when op in [:fft, :ifft] do
    attributes = [axis: options[:axis], length: options[:length]]
    Graph.call(op, [Convert.ref(x, type)], attributes)
  end

  def matrix(ref, shape, column \\ true) do
    extents = Tuple.to_list(shape)
    {batch, [n]} = Enum.split(extents, -1)
    Graph.call(:reshape, [ref], shape: batch ++ if(column, do: [n, 1], else: [1, n]))
  end

  # Nx refuses a zero on the diagonal. One that is known on the host is refused here; others give infinities or NaN.
  defp check(%T{data: %Adit.Backend{host: bits}, type: {_, size} = type, shape: shape}) when is_bitstring(bits) do
    n = elem(shape, tuple_size(shape) - 1)
    whole = n * n * size

    for <<matrix::bitstring-size(whole) <- bits>>, i <- 0..(n - 1)//1 do
      skipped = i * (n + 1) * size
      <<_::bitstring-size(skipped), element::bitstring-size(size), _::bitstring>> = matrix
      if zero?(element, type), do: raise(ArgumentError, "can't solve for singular matrix")
    end

    :ok
  end

  defp check(%T{data: %Adit.Backend{host: {:number, value}}}) do
    if value in [0, 0.0, Complex.new(0), Complex.new(0.0, 0.0)], do: raise(ArgumentError, "can't solve for singular matrix")
    :ok
  end

  defp check(_a), do: :ok

  defp zero?(element, {kind, size}) when kind in [:s, :u], do: element == <<0::size(size)>>

  defp zero?(element, {:c, size}) do
    half = div(size, 2)
    <<real::bitstring-size(half), imag::bitstring-size(half)>> = element
    zero?(real, {:f, half}) and zero?(imag, {:f, half})
  end

  # All bits but the sign.
  defp zero?(element, {_float, size}) do
    <<pattern::size(size)-native>> = element
    Bitwise.band(pattern, Bitwise.bsl(1, size - 1) - 1) == 0
  end
end
