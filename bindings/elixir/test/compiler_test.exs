# `defn` functions by Adit, each compared with Nx's own evaluator on its own backend.
if Code.ensure_loaded?(Nx) do
  Code.ensure_loaded?(Adit.CompilerTest.Functions) || Code.require_file("support/compiler_functions.ex", __DIR__)

  defmodule Adit.CompilerTest do
    use ExUnit.Case

    alias Adit.Compiler.Cache
    alias Adit.CompilerTest.Functions, as: F

    @tolerance 1.0e-5

    setup do
      Nx.default_backend(Adit.Backend)
      on_exit(fn -> Nx.default_backend(Nx.BinaryBackend) end)
    end

    # --- Comparing

    defp t(list, opts \\ []), do: Nx.tensor(list, [backend: Nx.BinaryBackend] ++ opts)

    defp reference(fun, args, opts \\ []) do
      Nx.with_default_backend(Nx.BinaryBackend, fn ->
        Nx.Defn.jit_apply(fun, args, [compiler: Nx.Defn.Evaluator] ++ opts)
      end)
    end

    # Also with arguments that lie on the host still.
    defp assert_same(fun, args, opts \\ []) do
      expected = reference(fun, args)
      assert_close(Nx.Defn.jit_apply(fun, args, [compiler: Adit] ++ opts), expected)
      moved = Enum.map(args, &move/1)
      assert_close(Nx.Defn.jit_apply(fun, moved, [compiler: Adit] ++ opts), expected)
      expected
    end

    defp move(list) when is_list(list), do: list
    defp move(fun) when is_function(fun), do: fun
    defp move(arg), do: Nx.backend_copy(arg, Adit.Backend)

    defp assert_close(got, expected) do
      got_list = Nx.Defn.Composite.flatten_list([got])
      expected_list = Nx.Defn.Composite.flatten_list([expected])
      assert length(got_list) == length(expected_list)
      assert Nx.Defn.Composite.compatible?(got, expected, fn _, _ -> true end)

      for {g, e} <- Enum.zip(got_list, expected_list) do
        assert %Adit.Backend{lazy: false} = g.data
        assert g.type == e.type
        assert g.shape == e.shape
        assert g.names == e.names
        assert g.vectorized_axes == e.vectorized_axes
        g = g |> Nx.backend_copy(Nx.BinaryBackend) |> Nx.devectorize()
        e = e |> Nx.backend_copy(Nx.BinaryBackend) |> Nx.devectorize()

        close =
          Nx.with_default_backend(Nx.BinaryBackend, fn ->
            # The backend of Nx 0.13.1 cannot subtract numbers of fewer than eight bits.
            [g, e] = if elem(g.type, 1) < 8, do: [Nx.as_type(g, :s64), Nx.as_type(e, :s64)], else: [g, e]
            Nx.to_number(Nx.all_close(g, e, rtol: @tolerance, atol: @tolerance, equal_nan: true))
          end)

        assert close == 1, "expected #{inspect(e)}, got #{inspect(g)}"
      end
    end

    defp host(t), do: t |> Nx.backend_copy(Nx.BinaryBackend) |> Nx.to_flat_list()

    # --- Plain functions

    test "operations of all kinds" do
      x = t([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])
      assert_same(&Nx.exp/1, [x])
      assert_same(fn x -> Nx.sum(Nx.exp(Nx.sin(x)), axes: [1], keep_axes: true) end, [x])
      assert_same(fn x, y -> Nx.dot(x, Nx.transpose(y)) end, [x, x])
      assert_same(&Nx.argsort(&1, axis: 1, direction: :desc), [x])
      assert_same(&Nx.pad(&1, 7.0, [{1, 2, 1}, {-1, 0, 0}]), [x])
      assert_same(&Nx.slice(&1, [0, 1], [2, 1]), [x])
      assert_same(fn x, i -> Nx.slice(x, [0, i], [2, 2]) end, [x, t(1)])
      assert_same(fn x, i -> Nx.put_slice(x, [i, 0], t([[9.0, 8.0]])) end, [x, t(1)])
      assert_same(fn x -> Nx.concatenate([x, Nx.iota({2, 2}), Nx.eye(2)], axis: 1) end, [x])
      assert_same(fn x -> Nx.stack([x, Nx.negate(x)]) end, [x])
      assert_same(fn x -> Nx.gather(x, t([[0, 1], [1, 2]])) end, [x])
      assert_same(fn x -> Nx.indexed_add(x, t([[0, 1], [0, 1]]), t([1.0, 2.0])) end, [x])
      assert_same(fn x -> Nx.select(Nx.greater(x, 0), x, Nx.negate(x)) end, [x])
      assert_same(fn x -> Nx.clip(x, -1, 1) end, [x])
      assert_same(fn x -> Nx.as_type(x, :s8) |> Nx.bitwise_and(3) end, [x])
      assert_same(fn x -> Nx.window_max(x, {1, 2}) end, [x])
      assert_same(fn x -> Nx.fft(x) end, [x])
    end

    test "blocks, with one result and with several" do
      x = t([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
      assert_same(&Nx.LinAlg.cholesky/1, [x])
      assert_same(&Nx.LinAlg.determinant/1, [x])
      assert_same(&Nx.LinAlg.solve/2, [x, t([1.0, 2.0, 3.0])])
      assert_same(&Nx.top_k(&1, k: 2), [x])
      assert_same(&Nx.cumulative_sum(&1, axis: 1, reverse: true), [x])
      assert_same(&Nx.take(&1, &2, axis: 1), [x, t([2, 0])])
      assert_same(&Nx.logical_not/1, [x])

      assert_same(
        fn x ->
          {q, r} = Nx.LinAlg.qr(x)
          Nx.dot(q, r)
        end,
        [x]
      )

      assert_same(
        fn x ->
          {values, vectors} = Nx.LinAlg.eigh(x)
          Nx.dot(vectors, Nx.multiply(Nx.new_axis(values, 1), Nx.transpose(vectors)))
        end,
        [x]
      )
    end

    test "no arguments, constants, iota" do
      assert_same(fn -> Nx.iota({3, 2}) end, [])
      assert_same(fn -> Nx.tensor(3) end, [])
      assert_same(fn -> {Nx.tensor([1, 2]), Nx.Constants.infinity()} end, [])
      assert_same(fn -> Nx.eye(3, type: :f64) end, [])
    end

    test "results that are arguments, constants, or the same twice" do
      x = t([1.0, 2.0])
      assert_same(fn x -> x end, [x])
      assert_same(fn x -> {x, x} end, [x])
      assert_same(fn x, y -> {y, x, 3, Nx.add(x, y)} end, [x, t([3, 4])])

      {a, b} = Nx.Defn.jit_apply(fn x -> {Nx.exp(x), Nx.exp(x)} end, [move(x)], compiler: Adit)
      assert_close(a, reference(&Nx.exp/1, [x]))
      Nx.backend_deallocate(a)
      assert_close(b, reference(&Nx.exp/1, [x]))

      # A result that is the argument outlives it, and the other way round.
      kept = move(x)
      same = Nx.Defn.jit_apply(fn x -> x end, [kept], compiler: Adit)
      Nx.backend_deallocate(same)
      assert host(kept) == [1.0, 2.0]
    end

    test "containers in and out" do
      x = t([1.0, 2.0, 6.0])
      expected = assert_same(&F.standardize/1, [x])
      {%F{label: :kept} = s, _} = expected
      assert_same(&F.of_struct/2, [s, x])
      assert_same(fn %{a: a, b: {b, c}} -> %{out: Nx.add(a, b), rest: {c}} end, [%{a: x, b: {x, t(2)}}])
      assert_same(fn {a, b}, c -> {b, {c, a}} end, [{x, t(1)}, t(2)])
    end

    test "an argument that is not read is not asked for" do
      parent = self()

      lazy = %Adit.CompilerTest.Lazy{
        fun: fn ->
          send(parent, :asked)
          t([1.0])
        end
      }

      assert host(Nx.Defn.jit_apply(fn x, _ -> Nx.add(x, 1) end, [t([1.0]), lazy], compiler: Adit)) == [2.0]
      refute_received :asked
      assert host(Nx.Defn.jit_apply(fn x, y -> Nx.add(x, y) end, [t([1.0]), lazy], compiler: Adit)) == [2.0]
      assert_received :asked
    end

    test "numbers, names, options and captured tensors" do
      assert_same(fn x, y -> Nx.add(x, y) end, [1, 2.5])
      assert_same(&Nx.sum/2, [t([[1, 2], [3, 4]], names: [:a, :b]), [axes: [:b]]])
      assert_same(&F.captured/1, [t([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])])
    end

    test "vectorized tensors" do
      v = Nx.vectorize(t([[1.0, 2.0], [3.0, 12.0], [20.0, 0.5]]), :rows)
      assert_same(&Nx.sum/1, [v])
      assert_same(fn x, y -> Nx.multiply(x, y) end, [v, t([1.0, 10.0])])
      s = Nx.vectorize(t([1, 3, 12]), :rows)
      assert_same(&F.vectorized_while/1, [s])
      assert_same(&F.sign_by_cond/1, [v])
    end

    test "small and complex types" do
      assert_same(fn x -> Nx.add(x, 1) end, [t([1, 2, -3], type: :s4)])
      assert_same(fn x -> Nx.multiply(x, 2) end, [t([1, 2, 3], type: :u4)])
      assert_same(fn x -> Nx.multiply(x, x) end, [t([1.5, 2.0], type: :f8)])
      assert_same(fn x -> Nx.multiply(x, x) end, [t([Complex.new(1, 2), Complex.new(0, -1)])])
      assert_same(fn x -> x end, [t([1, 0, 3], type: :u2)])

      for type <- [:u8, :u16, :u32, :u64, :s8, :s16, :s32, :s64, :f16, :bf16, :f32, :f64] do
        assert_same(fn x -> Nx.add(x, x) end, [t([1, 2, 3], type: type)])
      end
    end

    test "numbers beside large unsigned integers" do
      x = t([0, 5, 18_446_744_073_709_551_615], type: :u64)
      assert_same(fn x -> {Nx.greater(x, 5), Nx.less_equal(x, 5), Nx.add(x, 1)} end, [x])
    end

    # --- Control flow

    test "cond" do
      for x <- [[1.0, 2.0], [-1.0, -2.0], [1.0, -1.0]] do
        assert_same(&F.sign_by_cond/1, [t(x)])
      end

      for p <- [0, 1], q <- [0, 1] do
        x = t([0.5, 1.5, 2.5])
        assert_same(&F.cond_scopes/2, [x, t(p)])
        assert_same(&F.nested_cond/3, [x, t(p), t(q)])
        assert_same(&F.cond_twice/3, [x, t(p), t(q)])
        assert_same(&F.cond_types/2, [x, t(p)])
        assert_same(&F.while_in_cond/2, [x, t(p)])
      end
    end

    test "a predicate is true where it is not zero" do
      for p <- [t(0.5), t(-1), t(0.0), t(2, type: :u8), t(0, type: :s64)] do
        assert_same(&F.cond_types/2, [t([1, 2]), p])
      end
    end

    test "while" do
      assert_same(&F.collatz/1, [t(27)])
      x = t([0.1, 0.7, -0.4])
      assert_same(&F.while_containers/1, [x])
      assert_same(&F.while_single/1, [t([1, 2])])
      assert_same(&F.while_range/1, [x])
      assert_same(&F.while_unrolled/1, [x])
      assert_same(&F.while_over_rows/1, [t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])])
      assert_same(&F.nested_while/1, [x])
    end

    test "functions of the user" do
      assert_same(&F.reduced/1, [t([[1.0, 2.0], [3.0, 4.0]])])
      assert_same(&F.window_reduced/1, [t([[1.0, 2.0, 0.0], [3.0, 4.0, 9.0]])])
    end

    # --- Hooks

    test "hooks are called after the run, in order, in the process of the caller" do
      x = move(t([1.0, 2.0]))
      result = Nx.Defn.jit_apply(&F.two_hooks/1, [x], compiler: Adit)
      assert host(result) == [3.0, 6.0]
      assert {:messages, [{:first, first}, {:second, {double, %{m: less}}}]} = Process.info(self(), :messages)
      assert host(first) == [2.0, 3.0]
      assert host(double) == [4.0, 6.0]
      assert host(less) == [-1.0, 0.0]
    end

    test "named hooks" do
      parent = self()
      x = t([1.0])
      assert host(Nx.Defn.jit_apply(&F.named_hook/1, [x], compiler: Adit)) == [3.0]
      hooks = %{given: &send(parent, {:given, host(&1)})}
      assert host(Nx.Defn.jit_apply(&F.named_hook/1, [x], compiler: Adit, hooks: hooks)) == [3.0]
      assert_received {:given, [3.0]}
      # Another callback of this name needs no other program.
      hooks = %{given: &send(parent, {:other, host(&1)})}
      before = Cache.statistics().compiled
      Nx.Defn.jit_apply(&F.named_hook/1, [x], compiler: Adit, hooks: hooks)
      assert_received {:other, [3.0]}
      assert Cache.statistics().compiled == before
      # One that is not called is not there.
      Nx.Defn.jit_apply(&F.two_hooks/1, [x], compiler: Adit, hooks: %{first: &send(parent, {:mine, host(&1)})})
      assert_received {:mine, [2.0]}
      refute_received {:first, _}
    end

    test "hooks inside of loops and branches, and runtime calls: operation by operation" do
      x = move(t([1.0, 2.0]))
      result = Nx.Defn.jit_apply(&F.hook_in_while/1, [x], compiler: Adit)
      assert host(result) == [8.0, 16.0]
      for expected <- [[2.0, 4.0], [4.0, 8.0], [8.0, 16.0]], do: assert(next(:loop) == expected)

      assert host(Nx.Defn.jit_apply(&F.hook_in_cond/2, [x, 1], compiler: Adit)) == [2.0, 3.0]
      assert next(:branch) == [2.0, 3.0]
      assert host(Nx.Defn.jit_apply(&F.hook_in_cond/2, [x, 0], compiler: Adit)) == [1.0, 2.0]
      refute_received {:branch, _}

      # Arguments from the host are computed on the device too.
      Nx.Defn.jit_apply(&F.hook_in_while/1, [t([9.0, 2.0])], compiler: Adit)
      assert_received {:loop, %{data: %Adit.Backend{}}}

      assert_same(&F.called_back/1, [t([1.0, 2.0])])
      assert %Adit.Backend{} = Nx.Defn.jit_apply(&F.called_back/1, [x], compiler: Adit).data
    end

    defp next(tag) do
      receive do
        {^tag, tensor} -> host(tensor)
      after
        0 -> :none
      end
    end

    # --- Gradients

    test "gradients agree with Nx's own" do
      x = t([[0.3, -0.7, 1.1], [0.9, 0.2, -1.3]])

      for fun <- [
            fn x -> Nx.sum(Nx.sin(x)) end,
            fn x -> Nx.sum(Nx.exp(Nx.negate(Nx.pow(x, 2)))) end,
            fn x -> Nx.sum(Nx.dot(x, Nx.transpose(Nx.tanh(x)))) end,
            fn x -> Nx.sum(Nx.sigmoid(x) |> Nx.log()) end,
            fn x -> Nx.mean(Nx.max(x, 0)) end,
            fn x -> Nx.sum(Nx.sort(x, axis: 1) |> Nx.multiply(Nx.iota({2, 3}))) end,
            fn x -> Nx.sum(Nx.cumulative_sum(x, axis: 1) |> Nx.pow(2)) end,
            fn x -> Nx.sum(Nx.window_max(x, {1, 2})) end,
            fn x -> Nx.sum(Nx.take(x, Nx.tensor([1, 1, 0]), axis: 1)) end
          ] do
        assert_same(&Nx.Defn.grad(&1, fun), [x])
        assert_same(&Nx.Defn.value_and_grad(&1, fun), [x])
      end

      assert_same(&Nx.Defn.grad(&1, fn x -> Nx.sum(F.sign_by_cond(x)) end), [t([1.0, 2.0])])
      assert_same(&Nx.Defn.grad(&1, fn x -> Nx.sum(F.while_range(x)) end), [t([1.0, 2.0])])
      assert_same(&Nx.Defn.grad(&1, fn x -> Nx.Defn.grad(x, fn x -> Nx.pow(x, 3) end) end), [t(2.0)])
    end

    test "the predecessor's training step, step by step" do
      Nx.with_default_backend(Nx.BinaryBackend, fn ->
        key = Nx.Random.key(42)
        {x, key} = Nx.Random.normal(key, 0, 1, shape: {16, 4})
        {noise, key} = Nx.Random.normal(key, 0, 1, shape: {16, 1})
        y = Nx.add(Nx.dot(x, t([[2.0], [-1.0], [0.5], [3.0]])), Nx.multiply(noise, 0.1))
        {w1, key} = Nx.Random.normal(key, 0, 0.5, shape: {4, 32})
        {w2, _key} = Nx.Random.normal(key, 0, 0.2, shape: {32, 1})
        {{w1, Nx.broadcast(0.0, {32}), w2, Nx.broadcast(0.0, {1})}, x, y}
      end)
      |> then(fn {params, x, y} ->
        ours = {move(params), move(x), move(y)}
        first = Nx.to_number(elem(reference(&F.step/3, [params, x, y]), 1))

        {params, _ours, last} =
          Enum.reduce(1..100, {params, elem(ours, 0), nil}, fn _, {params, mine, _} ->
            {params, loss} = reference(&F.step/3, [params, x, y])
            {mine, my_loss} = Nx.Defn.jit_apply(&F.step/3, [mine, elem(ours, 1), elem(ours, 2)], compiler: Adit)
            assert_in_delta hd(host(my_loss)), Nx.to_number(loss), 1.0e-4 * max(1.0, Nx.to_number(loss))
            {params, mine, Nx.to_number(loss)}
          end)

        _ = params
        assert last < first / 10
      end)
    end

    # --- The cache

    test "a call with the same types and shapes traces nothing" do
      parent = self()

      fun = fn x ->
        send(parent, :traced)
        Nx.add(x, 1)
      end

      before = Cache.statistics().compiled
      for i <- 1..10, do: assert(host(Nx.Defn.jit_apply(fun, [t([i, i])], compiler: Adit)) == [i + 1, i + 1])
      assert Cache.statistics().compiled == before + 1
      assert_received :traced
      refute_received :traced

      # Another shape, type, name: each once.
      for _ <- 1..3 do
        Nx.Defn.jit_apply(fun, [t([1, 2, 3])], compiler: Adit)
        Nx.Defn.jit_apply(fun, [t([1.0, 2.0])], compiler: Adit)
        Nx.Defn.jit_apply(fun, [t([1, 2], names: [:x])], compiler: Adit)
      end

      assert Cache.statistics().compiled == before + 4
    end

    test "many callers of a function that is not compiled yet compile it once" do
      counter = :counters.new(1, [])

      fun = fn x ->
        :counters.add(counter, 1, 1)
        Process.sleep(50)
        Nx.sum(Nx.multiply(x, 2))
      end

      1..100
      |> Enum.map(fn i ->
        Task.async(fn -> {i, Nx.Defn.jit_apply(fun, [t([i, 1])], compiler: Adit)} end)
      end)
      |> Task.await_many(60_000)
      |> Enum.each(fn {i, result} -> assert host(result) == [2 * i + 2] end)

      assert :counters.get(counter, 1) == 1
    end

    test "a function that fails to compile fails for every caller, and holds nobody up" do
      fun = fn x -> Nx.dot(x, Nx.iota({17})) end

      1..8
      |> Enum.map(fn _ ->
        Task.async(fn ->
          assert_raise ArgumentError, fn -> Nx.Defn.jit_apply(fun, [t([1, 2, 3])], compiler: Adit) end
        end)
      end)
      |> Task.await_many(10_000)

      # One that dies in the midst of it leaves it to the next.
      parent = self()

      slow = fn x ->
        send(parent, {:in, self()})
        receive do: (:go -> Nx.negate(x)), after: (200 -> Nx.negate(x))
      end

      first = spawn(fn -> Nx.Defn.jit_apply(slow, [t([1])], compiler: Adit) end)
      assert_receive {:in, ^first}, 5_000
      second = Task.async(fn -> Nx.Defn.jit_apply(slow, [t([1])], compiler: Adit) end)
      Process.sleep(20)
      Process.exit(first, :kill)
      assert host(Task.await(second)) == [-1]
    end

    test "old functions make room for new ones" do
      Application.put_env(:adit, :compiled_functions, 3)
      on_exit(fn -> Application.delete_env(:adit, :compiled_functions) end)
      Cache.clear()
      fun = fn x -> Nx.add(x, 1) end
      for n <- 1..6, do: Nx.Defn.jit_apply(fun, [Nx.iota({n})], compiler: Adit)
      assert Cache.statistics().kept == 3
      before = Cache.statistics().compiled
      Nx.Defn.jit_apply(fun, [Nx.iota({6})], compiler: Adit)
      assert Cache.statistics().compiled == before
      Nx.Defn.jit_apply(fun, [Nx.iota({1})], compiler: Adit)
      assert Cache.statistics().compiled == before + 1
    end

    # As a tree it has 2^40 nodes: whoever hashed, copied or walked it as one would not come back.
    test "a function that captured an expression" do
      doubled = fn x -> Enum.reduce(1..40, x, fn _, acc -> Nx.add(acc, acc) end) end
      expr = Nx.Defn.debug_expr_apply(doubled, [t(1.0)])
      fun = fn _x -> expr end
      before = Cache.statistics().compiled
      for _ <- 1..3, do: assert(host(Nx.Defn.jit_apply(fun, [t(1.0)], compiler: Adit)) == [:math.pow(2, 40)])
      assert Cache.statistics().compiled == before + 1

      other = Nx.Defn.debug_expr_apply(fn x -> Nx.negate(x) end, [t(1.0)])
      assert host(Nx.Defn.jit_apply(fn _x -> other end, [t(1.0)], compiler: Adit)) == [-1.0]
      again = fn e -> fn _x -> e end end
      assert host(Nx.Defn.jit_apply(again.(expr), [t(2.0)], compiler: Adit)) == [2 * :math.pow(2, 40)]
      assert host(Nx.Defn.jit_apply(again.(other), [t(2.0)], compiler: Adit)) == [-2.0]
    end

    test "products that are transposed" do
      a = t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
      b = t([[1.0, -1.0, 2.0, 0.5], [0.0, 3.0, 1.0, 1.0]])
      assert_same(fn a, b -> Nx.transpose(Nx.dot(a, [0], b, [0])) end, [a, b])
      # Read twice, as it is and transposed.
      assert_same(fn a, b -> {Nx.transpose(Nx.dot(a, [0], b, [0])), Nx.dot(a, [0], b, [0])} end, [a, b])

      assert_same(
        fn a, b ->
          p = Nx.dot(a, [0], b, [0])
          {Nx.transpose(p), p}
        end,
        [a, b]
      )

      c = Nx.reshape(t(Enum.to_list(1..24)), {2, 3, 4})
      d = Nx.reshape(t(Enum.to_list(1..10)), {5, 2})

      for axes <- [[2, 0, 1], [1, 2, 0], [0, 2, 1], [2, 1, 0]] do
        assert_same(fn c, d -> Nx.transpose(Nx.dot(c, [0], d, [1]), axes: axes) end, [c, d])
      end

      assert_same(fn c -> Nx.transpose(Nx.dot(c, [2], [0], c, [2], [0]), axes: [0, 2, 1]) end, [c])
    end

    # --- What is around it

    test "Nx.Defn.compile" do
      fun =
        Nx.Defn.compile(fn x, y -> {Nx.add(x, y), Nx.sum(x)} end, [Nx.template({2}, :f32), Nx.template({}, :f32)],
          compiler: Adit
        )

      {a, b} = fun.(t([1.0, 2.0]), t(3.0))
      assert {host(a), host(b)} == {[4.0, 5.0], [3.0]}
      assert_raise ArgumentError, fn -> fun.(t([1.0, 2.0, 3.0]), t(3.0)) end
    end

    test "Nx.Serving" do
      serving =
        Nx.Serving.jit(&Nx.multiply(&1, 2), compiler: Adit)

      batch = Nx.Batch.stack([t([1, 2, 3]), t([4, 5, 6])])
      assert host(Nx.Serving.run(serving, batch)) == [2, 4, 6, 8, 10, 12]

      name = :"serving_#{System.unique_integer([:positive])}"
      start_supervised!({Nx.Serving, serving: serving, name: name, batch_size: 4, batch_timeout: 10})

      1..8
      |> Enum.map(fn i -> Task.async(fn -> {i, Nx.Serving.batched_run(name, Nx.Batch.stack([t([i])]))} end) end)
      |> Task.await_many()
      |> Enum.each(fn {i, out} -> assert host(out) == [2 * i] end)
    end

    test "Nx.Serving with partitions" do
      serving =
        Nx.Serving.jit(&Nx.negate/1, compiler: Adit) |> Nx.Serving.defn_options(compiler: Adit, max_concurrency: 2)

      name = :"serving_#{System.unique_integer([:positive])}"
      start_supervised!({Nx.Serving, serving: serving, name: name, partitions: true, batch_size: 2, batch_timeout: 10})

      1..12
      |> Enum.map(fn i -> Task.async(fn -> {i, Nx.Serving.batched_run(name, Nx.Batch.stack([t([i])]))} end) end)
      |> Task.await_many()
      |> Enum.each(fn {i, out} -> assert host(out) == [-i] end)
    end

    test "options" do
      assert Nx.Defn.to_backend(compiler: Adit) == {Adit.Backend, []}
      assert Nx.Defn.to_backend(compiler: Adit, device: "cpu") == {Adit.Backend, [device: "cpu"]}
      assert length(Adit.__partitions_options__(max_concurrency: 3)) == 3
      assert [[device: "a"] ++ [devices: ["a", "b"]], _] = Adit.__partitions_options__(devices: ["a", "b"])

      previous = Nx.Defn.default_options(compiler: Adit)
      assert %Adit.Backend{} = F.captured(t([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])).data
      Nx.Defn.default_options(previous)

      assert_same(&Nx.exp/1, [t([1.0, 2.0])], garbage_collect: true)
      assert_same(&Nx.exp/1, [t([1.0, 2.0])], device: "cpu")
      assert_same(fn -> Nx.iota({4}) end, [], device: "cpu")
      assert host(Adit.jit(&Nx.add(&1, 1)).(t([1]))) == [2]
    end

    test "errors say what they are about" do
      assert_raise ArgumentError, ~r/cannot pass a tensor expression/, fn ->
        Nx.Defn.jit_apply(
          fn x -> Nx.Defn.jit_apply(fn y -> Nx.add(y, 1) end, [x], compiler: Adit, on_conflict: :force) end,
          [t([1])],
          compiler: Adit
        )
      end
    end

    test "lazy tensors make lazy results" do
      {:ok, function, [placeholder]} = Adit.NIF.function_begin([{:f32, [2]}])

      x = %{Nx.template({2}, :f32) | data: %Adit.Backend{ref: placeholder, lazy: true}}
      y = Nx.Defn.jit_apply(&Nx.exp/1, [x], compiler: Adit)
      assert y.data.lazy
      assert :ok = Adit.NIF.function_finish(function, [y.data.ref])
    end

    test "what is run can be read" do
      text = Adit.explain(&Nx.sum(Nx.exp(&1)), [t([1.0, 2.0])])
      assert is_binary(text) and text != ""
    end
  end
else
  IO.puts(:stderr, "\n*** SKIPPED: test/compiler_test.exs needs Nx, which is not there (set NX_PATH) ***\n")
end
