# Every callback and every block of Adit.Backend with a stand-in for Nx (test/stand_in/nx.ex), against results that are
# worked out by hand. Run by test/run_with_stand_in.sh; where Nx itself is, backend_test.exs says more.
if System.get_env("ADIT_WITHOUT_NX") == "stand_in" do
  defmodule Adit.StandInTest do
    use ExUnit.Case, async: true

    alias Adit.Backend, as: B
    alias Nx.Tensor, as: T

    defp out(type, shape), do: %T{type: type, shape: shape, names: List.duplicate(nil, tuple_size(shape))}

    defp bits(x, {:f, size}), do: <<x * 1.0::float-native-size(size)>>
    defp bits(x, {:s, size}), do: <<x::signed-native-size(size)>>
    defp bits(x, {:u, size}), do: <<x::native-size(size)>>

    defp bits({re, im}, {:c, size}),
      do: <<re * 1.0::float-native-size(div(size, 2)), im * 1.0::float-native-size(div(size, 2))>>

    defp tensor(list, type, shape \\ nil) do
      shape = shape || {length(list)}
      B.from_binary(out(type, shape), IO.iodata_to_binary(Enum.map(list, &bits(&1, type))), [])
    end

    defp f(list, shape \\ nil), do: tensor(list, {:f, 64}, shape)
    defp s(list, shape \\ nil), do: tensor(list, {:s, 64}, shape)
    defp scalar(x, type), do: tensor([x], type, {})

    # The same numbers, of which the host knows nothing: the backend has a shorter way for such.
    defp computed(%T{type: type, shape: shape} = x) do
      twice = B.negate(out(type, shape), B.negate(out(type, shape), x))
      assert twice.data.host == nil
      twice
    end

    defp list(%T{type: type, shape: shape} = tensor) do
      binary = B.to_binary(tensor, Tuple.product(shape))

      case type do
        {:f, size} ->
          for <<x::float-native-size(size) <- binary>>, do: x

        {:s, size} ->
          for <<x::signed-native-size(size) <- binary>>, do: x

        {:u, size} ->
          for <<x::native-size(size) <- binary>>, do: x

        {:c, size} ->
          for <<a::float-native-size(div(size, 2)), b::float-native-size(div(size, 2)) <- binary>>, do: {a, b}
      end
    end

    defp check(tensor, expected) do
      got = list(tensor)
      assert length(got) == length(expected)

      for {a, b} <- Enum.zip(got, expected) do
        assert near?(a, b), "expected #{inspect(expected)}, got #{inspect(got)}"
      end

      tested()
    end

    defp near?({a, b}, {c, d}), do: near?(a, c) and near?(b, d)
    defp near?(a, b), do: abs(a - b) <= 1.0e-9 * max(1, abs(b))
    defp tested, do: :ok

    @f64 {:f, 64}
    @s64 {:s, 64}
    @u8 {:u, 8}

    test "the behaviour is met, callback by callback" do
      missing = Nx.Backend.behaviour_info(:callbacks) -- B.__info__(:functions)
      assert missing == []
      assert length(Nx.Backend.behaviour_info(:callbacks)) == 115
    end

    test "one element at a time" do
      x = f([0.25, 0.5])

      for {op, g} <- [
            exp: &:math.exp/1,
            expm1: &(:math.exp(&1) - 1),
            log: &:math.log/1,
            log1p: &:math.log(1 + &1),
            sigmoid: &(1 / (1 + :math.exp(-&1))),
            cos: &:math.cos/1,
            sin: &:math.sin/1,
            tan: &:math.tan/1,
            cosh: &:math.cosh/1,
            sinh: &:math.sinh/1,
            tanh: &:math.tanh/1,
            acos: &:math.acos/1,
            asin: &:math.asin/1,
            atan: &:math.atan/1,
            asinh: &:math.asinh/1,
            atanh: &:math.atanh/1,
            sqrt: &:math.sqrt/1,
            rsqrt: &(1 / :math.sqrt(&1)),
            cbrt: &:math.pow(&1, 1 / 3),
            erf: &:math.erf/1,
            erfc: &:math.erfc/1,
            abs: & &1,
            negate: &(-&1),
            sign: fn _ -> 1.0 end,
            ceil: fn _ -> 1.0 end,
            floor: fn _ -> 0.0 end
          ] do
        check(apply(B, op, [out(@f64, {2}), x]), Enum.map([0.25, 0.5], g))
      end

      check(B.round(out(@f64, {2}), x), [0.0, 1.0])
      check(B.acosh(out(@f64, {1}), f([2.0])), [:math.acosh(2.0)])
      check(B.erf(out(@f64, {2}), B.erf_inv(out(@f64, {2}), x)), [0.25, 0.5])
      check(B.bitwise_not(out(@s64, {2}), s([0, 5])), [-1, -6])
      check(B.count_leading_zeros(out(@s64, {2}), s([1, 5])), [63, 61])
      check(B.population_count(out(@s64, {2}), s([1, 7])), [1, 3])
      check(B.is_nan(out(@u8, {2}), B.log(out(@f64, {2}), f([-1, 1]))), [1, 0])
      check(B.is_infinity(out(@u8, {2}), B.log(out(@f64, {2}), f([0, 1]))), [1, 0])
      z = tensor([{1, 2}, {3, -4}], {:c, 128})
      check(B.real(out(@f64, {2}), z), [1.0, 3.0])
      check(B.imag(out(@f64, {2}), z), [2.0, -4.0])
      check(B.conjugate(out({:c, 128}, {2}), z), [{1.0, -2.0}, {3.0, 4.0}])
      check(B.as_type(out(@s64, {2}), f([1.7, -1.7])), [1, -1])
      check(B.bitcast(out(@s64, {1}), f([1.0])), [0x3FF0000000000000])
    end

    test "two elements at a time" do
      a = f([7.0, -7.0])
      b = f([2.0, 2.0])

      for {op, expected} <- [
            add: [9.0, -5.0],
            subtract: [5.0, -9.0],
            multiply: [14.0, -14.0],
            divide: [3.5, -3.5],
            pow: [49.0, 49.0],
            remainder: [1.0, -1.0],
            atan2: [:math.atan2(7, 2), :math.atan2(-7, 2)],
            min: [2.0, -7.0],
            max: [7.0, 2.0]
          ] do
        check(apply(B, op, [out(@f64, {2}), a, b]), expected)
        check(apply(B, op, [out(@f64, {2}), computed(a), computed(b)]), expected)
      end

      for {op, expected} <- [
            equal: [0, 0],
            not_equal: [1, 1],
            greater: [1, 0],
            less: [0, 1],
            greater_equal: [1, 0],
            less_equal: [0, 1],
            logical_and: [1, 1],
            logical_or: [1, 1],
            logical_xor: [0, 0]
          ] do
        check(apply(B, op, [out(@u8, {2}), a, b]), expected)
        check(apply(B, op, [out(@u8, {2}), computed(a), computed(b)]), expected)
      end

      c = s([12, -12])
      d = s([5, 5])

      for {op, expected} <- [
            quotient: [2, -2],
            bitwise_and: [4, 4],
            bitwise_or: [13, -11],
            bitwise_xor: [9, -15],
            left_shift: [384, -384],
            right_shift: [0, -1]
          ] do
        check(apply(B, op, [out(@s64, {2}), c, d]), expected)
        check(apply(B, op, [out(@s64, {2}), computed(c), computed(d)]), expected)
      end

      check(B.select(out(@f64, {2}), tensor([1, 0], @u8), a, b), [7.0, 2.0])
      check(B.clip(out(@f64, {2}), a, scalar(-1, @f64), scalar(1, @f64)), [1.0, -1.0])
    end

    test "made, read, copied and let go" do
      check(B.constant(out(@f64, {2}), 3, []), [3.0, 3.0])
      check(B.iota(out(@s64, {2, 2}), 0, []), [0, 0, 1, 1])
      check(B.iota(out(@s64, {2, 2}), nil, []), [0, 1, 2, 3])
      check(B.eye(out(@f64, {2, 2}), []), [1.0, 0.0, 0.0, 1.0])
      x = f([1, 2, 3])
      assert %Nx.BinaryBackend{state: binary} = B.backend_copy(x, Nx.BinaryBackend, []).data
      assert binary == B.to_binary(x, 3)
      assert B.to_binary(x, 1) == binary_part(binary, 0, 8)
      check(B.add(out(@f64, {3}), x, Nx.BinaryBackend.from_binary(x, binary, [])), [2.0, 4.0, 6.0])
      assert B.backend_transfer(x, B, []) == x
      assert [first | _] = B.to_batched(out(@f64, {2}), f([1, 2, 3, 4]), []) |> Enum.to_list()
      check(first, [1.0, 2.0])
      assert B.init([]) == []
      assert B.inspect(x, %Inspect.Opts{}) =~ "{3}"
      y = f([1, 2])
      assert B.backend_deallocate(y) == :ok
      assert B.backend_deallocate(y) == :already_deallocated
      assert_raise Adit.Error, fn -> B.to_binary(y, 2) end
      assert_raise Adit.Error, fn -> B.add(out(@f64, {2}), y, y) end

      if Adit.Device.default_id() == "cpu" do
        pointer = B.to_pointer(x, mode: :local)
        check(B.from_pointer(pointer, @f64, {3}, [], []), [1.0, 2.0, 3.0])
      end
    end

    test "shapes and places" do
      m = s([1, 2, 3, 4, 5, 6], {2, 3})
      check(B.reshape(out(@s64, {3, 2}), m), [1, 2, 3, 4, 5, 6])
      check(B.squeeze(out(@s64, {2}), s([1, 2], {1, 2}), [0]), [1, 2])
      check(B.broadcast(out(@s64, {2, 2}), s([1, 2]), {2, 2}, [0]), [1, 1, 2, 2])
      check(B.transpose(out(@s64, {3, 2}), m, [1, 0]), [1, 4, 2, 5, 3, 6])
      check(B.pad(out(@s64, {4}), s([1, 2]), scalar(9, @s64), [{1, 0, 1}]), [9, 1, 9, 2])
      check(B.reverse(out(@s64, {2, 3}), m, [1]), [3, 2, 1, 6, 5, 4])
      check(B.slice(out(@s64, {2, 2}), m, [0, 1], [2, 2], [1, 1]), [2, 3, 5, 6])
      check(B.slice(out(@s64, {1, 2}), m, [scalar(1, @s64), 0], [1, 3], [1, 2]), [4, 6])
      check(B.put_slice(out(@s64, {2, 3}), m, [1, 1], s([8, 9], {1, 2})), [1, 2, 3, 4, 8, 9])
      check(B.gather(out(@s64, {2}), m, s([0, 2, 1, 0], {2, 2}), axes: [0, 1]), [3, 4])
      check(B.concatenate(out(@s64, {3}), [s([1]), s([2, 3])], 0), [1, 2, 3])
      check(B.stack(out(@s64, {2, 2}), [s([1, 2]), s([3, 4])], 1), [1, 3, 2, 4])
      check(B.indexed_add(out(@s64, {3}), s([0, 0, 0]), s([1, 1], {2, 1}), s([4, 5]), axes: [0]), [0, 9, 0])
      check(B.indexed_put(out(@s64, {3}), s([0, 0, 0]), s([1, 2], {2, 1}), s([4, 5]), axes: [0]), [0, 4, 5])
      check(B.sort(out(@s64, {3}), s([3, 1, 2]), axis: 0, direction: :desc, stable: true), [3, 2, 1])
      check(B.argsort(out(@s64, {3}), s([3, 1, 2]), axis: 0, direction: :asc, stable: true), [1, 2, 0])
    end

    test "reductions and windows" do
      m = s([1, 2, 3, 4, 5, 6], {2, 3})
      axes = [axes: [1], keep_axes: false]
      check(B.sum(out(@s64, {2}), m, axes), [6, 15])
      check(B.product(out(@s64, {2}), m, axes), [6, 120])
      check(B.reduce_max(out(@s64, {2}), m, axes), [3, 6])
      check(B.reduce_min(out(@s64, {2}), m, axes), [1, 4])
      check(B.all(out(@u8, {2}), m, axes), [1, 1])
      check(B.any(out(@u8, {2}), m, axes), [1, 1])
      one = [axis: 1, keep_axis: false, tie_break: :low]
      check(B.argmax(out(@s64, {2}), m, one), [2, 2])
      check(B.argmin(out(@s64, {2}), m, one), [0, 0])

      folded = B.reduce(out(@s64, {2}), m, scalar(1, @s64), axes, fn a, b -> B.multiply(out(@s64, {}), a, b) end)
      check(folded, [6, 120])

      window = [strides: [1], padding: [{0, 0}], window_dilations: [1]]
      row = s([3, 1, 2, 5])
      check(B.window_sum(out(@s64, {3}), row, {2}, window), [4, 3, 7])
      check(B.window_product(out(@s64, {3}), row, {2}, window), [3, 2, 10])
      check(B.window_max(out(@s64, {3}), row, {2}, window), [3, 2, 5])
      check(B.window_min(out(@s64, {3}), row, {2}, window), [1, 1, 2])
      add = fn a, b -> B.add(out(@s64, {}), a, b) end
      check(B.window_reduce(out(@s64, {3}), row, scalar(1, @s64), {2}, window, add), [5, 4, 8])
      scatter = [strides: [2], padding: [{0, 0}]]
      largest = B.window_scatter_max(out(@s64, {4}), row, s([7, 8]), scalar(0, @s64), {2}, scatter)
      check(largest, [7, 0, 0, 8])
      smallest = B.window_scatter_min(out(@s64, {4}), row, s([7, 8]), scalar(0, @s64), {2}, scatter)
      check(smallest, [0, 7, 8, 0])
    end

    test "products, systems and transforms" do
      a = f([1, 2, 3, 4], {2, 2})
      check(B.dot(out(@f64, {2, 2}), a, [1], [], a, [0], []), [7.0, 10.0, 15.0, 22.0])
      lower = f([2, 0, 1, 4], {2, 2})

      check(
        B.triangular_solve(out(@f64, {2}), lower, f([2, 9]), lower: true, left_side: true, transform_a: :none),
        [1.0, 2.0]
      )

      conv = [
        strides: [1],
        padding: [{0, 0}],
        input_dilation: [1],
        kernel_dilation: [1],
        feature_group_size: 1,
        batch_group_size: 1,
        input_permutation: [0, 1, 2],
        kernel_permutation: [0, 1, 2],
        output_permutation: [0, 1, 2]
      ]

      check(B.conv(out(@f64, {1, 1, 2}), f([1, 2, 3], {1, 1, 3}), f([1, 10], {1, 1, 2}), conv), [21.0, 32.0])
      z = tensor([1, 0, 0, 0], @f64)
      ones = List.duplicate({1.0, 0.0}, 4)
      spectrum = B.fft(out({:c, 128}, {4}), z, length: 4, axis: 0, eps: 1.0e-10)
      check(spectrum, ones)

      check(B.ifft(out({:c, 128}, {4}), spectrum, length: 4, axis: 0, eps: 1.0e-10), [
        {1.0, 0.0} | List.duplicate({0.0, 0.0}, 3)
      ])
    end

    test "blocks" do
      none = fn _, _ -> flunk("a block of Nx's fell back on its default") end
      block = fn struct, out, args -> B.block(struct, out, args, none) end
      x = f([1, 2, 3])
      running = fn name, reverse -> struct!(Module.concat(Nx.Block, name), axis: 0, reverse: reverse) end
      check(block.(running.(:CumulativeSum, false), out(@f64, {3}), [x]), [1.0, 3.0, 6.0])
      check(block.(running.(:CumulativeProduct, true), out(@f64, {3}), [x]), [6.0, 6.0, 3.0])
      check(block.(running.(:CumulativeMin, false), out(@f64, {3}), [x]), [1.0, 1.0, 1.0])
      check(block.(running.(:CumulativeMax, false), out(@f64, {3}), [x]), [1.0, 2.0, 3.0])
      check(block.(struct!(Nx.Block.LogicalNot), out(@u8, {2}), [s([0, 3])]), [1, 0])
      check(block.(struct!(Nx.Block.Phase), out(@f64, {1}), [tensor([{0, 2}], {:c, 128})]), [:math.pi() / 2])
      close = struct!(Nx.Block.AllClose, rtol: 1.0e-3, atol: 0.0, equal_nan: false)
      check(block.(close, out(@u8, {}), [x, f([1, 2, 3.001])]), [1])
      check(block.(close, out(@u8, {}), [x, f([1, 2, 3.1])]), [0])
      check(block.(struct!(Nx.Block.Take, axis: 0), out(@f64, {2}), [x, s([2, 0])]), [3.0, 1.0])
      check(block.(struct!(Nx.Block.TakeAlongAxis, axis: 0), out(@f64, {2}), [x, s([2, 0])]), [3.0, 1.0])
      {values, places} = block.(struct!(Nx.Block.TopK, k: 2), {out(@f64, {2}), out({:s, 32}, {2})}, [x])
      check(values, [3.0, 2.0])
      check(places, [2, 1])
      m = f([1, 0, 0, 0], {2, 2})
      plane = out({:c, 128}, {2, 2})
      check(block.(struct!(Nx.Block.FFT2, axes: [0, 1], lengths: [2, 2]), plane, [m]), List.duplicate({1.0, 0.0}, 4))
      check(block.(struct!(Nx.Block.IFFT2, axes: [0, 1], lengths: [2, 2]), plane, [m]), List.duplicate({0.25, 0.0}, 4))
      half = block.(struct!(Nx.Block.RFFT, axis: 0, length: 4), out({:c, 128}, {3}), [f([1, 0, 0, 0])])
      check(half, List.duplicate({1.0, 0.0}, 3))
      check(block.(struct!(Nx.Block.IRFFT, axis: 0, length: 4), out(@f64, {4}), [half]), [1.0, 0.0, 0.0, 0.0])
      square = out(@f64, {2, 2})
      spd = f([4, 2, 2, 5], {2, 2})
      check(block.(struct!(Nx.Block.LinAlg.Cholesky), square, [spd]), [2.0, 0.0, 1.0, 2.0])
      check(block.(struct!(Nx.Block.LinAlg.Determinant), out(@f64, {}), [spd]), [16.0])
      check(block.(struct!(Nx.Block.LinAlg.Solve), out(@f64, {2}), [spd, f([6, 7])]), [1.0, 1.0])
      product = fn a, b -> B.dot(square, a, [1], [], b, [0], []) end
      {q, r} = block.(struct!(Nx.Block.LinAlg.QR, mode: :reduced), {square, square}, [spd])
      check(product.(q, r), [4.0, 2.0, 2.0, 5.0])
      {p, l, u} = block.(struct!(Nx.Block.LinAlg.LU), {square, square, square}, [spd])
      check(product.(p, product.(l, u)), [4.0, 2.0, 2.0, 5.0])
      {eigenvalues, v} = block.(struct!(Nx.Block.LinAlg.Eigh), {out(@f64, {2}), square}, [spd])
      scaled = B.multiply(square, v, B.broadcast(square, eigenvalues, {2, 2}, [1]))
      check(product.(scaled, B.transpose(square, v, [1, 0])), [4.0, 2.0, 2.0, 5.0])
      {u, s, vh} = block.(struct!(Nx.Block.LinAlg.SVD, full_matrices?: true), {square, out(@f64, {2}), square}, [spd])
      check(product.(B.multiply(square, u, B.broadcast(square, s, {2, 2}, [1])), vh), [4.0, 2.0, 2.0, 5.0])
    end

    test "types of a few bits and small floats" do
      a = B.from_binary(out({:s, 4}, {4}), <<7::4, 1::4, -8::4, -1::4>>, [])
      assert B.to_binary(B.add(out({:s, 4}, {4}), a, a), 4) == <<-2::4, 2::4, 0::4, -2::4>>
      # 1.5 and 2.0 in e5m2; 2.25 lies between 2.0 and 2.5, and goes to the even one
      b = B.from_binary(out({:f, 8}, {2}), <<0x3E, 0x40>>, [])
      assert B.to_binary(B.multiply(out({:f, 8}, {2}), b, b), 2) == <<0x40, 0x44>>
      check(B.as_type(out(@f64, {2}), b), [1.5, 2.0])
    end

    test "wrong calls say what is wrong" do
      assert_raise Adit.Error, ~r/device/, fn -> B.init(device: "nowhere:7") end
      assert_raise ArgumentError, fn -> B.init(devise: "cpu") end
      assert_raise Adit.Error, fn -> B.from_binary(out(@f64, {3}), <<1, 2, 3>>, []) end
      assert_raise ArgumentError, ~r/frobnicate/, fn -> Adit.Ops.apply(:frobnicate, out(@f64, {}), []) end
    end
  end
end
