defmodule Adit do
  @moduledoc """
  Runs Nx on a GPU (by Vulkan) or a CPU through Adit.

      Nx.default_backend(Adit.Backend)
      Nx.Defn.default_options(compiler: Adit)

  The first line puts eager tensors on the device (`Adit.Backend`). The second makes this module the compiler of `defn`:
  a function becomes one graph, is compiled when it is first called with arguments of these types and shapes, and from
  then on runs as a whole, in as few kernels as Adit can make of it.

  ## Options

  To be given with `compiler: Adit` to `Nx.Defn.jit/2`, `Nx.Defn.compile/3`, `Nx.Serving` or the default options:

    * `:device` - the device to run on, such as `"cpu"` or `"vulkan:0"` (`devices/0` lists them). Without it that of the
      default backend, where this is `Adit.Backend`, or else the default one. Arguments that are elsewhere are copied
      there.
    * `:hooks` - functions for named hooks, as `Nx.Defn.Kernel.hook/3` describes them.
    * `:garbage_collect` - when true, the caller is garbage collected after each call, which gives the buffers of
      tensors back that nobody refers to any more.
    * `:max_concurrency` - how many partitions an `Nx.Serving` starts.
    * `:devices` - a list of devices; an `Nx.Serving` starts a partition on each.

  Other options are let through, so that options for another compiler do no harm.

  ## What happens to hooks and runtime calls

  Values of hooks are further results of the compiled function; the callbacks are called when it is done, in order, in
  the process of the caller. A function that calls back in the midst of a computation cannot be one graph: one with
  `Nx.runtime_call/4`, or with a hook inside of `while` or in a branch of `cond`. It is evaluated operation by
  operation instead, each on the device. `[:adit, :compiler, :evaluate]` tells so by telemetry, and so does a debug
  message when it first happens.

  ## Memory

  Tensors are references to buffers of the device. A result that is one of the arguments shares its buffer, and a
  function never writes to its arguments: there is nothing to donate. A buffer is given back when the last reference is
  collected, or by `Nx.backend_deallocate/1`. Tensors that a function captured as constants stay on the device as long
  as it stays in the cache (`config :adit, :compiled_functions`, 4096 of them). The device gives memory back to the
  system once it has rested for some seconds, or at once by `trim/1`.
  """

  @behaviour Nx.Defn.Compiler

  alias Adit.Compiler

  @impl true
  def __jit__(key, vars, fun, args_list, opts) do
    Compiler.jit(key, vars, fun, args_list, opts)
  end

  @impl true
  def __compile__(key, vars, fun, opts) do
    Compiler.compile(key, vars, fun, opts)
  end

  @impl true
  def __partitions_options__(opts) do
    concurrency = Keyword.get(opts, :max_concurrency, 1)

    case Keyword.get(opts, :devices) do
      nil -> List.duplicate(opts, concurrency)
      devices -> for device <- devices, _ <- 1..concurrency//1, do: Keyword.put(opts, :device, device)
    end
  end

  @impl true
  def __to_backend__(opts) do
    {Adit.Backend, Keyword.take(opts, [:device])}
  end

  @doc """
  A function that is compiled by Adit when it is called. Options are those of `Nx.Defn.jit/2` and of this module.

      fun = Adit.jit(&Nx.sum(Nx.exp(&1)))
      fun.(Nx.tensor([1.0, 2.0]))
  """
  def jit(fun, opts \\ []) when is_function(fun) and is_list(opts) do
    Nx.Defn.jit(fun, Keyword.put(opts, :compiler, __MODULE__))
  end

  @doc """
  The devices of this machine, the best one first: maps with `:id`, `:name`, `:kind`, `:driver`, `:memory_bytes`,
  `:chosen` and `:reason`, which says why it is, or is not, the one that is taken when none is named.
  """
  def devices, do: Adit.Device.list()

  @doc """
  Gives device memory that nobody uses back to the system, of the default device or of the one with this name: `:ok`.

  Memory that has rested for some seconds goes back by itself. Tensors that their process has not collected yet are in
  use; `:erlang.garbage_collect/0` in that process comes first.

      Adit.trim()
      Adit.trim("vulkan:0")
  """
  def trim(device \\ nil), do: Adit.Device.trim(device)

  @doc """
  What is run when `fun` is called with these arguments: its kernels and what each of them computes, as a text.
  With `times: true` it is run and measured.

      IO.puts(Adit.explain(&Nx.sum(Nx.exp(&1)), [Nx.iota({1000}, type: :f32)]))
  """
  def explain(fun, args, opts \\ []) when is_function(fun) and is_list(args) and is_list(opts) do
    {times, opts} = Keyword.pop(opts, :times, false)
    Compiler.explain(fun, args, times, opts)
  end
end
