defmodule Adit.Sampler.Worker do
  @moduledoc false
  # One block of chains on the node that runs it. It makes the model again, runs it, tells the process that spread the
  # chains how far it is, and sends the draws as bytes.

  alias Adit.{Error, Model, NIF}
  alias Adit.Sampler.{Options, Poll}

  @doc "What a run of all chains would choose here, for all nodes to do alike: the same bits need the same layout."
  def plan(recipe, engine) do
    model = model(recipe)
    engine = Keyword.put_new_lazy(engine, :device, &Adit.Device.default_id/0)
    Keyword.put_new_lazy(engine, :layout, fn -> Error.unwrap(NIF.model_layout(model.ref, Options.native(engine))) end)
  end

  def serve(leader, recipe, engine, every) do
    owner = Process.monitor(leader)
    result = attempt(fn -> run(leader, owner, model(recipe), engine, every) end)
    send(leader, {:adit_block, self(), result})
  end

  # A node that was started bare has Nx on its path, but has not started it.
  defp model(recipe) do
    if Adit.Value.nx?(), do: Application.ensure_all_started(:nx)
    Model.replay(recipe)
  end

  # Errors of the library and of the model's function are told; what else happens ends the process, which its monitor
  # sees.
  defp attempt(fun) do
    fun.()
  rescue
    error in Error ->
      if(error.kind == :not_found, do: {:unusable, error.message}, else: {:error, error.kind, error.message})

    error in ArgumentError ->
      {:error, :bad_argument, Exception.message(error)}

    error in UndefinedFunctionError ->
      {:unusable, Exception.message(error)}
  end

  defp run(leader, owner, model, engine, every) do
    case NIF.run_start(model.ref, Options.native(engine)) do
      {:ok, run} -> look(leader, owner, run, every, Poll.next(Poll.new()))
      error -> error
    end
  end

  defp look(leader, owner, run, every, poll) do
    receive do
      :stop ->
        NIF.run_stop(run)
        look(leader, owner, run, every, poll)

      {:DOWN, ^owner, :process, _, _} ->
        NIF.run_stop(run)
        exit(:normal)

      :look ->
        {:ok, progress} = NIF.run_progress(run)
        {due, poll} = Poll.due(poll, every)
        if due, do: send(leader, {:adit_block, self(), {:progress, progress}})
        if progress.finished, do: draws(run, progress), else: look(leader, owner, run, every, Poll.next(poll))
    end
  end

  defp draws(run, progress) do
    with {:ok, draws} <- NIF.run_draws(run), {:ok, binary} <- NIF.draws_to_binary(draws) do
      {:ok, binary, progress}
    end
  end
end
