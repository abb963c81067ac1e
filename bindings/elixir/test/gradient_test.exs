# Gradients by Nx.Defn.grad, compiled and operation by operation on the device, against Nx's own backend: a function for
# every operation that Nx can differentiate.
if Code.ensure_loaded?(Nx) do
  defmodule Adit.GradientTest do
    use ExUnit.Case

    @tolerance %{{:f, 32} => 1.0e-6, {:f, 64} => 1.0e-12}

    # Nx's own window_scatter_max and min add up in f32 whatever the type.
    @windows %{{:f, 32} => 2, {:f, 64} => 1.0e6}

    setup do
      Nx.default_backend(Adit.Backend)
      on_exit(fn -> Nx.default_backend(Nx.BinaryBackend) end)
    end

    # Numbers without symmetry: off 0, 1, halves and each other.
    defp numbers(shape, type, low, high) do
      size = Tuple.product(shape)

      list =
        for i <- 1..size do
          x = i * 0.6180339887498949 + 0.137
          low + (x - Float.floor(x)) * (high - low)
        end

      Nx.with_default_backend(Nx.BinaryBackend, fn -> list |> Nx.tensor(type: type) |> Nx.reshape(shape) end)
    end

    # A weight for each element, so that no error hides in a sum.
    defp weighed(tensor) do
      tensor =
        if Nx.Type.complex?(Nx.type(tensor)), do: Nx.add(Nx.real(tensor), Nx.multiply(2, Nx.imag(tensor))), else: tensor

      weights = tensor |> Nx.shape() |> Nx.iota(type: {:f, 64}) |> Nx.multiply(0.31) |> Nx.cos()
      Nx.sum(Nx.multiply(tensor, Nx.as_type(weights, Nx.type(tensor))))
    end

    defp check(name, shapes, fun, options \\ []) do
      {low, high} = Keyword.get(options, :range, {-0.9, 0.9})
      of = fn args -> weighed(apply(fun, Tuple.to_list(args))) end
      gradient = &Nx.Defn.value_and_grad(&1, of)

      for {type, tolerance} <- @tolerance do
        factor = Keyword.get(options, :factor, 1)
        tolerance = tolerance * if(is_map(factor), do: factor[type], else: factor)
        args = shapes |> Enum.map(&numbers(&1, type, low, high)) |> List.to_tuple()

        expected =
          Nx.with_default_backend(Nx.BinaryBackend, fn ->
            Nx.Defn.jit_apply(gradient, [args], compiler: Nx.Defn.Evaluator)
          end)

        ours = Nx.backend_copy(args, Adit.Backend)

        for compiler <- [Adit, Nx.Defn.Evaluator] do
          got = Nx.Defn.jit_apply(gradient, [ours], compiler: compiler)

          [got, expected]
          |> Enum.map(&Nx.Defn.Composite.flatten_list([&1]))
          |> Enum.zip_with(fn [g, e] -> compare(g, e, tolerance, {name, type, compiler}) end)
        end
      end
    end

    defp compare(got, expected, tolerance, about) do
      assert %Adit.Backend{} = got.data
      assert {got.type, got.shape} == {expected.type, expected.shape}
      got = got |> Nx.backend_copy(Nx.BinaryBackend) |> Nx.to_flat_list()
      expected = Nx.to_flat_list(expected)
      scale = Enum.reduce(expected, 1.0, &max(Complex.abs(&1), &2))

      for {g, e} <- Enum.zip(got, expected) do
        assert Complex.abs(Complex.subtract(g, e)) <= tolerance * scale,
               "#{inspect(about)}: #{inspect(g)} against #{inspect(e)}"
      end
    end

    for name <-
          [:exp, :expm1, :sigmoid, :sin, :cos, :tan, :sinh, :cosh, :tanh, :asin, :acos, :atan, :asinh, :atanh] ++
            [:erf, :erfc, :negate, :abs, :cbrt] do
      test "#{name}" do
        check(unquote(name), [{2, 3}], &apply(Nx, unquote(name), [&1]))
      end
    end

    for name <- [:log, :log1p, :sqrt, :rsqrt, :cbrt] do
      test "#{name} of positive numbers" do
        check(unquote(name), [{2, 3}], &apply(Nx, unquote(name), [&1]), range: {0.2, 3.0})
      end
    end

    test "acosh" do
      check(:acosh, [{2, 3}], &Nx.acosh/1, range: {1.2, 4.0})
    end

    # Nx's own is off the true values by up to 5.0e-8.
    test "erf_inv" do
      check(:erf_inv, [{2, 3}], &Nx.erf_inv/1, factor: 1.0e6)
    end

    test "two operands, with and without broadcasting" do
      for name <- [:add, :subtract, :multiply, :divide, :atan2, :max, :min, :remainder] do
        fun = &apply(Nx, name, [&1, &2])
        check(name, [{2, 3}, {2, 3}], fun, range: {0.3, 2.9}, factor: 4)
        check(name, [{2, 3}, {3}], fun, range: {0.3, 2.9}, factor: 4)
        check(name, [{}, {2, 3}], fun, range: {0.3, 2.9}, factor: 4)
      end

      check(:pow, [{2, 3}, {2, 3}], &Nx.pow/2, range: {0.3, 2.9}, factor: 10)
      check(:pow, [{2, 3}], &Nx.pow(&1, 3), factor: 4)
    end

    test "select, clip" do
      check(:select, [{2, 3}, {2, 3}], &Nx.select(Nx.greater(&1, 0.1), &1, &2))
      check(:clip, [{3, 4}], &Nx.clip(&1, -0.3, 0.4))
      check(:clip, [{3, 4}, {}, {}], fn x, a, b -> Nx.clip(x, Nx.min(a, b), Nx.max(a, b)) end)
    end

    test "shapes" do
      check(:reshape, [{2, 6}], &Nx.reshape(&1, {3, 4}))
      check(:squeeze, [{2, 1, 3}], &Nx.squeeze/1)
      check(:broadcast, [{3}], &Nx.broadcast(&1, {2, 3, 4}, axes: [1]))
      check(:transpose, [{2, 3, 4}], &Nx.transpose(&1, axes: [2, 0, 1]))
      check(:reverse, [{2, 3}], &Nx.reverse(&1, axes: [1]))
      check(:pad, [{2, 3}, {}], &Nx.pad(&1, &2, [{1, 0, 1}, {-1, 2, 0}]))
      check(:as_type, [{2, 3}], &Nx.as_type(Nx.multiply(&1, &1), {:f, 64}), factor: 2)
      check(:concatenate, [{2, 3}, {2, 2}], &Nx.concatenate([&1, &2], axis: 1))
      check(:stack, [{2, 3}, {2, 3}], &Nx.stack([&1, &2], axis: 1))
      check(:tile, [{2, 3}], &Nx.tile(&1, [2, 2]))
    end

    test "slices and places" do
      i = fn list -> Nx.tensor(list, backend: Nx.BinaryBackend) end
      check(:slice, [{4, 5}], &Nx.slice(&1, [1, 0], [2, 4], strides: [1, 2]))
      check(:slice, [{4, 5}], fn x -> Nx.slice(x, [Nx.argmax(Nx.flatten(x)[0..1]), 0], [2, 3]) end)
      check(:put_slice, [{4, 5}, {2, 2}], &Nx.put_slice(&1, [1, 2], &2))
      check(:gather, [{3, 4}], &Nx.gather(&1, Nx.add(i.([[0, 1], [2, 3], [0, 1]]), 0)))
      check(:indexed_add, [{3, 4}, {3}], &Nx.indexed_add(&1, Nx.add(i.([[0, 1], [2, 3], [0, 1]]), 0), &2))
      check(:indexed_put, [{3, 4}, {2}], &Nx.indexed_put(&1, Nx.add(i.([[0, 1], [2, 3]]), 0), &2))
      check(:take, [{3, 4}], &Nx.take(&1, Nx.add(i.([1, 1, 3, 0]), 0), axis: 1))
      check(:take_along_axis, [{3, 4}], &Nx.take_along_axis(&1, Nx.argsort(&1, axis: 1), axis: 1))
      check(:access, [{3, 4}], fn x -> x[1..2][[.., 1]] end)
    end

    test "reductions" do
      for options <- [[], [axes: [0]], [axes: [1], keep_axes: true]] do
        check(:sum, [{3, 4}], &Nx.sum(&1, options))
        check(:mean, [{3, 4}], &Nx.mean(&1, options))
        check(:product, [{3, 4}], &Nx.product(&1, options), range: {0.5, 1.5}, factor: 10)
        check(:reduce_max, [{3, 4}], &Nx.reduce_max(&1, options))
        check(:reduce_min, [{3, 4}], &Nx.reduce_min(&1, options))
        check(:logsumexp, [{3, 4}], &Nx.logsumexp(&1, options), factor: 2)
        check(:variance, [{3, 4}], &Nx.variance(&1, options), factor: 2)
        check(:standard_deviation, [{3, 4}], &Nx.standard_deviation(&1, options), factor: 4)
      end

      for name <- [:cumulative_sum, :cumulative_product, :cumulative_max, :cumulative_min], reverse <- [false, true] do
        check(name, [{3, 4}], &apply(Nx, name, [&1, [axis: 1, reverse: reverse]]), range: {0.5, 1.5}, factor: 4)
      end
    end

    test "products" do
      check(:dot, [{2, 3}, {3, 4}], &Nx.dot/2, factor: 2)
      check(:dot, [{2, 3, 4}, {2, 4, 5}], &Nx.dot(&1, [2], [0], &2, [1], [0]), factor: 2)
      check(:dot, [{3, 2}, {4, 3}], &Nx.dot(&1, [0], &2, [1]), factor: 2)
      check(:outer, [{3}, {4}], &Nx.outer/2)
      check(:conv, [{1, 2, 5, 5}, {3, 2, 2, 2}], &Nx.conv(&1, &2, padding: :same, strides: [2, 1]), factor: 10)
      check(:conv, [{2, 4, 6}, {4, 2, 3}], &Nx.conv(&1, &2, feature_group_size: 2, kernel_dilation: 2), factor: 10)

      check(:conv, [{1, 1, 4, 4}, {2, 1, 2, 2}], &Nx.conv(&1, &2, input_dilation: 2, padding: [{1, 0}, {0, 1}]),
        factor: 10
      )
    end

    test "windows" do
      for {name, factor} <- [window_sum: 2, window_mean: 2, window_max: @windows, window_min: @windows] do
        check(name, [{4, 6}], &apply(Nx, name, [&1, {2, 2}]), factor: factor)
        check(name, [{4, 6}], &apply(Nx, name, [&1, {2, 3}, [strides: [2, 3]]]), factor: factor)
        check(name, [{4, 6}], &apply(Nx, name, [&1, {3, 3}, [padding: :same]]), factor: factor)
      end
    end

    test "sorting" do
      check(:sort, [{3, 4}], &Nx.sort(&1, axis: 0))
      check(:sort, [{3, 4}], &Nx.sort(&1, axis: 1, direction: :desc))
      check(:top_k, [{3, 4}], &elem(Nx.top_k(&1, k: 2), 0))
      check(:median, [{5}], &Nx.median/1)
    end

    test "complex numbers" do
      complex = fn a, b -> Nx.complex(a, b) end
      check(:real, [{3}, {3}], &Nx.real(Nx.exp(complex.(&1, &2))), factor: 4)
      check(:imag, [{3}, {3}], &Nx.imag(Nx.multiply(complex.(&1, &2), complex.(&2, &1))), factor: 4)
      check(:conjugate, [{3}, {3}], &Nx.conjugate(Nx.multiply(complex.(&1, &2), complex.(&1, &1))), factor: 4)
      check(:abs, [{3}, {3}], &Nx.abs(complex.(&1, &2)), factor: 4)
      # Nx's own transform cuts off what is smaller than 1.0e-10 of f64.
      check(:fft, [{8}], &Nx.real(Nx.fft(&1)), factor: 100)
      check(:ifft, [{8}], &Nx.imag(Nx.ifft(&1)), factor: 100)
    end

    test "linear algebra" do
      positive = fn x -> Nx.add(Nx.dot(x, Nx.transpose(x)), Nx.multiply(2, Nx.eye(3))) end
      lower = fn x -> Nx.add(Nx.tril(x), Nx.multiply(2, Nx.eye(3))) end
      # f32: Nx's own goes through f64.
      check(:triangular_solve, [{3, 3}, {3, 2}], &Nx.LinAlg.triangular_solve(lower.(&1), &2), factor: 10)
      check(:cholesky, [{3, 3}], &Nx.LinAlg.cholesky(positive.(&1)), factor: 20)
      check(:solve, [{3, 3}, {3}], &Nx.LinAlg.solve(positive.(&1), &2), factor: 20)
      check(:determinant, [{3, 3}], &Nx.LinAlg.determinant(positive.(&1)), factor: 20)
      check(:invert, [{3, 3}], &Nx.LinAlg.invert(positive.(&1)), factor: 20)
      check(:norm, [{3, 3}], &Nx.LinAlg.norm/1, factor: 4)

      both = fn x ->
        {q, r} = Nx.LinAlg.qr(positive.(x))
        Nx.concatenate([Nx.abs(q), Nx.abs(r)])
      end

      check(:qr, [{3, 3}], both, factor: 50)

      all = fn x ->
        {p, l, u} = Nx.LinAlg.lu(positive.(x))
        Nx.concatenate([p, l, u])
      end

      check(:lu, [{3, 3}], all, factor: 50)
    end

    test "softmax, and layers of it" do
      softmax = fn x -> Nx.divide(Nx.exp(x), Nx.sum(Nx.exp(x), axes: [-1], keep_axes: true)) end
      check(:softmax, [{3, 4}], softmax, factor: 4)

      check(:attention, [{4, 3}, {4, 3}, {4, 3}], fn q, k, v -> Nx.dot(softmax.(Nx.dot(q, Nx.transpose(k))), v) end,
        factor: 10
      )
    end
  end
else
  IO.puts(:stderr, "\n*** SKIPPED: test/gradient_test.exs needs Nx, which is not there (set NX_PATH) ***\n")
end
