defmodule Adit.Sampler.Local do
  @moduledoc false
  # A run on this node: the engine works on a thread of its own, this process looks at it now and then.
  use GenServer

  alias Adit.{Draws, NIF, Telemetry}
  alias Adit.Sampler.{Answer, Options, Poll}

  @impl true
  def init(%{model: model, options: options, ref: ref, owner: owner}) do
    case NIF.run_start(model.ref, options.engine |> Options.here() |> Options.native()) do
      {:ok, run} ->
        Telemetry.execute([:sampler, :start], %{}, %{model: model.name, options: options.engine})

        {:ok,
         %{
           run: run,
           model: model,
           options: options,
           ref: ref,
           owner: Process.monitor(owner),
           poll: Poll.next(Poll.new()),
           answer: %Answer{},
           begun: System.monotonic_time()
         }}

      {:error, kind, message} ->
        {:stop, {:refused, kind, message}}
    end
  end

  @impl true
  def handle_call(:await, from, state) do
    case Answer.wait(state.answer, from) do
      {:wait, answer} -> {:noreply, %{state | answer: answer}}
      {:given, result} -> {:stop, :normal, result, state}
    end
  end

  def handle_call(:progress, _, state), do: {:reply, progress(state.run), state}

  @impl true
  def handle_cast(:stop, state) do
    NIF.run_stop(state.run)
    {:noreply, state}
  end

  @impl true
  def handle_info(:look, state) do
    progress = progress(state.run)
    {due, poll} = Poll.due(state.poll, state.options.every)
    if state.options.progress && (due or progress.finished), do: tell(state, progress)

    if progress.finished,
      do: finish(%{state | poll: poll}),
      else: {:noreply, %{state | poll: Poll.next(poll)}}
  end

  # Nobody is left to take the draws.
  def handle_info({:DOWN, owner, :process, _, _}, %{owner: owner} = state) do
    NIF.run_stop(state.run)
    {:stop, :normal, state}
  end

  def handle_info(_, state), do: {:noreply, state}

  defp finish(state) do
    result = result(state.run)

    Telemetry.execute(
      [:sampler, :stop],
      %{duration: System.monotonic_time() - state.begun},
      %{model: state.model.name, result: elem(result, 0)}
    )

    case Answer.result(state.answer, result) do
      {:keep, answer} -> {:noreply, %{state | answer: answer, run: state.run}}
      :given -> {:stop, :normal, state}
    end
  end

  defp result(run) do
    case NIF.run_draws(run) do
      {:ok, draws} -> {:ok, Draws.of_handle(draws)}
      error -> error
    end
  end

  defp tell(state, progress), do: send(state.options.progress, {:adit_progress, state.ref, progress})

  defp progress(run) do
    {:ok, progress} = NIF.run_progress(run)
    progress
  end
end
