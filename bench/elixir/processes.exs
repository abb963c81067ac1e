# Processes that evaluate small graphs of their own at once: how many times the work of one.
#   cd bindings/elixir && mix run ../../bench/elixir/processes.exs
Code.require_file("measure.exs", __DIR__)
alias Adit.Bench.Measure

Nx.default_backend(Adit.Backend)
Measure.device()

rate = fn count, calls ->
  work = fn ->
    Nx.default_backend(Adit.Backend)
    a = Nx.iota({64, 64}, type: :f32) |> Nx.divide(4096)
    fun = Nx.Defn.jit(fn a -> Nx.sum(Nx.tanh(Nx.dot(a, a))) end, compiler: Adit)
    fun.(a)
    receive do: (:go -> Enum.each(1..calls, fn _ -> Nx.to_binary(fun.(a)) end))
  end

  tasks = for _ <- 1..count, do: Task.async(work)
  Process.sleep(200)

  {time, _} =
    :timer.tc(fn ->
      Enum.each(tasks, &send(&1.pid, :go))
      Task.await_many(tasks, :infinity)
    end)

  count * calls / time * 1.0e6
end

rate.(1, 2000)
one = rate.(1, 5000)

rows =
  for count <- [1, 2, 4, 8, 16] do
    all = rate.(count, 5000)
    ["#{count}", "#{round(all)}", "#{Float.round(all / one, 2)}x"]
  end

Measure.table(["processes", "calls a second", "of one"], rows)
IO.puts("#{System.schedulers_online()} schedulers")
