defmodule Adit.Sampler do
  @moduledoc """
  Posteriors: NUTS with Stan's adaptation, every chain's whole transitions in one kernel.

      draws = Adit.Sampler.sample(model, chains: 4, seed: 1)

  ## Options

  Those of the library by name: `chains` (4), `warmup` (1000), `draws` (1000), `thin`, `seed` (1), `device`, `precision`
  (`:automatic`, `:f32`, `:f64`), `placement`, `layout`, `metric` (`:diagonal`, `:dense`, `:unit`), `adapt` (`:chain`,
  `:pooled`), `adapt_delta` (0.8), `step_size`, `max_depth` (10), `init_buffer`, `term_buffer`, `window`, `init_radius`,
  `init` (a map of values by variable, or a list of those, one a chain), `restart_stuck` (`true`), `save_warmup`, `log_likelihood`, `posterior_predictive`, `checkpoint` (a path), `resume`, `first_chain`; `prior: true`
  draws from the prior, `fixed: true` runs without a sampler. And:

    * `progress` - `true` for messages `{:adit_progress, ref, map}` to the caller, or the process that gets them; `ref`
      is that of `start/2`'s run
    * `progress_every` - milliseconds between them (250)
    * `nodes` - connected Erlang nodes that the chains are spread over (see below)
    * `block` - how many chains a node runs at a time (an equal share for every node)

  ## Nodes

  With `nodes: [node() | Node.list()]` every node runs blocks of chains on its own device. Random numbers go by the
  chain's number in the whole run: the draws are those of a run on one node with the same seed, layout, precision and
  kind of device, which the first node chooses. A node that dies loses only the chains that it was running; another node
  runs them again. Chains that a node has finished are safe. Where no node is left the run ends with
  `{:error, kind, message}`: `:node_lost` where the last one went away, `:not_found` where it cannot be reached or has no
  Adit, else what its device said.

  ## Stop and resume

  `stop/1` ends a run soon, with the draws so far. With `checkpoint: path` draws go to a file while they are made, and
  the same call with `resume: true` goes on from there, to the draws of a run that was never stopped.
  """
  alias Adit.{Error, Model}
  alias Adit.Sampler.{Local, Options, Spread}

  defmodule Run do
    @moduledoc "A run that goes on; `ref` marks its messages."
    defstruct [:ref, :pid]
  end

  @doc "Samples a model and waits for its draws, an `Adit.Draws`. Raises `Adit.Error` where it fails."
  def sample(%Model{} = model, options \\ []) do
    run = start(model, options)

    case await(run) do
      {:ok, draws} -> draws
      {:error, kind, message} -> raise Error, kind: kind, message: message
    end
  end

  @doc "Draws from the prior, with the observed variables drawn too (group `\"posterior_predictive\"`)."
  def sample_prior(%Model{} = model, options \\ []), do: sample(model, Keyword.put(options, :prior, true))

  @doc "Starts a run. It ends with the process that started it, if it is not awaited before."
  def start(%Model{} = model, options \\ []) do
    options = Options.parse(options, self())
    runner = if options.nodes, do: Spread, else: Local
    ref = make_ref()

    case GenServer.start(runner, %{model: model, options: options, ref: ref, owner: self()}) do
      {:ok, pid} -> %Run{ref: ref, pid: pid}
      {:error, {:refused, kind, message}} -> raise Error, kind: kind, message: message
      {:error, {%{__exception__: true} = error, stack}} when is_list(stack) -> reraise error, stack
      {:error, reason} -> raise Error, kind: :internal, message: "the run did not start: #{inspect(reason)}"
    end
  end

  @doc """
  Waits for the draws of a run: `{:ok, draws}`, or `{:error, kind, message}`, with the kind `:timeout` where it goes on.

  A run's draws are given once.
  """
  def await(%Run{} = run, timeout \\ :infinity) do
    GenServer.call(run.pid, :await, timeout)
  catch
    :exit, {:timeout, _} ->
      {:error, :timeout, "the run goes on"}

    :exit, {reason, _} when reason in [:noproc, :normal] ->
      {:error, :not_found, "the run has ended and its draws were given"}

    :exit, {reason, _} ->
      {:error, :internal, "the run ended: #{inspect(reason)}"}
  end

  @doc "Ends a run soon, with the draws so far; `await/2` gives them."
  def stop(%Run{} = run), do: GenServer.cast(run.pid, :stop)

  @doc "How far a run is: iteration, iterations, warmup, leapfrogs, divergences, seconds, finished."
  def progress(%Run{} = run), do: GenServer.call(run.pid, :progress)

  @doc "How chains would lie on the device, as the option `layout` takes it."
  def layout(%Model{} = model, options \\ []) do
    options = Options.parse(options, self())
    Error.unwrap(Adit.NIF.model_layout(model.ref, options.engine |> Options.here() |> Options.native()))
  end
end
