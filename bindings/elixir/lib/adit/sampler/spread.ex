defmodule Adit.Sampler.Spread do
  @moduledoc false
  # Chains over nodes. They are cut into blocks; every node runs one at a time, and a block whose node died goes back to
  # the front of the queue. Numbers of chains, and with them their random numbers, are those of the whole run.
  use GenServer

  require Logger
  alias Adit.{Draws, Error, Model, Telemetry}
  alias Adit.Sampler.{Answer, Options, Worker}

  # How often a block may be lost for other reasons than a node that went away.
  @attempts 3

  @impl true
  def init(%{model: model, options: options, ref: ref, owner: owner}) do
    check(options)

    state = %{
      model: model.name,
      recipe: Model.portable(model),
      options: options,
      ref: ref,
      owner: Process.monitor(owner),
      answer: %Answer{},
      idle: [],
      queue: [],
      # by the worker's process
      running: %{},
      # by the block's first chain
      done: %{},
      reached: %{},
      engine: [],
      stopped: false,
      over: false,
      # what the last node that could not be used said
      complaint: nil,
      begun: System.monotonic_time()
    }

    {:ok, state, {:continue, :plan}}
  rescue
    error in ArgumentError -> {:stop, {:refused, :bad_argument, error.message}}
  end

  @impl true
  def handle_continue(:plan, state) do
    {here, away} = Enum.split_with(state.options.nodes, &reachable?/1)
    for node <- away, do: lost(state, node, nil, :noconnection)

    case plan(here, state) do
      {:ok, nodes, engine} ->
        Telemetry.execute([:sampler, :start], %{}, %{model: state.model, options: engine})
        tick(state)

        %{state | engine: engine, idle: nodes, queue: blocks(engine, state.options.block, length(nodes))}
        |> hand_out()
        |> settle()

      {:error, kind, message} ->
        over(state, {:error, kind, message})
    end
  end

  @impl true
  def handle_call(:await, from, state) do
    case Answer.wait(state.answer, from) do
      {:wait, answer} -> {:noreply, %{state | answer: answer}}
      {:given, result} -> {:stop, :normal, result, state}
    end
  end

  def handle_call(:progress, _, state), do: {:reply, progress(state), state}

  @impl true
  def handle_cast(:stop, state) do
    for {pid, _} <- state.running, do: send(pid, :stop)
    settle(%{state | stopped: true, queue: []})
  end

  @impl true
  def handle_info({:adit_block, pid, message}, state) do
    case state.running do
      %{^pid => work} -> heard(message, pid, work, state)
      _ -> {:noreply, state}
    end
  end

  def handle_info({:DOWN, owner, :process, _, _}, %{owner: owner} = state), do: {:stop, :normal, state}

  def handle_info({:DOWN, _, :process, pid, reason}, state) do
    case Map.pop(state.running, pid) do
      {nil, _} -> {:noreply, state}
      {work, running} -> died(work, reason, %{state | running: running})
    end
  end

  def handle_info(:tick, %{over: true} = state), do: {:noreply, state}

  def handle_info(:tick, state) do
    tell(state)
    tick(state)
    {:noreply, state}
  end

  def handle_info(_, state), do: {:noreply, state}

  # --- What a block's process says

  defp heard({:progress, progress}, _, work, state),
    do: {:noreply, put_in(state.reached[work.block.first], progress)}

  defp heard({:ok, binary, progress}, pid, work, state) do
    state
    |> forget(pid, work)
    |> put_in([:done, work.block.first], binary)
    |> put_in([:reached, work.block.first], progress)
    |> free(work.node)
    |> hand_out()
    |> settle()
  end

  # The device of that node, not the model: others may do better.
  defp heard({:error, kind, message}, pid, work, state) when kind in [:device_lost, :out_of_memory] do
    lost(state, work.node, work.block, message)

    %{forget(state, pid, work) | complaint: {kind, message}}
    |> again(work.block)
    |> hand_out()
    |> settle()
  end

  defp heard({:unusable, message}, pid, work, state) do
    lost(state, work.node, work.block, message)

    %{forget(state, pid, work) | complaint: {:not_found, "#{work.node}: #{message}"}}
    |> again(work.block)
    |> hand_out()
    |> settle()
  end

  defp heard({:error, kind, message}, pid, work, state),
    do: over(forget(state, pid, work), {:error, kind, message})

  defp died(work, reason, state) do
    lost(state, work.node, work.block, reason)
    state = again(state, work.block)
    attempts = work.block.attempts + 1

    cond do
      # The node has no Adit.
      match?({:undef, _}, reason) ->
        settle(hand_out(%{state | complaint: {:not_found, "#{work.node}: #{inspect(reason)}"}}))

      reason == :noconnection or node_gone?(work.node) ->
        settle(hand_out(%{state | complaint: {:node_lost, "#{work.node} is gone (#{inspect(reason)})"}}))

      attempts >= @attempts ->
        over(state, {:error, :internal, "a block of chains ended #{attempts} times: #{inspect(reason)}"})

      true ->
        state |> count_attempt(work.block) |> free(work.node) |> hand_out() |> settle()
    end
  end

  defp forget(state, pid, work) do
    Process.demonitor(work.monitor, [:flush])
    %{state | running: Map.delete(state.running, pid)}
  end

  defp free(state, node), do: %{state | idle: state.idle ++ [node]}

  # A run that is being stopped begins nothing anew.
  defp again(%{stopped: true} = state, _), do: state
  defp again(state, block), do: %{state | queue: [block | state.queue], reached: Map.delete(state.reached, block.first)}

  defp count_attempt(%{stopped: true} = state, _), do: state

  defp count_attempt(%{queue: [block | rest]} = state, _),
    do: %{state | queue: [%{block | attempts: block.attempts + 1} | rest]}

  defp hand_out(%{queue: [block | queue], idle: [node | idle]} = state) do
    engine =
      state.engine
      |> Keyword.merge(chains: block.chains, first_chain: block.first)
      |> Options.starts_of_block(block.first - Keyword.get(state.engine, :first_chain, 0), block.chains)

    arguments = [self(), state.recipe, engine, state.options.every]
    {pid, monitor} = Node.spawn_monitor(node, Worker, :serve, arguments)
    work = %{node: node, block: block, monitor: monitor}
    hand_out(%{state | queue: queue, idle: idle, running: Map.put(state.running, pid, work)})
  end

  defp hand_out(state), do: state

  # Whether there is an end to it.
  defp settle(%{over: true} = state), do: {:noreply, state}

  defp settle(state) do
    cond do
      map_size(state.running) > 0 -> {:noreply, state}
      state.queue != [] -> over(state, no_node(state))
      true -> over(state, join(state))
    end
  end

  defp no_node(%{complaint: nil}), do: {:error, :not_found, "none of the nodes can be reached"}

  defp no_node(%{complaint: {kind, message}}),
    do: {:error, kind, "no node is left that runs the chains; the last said: #{message}"}

  defp join(%{done: done}) when map_size(done) == 0,
    do: {:error, :not_found, "the run was stopped before there were draws"}

  defp join(state) do
    parts = for {_, binary} <- Enum.sort_by(state.done, &elem(&1, 0)), do: Draws.from_binary(binary)
    {:ok, Draws.join(parts)}
  rescue
    error in Error -> {:error, error.kind, error.message}
  end

  defp over(state, result) do
    for {pid, work} <- state.running do
      Process.demonitor(work.monitor, [:flush])
      Process.exit(pid, :kill)
    end

    state = %{state | over: true, running: %{}, queue: [], done: %{}}
    if match?({:ok, _}, result), do: tell(state, true)

    Telemetry.execute(
      [:sampler, :stop],
      %{duration: System.monotonic_time() - state.begun},
      %{model: state.model, result: elem(result, 0)}
    )

    case Answer.result(state.answer, result) do
      {:keep, answer} -> {:noreply, %{state | answer: answer}}
      :given -> {:stop, :normal, state}
    end
  end

  # --- The plan of the whole run, by the first node that answers

  defp plan([], state), do: no_node(state)

  defp plan([node | others] = nodes, state) do
    {:ok, nodes, :erpc.call(node, Worker, :plan, [state.recipe, state.options.engine])}
  catch
    :error, {:exception, %Error{kind: kind} = error, _} when kind not in [:not_found, :device_lost, :out_of_memory] ->
      {:error, kind, error.message}

    :error, {:exception, %ArgumentError{} = error, _} ->
      {:error, :bad_argument, Exception.message(error)}

    _, reason ->
      words = words(reason)
      lost(state, node, nil, words)
      kind = if node_gone?(node), do: :node_lost, else: :not_found
      plan(others, %{state | complaint: {kind, "#{node}: #{words}"}})
  end

  defp words({:exception, %{__exception__: true} = error, _}), do: Exception.message(error)

  defp words({:exception, :undef, [{module, function, arguments, _} | _]}) when is_list(arguments),
    do: "there is no #{inspect(module)}.#{function}/#{length(arguments)}"

  defp words(message) when is_binary(message), do: message
  defp words(reason), do: inspect(reason)

  @doc false
  def blocks(engine, block, nodes) do
    chains = Keyword.get(engine, :chains, 4)
    first = Keyword.get(engine, :first_chain, 0)
    each = block || max(1, div(chains + nodes - 1, nodes))

    for at <- 0..(chains - 1)//each do
      %{first: first + at, chains: min(each, chains - at), attempts: 0}
    end
  end

  defp check(options) do
    if Keyword.get(options.engine, :adapt) in [:pooled, "pooled"] do
      raise ArgumentError, "adapt: pooled chains adapt together and cannot be spread over nodes"
    end

    if Keyword.has_key?(options.engine, :checkpoint) or Keyword.has_key?(options.engine, :resume) do
      raise ArgumentError, "checkpoint: a run that is spread over nodes has none; a lost block is run again"
    end

    # It has no chains that could be told apart.
    if Keyword.get(options.engine, :prior, false) == true do
      raise ArgumentError, "prior: draws from the prior are made on one node"
    end

    chains = Keyword.get(options.engine, :chains, 4)

    unless is_integer(chains) and chains > 0,
      do: raise(ArgumentError, "chains: expected a positive integer, got #{inspect(chains)}")
  end

  defp reachable?(node), do: node == node() or Node.connect(node) == true
  defp node_gone?(node), do: node != node() and node not in Node.list(:connected)

  defp lost(state, node, block, reason) do
    chains = if block, do: Enum.to_list(block.first..(block.first + block.chains - 1)), else: []
    Telemetry.execute([:sampler, :node_down], %{}, %{node: node, chains: chains, reason: reason})

    Logger.warning(
      "Adit: #{node} is lost to the run of #{state.model} (#{words(reason)})" <>
        if(block, do: "; chains #{block.first} to #{block.first + block.chains - 1} run elsewhere", else: "")
    )
  end

  # --- Progress

  defp tick(%{options: %{progress: nil}}), do: :ok
  defp tick(state), do: Process.send_after(self(), :tick, state.options.every)

  defp tell(state, finished \\ false)
  defp tell(%{options: %{progress: nil}}, _), do: :ok

  defp tell(state, finished),
    do: send(state.options.progress, {:adit_progress, state.ref, %{progress(state) | finished: finished}})

  # The slowest chain's iteration; those of blocks that nobody runs yet are at 0.
  defp progress(state) do
    reached = Map.values(state.reached)
    unheard = map_size(state.running) + length(state.queue) + map_size(state.done) > length(reached)
    sum = fn key -> reached |> Enum.map(&Map.fetch!(&1, key)) |> Enum.sum() end
    warmup = Keyword.get(state.engine, :warmup, 1000)
    draws = Keyword.get(state.engine, :draws, 1000) * Keyword.get(state.engine, :thin, 1)

    %{
      iteration: if(unheard or reached == [], do: 0, else: reached |> Enum.map(& &1.iteration) |> Enum.min()),
      iterations: warmup + draws,
      warmup: warmup,
      leapfrogs: sum.(:leapfrogs),
      divergences: sum.(:divergences),
      seconds: System.convert_time_unit(System.monotonic_time() - state.begun, :native, :microsecond) / 1.0e6,
      finished: state.over,
      nodes: state.running |> Map.values() |> Enum.map(& &1.node) |> Enum.uniq()
    }
  end
end
