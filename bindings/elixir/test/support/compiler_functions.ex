# Functions and containers for compiler_test.exs: protocols must know them before they are consolidated.
if Code.ensure_loaded?(Nx) do
  defmodule Adit.CompilerTest.Functions do
    import Nx.Defn

    @derive {Nx.Container, containers: [:mean, :spread], keep: [:label]}
    defstruct [:mean, :spread, :label]

    # --- Control flow

    defn sign_by_cond(x) do
      cond do
        Nx.sum(x) > 0 -> x * 2
        Nx.sum(x) < 0 -> x - 1
        true -> Nx.exp(x)
      end
    end

    # `shared` is read outside of the branches, `twice` by both, `once` by one alone.
    defn cond_scopes(x, p) do
      shared = Nx.sin(x)
      twice = Nx.cos(x)
      once = Nx.tanh(x)

      {a, b} =
        if p do
          {shared + twice, once * twice}
        else
          {shared - twice, twice}
        end

      {a, b, shared}
    end

    defn nested_cond(x, p, q) do
      y = Nx.exp(x)

      if p do
        z = y + 1
        if q, do: z * y, else: z - x
      else
        cond do
          q -> Nx.negate(y)
          Nx.any(x > 2) -> if(p, do: x, else: x * 10)
          true -> x
        end
      end
    end

    # One expression in the branches of two conds: the scope around both computes it.
    defn cond_twice(x, p, q) do
      y = Nx.log1p(Nx.abs(x))
      a = if p, do: y, else: x
      b = if q, do: y * 2, else: x
      a + b
    end

    defn cond_types(x, p) do
      if p, do: Nx.as_type(x, :f64), else: 1
    end

    defn collatz(n) do
      {_, steps} =
        while {n, steps = 0}, n != 1 do
          n = if Nx.remainder(n, 2) == 0, do: Nx.quotient(n, 2), else: 3 * n + 1
          {n, steps + 1}
        end

      steps
    end

    defn while_containers(x) do
      {state, i} =
        while {state = %{a: x, b: {Nx.sum(x), 1}}, i = 0}, i < 5 do
          {s, n} = state.b
          {%{state | a: Nx.cos(state.a) + n, b: {s / 2, n + 1}}, i + 1}
        end

      {state, i}
    end

    defn while_single(x) do
      while x, Nx.sum(x) < 100 do
        x * 2
      end
    end

    defn while_range(x) do
      while acc = x, i <- 0..9 do
        acc * 0.5 + i
      end
    end

    defn while_unrolled(x) do
      while acc = x, i <- 0..9, unroll: 4 do
        acc * 0.5 + i
      end
    end

    defn while_over_rows(x) do
      while acc = Nx.broadcast(0.0, {3}), row <- x do
        acc + row * 2
      end
    end

    defn nested_while(x) do
      {_, total} =
        while {i = 0, total = x}, i < 3 do
          {_, _, inner} =
            while {j = 0, i, t = total}, j < i do
              {j + 1, i, t * 1.5}
            end

          {i + 1, inner + 1}
        end

      total
    end

    defn while_in_cond(x, p) do
      if p do
        while x, Nx.sum(x) < 10 do
          x + 1
        end
      else
        x
      end
    end

    defn vectorized_while(x) do
      while x, x < 10 do
        x * 2
      end
    end

    # --- Functions of the user

    defn reduced(x) do
      Nx.reduce(x, 0.5, [axes: [-1]], fn a, b -> a + b * b end)
    end

    defn window_reduced(x) do
      Nx.window_reduce(x, 1.0, {2, 2}, [padding: :same], fn a, b -> Nx.max(a, b) + 0.25 end)
    end

    # --- Hooks

    defn two_hooks(x) do
      y = hook(x + 1, :first, &Adit.CompilerTest.Functions.tell({:first, &1}))
      z = hook({y * 2, %{m: y - 3}}, &Adit.CompilerTest.Functions.tell({:second, &1}))
      {a, %{m: b}} = z
      a + b
    end

    defn(named_hook(x), do: hook(x * 3, :given))

    defn hook_in_while(x) do
      while x, Nx.sum(x) < 20 do
        hook(x * 2, :loop, &Adit.CompilerTest.Functions.tell({:loop, &1}))
      end
    end

    defn hook_in_cond(x, p) do
      if p, do: hook(x + 1, :branch, &Adit.CompilerTest.Functions.tell({:branch, &1})), else: x
    end

    defn called_back(x) do
      y = Nx.runtime_call(x, Nx.exp(x), [scale: 2], &Adit.CompilerTest.Functions.scaled/2)
      y + 1
    end

    def tell(message), do: send(self(), message)
    def scaled(t, opts), do: Nx.multiply(t, opts[:scale])

    # --- Containers

    defn standardize(x) do
      mean = Nx.mean(x)
      spread = Nx.standard_deviation(x)
      {%__MODULE__{mean: mean, spread: spread, label: :kept}, (x - mean) / spread}
    end

    defn(of_struct(s, t), do: s.mean * t + s.spread)

    defn(captured(x), do: x + Nx.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))

    # --- A training step: 4 inputs, 32 tanh, 1 output, as the predecessor had it

    defn predict({w1, b1, w2, b2}, x) do
      x |> Nx.dot(w1) |> Nx.add(b1) |> Nx.tanh() |> Nx.dot(w2) |> Nx.add(b2)
    end

    defn(loss(params, x, y), do: Nx.mean(Nx.pow(predict(params, x) - y, 2)))

    defn step({w1, b1, w2, b2} = params, x, y) do
      {loss, {g1, h1, g2, h2}} = value_and_grad(params, &loss(&1, x, y))
      {{w1 - 0.01 * g1, b1 - 0.01 * h1, w2 - 0.01 * g2, b2 - 0.01 * h2}, loss}
    end
  end

  defmodule Adit.CompilerTest.Lazy do
    defstruct [:fun]
  end

  defimpl Nx.LazyContainer, for: Adit.CompilerTest.Lazy do
    def traverse(%{fun: fun}, acc, visit), do: visit.(Nx.template({1}, :f32), fun, acc)
  end
end
