# The predecessor's table: additions, products of matrices and a chain of dispatches, against Nx.BinaryBackend.
#   cd bindings/elixir && mix run ../../bench/elixir/table.exs
# BinaryBackend's matrices of 1024 take many minutes: only with ADIT_BENCH_FULL=1.
Code.require_file("measure.exs", __DIR__)
alias Adit.Bench.Measure

Measure.device()
full? = System.get_env("ADIT_BENCH_FULL") == "1"

random = fn shape, backend ->
  size = Tuple.product(shape)

  Nx.with_default_backend(Nx.BinaryBackend, fn -> Nx.iota(shape, type: :f32) |> Nx.divide(size) end)
  |> Nx.backend_copy(backend)
end

# Ours is read back to the last element once a batch ends: what is queued is waited for.
wait = fn tensor -> Nx.to_binary(Nx.slice(Nx.flatten(tensor), [0], [1])) end

ours = fn fun -> Measure.median(fun, warm_up: 5) end

theirs = fn fun ->
  {first, _} = :timer.tc(fun)
  if first > 300_000, do: first * 1.0, else: Measure.median(fun, warm_up: 1, times: 5, batch: 1)
end

row = fn work, size, operation, theirs? ->
  mine = random.(size, Adit.Backend)
  our = ours.(fn -> wait.(operation.(mine)) end)
  host = random.(size, Nx.BinaryBackend)

  their =
    if theirs?,
      do: Nx.with_default_backend(Nx.BinaryBackend, fn -> theirs.(fn -> operation.(host) end) end)

  [work, Measure.text(our), Measure.text(their), if(their, do: "#{round(their / our)}x", else: "-")]
end

Nx.default_backend(Adit.Backend)

adds =
  for n <- [1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304] do
    row.("add of #{n}", {n}, fn x -> Nx.add(x, x) end, true)
  end

products =
  for n <- [16, 64, 128, 256, 512, 1024] do
    row.("matmul #{n}", {n, n}, fn x -> Nx.dot(x, x) end, n <= 256 or full?)
  end

others = [
  row.("sigmoid of 16384", {16_384}, &Nx.sigmoid/1, true),
  row.("sum of 1024x1024", {1024, 1024}, &Nx.sum/1, true)
]

# acc * a, sigmoid, / 2, over and over; BinaryBackend does a tenth of it on smaller matrices, as the predecessor had it.
chain = fn a, times ->
  Enum.reduce(1..times, a, fn _, acc -> acc |> Nx.multiply(a) |> Nx.sigmoid() |> Nx.divide(2) end)
end

large = random.({128, 128}, Adit.Backend)
wait.(chain.(large, 10))
{time, last} = :timer.tc(fn -> chain.(large, 5000) |> tap(wait) end)
small = random.({32, 32}, Nx.BinaryBackend)

{host_time, host_last} =
  :timer.tc(fn -> Nx.with_default_backend(Nx.BinaryBackend, fn -> chain.(small, 500) end) end)

per = time / 15_000
host_per = host_time / 1500 * 16

dispatches = [
  [
    "15,000 dispatches on 128x128, each",
    Measure.text(per),
    "#{Measure.text(host_per)} (of 32x32, times 16)",
    "#{round(host_per / per)}x"
  ]
]

true = Nx.to_number(Nx.all(Nx.is_nan(last))) == 0
_ = host_last

Measure.table(["work", "Adit", "BinaryBackend", "ratio"], adds ++ products ++ others ++ dispatches)
