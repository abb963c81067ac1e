# What a call costs that comes from Elixir, over the same call in C++.
#   cd bindings/elixir && mix run ../../bench/elixir/overhead.exs
Code.require_file("measure.exs", __DIR__)
alias Adit.Bench.Measure

Nx.default_backend(Adit.Backend)
device = Measure.device()
cpp = Measure.by_cpp(device)

a = Nx.iota({16}, type: :f32) |> Nx.divide(16)
m = Nx.iota({64, 64}, type: :f32) |> Nx.divide(4096)
one = Nx.Defn.jit(&Nx.exp/1, compiler: Adit)

six =
  Nx.Defn.jit(fn a, b, c, d, e, f -> {Nx.exp(a), Nx.add(b, c), Nx.add(Nx.add(d, e), f)} end, compiler: Adit)

compiled = Nx.Defn.compile(&Nx.exp/1, [Nx.template({16}, :f32)], compiler: Adit)

rows =
  for {work, like, most, fun} <- [
        {"eager add 16", "eager add 16", 5, fn -> Nx.add(a, a) end},
        {"eager sum 64x64", "eager sum 64x64", 5, fn -> Nx.sum(m) end},
        {"jit, 1 argument", "jit 1 argument", 15, fn -> one.(a) end},
        {"jit, 6 arguments, 3 results", "jit 6 arguments", 15, fn -> six.(a, a, a, a, a, a) end},
        {"Nx.Defn.compile, 1 argument", "jit 1 argument", 15, fn -> compiled.(a) end}
      ] do
    ours = Measure.best(fun)
    theirs = cpp[like]

    [
      work,
      Measure.text(ours),
      Measure.text(theirs),
      if(theirs, do: Measure.text(ours - theirs), else: "-"),
      "#{most} us"
    ]
  end

Measure.table(["call", "Elixir", "C++", "difference", "at most"], rows)
