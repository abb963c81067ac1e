# Every operation of Nx on random tensors, on Adit.Backend and on Nx.BinaryBackend, compared by value; and gradients.
#
# ADIT_TEST_SEED chooses other numbers, ADIT_TEST_ROUNDS more of them.
Code.require_file("seeds.exs", __DIR__)

if Code.ensure_loaded?(Nx) and Code.ensure_loaded?(Nx.BinaryBackend) and function_exported?(Nx, :window_max, 3) do
  defmodule Adit.BackendTest do
    use ExUnit.Case, async: false

    @seed Adit.Seeds.seed()
    @rounds Adit.Seeds.rounds(2)

    @signed [s: 8, s: 16, s: 32, s: 64]
    @unsigned [u: 8, u: 16, u: 32, u: 64]
    @integers @signed ++ @unsigned
    @floats [f: 16, bf: 16, f: 32, f: 64]
    @complex [c: 64, c: 128]
    @real @integers ++ @floats
    @all @real ++ @complex
    @few [s: 2, s: 4, u: 2, u: 4]
    @eights [f: 8, f8_e4m3fn: 8]

    @shapes [{}, {1}, {7}, {3, 4}, {2, 3, 5}, {2, 1, 3, 2}]

    setup do
      :rand.seed(:exsss, {@seed, 1, 2})
      :ok
    end

    # --- Random tensors

    defp pick(list), do: Enum.random(list)

    # options: low, high (numbers are between them), whole (no fractions), not_zero
    defp random(shape, type, options \\ []) do
      count = Tuple.product(shape)
      numbers = for _ <- 1..count//1, do: element(type, options)
      numbers |> Nx.tensor(type: type, backend: Nx.BinaryBackend) |> Nx.reshape(shape)
    end

    defp element({:c, _}, options), do: Complex.new(element({:f, 32}, options), element({:f, 32}, options))

    defp element({kind, bits}, options) when kind in [:s, :u] do
      lowest = if kind == :u, do: 0, else: -Integer.pow(2, min(bits - 1, 30))
      highest = if kind == :u, do: Integer.pow(2, min(bits, 30)) - 1, else: Integer.pow(2, min(bits - 1, 30)) - 1
      low = max(lowest, ceil(options[:low] || -20))
      high = min(highest, floor(options[:high] || 20))
      value = low + :rand.uniform(high - low + 1) - 1
      if value == 0 and options[:not_zero], do: min(1, high), else: value
    end

    defp element({_float, bits}, options) do
      low = options[:low] || -4.0
      high = options[:high] || 4.0
      value = low + (high - low) * :rand.uniform()

      cond do
        options[:whole] -> Float.round(value)
        # Few bits, so that every type holds the numbers as they are.
        bits <= 16 -> Float.round(value * 4) / 4
        true -> value
      end
      |> then(&if(&1 == 0 and options[:not_zero], do: 0.5, else: &1))
    end

    # --- The same on both backends

    defp same(label, tensors, fun, options \\ []) do
      got =
        Nx.with_default_backend(Adit.Backend, fn ->
          fun.(Enum.map(tensors, &Nx.backend_copy(&1, Adit.Backend)))
        end)

      expected = Nx.with_default_backend(Nx.BinaryBackend, fn -> expected(fun, tensors, got) end)
      compare(label, expected, got, tensors, options)
    end

    # The backend of Nx 0.13.1 cannot join results of fewer than eight bits: there they are those of wider numbers, cut.
    defp expected(fun, tensors, got) do
      fun.(tensors)
    rescue
      error in ArgumentError ->
        unless Enum.any?(tensors, &(&1.type in @few)) and is_struct(got, Nx.Tensor), do: reraise(error, __STACKTRACE__)
        tensors |> Enum.map(&if(&1.type in @few, do: Nx.as_type(&1, :s64), else: &1)) |> fun.() |> Nx.as_type(got.type)
    end

    defp compare(label, expected, got, tensors, options) when is_tuple(expected) and not is_struct(expected) do
      assert tuple_size(expected) == tuple_size(got)

      for {e, g} <- Enum.zip(Tuple.to_list(expected), Tuple.to_list(got)), do: compare(label, e, g, tensors, options)
    end

    defp compare(label, expected, got, tensors, options) do
      assert %{__struct__: Adit.Backend} = got.data, "#{label}: the result is not on Adit.Backend"
      assert {label, expected.type, expected.shape, expected.names} == {label, got.type, got.shape, got.names}
      a = Nx.to_flat_list(Nx.backend_copy(expected, Nx.BinaryBackend))
      b = Nx.to_flat_list(Nx.backend_copy(got, Nx.BinaryBackend))
      tolerance = options[:tolerance] || tolerance(expected.type)
      scale = if options[:scaled], do: a |> Enum.map(&size/1) |> Enum.max(fn -> 0 end), else: 0

      for {{x, y}, i} <- Enum.with_index(Enum.zip(a, b)), not close?(x, y, tolerance, scale) do
        flunk("""
        #{label}, element #{i}: expected #{inspect(x)}, got #{inspect(y)}
        expected: #{inspect(expected)}
        got: #{inspect(got)}
        of: #{inspect(tensors, limit: 40)}
        """)
      end

      :ok
    end

    defp size(x) when is_number(x), do: abs(x)
    defp size(x) when is_atom(x), do: 0
    defp size(%Complex{re: re, im: im}), do: max(size(re), size(im))

    defp close?(x, x, _tolerance, _scale), do: true

    defp close?(%Complex{re: a, im: b}, %Complex{re: c, im: d}, tolerance, scale) do
      scale = Enum.max([scale, size(a), size(b)])
      close?(a, c, tolerance, scale) and close?(b, d, tolerance, scale)
    end

    defp close?(x, y, tolerance, scale) when is_number(x) and is_number(y) do
      x == y or (tolerance > 0 and abs(x - y) <= tolerance * Enum.max([abs(x), scale, 1.0e-3]))
    end

    defp close?(_x, _y, _tolerance, _scale), do: false

    # BinaryBackend cuts bf16, which is twice as far off as rounding.
    defp tolerance({kind, _}) when kind in [:s, :u], do: 0
    defp tolerance({:f, 8}), do: 0.25
    defp tolerance({:f8_e4m3fn, 8}), do: 0.125
    defp tolerance({:f, 16}), do: 4.0e-3
    defp tolerance({:bf, 16}), do: 2.0e-2
    defp tolerance({:f, 32}), do: 4.0e-6
    defp tolerance({:c, 64}), do: 4.0e-6
    defp tolerance({_, _}), do: 1.0e-12

    defp rounds(fun), do: for(_ <- 1..@rounds, do: fun.())

    # --- The behaviour

    test "has every callback" do
      callbacks = Nx.Backend.behaviour_info(:callbacks)
      missing = for {name, arity} <- callbacks, not function_exported?(Adit.Backend, name, arity), do: {name, arity}
      assert missing == []
    end

    # --- Elementwise

    @domains %{
      log: [low: 0.1, high: 9],
      log1p: [low: -0.5, high: 9],
      sqrt: [low: 0, high: 16],
      rsqrt: [low: 0.1, high: 16, not_zero: true],
      acos: [low: -1, high: 1],
      asin: [low: -1, high: 1],
      acosh: [low: 1, high: 9],
      atanh: [low: -0.75, high: 0.75],
      erf_inv: [low: -0.75, high: 0.75],
      cbrt: [low: 0, high: 8]
    }
    @math [:exp, :expm1, :log, :log1p, :sigmoid, :cos, :sin, :tan, :cosh, :sinh, :tanh, :acos, :asin, :atan, :acosh] ++
            [:asinh, :atanh, :sqrt, :rsqrt, :cbrt, :erf, :erfc, :erf_inv]

    for op <- @math do
      test "#{op}", do: math(unquote(op))
    end

    defp math(op) do
      domain = Map.get(@domains, op, low: -3, high: 3)

      for type <- @real, shape <- [pick(@shapes)] do
        tolerance = if type == {:f, 64}, do: exact(op), else: max(tolerance(type), 4.0e-6)
        x = random(shape, type, domain)
        same("#{op} #{inspect(type)}", [x], fn [x] -> apply(Nx, op, [x]) end, tolerance: tolerance)
      end

      for type <- @complex, op not in [:erf, :erfc, :erf_inv] do
        # Away from the cuts.
        x = random({5}, type, low: 0.2, high: 0.7)
        tolerance = if type == {:c, 64}, do: 1.0e-5, else: 1.0e-12
        same("#{op} #{inspect(type)}", [x], fn [x] -> apply(Nx, op, [x]) end, tolerance: tolerance)
      end
    end

    # BinaryBackend's erf_inv has seven digits in any type.
    defp exact(:erf_inv), do: 2.0e-7
    defp exact(_op), do: 1.0e-12

    test "erf_inv is the inverse of erf, to all digits" do
      x = Nx.backend_copy(random({50}, {:f, 64}, low: -2, high: 2), Adit.Backend)
      compare("erf_inv", x, Nx.erf_inv(Nx.erf(x)), [x], tolerance: 1.0e-12)
    end

    for op <- [:abs, :negate, :sign, :is_nan, :is_infinity] do
      test "#{op}" do
        for type <- @real ++ @few, shape <- @shapes do
          same("#{unquote(op)} #{inspect(type)}", [random(shape, type)], fn [x] -> apply(Nx, unquote(op), [x]) end)
        end
      end
    end

    test "abs, negate, conjugate, real, imag, phase, is_nan of complex numbers" do
      for op <- [:abs, :negate, :conjugate, :real, :imag, :phase, :is_nan, :is_infinity], type <- @complex do
        same("#{op} #{inspect(type)}", [random({6}, type)], fn [x] -> apply(Nx, op, [x]) end)
      end

      for type <- @real, do: same("conjugate", [random({4}, type)], fn [x] -> Nx.conjugate(x) end)
      for type <- @real -- [bf: 16, f: 16], do: same("phase", [random({4}, type)], fn [x] -> Nx.phase(x) end)
    end

    test "floor, ceil, round" do
      for op <- [:floor, :ceil, :round], type <- @floats do
        x = random({40}, type, low: -5, high: 5)
        same("#{op} #{inspect(type)}", [x], fn [x] -> apply(Nx, op, [x]) end)
        halves = Nx.tensor([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5], type: type, backend: Nx.BinaryBackend)
        same("#{op} #{inspect(type)}", [halves], fn [x] -> apply(Nx, op, [x]) end)
      end
    end

    test "numbers that are not finite" do
      for type <- [f: 32, f: 64, f: 16, bf: 16] do
        x = Nx.tensor([:nan, :infinity, :neg_infinity, 0.0, -1.5, 2.0], type: type, backend: Nx.BinaryBackend)
        y = Nx.tensor([1.0, :nan, 2.0, :neg_infinity, :infinity, 0.5], type: type, backend: Nx.BinaryBackend)

        for op <- [:is_nan, :is_infinity, :negate, :abs], do: same("#{op}", [x], fn [x] -> apply(Nx, op, [x]) end)

        for op <- [:equal, :not_equal, :less, :less_equal, :greater, :greater_equal, :min, :max, :logical_and] do
          same("#{op}", [x, y], fn [x, y] -> apply(Nx, op, [x, y]) end)
        end

        for op <- [:reduce_max, :reduce_min, :argmax, :argmin, :all, :any] do
          same("#{op}", [x], fn [x] -> apply(Nx, op, [x]) end)
        end

        same("clip", [x], fn [x] -> Nx.clip(x, -1.0, 1.0) end)
        for d <- [:asc, :desc], do: same("sort", [x], fn [x] -> Nx.sort(x, direction: d) end)
        for d <- [:asc, :desc], do: same("argsort", [x], fn [x] -> Nx.argsort(x, direction: d, stable: true) end)

        for to <- @signed ++ [u: 8, u: 32] do
          finite = Nx.tensor([:nan, :infinity, :neg_infinity, 300.7, -1.5, -70_000.0, 3.0e9], type: {:f, 64}, backend: Nx.BinaryBackend)
          same("as_type #{inspect(to)}", [finite], fn [x] -> Nx.as_type(x, to) end)
        end
      end
    end

    test "bits" do
      for op <- [:bitwise_not, :population_count, :count_leading_zeros], type <- @integers do
        same("#{op} #{inspect(type)}", [random({20}, type)], fn [x] -> apply(Nx, op, [x]) end)
      end

      for op <- [:bitwise_not, :population_count], type <- @few do
        same("#{op} #{inspect(type)}", [random({20}, type)], fn [x] -> apply(Nx, op, [x]) end)
      end

      for op <- [:bitwise_and, :bitwise_or, :bitwise_xor], a <- @integers ++ @few, b <- [pick(@integers)] do
        same("#{op}", [random({3, 1}, a), random({4}, b)], fn [x, y] -> apply(Nx, op, [x, y]) end)
      end

      for op <- [:left_shift, :right_shift], type <- @integers ++ @few do
        same("#{op}", [random({9}, type), random({9}, type, low: 0, high: 9)], fn [x, y] -> apply(Nx, op, [x, y]) end)
        same("#{op}", [random({9}, type)], fn [x] -> apply(Nx, op, [x, 3]) end)
      end
    end

    @broadcasts [{{}, {}}, {{3}, {}}, {{}, {2, 3}}, {{4, 1}, {3}}, {{2, 3}, {2, 3}}, {{2, 1, 3}, {1, 4, 1}}]

    for op <- [:add, :subtract, :multiply] do
      test "#{op}" do
        for a <- @all ++ @few ++ @eights, b <- [a, pick(@all)] do
          {s, t} = pick(@broadcasts)

          same("#{unquote(op)} #{inspect({a, b})}", [random(s, a), random(t, b)], fn [x, y] ->
            apply(Nx, unquote(op), [x, y])
          end, scaled: true)
        end

        for type <- @real do
          same("number", [random({5}, type)], fn [x] -> apply(Nx, unquote(op), [x, 3]) end)
          same("number", [random({5}, type)], fn [x] -> apply(Nx, unquote(op), [2.5, x]) end, scaled: true)
        end
      end
    end

    test "divide, atan2" do
      for a <- @all, b <- [a, pick(@all)], {s, t} <- [pick(@broadcasts)] do
        tensors = [random(s, a), random(t, b, low: 1, high: 5)]
        same("divide #{inspect({a, b})}", tensors, fn [x, y] -> Nx.divide(x, y) end, scaled: true)
      end

      for a <- @real, b <- [a, pick(@real)], {s, t} <- [pick(@broadcasts)] do
        tensors = [random(s, a), random(t, b, low: 1, high: 5)]
        same("atan2 #{inspect({a, b})}", tensors, fn [x, y] -> Nx.atan2(x, y) end)
      end
    end

    test "quotient, remainder, min, max" do
      for op <- [:quotient, :remainder, :min, :max], a <- @integers ++ @few, b <- [a, pick(@integers)] do
        {s, t} = pick(@broadcasts)
        tensors = [random(s, a), random(t, b, not_zero: true)]
        same("#{op} #{inspect({a, b})}", tensors, fn [x, y] -> apply(Nx, op, [x, y]) end)
      end

      for op <- [:remainder, :min, :max], a <- @floats, b <- [a, pick(@real)] do
        tensors = [random({6}, a), random({6}, b, low: 1, high: 3)]
        same("#{op} #{inspect({a, b})}", tensors, fn [x, y] -> apply(Nx, op, [x, y]) end, scaled: true)
      end
    end

    test "pow" do
      for type <- @integers ++ @few do
        same("pow #{inspect(type)}", [random({8}, type), random({8}, type, low: 0, high: 6)], fn [x, y] -> Nx.pow(x, y) end)
        same("pow #{inspect(type)}", [random({8}, type)], fn [x] -> Nx.pow(x, 3) end)
      end

      for type <- @floats do
        tensors = [random({8}, type, low: 0.5, high: 3), random({8}, type, low: -2, high: 2)]
        same("pow #{inspect(type)}", tensors, fn [x, y] -> Nx.pow(x, y) end)
      end

      for type <- @complex do
        tensors = [random({8}, type, low: 0.5, high: 2), random({8}, type, low: 0.5, high: 2)]
        same("pow #{inspect(type)}", tensors, fn [x, y] -> Nx.pow(x, y) end, tolerance: if(type == {:c, 64}, do: 2.0e-5, else: 1.0e-11))
      end
    end

    test "comparisons and truth" do
      for op <- [:equal, :not_equal, :greater, :less, :greater_equal, :less_equal], a <- @real ++ @few, b <- [a, pick(@real)] do
        {s, t} = pick(@broadcasts)
        tensors = [random(s, a, low: -2, high: 2, whole: true), random(t, b, low: -2, high: 2, whole: true)]
        same("#{op} #{inspect({a, b})}", tensors, fn [x, y] -> apply(Nx, op, [x, y]) end)
      end

      for op <- [:logical_and, :logical_or, :logical_xor, :equal, :not_equal], a <- @all, b <- [pick(@all)] do
        tensors = [random({12}, a, low: -1, high: 1, whole: true), random({12}, b, low: -1, high: 1, whole: true)]
        same("#{op}", tensors, fn [x, y] -> apply(Nx, op, [x, y]) end)
      end

      for a <- @all, do: same("logical_not", [random({12}, a, low: -1, high: 1, whole: true)], fn [x] -> Nx.logical_not(x) end)
    end

    test "select, clip" do
      for a <- @all, b <- [pick(@all)], p <- [pick(@integers)] do
        tensors = [random({2, 3}, p, low: 0, high: 1), random({2, 3}, a), random({3}, b)]
        same("select", tensors, fn [p, x, y] -> Nx.select(p, x, y) end)
        same("select", tensors, fn [_, x, y] -> Nx.select(1, x, y) end)
        same("select", tensors, fn [p, x, _] -> Nx.select(p, x, 0) end)
      end

      for type <- @real ++ @few, do: same("clip", [random({3, 4}, type)], fn [x] -> Nx.clip(x, 1, 3) end)
      for type <- @floats, do: same("clip", [random({3, 4}, type)], fn [x] -> Nx.clip(x, -1.5, 0.5) end)
    end

    # --- Types

    test "as_type" do
      for from <- @all ++ @few ++ @eights, to <- @real ++ @complex ++ @few ++ @eights do
        # BinaryBackend has no rule for complex to integers of a few bits and the like: stay with what it takes.
        low = if match?({:u, _}, to), do: 0, else: -7
        same("as_type #{inspect({from, to})}", [random({9}, from, low: low, high: 7)], fn [x] -> Nx.as_type(x, to) end)
      end

      for to <- @integers, from <- [s: 64, s: 32, f: 64] do
        x = random({30}, from, low: -100_000, high: 100_000)
        same("as_type #{inspect({from, to})}", [x], fn [x] -> Nx.as_type(x, to) end)
      end
    end

    test "bitcast" do
      for group <- [[s: 8, u: 8], [s: 16, u: 16, f: 16, bf: 16], [s: 32, u: 32, f: 32], [s: 64, u: 64, f: 64]],
          from <- group,
          to <- group do
        same("bitcast #{inspect({from, to})}", [random({9}, from, low: 1, high: 20)], fn [x] -> Nx.bitcast(x, to) end)
      end

      for group <- [[s: 2, u: 2], [s: 4, u: 4]], from <- group, to <- group do
        same("bitcast #{inspect({from, to})}", [random({8}, from)], fn [x] -> Nx.bitcast(x, to) end)
      end

      # All patterns of 8 bits but those that Nx reads in its own way: below 2^-14 in f8.
      bytes = Nx.tensor(Enum.to_list(0..255), type: :u8, backend: Nx.BinaryBackend)

      for to <- @eights do
        cast = Nx.bitcast(Nx.backend_copy(bytes, Adit.Backend), to)
        uploaded = Nx.from_binary(Nx.to_binary(bytes), to, backend: Adit.Backend)
        numbers = Nx.logical_not(Nx.is_nan(cast))
        only = fn x -> Nx.to_binary(Nx.select(numbers, x, 0)) end
        assert only.(Nx.bitcast(uploaded, :u8)) == only.(Nx.bitcast(cast, :u8))
        assert Nx.to_flat_list(Nx.is_nan(uploaded)) == Nx.to_flat_list(Nx.is_nan(cast))

        for {i, back} <- Enum.with_index(Nx.to_flat_list(Nx.bitcast(cast, :u8))) |> Enum.map(fn {b, i} -> {i, b} end) do
          nan = if to == {:f, 8}, do: Bitwise.band(i, 0x7C) == 0x7C and Bitwise.band(i, 3) != 0, else: Bitwise.band(i, 0x7F) == 0x7F
          assert nan or back == i
        end

      end
    end

    test "floats of 8 bits are rounded as Nx rounds" do
      numbers = for _ <- 1..400, do: (:rand.uniform() - 0.5) * :math.pow(2, :rand.uniform(20) - 12)
      x = Nx.tensor(numbers ++ [0.0, 448.0, 460.0, -1.0e4], type: :f32, backend: Nx.BinaryBackend)

      for to <- @eights do
        expected = Nx.to_binary(Nx.as_type(x, to))
        got = Nx.to_binary(Nx.as_type(Nx.backend_copy(x, Adit.Backend), to))
        assert expected == got
      end
    end

    # --- Tensors of numbers

    test "constant, iota, eye" do
      for type <- @all ++ @few ++ @eights, shape <- @shapes do
        # BinaryBackend cannot broadcast numbers of less than a byte.
        if type not in @few, do: same("constant", [], fn [] -> Nx.broadcast(Nx.tensor(1, type: type), shape) end)
        same("iota", [], fn [] -> Nx.iota(shape, type: type) end) |> then(fn _ -> :ok end)

        if tuple_size(shape) > 0 do
          axis = pick(Enum.to_list(0..(tuple_size(shape) - 1)))
          same("iota", [], fn [] -> Nx.iota(shape, type: type, axis: axis) end)
        end
      end

      for type <- @all ++ @few, shape <- [{3, 3}, {2, 4}, {2, 3, 2}, {2, 2, 3, 3}] do
        same("eye", [], fn [] -> Nx.eye(shape, type: type) end)
      end

      same("constant", [], fn [] -> Nx.tensor(18_446_744_073_709_551_615, type: :u64) end)
      same("constant", [], fn [] -> Nx.tensor(-9_223_372_036_854_775_808, type: :s64) end)
      for v <- [:nan, :infinity, :neg_infinity], t <- @floats, do: same("constant", [], fn [] -> Nx.tensor(v, type: t) end)
      same("constant", [], fn [] -> Nx.tensor(Complex.new(1, -2)) end)
    end

    test "binaries come back as they went" do
      for type <- @all ++ @few ++ @eights, count <- [1, 5, 8, 64] do
        {_, bits} = type
        whole = count * bits
        # Few bits are set, so that no float is NaN, whose bits may change.
        data = for _ <- 1..whole, into: <<>>, do: <<if(:rand.uniform(6) == 1, do: 1, else: 0)::1>>
        tensor = Adit.Backend.from_binary(Nx.template({count}, type), data, [])
        exponents = type in [{:f, 16}, {:bf, 16}]
        if not exponents and type not in @eights, do: assert(Nx.to_binary(tensor) == data)
        part = div(count, 2)
        size = part * bits
        got = Nx.to_binary(tensor, limit: part)
        assert bit_size(got) == size
      end
    end

    # --- Shapes

    test "reshape, squeeze, new_axis, broadcast, transpose, reverse" do
      rounds(fn ->
        for type <- @all ++ @few do
          x = random({2, 3, 4}, type)
          same("reshape", [x], fn [x] -> Nx.reshape(x, {6, 4}) end)
          same("squeeze", [random({2, 1, 3, 1}, type)], fn [x] -> Nx.squeeze(x, axes: [1]) end)
          same("new_axis", [x], fn [x] -> Nx.new_axis(x, 1) end)
          same("broadcast", [random({3, 1}, type)], fn [x] -> Nx.broadcast(x, {2, 3, 4}) end)
          same("broadcast", [random({3}, type)], fn [x] -> Nx.broadcast(x, {2, 3, 4}, axes: [1]) end)
          axes = Enum.shuffle([0, 1, 2])
          same("transpose", [x], fn [x] -> Nx.transpose(x, axes: axes) end)
          axes = Enum.take_random([0, 1, 2], 2)
          same("reverse", [x], fn [x] -> Nx.reverse(x, axes: axes) end)
          same("tile", [x], fn [x] -> Nx.tile(x, [2, 1, 2]) end)
        end
      end)
    end

    test "pad" do
      for type <- @all do
        config = for _ <- 1..3, do: {pick([-1, 0, 1, 2]), pick([-1, 0, 2]), pick([0, 0, 1, 2])}
        same("pad #{inspect(config)}", [random({3, 4, 5}, type)], fn [x] -> Nx.pad(x, Nx.tensor(2, type: type), config) end)
      end
    end

    test "concatenate, stack, to_batched" do
      for a <- @all ++ @few, b <- [a, pick(@all)], axis <- 0..2 do
        shapes = [{2, 3, 4}, put_elem({2, 3, 4}, axis, 2)]
        tensors = Enum.zip_with(shapes, [a, b], &random/2)
        same("concatenate", tensors, fn parts -> Nx.concatenate(parts, axis: axis) end)
        same("stack", [random({2, 3}, a), random({2, 3}, b)], fn parts -> Nx.stack(parts, axis: axis) end)
      end

      for leftover <- [:repeat, :discard], type <- [s: 32, f: 32, s: 4] do
        same("to_batched", [random({7, 2}, type)], fn [x] ->
          x |> Nx.to_batched(3, leftover: leftover) |> Enum.to_list() |> List.to_tuple()
        end)
      end
    end

    test "slice, put_slice" do
      rounds(fn ->
        for type <- @all ++ @few do
          x = random({5, 6}, type)
          starts = [pick(0..4), pick(0..5)]
          lengths = [pick(1..5), pick(1..6)]
          strides = [pick(1..2), pick(1..3)]
          same("slice", [x], fn [x] -> Nx.slice(x, starts, lengths, strides: strides) end)

          same("slice", [x], fn [x] ->
            Nx.slice(x, [Nx.tensor(hd(starts)), List.last(starts)], lengths, strides: strides)
          end)

          piece = random({2, 3}, type)
          same("put_slice", [x, piece], fn [x, p] -> Nx.put_slice(x, starts, p) end)
          same("put_slice", [x, piece], fn [x, p] -> Nx.put_slice(x, [Nx.tensor(9), Nx.tensor(hd(starts), type: :u8)], p) end)
        end
      end)
    end

    # --- Places

    test "gather, take, take_along_axis, indexed_add, indexed_put" do
      rounds(fn ->
        for type <- @all ++ @few, itype <- [pick(@integers)] do
          x = random({3, 4, 2}, type)
          places = random({5, 2}, itype, low: 0, high: 2)
          ones = random({5, 1}, itype, low: 0, high: 2)
          thirds = random({2, 3}, itype, low: 0, high: 1)
          along = random({3, 6, 2}, itype, low: 0, high: 3)
          same("gather", [x, places], fn [x, i] -> Nx.gather(x, i) end)
          same("gather", [x, ones], fn [x, i] -> Nx.gather(x, i, axes: [1]) end)
          same("gather", [x, random({5, 2}, itype, low: 0, high: 1)], fn [x, i] -> Nx.gather(x, i, axes: [0, 2]) end)
          same("take", [x, thirds], fn [x, i] -> Nx.take(x, i, axis: 2) end)
          same("take", [x, thirds], fn [x, i] -> Nx.take(x, i, axis: 0) end)
          same("take_along_axis", [x, along], fn [x, i] -> Nx.take_along_axis(x, i, axis: 1) end)

          for op <- [:indexed_add, :indexed_put] do
            same("#{op}", [x, places, random({5, 2}, type)], fn [x, i, u] -> apply(Nx, op, [x, i, u]) end, scaled: true)
            same("#{op}", [x, ones, random({5, 3, 2}, pick([type, {:f, 32}]))], fn [x, i, u] -> apply(Nx, op, [x, i, u, [axes: [1]]]) end, scaled: true)
          end
        end
      end)
    end

    test "what is known on the host is checked" do
      Nx.with_default_backend(Adit.Backend, fn ->
        x = Nx.tensor([[1, 2], [3, 4]])

        for op <- [&Nx.gather/2, &Nx.indexed_add(&1, &2, Nx.tensor([1])), &Nx.indexed_put(&1, &2, Nx.tensor([1]))] do
          assert_raise ArgumentError, ~r/index 3 is out of bounds for axis 0/, fn -> op.(x, Nx.tensor([[3, 0]])) end
        end

        assert_raise ArgumentError, ~r/cannot left shift by -1/, fn -> Nx.left_shift(x, -1) end
      end)
    end

    # --- Reductions

    @reductions [:sum, :product, :reduce_max, :reduce_min, :all, :any]

    for op <- @reductions do
      test "#{op}" do
        types = if unquote(op) in [:reduce_max, :reduce_min], do: @real ++ @few, else: @all ++ @few

        for type <- types, shape <- [{5}, {3, 4}, {2, 3, 4}] do
          x = random(shape, type, low: -2, high: 2)
          axes = Enum.take_random(Enum.to_list(0..(tuple_size(shape) - 1)), pick(1..tuple_size(shape)))

          for options <- [[], [axes: axes], [axes: axes, keep_axes: true], [keep_axes: true]] do
            same("#{unquote(op)} #{inspect({type, options})}", [x], fn [x] -> apply(Nx, unquote(op), [x, options]) end, scaled: true, tolerance: sums(type))
          end
        end
      end
    end

    # Sums of many, in another order.
    defp sums({kind, _}) when kind in [:s, :u], do: 0
    defp sums({:f, 32}), do: 2.0e-5
    defp sums({:c, 64}), do: 2.0e-5
    defp sums({:f, 64}), do: 1.0e-12
    defp sums({:c, 128}), do: 1.0e-12
    defp sums(type), do: 4 * tolerance(type)

    test "argmax, argmin" do
      for op <- [:argmax, :argmin], type <- @real ++ @few, tie <- [:low, :high] do
        x = random({3, 4, 5}, type, low: -2, high: 2, whole: true)

        for options <- [[], [axis: pick(0..2)], [axis: pick(0..2), keep_axis: true, type: pick(@integers)]] do
          same("#{op}", [x], fn [x] -> apply(Nx, op, [x, [tie_break: tie] ++ options]) end)
        end
      end
    end

    test "reduce, window_reduce" do
      for type <- @real ++ @few do
        x = random({3, 4}, type, low: 0, high: 3)
        acc = Nx.tensor(1, type: type, backend: Nx.BinaryBackend)

        for options <- [[], [axes: [0]], [axes: [1], keep_axes: true]] do
          same("reduce #{inspect(type)}", [x, acc], fn [x, acc] ->
            Nx.reduce(x, acc, options, fn a, b -> Nx.as_type(Nx.subtract(Nx.multiply(a, 2), b), type) end)
          end, scaled: true, tolerance: 4 * tolerance(type))
        end

        # BinaryBackend gives the function numbers, whose type it cannot know: they are computed with in f32.
        options = if type == {:f, 64}, do: [tolerance: 1.0e-7], else: []

        same("window_reduce #{inspect(type)}", [x, acc], fn [x, acc] ->
          Nx.window_reduce(x, acc, {2, 2}, [padding: :same, strides: [1, 2]], fn a, b ->
            Nx.as_type(Nx.max(a, b), type)
          end)
        end, options)
      end
    end

    test "reduce captures tensors and chooses" do
      same("reduce", [random({6}, {:f, 32}), random({}, {:f, 32})], fn [x, c] ->
        Nx.reduce(x, 0.0, fn a, b -> Nx.select(Nx.greater(a, c), Nx.add(a, b), b) end)
      end)
    end

    test "cumulative" do
      for op <- [:cumulative_sum, :cumulative_product, :cumulative_min, :cumulative_max], type <- @real ++ @few do
        x = random({4, 5}, type, low: -2, high: 2)

        for axis <- 0..1, reverse <- [false, true] do
          same("#{op} #{inspect(type)}", [x], fn [x] -> apply(Nx, op, [x, [axis: axis, reverse: reverse]]) end, scaled: true, tolerance: sums(type))
        end
      end

      for op <- [:cumulative_sum, :cumulative_product], type <- @complex do
        same("#{op}", [random({5}, type)], fn [x] -> apply(Nx, op, [x]) end, scaled: true, tolerance: sums(type))
      end
    end

    # --- Windows

    for op <- [:window_sum, :window_product, :window_max, :window_min] do
      test "#{op}" do
        types = if unquote(op) in [:window_max, :window_min], do: @real ++ @few ++ @eights, else: @all ++ @few

        for type <- types do
          x = random({5, 6}, type, low: -2, high: 2)
          window = {pick(1..3), pick(1..3)}

          for options <- [[], [strides: [pick(1..2), pick(1..3)]], [padding: :same], [padding: [{1, 2}, {0, 1}], window_dilations: [2, 1]]] do
            same("#{unquote(op)} #{inspect({type, window, options})}", [x], fn [x] -> apply(Nx, unquote(op), [x, window, options]) end, scaled: true, tolerance: sums(type))
          end
        end
      end
    end

    test "window_scatter_max, window_scatter_min" do
      for op <- [:window_scatter_max, :window_scatter_min], type <- @real do
        x = random({4, 6}, type, low: -2, high: 2)
        source = random({2, 2}, type)
        # BinaryBackend adds up in f32.
        options = [scaled: true, tolerance: max(tolerance(type), if(match?({k, _} when k in [:s, :u], type), do: 0, else: 1.0e-6))]
        same("#{op}", [x, source], fn [x, s] -> apply(Nx, op, [x, s, 0, {2, 3}, [strides: [2, 3]]]) end, options)
        over = random({3, 3}, type)
        same("#{op}", [x, over], fn [x, s] -> apply(Nx, op, [x, s, 0, {2, 2}, [strides: [1, 2]]]) end, options)
        same("#{op}", [x, random({4, 3}, type)], fn [x, s] -> apply(Nx, op, [x, s, 0, {2, 2}, [padding: :same, strides: [1, 2]]]) end, options)
      end
    end

    test "conv" do
      for type <- @all, rank <- 1..2 do
        spatial = Enum.take([6, 5], rank)
        window = Enum.take([3, 2], rank)

        for {groups, batch_groups} <- [{1, 1}, {2, 1}, {1, 2}] do
          x = random(List.to_tuple([2, 4 | spatial]), type, low: -2, high: 2)
          k = random(List.to_tuple([4, div(4, groups) | window]), type, low: -2, high: 2)

          options = [
            strides: Enum.map(spatial, fn _ -> pick(1..2) end),
            padding: pick([:same, :valid, Enum.map(spatial, fn _ -> {pick(0..2), pick(0..2)} end)]),
            input_dilation: Enum.map(spatial, fn _ -> pick(1..2) end),
            kernel_dilation: Enum.map(spatial, fn _ -> pick(1..2) end),
            feature_group_size: groups,
            batch_group_size: batch_groups
          ]

          same("conv #{inspect({type, options})}", [x, k], fn [x, k] -> Nx.conv(x, k, options) end, scaled: true, tolerance: sums(type))
        end
      end

      for _ <- 1..6 do
        {input, kernel, output} = {Enum.shuffle([0, 1, 2, 3]), Enum.shuffle([0, 1, 2, 3]), Enum.shuffle([0, 1, 2, 3])}
        place = fn sizes, permutation -> Enum.zip(permutation, sizes) |> Enum.sort() |> Enum.map(&elem(&1, 1)) |> List.to_tuple() end
        x = random(place.([2, 3, 5, 4], input), {:f, 32})
        k = random(place.([4, 3, 2, 3], kernel), {:f, 32})
        options = [input_permutation: input, kernel_permutation: kernel, output_permutation: output, padding: [{1, 0}, {0, 1}]]
        same("conv #{inspect(options)}", [x, k], fn [x, k] -> Nx.conv(x, k, options) end, scaled: true, tolerance: 2.0e-5)
      end
    end

    # --- Order

    test "sort, argsort, top_k" do
      for type <- @real ++ @few ++ @eights, axis <- 0..2, direction <- [:asc, :desc] do
        x = random({3, 4, 5}, type, low: -3, high: 3, whole: true)
        same("sort", [x], fn [x] -> Nx.sort(x, axis: axis, direction: direction) end)
        same("argsort", [x], fn [x] -> Nx.argsort(x, axis: axis, direction: direction, stable: true) end)
        same("argsort", [x], fn [x] -> Nx.argsort(x, axis: axis, type: :u8) end)
      end

      for type <- @real, do: same("top_k", [random({3, 6}, type)], fn [x] -> Nx.top_k(x, k: 3) end)
    end

    # --- Products, systems, transforms

    test "dot" do
      for a <- @all ++ @few, b <- [a, pick(@all)] do
        options = [scaled: true, tolerance: sums(Nx.Type.merge(a, b))]
        same("dot", [random({3, 4}, a), random({4, 2}, b)], fn [x, y] -> Nx.dot(x, y) end, options)
        same("dot", [random({4}, a), random({4}, b)], fn [x, y] -> Nx.dot(x, y) end, options)
        same("dot", [random({}, a), random({4}, b)], fn [x, y] -> Nx.dot(x, y) end, options)
        batches = [random({2, 3, 4}, a), random({2, 4, 5}, b)]
        same("dot", batches, fn [x, y] -> Nx.dot(x, [2], [0], y, [1], [0]) end, options)
        same("dot", [random({3, 4, 2}, a), random({2, 5, 3}, b)], fn [x, y] -> Nx.dot(x, [2, 0], y, [0, 2]) end, options)
      end
    end

    test "triangular_solve" do
      for type <- [f: 32, f: 64, c: 64, c: 128, s: 32], lower <- [true, false], left <- [true, false], transform <- [:none, :transpose] do
        shift = Nx.multiply(Nx.eye(4, type: type, backend: Nx.BinaryBackend), 6)
        a = random({2, 4, 4}, type, low: -1, high: 1)
        a = Nx.add(if(lower, do: Nx.tril(a), else: Nx.triu(a)), shift)
        b = random({2, 4, 4}, type)
        options = [lower: lower, left_side: left, transform_a: transform]
        same("triangular_solve", [a, b], fn [a, b] -> Nx.LinAlg.triangular_solve(a, b, options) end, scaled: true, tolerance: systems(type))
        same("triangular_solve", [a[0], b[0][0]], fn [a, b] -> Nx.LinAlg.triangular_solve(a, b, options) end, scaled: true, tolerance: systems(type))
      end
    end

    defp systems({:f, 64}), do: 1.0e-10
    defp systems({:c, 128}), do: 1.0e-10
    defp systems(_type), do: 1.0e-4

    test "solve, cholesky, determinant, lu" do
      for type <- [f: 32, f: 64, c: 64, s: 32], n <- [2, 3, 5] do
        a = Nx.add(random({2, n, n}, type, low: -1, high: 1), Nx.multiply(Nx.eye(n, type: type, backend: Nx.BinaryBackend), 5))
        b = random({2, n, 3}, type)
        same("solve", [a, b], fn [a, b] -> Nx.LinAlg.solve(a, b) end, scaled: true, tolerance: systems(type))
        same("solve", [a[0], b[0][[.., 0]]], fn [a, b] -> Nx.LinAlg.solve(a, b) end, scaled: true, tolerance: systems(type))
        same("determinant", [a], fn [a] -> Nx.LinAlg.determinant(a) end, scaled: true, tolerance: systems(type))

        if type != {:c, 64} do
          same("lu", [a], fn [a] -> Nx.LinAlg.lu(a) end, scaled: true, tolerance: systems(type))
          square = Nx.dot(a, [2], [0], a, [2], [0])
          same("cholesky", [square], fn [a] -> Nx.LinAlg.cholesky(a) end, scaled: true, tolerance: systems(type))
        end
      end
    end

    # Signs of columns are free: what they are factors of is compared.
    test "qr, eigh, svd" do
      for type <- [f: 32, f: 64], {m, n} <- [{4, 4}, {5, 3}, {3, 5}, {10, 10}, {12, 9}, {9, 11}] do
        a = random({2, m, n}, type)

        for mode <- [:reduced, :complete], mode == :complete or m >= n do
          same("qr", [a], fn [a] ->
            {q, r} = Nx.LinAlg.qr(a, mode: mode)
            {Nx.dot(q, [2], [0], r, [1], [0]), Nx.dot(q, [1], [0], q, [1], [0]), Nx.abs(r)}
          end, scaled: true, tolerance: systems(type))
        end

        # BinaryBackend has four digits here: the product is compared with the matrix.
        {u, s, vt} = Nx.LinAlg.svd(Nx.backend_copy(a, Adit.Backend), full_matrices?: false)
        product = Nx.dot(Nx.multiply(u, Nx.new_axis(s, 1)), [2], [0], vt, [1], [0])
        compare("svd", a, product, [a], scaled: true, tolerance: systems(type))

        {u, s, vt} = Nx.LinAlg.svd(Nx.backend_copy(a, Adit.Backend))
        assert {Nx.shape(u), Nx.shape(s), Nx.shape(vt)} == {{2, m, m}, {2, min(m, n)}, {2, n, n}}
        k = min(m, n)
        thin = Nx.multiply(u[[.., .., 0..(k - 1)]], Nx.new_axis(s, 1))
        compare("svd", a, Nx.dot(thin, [2], [0], vt[[.., 0..(k - 1)]], [1], [0]), [a], scaled: true, tolerance: systems(type))
      end

      # One that is symmetric: values by magnitude, and vectors that belong to them.
      for type <- [f: 32, f: 64], n <- [1, 2, 3, 4, 7, 8, 12] do
        a = random({2, n, n}, type)
        symmetric = Nx.add(a, Nx.transpose(a, axes: [0, 2, 1]))

        x = Nx.backend_copy(symmetric, Adit.Backend)
        {values, vectors} = Nx.LinAlg.eigh(x)
        back = Nx.dot(Nx.multiply(vectors, Nx.new_axis(values, 1)), [2], [0], vectors, [2], [0])
        compare("eigh", symmetric, back, [symmetric], scaled: true, tolerance: systems(type))
        sizes = Nx.abs(values)
        compare("eigh", Nx.sort(sizes, axis: 1, direction: :desc), sizes, [symmetric], [])
      end
    end

    test "small factors have the signs that Nx gives them" do
      for type <- [f: 32], {m, n} <- [{2, 2}, {3, 3}, {5, 5}, {5, 3}, {3, 5}] do
        a = random({m, n}, type)
        options = [scaled: true, tolerance: 2.0e-3]
        for mode <- [:reduced, :complete], do: same("qr", [a], fn [a] -> Nx.LinAlg.qr(a, mode: mode) end, options)
        for full <- [true, false], do: same("svd", [a], fn [a] -> Nx.LinAlg.svd(a, full_matrices?: full) end, options)
        if m == n, do: same("eigh", [Nx.add(a, Nx.transpose(a))], fn [a] -> Nx.LinAlg.eigh(a) end, options)
      end
    end

    test "all_close" do
      for type <- @real ++ @complex do
        x = random({5}, type)
        same("all_close", [x], fn [x] -> Nx.all_close(x, x) end)
        same("all_close", [x], fn [x] -> Nx.all_close(x, Nx.add(x, 1)) end)
      end

      x = Nx.tensor([:nan, :infinity, 1.0], backend: Nx.BinaryBackend)
      for equal <- [true, false], do: same("all_close", [x], fn [x] -> Nx.all_close(x, x, equal_nan: equal) end)
    end

    test "fft, ifft, fft2, ifft2, rfft, irfft" do
      for type <- @all -- [f: 16, bf: 16], n <- [4, 5, 8] do
        tolerance = if type in [{:f, 64}, {:c, 128}], do: 1.0e-11, else: 1.0e-5
        x = random({3, n}, type)
        options = [scaled: true, tolerance: tolerance]

        for op <- [:fft, :ifft] do
          same("#{op}", [x], fn [x] -> apply(Nx, op, [x]) end, options)
          same("#{op}", [x], fn [x] -> apply(Nx, op, [x, [axis: 0, length: 4]]) end, options)
        end

        for op <- [:fft2, :ifft2], do: same("#{op}", [x], fn [x] -> apply(Nx, op, [x, [lengths: [4, 4]]]) end, options)

        if type not in @complex do
          same("rfft", [x], fn [x] -> Nx.rfft(x) end, options)
          same("rfft", [x], fn [x] -> Nx.rfft(x, axis: 0, length: 5) end, options)
        end

        same("irfft", [x], fn [x] -> Nx.irfft(x) end, options)
        same("irfft", [x], fn [x] -> Nx.irfft(x, length: 7) end, options)
      end
    end

    # --- Data

    test "transfer, copy and deallocate" do
      x = Nx.tensor([1, 2, 3], backend: Adit.Backend)
      assert Nx.backend_transfer(x, Adit.Backend).data == x.data
      copy = Nx.backend_copy(x, Adit.Backend)
      assert Nx.backend_deallocate(x) == :ok
      assert Nx.backend_deallocate(x) == :already_deallocated
      assert Nx.to_flat_list(copy) == [1, 2, 3]
      assert_raise Adit.Error, fn -> Nx.to_binary(x) end
      moved = Nx.backend_transfer(copy, Nx.BinaryBackend)
      assert Nx.to_flat_list(moved) == [1, 2, 3]
      assert Nx.backend_deallocate(copy) == :already_deallocated
      assert_raise ArgumentError, fn -> Nx.default_backend({Adit.Backend, unknown: 1}) end
    end

    test "pointers" do
      if Adit.Device.default_id() == "cpu" do
        x = Nx.tensor([1.5, 2.5, -3.0], backend: Adit.Backend)
        pointer = Nx.to_pointer(x)
        y = Nx.from_pointer(Adit.Backend, pointer, {:f, 32}, {3})
        assert Nx.to_binary(x) == Nx.to_binary(y)
        assert_raise ArgumentError, fn -> Nx.to_pointer(x, mode: :ipc) end
        assert_raise ArgumentError, fn -> Nx.from_pointer(Adit.Backend, pointer, {:f, 32}, {4}) end
      end
    end

    test "inspect" do
      assert inspect(Nx.tensor([1, 2, 3], type: :s4, backend: Adit.Backend)) =~ "[1, 2, 3]"
      assert inspect(Nx.tensor([0.5, :nan], backend: Adit.Backend)) == inspect(Nx.tensor([0.5, :nan], backend: Nx.BinaryBackend))
      assert inspect(Nx.iota({200}, backend: Adit.Backend)) == inspect(Nx.iota({200}, backend: Nx.BinaryBackend))
    end

    test "tensors of BinaryBackend beside ours" do
      a = random({3}, {:f, 32})
      b = Nx.backend_copy(a, Adit.Backend)
      for {x, y} <- [{a, b}, {b, a}], do: compare("add", Nx.add(a, a), Nx.add(x, y), [a], [])
      compare("concatenate", Nx.concatenate([a, a]), Nx.concatenate([a, b]), [a], [])
    end

    # --- Gradients

    @functions [
      {:arithmetic, {2, 3}, &__MODULE__.arithmetic/1},
      {:exponentials, {2, 3}, &__MODULE__.exponentials/1},
      {:circular, {2, 3}, &__MODULE__.circular/1},
      {:inverse_circular, {2, 3}, &__MODULE__.inverse_circular/1},
      {:errors, {2, 3}, &__MODULE__.errors/1},
      {:rounded, {2, 3}, &__MODULE__.rounded/1},
      {:chosen, {2, 3}, &__MODULE__.chosen/1},
      {:shapes, {2, 3}, &__MODULE__.shapes/1},
      {:slices, {4, 5}, &__MODULE__.slices/1},
      {:places, {4, 5}, &__MODULE__.places/1},
      {:reductions, {3, 4}, &__MODULE__.reductions/1},
      {:running, {3, 4}, &__MODULE__.running/1},
      {:products, {3, 3}, &__MODULE__.products/1},
      {:windows, {4, 6}, &__MODULE__.windows/1},
      {:convolution, {4, 6}, &__MODULE__.convolution/1},
      {:order, {3, 4}, &__MODULE__.order/1},
      {:systems, {3, 3}, &__MODULE__.linear_systems/1},
      {:factors, {3, 3}, &__MODULE__.factors/1},
      {:transforms, {3, 4}, &__MODULE__.transforms/1},
      {:complex, {3, 4}, &__MODULE__.complex_numbers/1},
      {:folded, {3, 4}, &__MODULE__.folded/1}
    ]

    def weigh(x), do: Nx.sum(Nx.multiply(x, Nx.add(Nx.divide(Nx.iota(x.shape, type: Nx.Type.to_real(x.type)), 7), 0.3)))

    def arithmetic(x) do
      y = Nx.add(Nx.multiply(x, x), 1.5)
      z = Nx.subtract(Nx.divide(x, y), Nx.pow(y, 1.3))
      weigh(Nx.add(Nx.remainder(z, 1.7), Nx.add(Nx.atan2(x, y), Nx.negate(Nx.abs(Nx.subtract(x, 0.3))))))
    end

    def exponentials(x) do
      p = Nx.add(Nx.abs(x), 0.5)
      [Nx.exp(x), Nx.expm1(x), Nx.log(p), Nx.log1p(p), Nx.sigmoid(x), Nx.sqrt(p), Nx.rsqrt(p), Nx.cbrt(p)] |> Enum.map(&weigh/1) |> Enum.reduce(&Nx.add/2)
    end

    def circular(x), do: [Nx.sin(x), Nx.cos(x), Nx.tan(x), Nx.sinh(x), Nx.cosh(x), Nx.tanh(x)] |> Enum.map(&weigh/1) |> Enum.reduce(&Nx.add/2)

    def inverse_circular(x) do
      u = Nx.multiply(Nx.tanh(x), 0.8)
      [Nx.asin(u), Nx.acos(u), Nx.atan(x), Nx.asinh(x), Nx.acosh(Nx.add(Nx.abs(x), 1.5)), Nx.atanh(u)] |> Enum.map(&weigh/1) |> Enum.reduce(&Nx.add/2)
    end

    def errors(x), do: [Nx.erf(x), Nx.erfc(x)] |> Enum.map(&weigh/1) |> Enum.reduce(&Nx.add/2)
    def rounded(x), do: weigh(Nx.multiply(x, Nx.add(Nx.floor(x), Nx.add(Nx.ceil(x), Nx.add(Nx.round(x), Nx.sign(x))))))

    def chosen(x) do
      weigh(Nx.select(Nx.greater(x, 0.1), Nx.multiply(x, 2), Nx.pow(x, 2)))
      |> Nx.add(weigh(Nx.clip(x, -0.5, 0.5)))
      |> Nx.add(weigh(Nx.max(x, 0.2)))
      |> Nx.add(weigh(Nx.min(x, Nx.multiply(x, x))))
    end

    def shapes(x) do
      y = x |> Nx.reshape({3, 2}) |> Nx.transpose() |> Nx.reverse(axes: [1]) |> Nx.pad(0.5, [{1, 0, 1}, {-1, 2, 0}])
      z = Nx.broadcast(Nx.new_axis(x, 1), {2, 4, 3}) |> Nx.squeeze()
      weigh(y) |> Nx.add(weigh(Nx.multiply(z, z))) |> Nx.add(weigh(Nx.tile(x, [2, 2])))
    end

    def slices(x) do
      a = Nx.slice(x, [1, 0], [3, 5], strides: [2, 2])
      b = Nx.slice(x, [Nx.tensor(2), 1], [2, 3])
      c = Nx.put_slice(x, [1, 1], Nx.multiply(b, b))
      d = Nx.concatenate([x, Nx.sin(x)], axis: 1)
      e = Nx.stack([x, Nx.cos(x)], axis: 1)
      [a, b, c, d, e] |> Enum.map(&weigh/1) |> Enum.reduce(&Nx.add/2)
    end

    def places(x) do
      a = Nx.gather(x, Nx.tensor([[0, 1], [3, 4], [0, 1]]))
      b = Nx.take(x, Nx.tensor([1, 0, 1]), axis: 1)
      c = Nx.take_along_axis(x, Nx.tensor([[0, 1, 2, 3, 0]]), axis: 0)
      d = Nx.indexed_add(x, Nx.tensor([[0, 0], [1, 2], [0, 0]]), Nx.slice_along_axis(x[0], 0, 3))
      e = Nx.indexed_put(x, Nx.tensor([[0, 0], [1, 2]]), Nx.slice_along_axis(x[3], 0, 2))
      [a, b, c, d, e] |> Enum.map(&weigh(Nx.multiply(&1, &1))) |> Enum.reduce(&Nx.add/2)
    end

    def reductions(x) do
      [Nx.sum(x, axes: [0]), Nx.product(x, axes: [1]), Nx.reduce_max(x, axes: [0]), Nx.reduce_min(x, axes: [1]), Nx.mean(x, axes: [1])]
      |> Enum.concat([Nx.logsumexp(x, axes: [1]), Nx.variance(x, axes: [0]), Nx.standard_deviation(x, axes: [1])])
      |> Enum.map(&weigh(Nx.multiply(&1, &1)))
      |> Enum.reduce(&Nx.add/2)
    end

    def running(x) do
      [Nx.cumulative_sum(x), Nx.cumulative_product(x, axis: 1), Nx.cumulative_max(x), Nx.cumulative_min(x, axis: 1, reverse: true)]
      |> Enum.map(&weigh(Nx.multiply(&1, &1)))
      |> Enum.reduce(&Nx.add/2)
    end

    def products(x) do
      weigh(Nx.dot(x, Nx.sin(x)))
      |> Nx.add(weigh(Nx.outer(x[0], x[1])))
      |> Nx.add(weigh(Nx.dot(Nx.new_axis(x, 1), [2], [0], Nx.new_axis(Nx.cos(x), 2), [1], [0])))
    end

    def windows(x) do
      [
        Nx.window_sum(x, {2, 2}, strides: [1, 2]),
        Nx.window_max(x, {2, 3}, strides: [2, 3]),
        Nx.window_min(x, {2, 2}, strides: [2, 1]),
        Nx.window_mean(x, {2, 2}),
        Nx.window_max(x, {3, 3}, padding: :same)
      ]
      |> Enum.map(&weigh(Nx.multiply(&1, &1)))
      |> Enum.reduce(&Nx.add/2)
    end

    def convolution(x) do
      k = Nx.sin(Nx.slice(x, [0, 0], [3, 2])) |> Nx.reshape({3, 1, 2, 1})
      weigh(Nx.conv(Nx.reshape(x, {1, 1, 4, 6}), k, strides: [1, 2], padding: [{1, 0}, {0, 1}], kernel_dilation: [2, 1]))
    end

    def order(x) do
      {values, _} = Nx.top_k(x, k: 2)
      [Nx.sort(x, axis: 1), Nx.sort(x, axis: 0, direction: :desc), values, Nx.median(x, axis: 1)] |> Enum.map(&weigh(Nx.multiply(&1, &1))) |> Enum.reduce(&Nx.add/2)
    end

    def linear_systems(x) do
      a = Nx.add(x, Nx.multiply(Nx.eye(3, type: x.type), 5))
      [Nx.LinAlg.solve(a, Nx.sin(x)), Nx.LinAlg.triangular_solve(Nx.tril(a), x), Nx.LinAlg.invert(a)]
      |> Enum.map(&weigh/1)
      |> Enum.reduce(&Nx.add/2)
      |> Nx.add(Nx.LinAlg.determinant(a))
    end

    def factors(x) do
      a = Nx.add(Nx.dot(x, Nx.transpose(x)), Nx.multiply(Nx.eye(3, type: x.type), 3))
      {q, r} = Nx.LinAlg.qr(a)
      {_p, l, u} = Nx.LinAlg.lu(a)
      parts = [Nx.LinAlg.cholesky(a), Nx.dot(q, r), q, r, l, u]
      parts |> Enum.map(&weigh/1) |> Enum.reduce(&Nx.add/2)
    end

    def transforms(x) do
      f = Nx.fft(x)
      g = Nx.ifft(Nx.multiply(f, f))
      weigh(Nx.real(g)) |> Nx.add(weigh(Nx.imag(f))) |> Nx.add(weigh(Nx.real(Nx.fft2(x))))
    end

    def complex_numbers(x) do
      z = Nx.complex(x, Nx.sin(x))
      w = Nx.multiply(z, Nx.conjugate(Nx.exp(z)))
      weigh(Nx.real(w)) |> Nx.add(weigh(Nx.imag(Nx.divide(w, Nx.add(z, 3))))) |> Nx.add(weigh(Nx.abs(w)))
    end

    def folded(x), do: weigh(Nx.as_type(Nx.multiply(x, Nx.as_type(Nx.argsort(x), x.type)), x.type))

    # BinaryBackend adds up in f32 where windows scatter, whatever the type.
    defp bound(:windows), do: 1.0e-7
    defp bound(_name), do: 1.0e-12

    for {name, shape, fun} <- @functions do
      test "gradient: #{name}" do
        fun = unquote(Macro.escape(fun))

        for {type, bound} <- [{{:f, 32}, 1.0e-6}, {{:f, 64}, bound(unquote(name))}] do
          x = random(unquote(Macro.escape(shape)), type, low: -1.5, high: 1.5)
          gradient = fn x -> Nx.Defn.jit(fn x -> Nx.Defn.grad(x, fun) end, compiler: Nx.Defn.Evaluator).(x) end
          expected = Nx.with_default_backend(Nx.BinaryBackend, fn -> gradient.(x) end)
          got = Nx.with_default_backend(Adit.Backend, fn -> gradient.(Nx.backend_copy(x, Adit.Backend)) end)
          compare("gradient of #{unquote(name)}", expected, got, [x], scaled: true, tolerance: bound)
        end
      end
    end
  end
else
  IO.puts(:stderr, """

  ======================================================================
  SKIPPED: backend_test.exs needs Nx (from Hex, or a path in NX_PATH).
  ======================================================================
  """)
end
