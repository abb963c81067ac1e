# A training step of an MLP for MNIST (784-128-10), as Axon would write it, by defn and by C++.
#   cd bindings/elixir && mix run ../../bench/elixir/mlp.exs
Code.require_file("measure.exs", __DIR__)

defmodule Adit.Bench.MLP do
  import Nx.Defn

  defn predict(p, x) do
    hidden = Nx.max(Nx.dot(x, p.w1) + p.b1, 0)
    logits = Nx.dot(hidden, p.w2) + p.b2
    shifted = logits - Nx.reduce_max(logits, axes: [1], keep_axes: true)
    shifted - Nx.log(Nx.sum(Nx.exp(shifted), axes: [1], keep_axes: true))
  end

  defn(loss(p, x, y), do: -Nx.mean(Nx.sum(y * predict(p, x), axes: [1])))

  defn step(p, x, y) do
    {loss, g} = value_and_grad(p, &loss(&1, x, y))

    {%{
       w1: p.w1 - 0.01 * g.w1,
       b1: p.b1 - 0.01 * g.b1,
       w2: p.w2 - 0.01 * g.w2,
       b2: p.b2 - 0.01 * g.b2
     }, loss}
  end

  def parameters do
    key = Nx.Random.key(7)
    {w1, key} = Nx.Random.normal(key, 0, 0.05, shape: {784, 128})
    {w2, _} = Nx.Random.normal(key, 0, 0.1, shape: {128, 10})
    %{w1: w1, b1: Nx.broadcast(0.0, {128}), w2: w2, b2: Nx.broadcast(0.0, {10})}
  end

  def batch(size) do
    {x, key} = Nx.Random.normal(Nx.Random.key(size), 0, 1, shape: {size, 784})
    {y, _} = Nx.Random.uniform(key, shape: {size, 10})
    {x, Nx.divide(y, Nx.sum(y, axes: [1], keep_axes: true))}
  end
end

alias Adit.Bench.{Measure, MLP}

Nx.default_backend(Adit.Backend)
device = Measure.device()
cpp = Measure.by_cpp(device)

rows =
  for size <- [32, 64, 128] do
    {x, y} = MLP.batch(size)
    step = Nx.Defn.jit(&MLP.step/3, compiler: Adit)
    Process.put(:parameters, MLP.parameters())

    ours =
      Measure.best(fn ->
        {parameters, loss} = step.(Process.get(:parameters), x, y)
        Process.put(:parameters, parameters)
        # Waits for the device.
        Nx.to_binary(loss)
      end)

    theirs = cpp["mlp step, batch #{size}"]
    ratio = if theirs, do: "#{Float.round(ours / theirs, 2)}", else: "-"
    ["batch #{size}", Measure.text(ours), Measure.text(theirs), ratio, "1.3"]
  end

Measure.table(["mlp step", "Elixir", "C++", "ratio", "at most"], rows)
