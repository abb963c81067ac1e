defmodule Adit.Ops.SmallFactors do
  @moduledoc false
  # Factorisations of small real matrices that are not unique, by the steps that Nx takes: signs, and bases where values
  # are equal, come out of those steps and of no rule that could be applied afterwards. Everything is one graph.

  alias Adit.Ops.{Function, Graph, Narrow, Types}
  alias Nx.Tensor, as: T

  # What Nx takes for nothing.
  @nothing 1.0e-10

  # --- QR by reflections that make the diagonal positive; a column with nothing below the diagonal is left alone.

  def qr(a, batch, m, n, type, complete) do
    if m < n do
      wide = pad(a, batch, n - m, 0, type)
      {q, r} = reflected(wide, batch, n, n - 1, type)
      {cut(q, batch, {0, m}, {0, m}), cut(r, batch, {0, m}, {0, n})}
    else
      {q, r} = reflected(a, batch, m, if(m == n, do: n - 2, else: n - 1), type)
      if complete or m == n, do: {q, r}, else: {cut(q, batch, {0, m}, {0, n}), cut(r, batch, {0, n}, {0, n})}
    end
  end

  defp reflected(a, batch, m, last, type) do
    eye = Graph.call(:eye, [], rows: m, columns: m, type: Types.dtype(type))
    q = Graph.call(:broadcast_to, [eye], shape: batch ++ [m, m])

    {q, r} = Enum.reduce(0..last//1, {q, a}, &reflect(&1, &2, batch, m, type))
    {cleared(q, type), cleared(r, type)}
  end

  defp reflect(i, {q, r}, batch, m, type) do
    {rank, one, zero} = {length(batch), number(1, type), number(0, type)}
    rows = Graph.call(:iota, [], shape: [m, 1], type: :i32, axis: 0)
    place = Graph.number(i, {:s, 32})
    at = Graph.call(:equal, [rows, place], [])
    x = select(Graph.call(:less, [rows, place], []), zero, cut(r, batch, {0, m}, {i, 1}))
    pivot = cut(r, batch, {i, 1}, {i, 1})
    square = sum(multiply(x, x), rank)
    below = subtract(square, multiply(pivot, pivot))
    length = Graph.call(:sqrt, [square], [])

    # The pivot less the length, without cancellation.
    far = Graph.call(:negate, [divide(below, add(pivot, length))], [])
    first = select(Graph.call(:less_equal, [pivot, zero], []), subtract(pivot, length), far)
    none = Graph.call(:less, [below, number(@nothing, type)], [])
    v = divide(select(at, select(none, one, first), x), select(none, one, first))
    scale = select(none, zero, divide(number(2, type), sum(multiply(v, v), rank)))

    turned = Graph.call(:reshape, [v], shape: batch ++ [1, m])
    r = subtract(r, multiply(multiply(scale, v), sum(multiply(v, r), rank)))
    q = subtract(q, multiply(multiply(scale, turned), sum(multiply(q, turned), rank + 1)))
    {q, r}
  end

  defp cleared(ref, type) do
    none = Graph.call(:less_equal, [Graph.call(:abs, [ref], []), number(@nothing, type)], [])
    select(none, number(0, type), ref)
  end

  # --- Eigenvalues by Jacobi's rotations of pairs, all pairs of a round at once, in the order of Brent and Luk. Nx stops
  # early; rotations that come later are small and change no sign. Largest magnitudes come first.

  @sweeps 30

  def eigh(a, batch, 1, type) do
    ones = Graph.full(1, type, batch ++ [1, 1])
    {Graph.call(:reshape, [a], shape: batch ++ [1]), ones}
  end

  def eigh(a, batch, n, type) do
    half = div(n + 1, 2)
    size = 2 * half
    a = if size == n, do: a, else: pad(a, batch, 1, 1, type)
    eye = Graph.call(:eye, [], rows: size, columns: size, type: Types.dtype(type))
    v = Graph.call(:broadcast_to, [eye], shape: batch ++ [size, size])
    round = Graph.number(0, {:s, 32})
    state = [a, v, round, unfinished(a, batch, size, type)]

    templates = [
      template(batch ++ [size, size], type),
      template(batch ++ [size, size], type),
      template([], {:s, 32}),
      template(batch ++ [1, 1], {:u, 8})
    ]

    condition =
      Function.trace(templates, fn tensors ->
        [_a, _v, round, going] = Enum.map(tensors, &Graph.ref/1)
        more = Graph.call(:less, [round, Graph.number(@sweeps * n, {:s, 32})], [])
        [Graph.call(:logical_and, [more, Graph.call(:any, [going], [])], [])]
      end)

    body =
      Function.trace(templates, fn tensors ->
        [a, v, round, going] = Enum.map(tensors, &Graph.ref/1)
        {turned, vectors} = rotate(a, v, batch, half, type)
        {a, v} = {select(going, turned, a), select(going, vectors, v)}
        round = add(round, Graph.number(1, {:s, 32}))
        # A sweep has n rounds.
        inside = Graph.call(:remainder, [round, Graph.number(n, {:s, 32})], [])
        [a, v, round, select(inside, going, unfinished(a, batch, size, type))]
      end)

    [a, v, _round, _going] = Graph.call_all(:while_loop, state, condition: condition, body: body)
    values = cut_last(Graph.call(:diagonal, [a], []), batch, n)
    vectors = cut(transposed(v, batch), batch, {0, n}, {0, n})

    order = Graph.call(:argsort, [Graph.call(:abs, [values], [])], axis: -1, direction: "descending")
    values = Graph.call(:take_along_axis, [values, order], axis: -1)
    {noiseless(values, n, type), clean(along(vectors, order, batch, n), n, type)}
  end

  defp rotate(a, v, batch, half, type) do
    rank = length(batch)
    {size, one, zero} = {2 * half, number(1, type), number(0, type)}
    diagonal = Graph.call(:diagonal, [a], [])
    [tl, br] = [part(diagonal, batch, 0, half), part(diagonal, batch, half, half)]
    tr = Graph.call(:diagonal, [cut(a, batch, {0, half}, {half, half})], [])

    flat = Graph.call(:equal, [tr, zero], [])
    tau = select(flat, zero, divide(subtract(br, tl), multiply(number(2, type), select(flat, one, tr))))
    root = Graph.call(:sqrt, [add(one, multiply(tau, tau))], [])
    up = Graph.call(:greater_equal, [tau, zero], [])
    t = divide(one, add(tau, select(up, root, Graph.call(:negate, [root], []))))
    least = Graph.call(:minimum, [Graph.call(:abs, [br], []), Graph.call(:abs, [tl], [])], [])
    small = Graph.call(:less_equal, [Graph.call(:abs, [tr], []), multiply(number(epsilon(type) / 4, type), least)], [])
    t = select(small, zero, t)
    c = divide(one, Graph.call(:sqrt, [add(one, multiply(t, t))], []))
    s = multiply(t, c)
    ends = Graph.call(:concatenate, [subtract(tl, multiply(t, tr)), add(br, multiply(t, tr))], axis: rank)

    rows = &Graph.call(:reshape, [&1], shape: batch ++ [half, 1])
    columns = &Graph.call(:reshape, [&1], shape: batch ++ [1, half])
    turned = a |> pairs(batch, half, 0, rows.(c), rows.(s)) |> pairs(batch, half, 1, columns.(c), columns.(s))

    # What the rotations make exactly: the diagonal, and nothing between the two of a pair.
    i = Graph.call(:iota, [], shape: [size, size], type: :i32, axis: 0)
    j = Graph.call(:iota, [], shape: [size, size], type: :i32, axis: 1)
    apart = Graph.call(:abs, [subtract(i, j)], [])
    turned = select(Graph.call(:equal, [apart, Graph.number(half, {:s, 32})], []), zero, turned)
    turned = select(apart, turned, Graph.call(:reshape, [ends], shape: batch ++ [1, size]))

    turned = turned |> shuffled(batch, half, 0) |> shuffled(batch, half, 1)
    {turned, v |> pairs(batch, half, 0, rows.(c), rows.(s)) |> shuffled(batch, half, 0)}
  end

  # Rows (or columns) k and half + k, turned.
  defp pairs(a, batch, half, which, c, s) do
    axis = length(batch) + which
    first = lines(a, batch, half, which, 0, half)
    second = lines(a, batch, half, which, half, half)
    above = subtract(multiply(first, c), multiply(second, s))
    below = add(multiply(first, s), multiply(second, c))
    Graph.call(:concatenate, [above, below], axis: axis)
  end

  # The next pairs meet: the first line stays, the others go round.
  defp shuffled(a, _batch, 1, _which), do: a

  defp shuffled(a, batch, half, which) do
    spans = [{0, 1}, {half, 1}, {1, half - 2}, {half + 1, half - 1}, {half - 1, 1}]
    parts = for {first, count} <- spans, count > 0, do: lines(a, batch, half, which, first, count)
    Graph.call(:concatenate, parts, axis: length(batch) + which)
  end

  defp lines(a, batch, half, 0, first, count), do: cut(a, batch, {first, count}, {0, 2 * half})
  defp lines(a, batch, half, 1, first, count), do: cut(a, batch, {0, 2 * half}, {first, count})

  # Whether what is beside the diagonal is more than rounding.
  defp unfinished(a, batch, size, type) do
    rank = length(batch)
    squares = multiply(a, a)
    total = Graph.call(:sum, [squares], axes: [rank, rank + 1], keep_axes: true)
    eye = Graph.call(:eye, [], rows: size, columns: size, type: :u8)
    beside = select(eye, number(0, type), squares)
    beside = Graph.call(:sum, [beside], axes: [rank, rank + 1], keep_axes: true)
    bound = multiply(number(epsilon(type) * epsilon(type) / 4, type), total)
    Graph.call(:greater, [beside, bound], [])
  end

  # --- Singular values: those of a square matrix are the eigenvalues of its symmetric factor; others, and thin factors,
  # by way of QR and of the products of columns. The values themselves are the library's.

  def svd(a, batch, m, n, type, full) when m < n do
    {u, s, v_h} = svd(transposed(a, batch), batch, n, m, type, full)
    {transposed(v_h, batch), s, transposed(u, batch)}
  end

  def svd(a, batch, m, n, type, true) do
    {q, square, rest} =
      if m > n do
        {q, r} = qr(a, batch, m, n, type, true)
        {cut(q, batch, {0, m}, {0, n}), cut(r, batch, {0, n}, {0, n}), cut(q, batch, {0, m}, {n, m - n})}
      else
        {nil, a, nil}
      end

    [u, s, v_h] = Graph.call_all(:svd, [square], full: false)
    v = transposed(v_h, batch)
    stretch = product(multiply(v, Graph.call(:reshape, [s], shape: batch ++ [1, n])), v_h, batch)
    turn = unit_if_zero(product(u, v_h, batch), s, batch, n, type)
    {_values, v} = eigh(stretch, batch, n, type)
    u = product(turn, v, batch)
    u = if m > n, do: Graph.call(:concatenate, [product(q, u, batch), rest], axis: length(batch) + 1), else: u
    {u, noiseless(s, max(m, n), type), transposed(v, batch)}
  end

  def svd(a, batch, m, n, type, false) do
    {_values, v} = a |> transposed(batch) |> product(a, batch) |> eigh(batch, n, type)
    [_u, s, _v_h] = Graph.call_all(:svd, [a], full: false)
    s = noiseless(s, max(m, n), type)
    zero = number(0, type)
    inverse = select(s, divide(number(1, type), s), zero)
    u = multiply(product(a, v, batch), Graph.call(:reshape, [inverse], shape: batch ++ [1, n]))
    # Of zeros: the unit matrix.
    eye = Graph.call(:eye, [], rows: m, columns: n, type: Types.dtype(type))
    some = Graph.call(:any, [s], axes: [-1], keep_axes: true)
    u = select(Graph.call(:reshape, [some], shape: batch ++ [1, 1]), u, eye)
    {u, s, transposed(v, batch)}
  end

  defp unit_if_zero(turn, s, batch, n, type) do
    eye = Graph.call(:eye, [], rows: n, columns: n, type: Types.dtype(type))
    some = Graph.call(:any, [s], axes: [-1], keep_axes: true)
    select(Graph.call(:reshape, [some], shape: batch ++ [1, 1]), turn, eye)
  end

  # Values below the rounding of the largest one are 0.
  def noiseless(values, size, type) do
    sizes = Graph.call(:abs, [values], [])
    largest = Graph.call(:reduce_max, [sizes], axes: [-1], keep_axes: true)
    least = multiply(largest, number(size * epsilon(type), type))
    select(Graph.call(:less_equal, [sizes, least], []), number(0, type), values)
  end

  defp clean(vectors, n, type) do
    small = Graph.call(:less_equal, [Graph.call(:abs, [vectors], []), number(n * epsilon(type), type)], [])
    select(small, number(0, type), vectors)
  end

  defp epsilon({:f, 64}), do: 2.220446049250313e-16
  defp epsilon(_type), do: 1.1920929e-7

  # --- Pieces

  defp template(shape, type), do: %T{type: type, shape: List.to_tuple(shape), names: Enum.map(shape, fn _ -> nil end), data: nil}

  defp number(value, type), do: Graph.number(value, type)
  defp add(a, b), do: Graph.call(:add, [a, b], [])
  defp subtract(a, b), do: Graph.call(:subtract, [a, b], [])
  defp multiply(a, b), do: Graph.call(:multiply, [a, b], [])
  defp divide(a, b), do: Graph.call(:divide, [a, b], [])
  defp select(p, a, b), do: Narrow.select(p, a, b)
  defp sum(x, axis), do: Graph.call(:sum, [x], axes: [axis], keep_axes: true)

  defp product(a, b, batch) do
    rank = length(batch)
    batches = Enum.to_list(0..(rank - 1)//1)
    Graph.call(:dot, [a, b], contract_a: [rank + 1], batch_a: batches, contract_b: [rank], batch_b: batches)
  end

  defp transposed(a, batch) do
    rank = length(batch)
    Graph.call(:transpose, [a], axes: Enum.to_list(0..(rank - 1)//1) ++ [rank + 1, rank])
  end

  defp cut(a, batch, {row, rows}, {column, columns}) do
    starts = Enum.map(batch, fn _ -> 0 end) ++ [row, column]
    Graph.call(:slice, [a], starts: starts, lengths: batch ++ [rows, columns])
  end

  defp part(x, batch, first, count) do
    starts = Enum.map(batch, fn _ -> 0 end) ++ [first]
    Graph.call(:slice, [x], starts: starts, lengths: batch ++ [count])
  end

  defp cut_last(x, batch, count), do: part(x, batch, 0, count)

  defp pad(a, batch, rows, columns, type) do
    none = Enum.map(batch, fn _ -> 0 end)
    zeros = none ++ [0, 0]
    Graph.call(:pad, [a, number(0, type)], low: zeros, high: none ++ [rows, columns], interior: zeros)
  end

  defp along(vectors, order, batch, n) do
    order = Graph.call(:reshape, [order], shape: batch ++ [1, n])
    order = Graph.call(:broadcast_to, [order], shape: batch ++ [n, n])
    Graph.call(:take_along_axis, [vectors, order], axis: -1)
  end
end
