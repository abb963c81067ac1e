defmodule Adit.NIFHelp do
  @moduledoc false
  # What the tests of the NIF share. ADIT_TEST_DEVICE names the device, "cpu" if none is named.
  alias Adit.NIF

  @dtypes [:u8, :u16, :u32, :u64, :i8, :i16, :i32, :i64, :f16, :bf16, :f32, :f64, :c64, :c128]
  def dtypes, do: @dtypes

  def bytes_of(type) do
    %{u8: 1, i8: 1, u16: 2, i16: 2, f16: 2, bf16: 2, u32: 4, i32: 4, f32: 4, c64: 8, u64: 8, i64: 8, f64: 8, c128: 16}[type]
  end

  def device_name, do: System.get_env("ADIT_TEST_DEVICE", "cpu")

  def device do
    {:ok, device} = NIF.open(System.get_env("ADIT_TEST_DEVICE", "cpu"))
    :ok = NIF.make_default(device)
    device
  end

  def f32(device, numbers, shape \\ nil) do
    {:ok, tensor} =
      NIF.from_binary(device, :f32, shape || [length(numbers)], for(x <- numbers, into: <<>>, do: <<x::float-32-native>>))

    tensor
  end

  def f64(device, numbers, shape \\ nil) do
    {:ok, tensor} =
      NIF.from_binary(device, :f64, shape || [length(numbers)], for(x <- numbers, into: <<>>, do: <<x::float-64-native>>))

    tensor
  end

  def i64(device, numbers, shape \\ nil) do
    {:ok, tensor} =
      NIF.from_binary(device, :i64, shape || [length(numbers)], for(x <- numbers, into: <<>>, do: <<x::64-native>>))

    tensor
  end

  # All elements of a tensor as numbers.
  def numbers(tensor) do
    {:ok, {type, _shape}} = NIF.info(tensor)
    {:ok, binary} = NIF.to_binary(tensor, 0, -1)

    case type do
      :f32 -> for <<x::float-32-native <- binary>>, do: x
      :f64 -> for <<x::float-64-native <- binary>>, do: x
      :i64 -> for <<x::signed-64-native <- binary>>, do: x
      :u64 -> for <<x::unsigned-64-native <- binary>>, do: x
      :i32 -> for <<x::signed-32-native <- binary>>, do: x
      :u8 -> for <<x::8 <- binary>>, do: x
    end
  end

  def call!(operation, tensors, attributes \\ []) do
    {:ok, results} = NIF.call(operation, tensors, attributes)
    results
  end

  # A finished function of these slots; `build` gives its results for its placeholders.
  def function!(slots, build) do
    {:ok, function, placeholders} = NIF.function_begin(slots)
    :ok = NIF.function_finish(function, build.(placeholders))
    function
  end

  def bytes_in_use(device) do
    {:ok, %{bytes_in_use: bytes}} = NIF.statistics(device)
    bytes
  end

  # Collecting what processes held that have ended takes a moment.
  def eventually(seconds \\ 20, test), do: eventually_until(System.monotonic_time(:millisecond) + seconds * 1000, test)

  defp eventually_until(last, test) do
    :erlang.garbage_collect()

    cond do
      test.() -> true
      System.monotonic_time(:millisecond) > last -> false
      true -> Process.sleep(20) && eventually_until(last, test)
    end
  end

  # Runs `work` beside a process that asks to be woken each millisecond: the share of the time that went by in gaps of
  # more than 10 ms. What the schedulers' threads had to wait for a processor is left out: it is the machine's.
  def late_share(work) do
    parent = self()
    waited = waited_for_processors()

    ticker =
      spawn_link(fn ->
        Process.flag(:priority, :high)
        tick(parent, System.monotonic_time(:microsecond), 0, 0)
      end)

    work.()
    send(ticker, :stop)

    receive do
      {^ticker, late, total} -> max(late - (waited_for_processors() - waited), 0) / max(total, 1)
    end
  end

  defp tick(parent, last, late, total) do
    stop? =
      receive do
        :stop -> true
      after
        1 -> false
      end

    now = System.monotonic_time(:microsecond)
    gap = now - last
    late = if gap > 10_000, do: late + gap, else: late
    if stop?, do: send(parent, {self(), late, total + gap}), else: tick(parent, now, late, total + gap)
  end

  # Microseconds, of all normal schedulers together; 0 where the system does not tell.
  defp waited_for_processors do
    "/proc/self/task/*"
    |> Path.wildcard()
    |> Enum.filter(&(&1 |> Path.join("comm") |> read() =~ ~r/^(\d+_scheduler|erts_sched_)/))
    |> Enum.map(fn task ->
      case task |> Path.join("schedstat") |> read() |> String.split() do
        [_ran, waited, _times] -> div(String.to_integer(waited), 1000)
        _ -> 0
      end
    end)
    |> Enum.sum()
  end

  defp read(path) do
    case File.read(path) do
      {:ok, text} -> text
      {:error, _} -> ""
    end
  end
end
