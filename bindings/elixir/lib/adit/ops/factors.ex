defmodule Adit.Ops.Factors do
  @moduledoc false
  # Factorisations in the form that Nx gives them. Signs and order are free in a factorisation, but not here: Nx derives
  # gradients from its own factors, which these must be equal to.

  import Adit.Ops.Types, only: [is_narrow: 1]
  alias Adit.Ops.{Convert, Graph, Narrow, SmallFactors, Types}

  # Up to this size factors that are not unique are made by Nx's own steps (Adit.Ops.SmallFactors). Larger ones are the
  # library's, turned as Nx's mostly are.
  @by_steps 8

  defp small?(m, n), do: m <= @by_steps and n <= @by_steps

  # Integers become the result's float; what has two bytes or less is computed in f32.
  def operand(x, type), do: Convert.ref(x, wide(type))

  def wide({kind, bits}) when kind in [:f, :bf, :f8_e4m3fn] and bits < 32, do: {:f, 32}
  def wide(type), do: type

  # A result of such an operation.
  def back(ref, type) when is_narrow(type), do: Narrow.settle(ref, type)
  def back(ref, {_, bits} = type) when bits < 32, do: Graph.call(:as_type, [ref], type: Types.dtype(type))
  def back(ref, _type), do: ref

  # Small ones element by element, as Nx does it: a pivot that is 0 gives a 0, not NaN.
  @written_out 4

  def cholesky(x, %{type: type, shape: shape}) do
    a = operand(x, type)
    rank = tuple_size(shape)
    n = elem(shape, rank - 1)

    if n <= @written_out do
      batch = shape |> Tuple.to_list() |> Enum.take(rank - 2)
      back(written_out(a, batch, n, wide(type)), type)
    else
      back(Graph.call(:cholesky, [a], []), type)
    end
  end

  defp written_out(a, batch, n, type) do
    # What is left of the number that Nx adds to pivots, and takes for 0.
    {tiny, zero} = {Graph.number(1.0e-10, type), Graph.full(0, type, batch ++ [1, 1])}

    places = for i <- 0..(n - 1), j <- 0..i, do: {i, j}

    l =
      Enum.reduce(places, %{}, fn {i, j}, l ->
        squares = for k <- 0..(j - 1)//1, do: multiply(l[{i, k}], mirrored(l[{j, k}], type))
        left = Enum.reduce(squares, element(a, batch, i, j), &Graph.call(:subtract, [&2, &1], []))

        value =
          if i == j,
            do: Graph.call(:sqrt, [left], []),
            else: Graph.call(:divide, [left, Graph.call(:add, [l[{j, j}], tiny], [])], [])

        Map.put(l, {i, j}, value)
      end)

    rows =
      for i <- 0..(n - 1) do
        elements =
          for j <- 0..(n - 1) do
            case l do
              %{{^i, ^j} => value} ->
                small = Graph.call(:less_equal, [Graph.call(:abs, [value], []), tiny], cast_real(type))
                Narrow.select(small, zero, value)

              _above ->
                zero
            end
          end

        Graph.call(:concatenate, elements, axis: length(batch) + 1)
      end

    Graph.call(:concatenate, rows, axis: length(batch))
  end

  defp cast_real({:c, bits}), do: [cast: Types.dtype({:f, div(bits, 2)})]
  defp cast_real(_type), do: []

  defp mirrored(ref, {:c, _}), do: Graph.call(:conjugate, [ref], [])
  defp mirrored(ref, _type), do: ref

  defp element(a, batch, i, j) do
    starts = Enum.map(batch, fn _ -> 0 end) ++ [i, j]
    Graph.call(:slice, [a], starts: starts, lengths: batch ++ [1, 1])
  end

  # Real matrices. Nx's reflections make the diagonal of r positive; columns that have nothing below the diagonal are
  # left alone, and so is the last one where nothing can be below it.
  def qr(x, %{type: type} = q, r, complete) do
    a = operand(x, type)
    {batch, m, n} = extents(x.shape)

    if small?(m, n) do
      {q, r} = SmallFactors.qr(a, batch, m, n, wide(type), complete)
      {back(q, type), back(r, type)}
    else
      large_qr(a, {batch, m, n}, q, r, complete)
    end
  end

  defp large_qr(a, {batch, m, n}, %{type: type, shape: q_shape}, %{shape: r_shape}, complete) do
    k = min(m, n)
    [q, r] = Graph.call_all(:qr, [a], complete: complete)
    one = Graph.number(1, wide(type))
    diagonal = sign(Graph.call(:diagonal, [r], []), one)
    given = sign(Graph.call(:diagonal, [a], []), one)
    alone = alone(a, batch, m, n, k)
    signs = Narrow.select(alone, multiply(diagonal, given), diagonal)
    {signs, parity} = if m > n, do: {signs, product(signs)}, else: last(signs, alone, batch, k)

    rows = elem(r_shape, tuple_size(r_shape) - 2)
    columns = elem(q_shape, tuple_size(q_shape) - 1)
    {of_q, of_r} = {extend(signs, parity, batch, k, columns, one), extend(signs, parity, batch, k, rows, one)}
    of_q = Graph.call(:reshape, [of_q], shape: batch ++ [1, columns])
    of_r = Graph.call(:reshape, [of_r], shape: batch ++ [rows, 1])
    {back(multiply(q, of_q), type), back(multiply(r, of_r), type)}
  end

  # 1 for each leading column that has only zeros below the diagonal.
  defp alone(a, batch, m, n, k) do
    rank = length(batch)
    rows = Graph.call(:iota, [], shape: [m, n], type: :i32, axis: 0)
    columns = Graph.call(:iota, [], shape: [m, n], type: :i32, axis: 1)
    below = Graph.call(:greater, [rows, columns], [])
    filled = Graph.call(:logical_and, [below, a], [])
    empty = Graph.call(:logical_not, [Graph.call(:any, [filled], axes: [rank])], [])
    empty = cut(empty, batch, 0, k)
    Graph.call(:cumulative_min, [empty], axis: rank)
  end

  # An even number of signs is changed: the last one makes up for the others.
  defp last(signs, alone, batch, k) do
    own = cut(signs, batch, k - 1, 1)
    before = if k == 1, do: own, else: cut(signs, batch, 0, k - 1)
    parity = if k == 1, do: own, else: product(before)
    chosen = Narrow.select(cut(alone, batch, k - 1, 1), own, parity)
    signs = if k == 1, do: chosen, else: Graph.call(:concatenate, [before, chosen], axis: length(batch))
    {signs, parity}
  end

  # Columns beyond the rank: one of them has the sign that is left.
  defp extend(signs, _parity, _batch, k, k, _one), do: signs

  defp extend(signs, parity, batch, k, count, one) do
    ones = Graph.call(:broadcast_to, [one], shape: batch ++ [count - k - 1])
    parts = if count - k == 1, do: [signs, parity], else: [signs, parity, ones]
    Graph.call(:concatenate, parts, axis: length(batch))
  end

  defp sign(ref, one) do
    below = Graph.call(:less, [ref, Graph.call(:subtract, [one, one], [])], [])
    Narrow.select(below, Graph.call(:negate, [one], []), one)
  end

  defp product(signs), do: Graph.call(:product, [signs], axes: [-1], keep_axes: true)

  defp cut(ref, batch, first, count) do
    starts = Enum.map(batch, fn _ -> 0 end) ++ [first]
    Graph.call(:slice, [ref], starts: starts, lengths: batch ++ [count])
  end

  # Largest magnitudes first; the largest part of a vector is real and positive.
  def eigh(x, %{type: type}) do
    {batch, _, n} = extents(x.shape)

    if small?(n, n) and not Types.complex?(type) do
      {values, vectors} = SmallFactors.eigh(operand(x, type), batch, n, wide(type))
      {back(values, type), back(vectors, type)}
    else
      large_eigh(x, type)
    end
  end

  defp large_eigh(x, type) do
    [values, vectors] = Graph.call_all(:eigh, [operand(x, type)], [])
    order = Graph.call(:argsort, [Graph.call(:abs, [values], [])], axis: -1, direction: "descending")
    values = Graph.call(:take_along_axis, [values, order], axis: -1)
    vectors = Graph.call(:take_along_axis, [vectors, along(order, x.shape)], axis: -1)
    values = Graph.call(:as_type, [values], type: Types.dtype(type))
    {back(values, type), back(multiply(vectors, turn(vectors, x.shape)), type)}
  end

  # The vectors of v are turned so, and those of u with them. Values below the rounding of the largest one are 0.
  def svd(x, {%{type: type}, _s, _v} = outs, full) do
    {batch, m, n} = extents(x.shape)

    if small?(m, n) do
      {u, s, v_h} = SmallFactors.svd(operand(x, type), batch, m, n, wide(type), full)
      {back(u, type), back(s, type), back(v_h, type)}
    else
      large_svd(x, {batch, m, n}, outs, full)
    end
  end

  defp large_svd(x, {batch, m, n}, {%{type: type, shape: u_shape}, _s, %{shape: v_shape}}, full) do
    rank = tuple_size(x.shape)
    k = min(m, n)
    [u, s, v_h] = Graph.call_all(:svd, [operand(x, type)], full: full)
    v = Graph.call(:transpose, [v_h], axes: Enum.to_list(0..(rank - 3)//1) ++ [rank - 1, rank - 2])
    v_rows = elem(v_shape, rank - 2)
    turns = turn(v, List.to_tuple(batch ++ [n, v_rows]))
    turns = Graph.call(:reshape, [turns], shape: batch ++ [v_rows])
    mine = fn count -> if count <= v_rows, do: cut(turns, batch, 0, count), else: nil end
    u_columns = elem(u_shape, rank - 1)

    of_u =
      if u_columns <= k do
        mine.(u_columns)
      else
        rest = Graph.call(:broadcast_to, [Graph.number(1, wide(type))], shape: batch ++ [u_columns - k])
        Graph.call(:concatenate, [mine.(k), rest], axis: rank - 2)
      end

    u = multiply(u, Graph.call(:reshape, [of_u], shape: batch ++ [1, u_columns]))
    v_h = multiply(v_h, Graph.call(:reshape, [turns], shape: batch ++ [v_rows, 1]))

    {back(u, type), back(SmallFactors.noiseless(s, max(m, n), wide(type)), type), back(v_h, type)}
  end

  # What makes the largest element of each column real and positive, in a row.
  defp turn(vectors, shape) do
    rank = tuple_size(shape)
    sizes = Graph.call(:abs, [vectors], [])
    place = Graph.call(:argmax, [sizes], axis: rank - 2, keep_axis: true)
    element = Graph.call(:take_along_axis, [vectors, place], axis: rank - 2)
    length = Graph.call(:take_along_axis, [sizes, place], axis: rank - 2)
    mirror = if complex?(element), do: Graph.call(:conjugate, [element], []), else: element
    Graph.call(:divide, [mirror, length], [])
  end

  defp complex?(ref) do
    case Adit.NIF.info(ref) do
      {:ok, {type, _shape}} -> type in [:c64, :c128]
      error -> Adit.Error.raise!(error)
    end
  end

  defp extents(shape) do
    {batch, [m, n]} = shape |> Tuple.to_list() |> Enum.split(-2)
    {batch, m, n}
  end

  # Places along the last axis, for each row of the vectors.
  defp along(order, shape) do
    extents = Tuple.to_list(shape)
    {batch, [_, n]} = Enum.split(extents, -2)
    order = Graph.call(:reshape, [order], shape: batch ++ [1, n])
    Graph.call(:broadcast_to, [order], shape: extents)
  end

  defp multiply(a, b), do: Graph.call(:multiply, [a, b], [])
end
