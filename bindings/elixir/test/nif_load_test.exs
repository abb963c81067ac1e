Code.require_file("nif_help.exs", __DIR__)

defmodule Adit.NIFLoadTest do
  # Many processes, many tensors, processes that are killed: memory comes back, and schedulers stay free.
  use ExUnit.Case, async: false
  import Adit.NIFHelp
  alias Adit.NIF

  @moduletag timeout: 600_000

  setup do
    device = device()
    # what earlier tests held is collected first
    eventually(1, fn -> false end)
    %{device: device}
  end

  # Operations of a process with its own numbers: each must see its own.
  defp work(device, seed, count) do
    x = f32(device, [seed * 1.0, seed + 1.0])

    last =
      Enum.reduce(1..count, x, fn i, y ->
        operation = if rem(i, 2) == 1, do: :add, else: :subtract
        {:ok, [z]} = NIF.call_eager(operation, [y, x], [])
        z
      end)

    numbers(last)
  end

  # Gaps in the ticks are the machine's as often as ours: the best of a few times tells.
  defp assert_free_schedulers(work, times \\ 5) do
    late = late_share(work)

    cond do
      late < 0.1 -> :ok
      times > 1 -> assert_free_schedulers(work, times - 1)
      true -> flunk("for #{round(late * 100)} % of the time schedulers were held for more than 10 ms")
    end
  end

  test "100 processes with 1,000 operations each, and free schedulers", %{device: device} do
    before = bytes_in_use(device)

    assert_free_schedulers(fn ->
      1..100
      |> Enum.map(fn seed -> {seed, Task.async(fn -> work(device, seed, 1_000) end)} end)
      |> Enum.each(fn {seed, task} -> assert Task.await(task, 300_000) == [seed * 1.0, seed + 1.0] end)
    end)

    assert eventually(fn -> bytes_in_use(device) <= before end)
  end

  test "200 processes are killed while they hold 10 MB each", %{device: device} do
    before = bytes_in_use(device)
    size = 10_000_000
    parent = self()
    bytes = :binary.copy(<<7>>, size)

    # in groups, so that the machine need not have 2 GB
    for _ <- 1..10 do
      killed =
        for _ <- 1..20 do
          spawn_monitor(fn ->
            {:ok, x} = NIF.from_binary(device, :u8, [size], bytes)
            send(parent, {self(), :holds})
            # some die at rest, some inside of the NIF
            if :rand.uniform(2) == 1, do: Process.sleep(:infinity), else: churn(x)
          end)
        end

      for {pid, _} <- killed, do: assert_receive({^pid, :holds}, 60_000)
      assert bytes_in_use(device) >= before + 20 * size
      for {pid, _} <- killed, do: Process.exit(pid, :kill)
      for {pid, monitor} <- killed, do: assert_receive({:DOWN, ^monitor, :process, ^pid, :killed}, 60_000)
    end

    assert eventually(fn -> bytes_in_use(device) <= before end)
  end

  defp churn(x) do
    # it reads, so that no queue grows faster than it is worked off; on a small device there may be no room
    with {:ok, [y]} <- NIF.call_eager(:bitwise_not, [x], []), {:ok, <<_>>} <- NIF.to_binary(y, 0, 1), do: churn(x)
    Process.sleep(:infinity)
  end

  test "50,000 tiny tensors in a loop", %{device: device} do
    before = bytes_in_use(device)

    assert_free_schedulers(fn ->
      Task.async(fn ->
        for i <- 1..50_000 do
          x = i64(device, [i], [])
          {:ok, [y]} = NIF.call_eager(:negate, [x], [])
          if rem(i, 5_000) == 0, do: assert(numbers(y) == [-i])
        end
      end)
      |> Task.await(300_000)
    end)

    assert eventually(fn -> bytes_in_use(device) <= before end)
  end

  test "50,000 tensors that live at once", %{device: device} do
    before = bytes_in_use(device)

    task =
      Task.async(fn ->
        tensors = for i <- 1..50_000, do: i64(device, [i], [])
        assert numbers(Enum.at(tensors, 12_344)) == [12_345]
        assert bytes_in_use(device) >= before + 50_000 * 8
        length(tensors)
      end)

    assert Task.await(task, 300_000) == 50_000
    assert eventually(fn -> bytes_in_use(device) <= before end)
  end

  test "large results that nobody holds any more are collected in time", %{device: device} do
    size = 10_000_000
    {:ok, x} = NIF.from_binary(device, :u8, [size], :binary.copy(<<1>>, size))
    before = bytes_in_use(device)
    parent = self()

    # With so large a heap the process sees no reason of its own to collect.
    loop = fn ->
      most =
        Enum.reduce(1..200, 0, fn _, most ->
          {:ok, [y]} = NIF.call_eager(:bitwise_not, [x], [])
          {:ok, <<254>>} = NIF.to_binary(y, 0, 1)
          max(most, bytes_in_use(device))
        end)

      send(parent, {:most, most})
    end

    :erlang.spawn_opt(loop, [:link, min_heap_size: 5_000_000])
    assert_receive {:most, most}, 300_000
    assert most < before + 100 * size
  end

  test "a long chain of lazy operations is dropped", %{device: device} do
    x = f32(device, [1.0])
    chain = Enum.reduce(1..100_000, x, fn _, y -> hd(call!(:add, [y, x])) end)
    assert {:ok, {:f32, [1]}} = NIF.info(chain)
    assert :ok = NIF.deallocate(chain)
    assert eventually(fn -> true end)
  end

  test "tensors are deallocated while other processes use them", %{device: device} do
    for _ <- 1..20 do
      x = f32(device, Enum.map(1..10_000, &(&1 * 1.0)))

      users =
        for _ <- 1..8 do
          Task.async(fn ->
            Enum.map(1..50, fn _ ->
              case NIF.call_eager(:exp, [x], []) do
                {:ok, [y]} -> {:ok, {:f32, [10_000]}} = NIF.info(y)
                {:error, :bad_argument, message} -> assert message =~ "was deallocated"
              end
            end)
          end)
        end

      assert :ok = NIF.deallocate(x)
      Task.await_many(users, 60_000)
    end
  end

  test "schedulers are free while others compile, compute and wait", %{device: device} do
    n = 1_500
    x = f32(device, List.duplicate(0.5, 100))
    {:ok, [large]} = NIF.call_eager(:full, [], value: 0.5, shape: [n, n], type: :f32)

    assert_free_schedulers(fn ->
      [
        Task.async(fn -> for _ <- 1..3, do: {:ok, [_]} = NIF.call_eager(:matmul, [large, large], []) end),
        # new graphs, which are compiled
        Task.async(fn ->
          for _ <- 1..10 do
            y =
              Enum.reduce(1..20, x, fn _, y ->
                operation = Enum.random([:sin, :cos, :tanh, :exp, :negate, :floor])
                hd(call!(operation, [y]))
              end)

            :ok = NIF.eval([y])
          end
        end),
        Task.async(fn -> for _ <- 1..5, do: {:ok, _} = NIF.to_binary(large, 0, -1) end)
      ]
      |> Task.await_many(300_000)
    end)
  end

  test "a loop that was quick once, and is long then, holds no scheduler", %{device: device} do
    slots = [{:i64, []}, {:i64, []}]
    condition = function!(slots, fn [i, n] -> call!(:less, [i, n]) end)
    [one] = call!(:full, [], value: 1, shape: [], type: :i64)
    body = function!(slots, fn [i, n] -> call!(:add, [i, one]) ++ [n] end)
    whole = function!(slots, fn [i, n] -> call!(:while_loop, [i, n], condition: condition, body: body) end)
    {:ok, compiled} = NIF.jit(whole)
    count = fn n -> NIF.run(compiled, [i64(device, [0], []), i64(device, [n], [])]) end
    for _ <- 1..5, do: assert({:ok, [_, _]} = count.(3))
    long = long_enough(count, 10_000)

    for _ <- 1..5, do: assert({:ok, [_, _]} = count.(3))

    # One scheduler: whoever holds it holds all.
    online = :erlang.system_flag(:schedulers_online, 1)
    on_exit(fn -> :erlang.system_flag(:schedulers_online, online) end)
    ticker = spawn_link(fn -> count_ticks(0) end)
    assert {:ok, [i, _]} = count.(long)
    send(ticker, {:stop, self()})
    assert_receive {:ticks, ticks}, 10_000
    assert ticks > 5, "#{ticks} ticks came while it ran"
    assert numbers(i) == [long]
  end

  # Rounds that take a third of a second.
  defp long_enough(count, n) do
    {microseconds, {:ok, _}} = :timer.tc(fn -> count.(n) end)
    if microseconds > 300_000, do: n, else: long_enough(count, 4 * n)
  end

  defp count_ticks(count) do
    receive do
      {:stop, to} -> send(to, {:ticks, count})
    after
      1 -> count_ticks(count + 1)
    end
  end
end
