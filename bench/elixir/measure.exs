# Medians of calls, and the C++ program's for the same work.
defmodule Adit.Bench.Measure do
  @folder __DIR__

  @doc "Microseconds of a call: the median over batches of them."
  def median(fun, options \\ []) do
    for _ <- 1..Keyword.get(options, :warm_up, 20)//1, do: fun.()
    {one, _} = :timer.tc(fun)
    batch = Keyword.get(options, :batch, (5_000 / max(one, 0.5)) |> round() |> max(1) |> min(2000))

    times =
      for _ <- 1..Keyword.get(options, :times, 21)//1 do
        {time, _} = :timer.tc(fn -> repeat(fun, batch) end)
        time / batch
      end

    Enum.at(Enum.sort(times), div(length(times), 2))
  end

  @doc "The least of nine medians: what else the machine does comes and goes."
  def best(fun), do: Enum.min(for _ <- 1..9, do: median(fun, times: 9))

  defp repeat(_fun, 0), do: :ok

  defp repeat(fun, n) do
    fun.()
    repeat(fun, n - 1)
  end

  @doc "What bench/elixir_step_bench measures: work => microseconds, the least of three; empty where it is not built."
  def by_cpp(device) do
    program =
      System.get_env("ADIT_STEP_BENCH") || Path.expand("../../build/release/bench/elixir_step_bench", @folder)

    if File.exists?(program) do
      for _ <- 1..3, reduce: %{} do
        least ->
          {lines, 0} = System.cmd(program, [device])

          for [_, work, us] <- Regex.scan(~r/"work": "([^"]+)", "us": ([0-9.]+)/, lines), into: %{} do
            {work, String.to_float(us)}
          end
          |> Map.merge(least, fn _work, one, other -> min(one, other) end)
      end
    else
      IO.puts("#{program} is not there: figures of C++ are left out")
      %{}
    end
  end

  @doc "A number of microseconds with the unit that suits it."
  def text(nil), do: "-"
  def text(us) when us < 1000, do: "#{Float.round(us * 1.0, 2)} us"
  def text(us) when us < 1_000_000, do: "#{Float.round(us / 1000, 2)} ms"
  def text(us), do: "#{Float.round(us / 1_000_000, 2)} s"

  @doc "Prints rows of texts as columns."
  def table(heads, rows) do
    widths =
      for column <- Enum.zip([heads | rows]), do: column |> Tuple.to_list() |> Enum.map(&String.length/1) |> Enum.max()

    for row <- [heads | rows] do
      row |> Enum.zip_with(widths, &String.pad_trailing/2) |> Enum.join("  ") |> String.trim_trailing() |> IO.puts()
    end

    IO.puts("")
  end

  def device do
    %{id: id, name: name} = Enum.find(Adit.devices(), &(&1.id == Adit.Device.default_id()))
    IO.puts("#{id}: #{name}; OTP #{System.otp_release()}, Elixir #{System.version()}\n")
    id
  end
end
