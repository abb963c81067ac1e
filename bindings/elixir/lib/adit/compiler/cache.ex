defmodule Adit.Compiler.Cache do
  @moduledoc false
  # Compiled functions by their keys. A table holds them, which callers read by themselves; a process owns the table and
  # sees to it that of many callers who miss the same key one compiles while the others wait.
  #
  # The process is a child of the application, and is started by the first caller where that does not run.

  use GenServer

  @table __MODULE__
  @limit 4096

  def start_link(options \\ []) do
    case GenServer.start_link(__MODULE__, options, name: __MODULE__) do
      {:error, {:already_started, _pid}} -> :ignore
      started -> started
    end
  end

  @doc "What is kept under the key, or what `make` gives: only one process at a time is in it for one key."
  def fetch(key, make) do
    case lookup(key) do
      {:ok, value} -> value
      :none -> fill(key, make)
    end
  end

  defp lookup(key) do
    {:ok, :ets.lookup_element(@table, key, 2)}
  catch
    :error, :badarg -> :none
  end

  defp fill(key, make) do
    server = server()

    case GenServer.call(server, {:claim, key}, :infinity) do
      {:ok, value} ->
        value

      :yours ->
        try do
          make.()
        catch
          kind, reason ->
            GenServer.call(server, {:abandon, key}, :infinity)
            :erlang.raise(kind, reason, __STACKTRACE__)
        else
          value ->
            GenServer.call(server, {:store, key, value}, :infinity)
            value
        end
    end
  end

  @doc "How many functions were compiled since the start, and how many are kept."
  def statistics do
    GenServer.call(server(), :statistics)
  end

  @doc "Forgets all compiled functions."
  def clear do
    GenServer.call(server(), :clear)
  end

  defp server do
    case Process.whereis(__MODULE__) do
      nil ->
        case GenServer.start(__MODULE__, [], name: __MODULE__) do
          {:ok, pid} -> pid
          {:error, {:already_started, pid}} -> pid
        end

      pid ->
        pid
    end
  end

  # --- The process. `claims`: key => {who compiles it, its monitor, [who waits]}, `order`: keys, the oldest first.

  @impl true
  def init(_options) do
    :ets.new(@table, [:named_table, :protected, :set, read_concurrency: true])
    {:ok, %{claims: %{}, order: :queue.new(), stored: 0}}
  end

  @impl true
  def handle_call({:claim, key}, {pid, _} = from, state) do
    case {lookup(key), state.claims} do
      {{:ok, value}, _} ->
        {:reply, {:ok, value}, state}

      # A function that calls itself while it is traced: it would wait for itself.
      {:none, %{^key => {^pid, _monitor, _waiting}}} ->
        {:reply, :yours, state}

      {:none, %{^key => {owner, monitor, waiting}}} ->
        {:noreply, put_in(state.claims[key], {owner, monitor, [from | waiting]})}

      {:none, _} ->
        {:reply, :yours, put_in(state.claims[key], {pid, Process.monitor(pid), []})}
    end
  end

  def handle_call({:store, key, value}, _from, state) do
    {waiting, state} = give_up(key, state)
    Enum.each(waiting, &GenServer.reply(&1, {:ok, value}))

    order =
      if :ets.insert_new(@table, {key, value}),
        do: :queue.in(key, state.order),
        else: state.order

    {:reply, :ok, %{state | order: shorten(order), stored: state.stored + 1}}
  end

  def handle_call({:abandon, key}, _from, state) do
    {:reply, :ok, hand_on(key, state)}
  end

  def handle_call(:statistics, _from, state) do
    {:reply, %{compiled: state.stored, kept: :ets.info(@table, :size)}, state}
  end

  def handle_call(:clear, _from, state) do
    :ets.delete_all_objects(@table)
    {:reply, :ok, %{state | order: :queue.new()}}
  end

  @impl true
  def handle_info({:DOWN, monitor, :process, _pid, _reason}, state) do
    case Enum.find(state.claims, fn {_key, {_pid, held, _waiting}} -> held == monitor end) do
      {key, _} -> {:noreply, hand_on(key, state)}
      nil -> {:noreply, state}
    end
  end

  def handle_info(_message, state), do: {:noreply, state}

  # Who compiled it failed: the next one in line tries, as it may fail by itself, with an error of its own.
  defp hand_on(key, state) do
    case give_up(key, state) do
      {[], state} ->
        state

      {waiting, state} ->
        [{pid, _} = next | rest] = Enum.reverse(waiting)
        GenServer.reply(next, :yours)
        put_in(state.claims[key], {pid, Process.monitor(pid), Enum.reverse(rest)})
    end
  end

  defp give_up(key, state) do
    case Map.pop(state.claims, key) do
      {{_pid, monitor, waiting}, claims} ->
        Process.demonitor(monitor, [:flush])
        {waiting, %{state | claims: claims}}

      {nil, _} ->
        {[], state}
    end
  end

  defp shorten(order) do
    if :ets.info(@table, :size) > Application.get_env(:adit, :compiled_functions, @limit) do
      {{:value, oldest}, order} = :queue.out(order)
      :ets.delete(@table, oldest)
      order
    else
      order
    end
  end
end
