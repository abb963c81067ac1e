defmodule Adit.Node do
  @moduledoc """
  The process that keeps the device: it opens it at boot, warms it up, tells how it is, and guards what runs on it.

      Adit.Node.status()
      Adit.Node.with_node(fn -> Nx.sum(x) end, 5_000)

  It starts with the application. Where there is no device it says so in the log and stays, so that an application that
  can do without one does not fall with it.

  `with_node/2` runs functions one after the other and answers within its timeout. A function that timed out three times
  while it ran is a suspect: it is refused, by name, until `reset/1`. A kernel that hangs cannot be called back from a
  driver; the caller is released, and the process that ran it ends when the driver lets go.

  Configuration: `config :adit, node_timeout: 30_000` (milliseconds, default `:infinity`), `config :adit, node: false`
  (not started).
  """
  use GenServer

  require Logger
  alias Adit.{Device, Error, NIF, Telemetry}

  # Timeouts that make a suspect.
  @strikes 3

  # --- Calls

  def start_link(options \\ []) do
    {name, options} = Keyword.pop(options, :name, __MODULE__)
    GenServer.start_link(__MODULE__, options, name: name)
  end

  @doc "Whether the process is there and has a device."
  def alive?(node \\ __MODULE__) do
    match?(%{device: id} when id != nil, status(node))
  end

  @doc """
  What there is to know, a map: `device`, `name`, `kind`, `driver`, `uptime_ms`, `executions` (functions that were run),
  `kernels_run`, `compilations`, `memory_in_use`, `memory_held`, `memory_peak`, `queue_length`, `running` (a name),
  `timeouts`, `suspects`, `error` (why there is no device).

  `{:error, :node_dead}` where the process is not there.
  """
  def status(node \\ __MODULE__), do: call(node, :status)

  # What a timer of Erlang bears.
  @longest 4_294_967_295

  @doc """
  Runs a function on the node, and gives what it gives; `{:error, :node_timeout}` where that took longer than `timeout`
  milliseconds, the wait in the queue included; `{:error, :node_dead}` where there is no node or it has no device;
  `{:error, {:suspect, name}}` where it timed out three times before. What the function raises is raised here.

  The name by which it is known is the function's own, or the first of three arguments.
  """
  def with_node(fun, timeout \\ default_timeout()) when is_function(fun, 0),
    do: with_node(name_of(fun), fun, timeout)

  def with_node(name, fun, timeout), do: with_node(__MODULE__, name, fun, timeout)

  @doc false
  def with_node(node, name, fun, timeout) when is_function(fun, 0) do
    unless timeout == :infinity or (is_integer(timeout) and timeout >= 0 and timeout <= @longest) do
      raise ArgumentError, "timeout: expected milliseconds, a whole number from 0 on, or :infinity, got #{inspect(timeout)}"
    end

    case call(node, {:run, to_string(name), fun, timeout}) do
      {:ok, result} -> result
      {:raised, kind, reason, stack} -> :erlang.raise(kind, reason, stack)
      {:error, _} = error -> error
    end
  end

  @doc "Trusts a suspect again, or all of them."
  def reset(name \\ :all, node \\ __MODULE__), do: call(node, {:reset, name})

  defp call(node, message) do
    GenServer.call(node, message, :infinity)
  catch
    :exit, _ -> {:error, :node_dead}
  end

  defp default_timeout, do: Application.get_env(:adit, :node_timeout, :infinity)

  defp name_of(fun) do
    info = Function.info(fun)
    "#{inspect(info[:module])}.#{info[:name]}/#{info[:arity]}"
  end

  # --- The process

  @impl true
  def init(options) do
    # Processes that run functions are linked: they go when this one goes.
    Process.flag(:trap_exit, true)

    state = %{
      id: Keyword.get(options, :device),
      device: nil,
      info: nil,
      error: nil,
      begun: System.monotonic_time(:millisecond),
      executions: 0,
      timeouts: 0,
      strikes: %{},
      running: nil,
      queue: :queue.new()
    }

    {:ok, open(state)}
  end

  @impl true
  def handle_call(:status, _, state), do: {:reply, describe(state), state}

  def handle_call({:reset, :all}, _, state), do: {:reply, :ok, %{state | strikes: %{}}}

  def handle_call({:reset, name}, _, state),
    do: {:reply, :ok, %{state | strikes: Map.delete(state.strikes, to_string(name))}}

  def handle_call({:run, name, fun, timeout}, {caller, _} = from, state) do
    state = if state.device == nil, do: open(state), else: state

    cond do
      state.device == nil ->
        {:reply, {:error, :node_dead}, state}

      suspect?(state, name) ->
        {:reply, {:error, {:suspect, name}}, state}

      true ->
        id = make_ref()
        timer = if timeout != :infinity, do: Process.send_after(self(), {:timeout, id}, timeout)
        job = %{id: id, name: name, fun: fun, from: from, timer: timer, caller: Process.monitor(caller)}
        {:noreply, next(%{state | queue: :queue.in(job, state.queue)})}
    end
  end

  @impl true
  def handle_info({:done, pid, result}, %{running: %{pid: pid} = running} = state) do
    Process.unlink(pid)
    {:noreply, state |> finished(running, result) |> look_after(result) |> next()}
  end

  def handle_info({:timeout, id}, %{running: %{job: %{id: id} = job} = running} = state) do
    state = state |> strike(job.name) |> abandon(running)
    GenServer.reply(job.from, {:error, :node_timeout})
    {:noreply, next(state)}
  end

  def handle_info({:timeout, id}, state) do
    {late, queue} = take(state.queue, &(&1.id == id))

    for job <- late do
      Process.demonitor(job.caller, [:flush])
      GenServer.reply(job.from, {:error, :node_timeout})
    end

    {:noreply, %{state | queue: queue, timeouts: state.timeouts + length(late)}}
  end

  # Nobody waits for it any more.
  def handle_info({:DOWN, caller, :process, _, _}, %{running: %{job: %{caller: caller}} = running} = state),
    do: {:noreply, state |> abandon(running) |> next()}

  def handle_info({:DOWN, caller, :process, _, _}, state) do
    {gone, queue} = take(state.queue, &(&1.caller == caller))
    for job <- gone, do: cancel(job.timer)
    {:noreply, %{state | queue: queue}}
  end

  # It was killed by somebody else.
  def handle_info({:EXIT, pid, reason}, %{running: %{pid: pid} = running} = state) do
    result = {:raised, :exit, reason, []}
    {:noreply, state |> finished(running, result) |> next()}
  end

  def handle_info({:EXIT, _, _}, state), do: {:noreply, state}
  def handle_info(_, state), do: {:noreply, state}

  @impl true
  def terminate(_, %{device: device}) when device != nil do
    NIF.wait(device)
    NIF.trim(device)
  end

  def terminate(_, _), do: :ok

  # --- The device

  defp open(state) do
    begun = System.monotonic_time()
    device = if state.id, do: Device.get(state.id), else: Device.default()
    info = Error.unwrap(NIF.device_info(device))
    warm_up(device)
    duration = System.monotonic_time() - begun
    Telemetry.execute([:node, :start], %{duration: duration}, Map.take(info, [:id, :name, :driver]))

    Logger.info(
      "Adit: #{info.id} (#{info.name}, #{info.driver}), ready after " <>
        "#{System.convert_time_unit(duration, :native, :millisecond)} ms"
    )

    %{state | device: device, info: info, error: nil}
  rescue
    error -> without_device(state, Exception.message(error))
  catch
    _, reason -> without_device(state, inspect(reason))
  end

  # Said once, not at every call that finds none.
  defp without_device(state, message) do
    if state.error != message, do: Logger.error("Adit: no device is open: #{message}")
    %{state | device: nil, info: nil, error: message}
  end

  # Code and driver are loaded, and a kernel has been through all of its way, before anybody waits for one.
  defp warm_up(device) do
    numbers = for number <- 0..255, into: <<>>, do: <<number * 1.0::float-native-32>>
    x = Error.unwrap(NIF.from_binary(device, :f32, [256], numbers))
    [y] = Error.unwrap(NIF.call_eager(:add, [x, x], []))
    <<2.0::float-native-32>> = Error.unwrap(NIF.to_binary(y, 1, 1))
  end

  # A device that was lost is opened again before the next function runs.
  defp look_after(state, {:ok, {:error, :device_lost, _}}), do: reopen(state)
  defp look_after(state, {:raised, :error, %Error{kind: :device_lost}, _}), do: reopen(state)
  defp look_after(state, _), do: state

  defp reopen(state) do
    Logger.error("Adit: the device #{state.info.id} was lost and is opened again")
    Telemetry.execute([:node, :device_lost], %{}, %{device: state.info.id})
    Device.forget()
    open(state)
  end

  # --- Functions

  defp next(%{running: nil} = state) do
    case :queue.out(state.queue) do
      {:empty, _} ->
        state

      {{:value, job}, queue} ->
        cond do
          state.device == nil ->
            release(job, {:error, :node_dead})
            next(%{state | queue: queue})

          suspect?(state, job.name) ->
            release(job, {:error, {:suspect, job.name}})
            next(%{state | queue: queue})

          true ->
            Telemetry.execute([:node, :execute, :start], %{queue_length: :queue.len(queue)}, %{name: job.name})
            %{state | queue: queue, running: %{job: job, pid: begin(job.fun), begun: System.monotonic_time()}}
        end
    end
  end

  defp next(state), do: state

  defp begin(fun) do
    node = self()
    spawn_link(fn -> send(node, {:done, self(), outcome(fun)}) end)
  end

  defp outcome(fun) do
    {:ok, fun.()}
  catch
    kind, reason -> {:raised, kind, reason, __STACKTRACE__}
  end

  defp finished(state, %{job: job, begun: begun}, result) do
    Telemetry.execute(
      [:node, :execute, :stop],
      %{duration: System.monotonic_time() - begun},
      %{name: job.name, result: if(match?({:ok, _}, result), do: :ok, else: :exception)}
    )

    release(job, result)
    %{state | running: nil, executions: state.executions + 1}
  end

  # The driver may still hold it; its process is gone for us.
  defp abandon(state, %{job: job, pid: pid}) do
    cancel(job.timer)
    Process.demonitor(job.caller, [:flush])
    Process.unlink(pid)
    Process.exit(pid, :kill)
    %{state | running: nil}
  end

  defp strike(state, name) do
    count = Map.get(state.strikes, name, 0) + 1
    Telemetry.execute([:node, :timeout], %{count: count}, %{name: name, suspect: count >= @strikes})
    if count == @strikes, do: Logger.error("Adit: #{name} timed out #{count} times and is refused until it is reset")
    %{state | strikes: Map.put(state.strikes, name, count), timeouts: state.timeouts + 1}
  end

  defp suspect?(state, name), do: Map.get(state.strikes, name, 0) >= @strikes

  defp release(job, result) do
    cancel(job.timer)
    Process.demonitor(job.caller, [:flush])
    GenServer.reply(job.from, result)
  end

  defp cancel(nil), do: :ok
  defp cancel(timer), do: Process.cancel_timer(timer)

  defp take(queue, which?) do
    {found, rest} = queue |> :queue.to_list() |> Enum.split_with(which?)
    {found, :queue.from_list(rest)}
  end

  # --- Status

  defp describe(state) do
    info = state.info || %{}
    counts = counts(state.device)

    %{
      device: info[:id],
      name: info[:name],
      kind: info[:kind],
      driver: info[:driver],
      error: state.error,
      lost: Map.get(counts, :lost, false),
      uptime_ms: System.monotonic_time(:millisecond) - state.begun,
      executions: state.executions,
      kernels_run: Map.get(counts, :kernels_run, 0),
      compilations: Map.get(counts, :kernels_compiled, 0),
      memory_in_use: Map.get(counts, :bytes_in_use, 0),
      memory_held: Map.get(counts, :bytes_held, 0),
      memory_peak: Map.get(counts, :bytes_peak, 0),
      queue_length: :queue.len(state.queue),
      running: if(state.running, do: state.running.job.name),
      timeouts: state.timeouts,
      suspects: for({name, count} <- state.strikes, count >= @strikes, do: name)
    }
  end

  defp counts(nil), do: %{}

  defp counts(device) do
    case NIF.statistics(device) do
      {:ok, counts} -> counts
      _ -> %{}
    end
  end
end
