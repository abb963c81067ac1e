defmodule Adit.NIF do
  @moduledoc false
  # The C door as Erlang sees it. Nothing here knows Nx.
  #
  # - Handles (devices, tensors, functions, compiled functions, models, runs, draws) are references. What a handle holds
  #   is given back when it is collected, or by `deallocate/1`.
  # - Every function gives what its comment says, or `{:error, kind, message}`: kind is `:bad_argument`, `:not_found`,
  #   `:unsupported`, `:out_of_memory`, `:device_lost`, `:io` or `:internal`. A term of the wrong kind, a stale or a
  #   foreign reference is `{:error, :bad_argument, message}` that names the argument: no function raises or crashes.
  # - dtype: `:u8 :u16 :u32 :u64 :i8 :i16 :i32 :i64 :f16 :bf16 :f32 :f64 :c64 :c128`. Shapes and axes are lists of
  #   integers or tuples of them.
  # - A call that may take longer than a millisecond goes on on a dirty scheduler by itself.

  @on_load :load

  @doc false
  def load do
    path = Application.get_env(:adit, :nif_path) || Path.join(priv(), "adit_nif")
    :erlang.load_nif(String.to_charlist(path), 0)
  end

  defp priv do
    case :code.priv_dir(:adit) do
      {:error, _} -> Path.join([Path.dirname(to_string(:code.which(__MODULE__))), "..", "priv"])
      folder -> List.to_string(folder)
    end
  end

  # --- Devices
  # {:ok, [%{id, name, kind, driver, reason (binaries), memory_bytes, chosen (true/false)}]}
  def devices, do: missing()
  # id: binary, "" for the best. {:ok, device}
  def open(_id), do: missing()
  # :ok; where iota and constants are computed
  def make_default(_device), do: missing()
  # {:ok, map as in devices/0}
  def device_info(_device), do: missing()
  # {:ok, %{kernels_run, submissions, kernels_compiled, kernels_loaded, allocations, bytes_in_use, bytes_held, bytes_peak, lost}}
  def statistics(_device), do: missing()
  # :ok each; wait: until all that is queued is done; trim: unused memory goes back to the system
  def wait(_device), do: missing()
  def trim(_device), do: missing()

  # --- Tensors
  # binary may be a sub-binary. {:ok, tensor}
  def from_binary(_device, _dtype, _shape, _binary), do: missing()
  # `count` elements from element `first` on; count -1: all to the end. {:ok, binary}
  def to_binary(_tensor, _first, _count), do: missing()
  # {:ok, {dtype, [extent]}}
  def info(_tensor), do: missing()
  # :ok, or :already_deallocated
  def deallocate(_handle), do: missing()
  # :ok
  def eval(_tensors), do: missing()
  # {:ok, tensor}
  def to_device(_tensor, _device), do: missing()
  # The address of a cpu tensor's memory. {:ok, integer}; and a copy of such memory. {:ok, tensor}
  def to_pointer(_tensor), do: missing()
  def from_pointer(_device, _dtype, _shape, _address), do: missing()
  # What is run. {:ok, binary}
  def explain(_tensors, _times), do: missing()

  # --- Operations by name, as the C door has them (docs/c.md)
  # operation: an atom or a binary. attributes: a list of {name (atom), value}. A value is an integer, a float, true or
  # false, :nan, :infinity, :neg_infinity, {re, im} (each as before: a complex number), a list or tuple of integers, a
  # list of floats, a binary (a name), another atom (a dtype or a name), or a function's reference; nil: not given.
  # Integers have 64 bits, with or without a sign. A pair of integers is complex in `value` alone.
  # Lazy: nodes of a graph. {:ok, [tensor]}
  def call(_operation, _tensors, _attributes), do: missing()
  # The same, and evaluated. {:ok, [tensor]}
  def call_eager(_operation, _tensors, _attributes), do: missing()
  # [{name, tensors, attributes}] of binaries: every operation there is
  def operations, do: missing()

  # --- Functions of tensors
  # slots: [{dtype, shape}]. {:ok, function, [placeholder tensor]}
  def function_begin(_slots), do: missing()
  # :ok; results: tensors
  def function_finish(_function, _results), do: missing()
  # {:ok, [tensor]}, lazy
  def function_call(_function, _arguments), do: missing()
  # {:ok, function}
  def function_grad(_function, _arguments), do: missing()
  # {:ok, compiled}; and {:ok, [tensor]}, evaluated
  def jit(_function), do: missing()
  def run(_compiled, _arguments), do: missing()

  # --- Models; extents: [integer | binary (a plate's name)]
  def model_new(_name), do: missing()
  def model_from_stan(_name, _program, _data_json, _seed), do: missing()
  # {:ok, distribution}: parameters are tensors, attributes as of call/3
  def distribution(_name, _parameters, _attributes), do: missing()
  def distribution_mixture(_weights, _components), do: missing()
  def distribution_censored(_inner, _low, _high), do: missing()
  def distribution_log_density(_distribution, _x), do: missing()
  def constraint(_name, _parameters), do: missing()
  # coordinates: a list of binaries, or []. :ok
  def model_plate(_model, _name, _size, _coordinates), do: missing()
  # {:ok, tensor} each, but for observe, set_data, add_log_density: :ok
  def model_sample(_model, _name, _distribution, _extents, _non_centred), do: missing()
  def model_parameter(_model, _name, _constraint, _extents), do: missing()
  def model_observe(_model, _name, _distribution, _value), do: missing()
  def model_deterministic(_model, _name, _value, _extents), do: missing()
  def model_data(_model, _name, _value), do: missing()
  def model_set_data(_model, _name, _value), do: missing()
  def model_add_log_density(_model, _name, _term), do: missing()
  # {:ok, integer}; {:ok, tensor}
  def model_size(_model), do: missing()
  def model_log_density(_model, _u), do: missing()

  # --- Sampling: options as in adit/c.h, a list of {name, value}
  # {:ok, run}
  def run_start(_model, _options), do: missing()
  # The layout that a run of these options would have, for those that share its chains. {:ok, binary}
  def model_layout(_model, _options), do: missing()
  # {:ok, %{iteration, iterations, warmup, leapfrogs, divergences, seconds, finished (true/false)}}
  def run_progress(_run), do: missing()
  # :ok
  def run_stop(_run), do: missing()
  # {:ok, true | false}: whether it has ended after at most so many milliseconds (or :infinity)
  def run_wait(_run, _milliseconds), do: missing()
  # {:ok, draws}
  def run_draws(_run), do: missing()
  def draws_read(_paths), do: missing()
  # {:ok, %{chains, draws, finished, model, device, precision, layout}}
  def draws_info(_draws), do: missing()
  # group: binary. {:ok, [{name, shape of one draw, binary of f64: the draws of chain after chain}]}
  def draws_variables(_draws, _group), do: missing()
  # {:ok, [%{name, mean, mcse, sd, mad, q5, q50, q95, ess_bulk, ess_tail, r_hat}]}; numbers that are not finite are
  # :nan, :infinity, :neg_infinity
  def draws_summary(_draws), do: missing()
  # {:ok, [binary]}
  def draws_warnings(_draws), do: missing()
  # {:ok, binary of f64}
  def draws_numbers(_draws, _name), do: missing()
  # {:ok, draws}: those of parts of a run's chains as one; to and from bytes, for other nodes ({:ok, binary}, {:ok, draws})
  def draws_join(_parts), do: missing()
  def draws_to_binary(_draws), do: missing()
  def draws_from_binary(_binary), do: missing()
  # :ok
  def draws_write_report(_draws, _path), do: missing()
  def draws_write_csv(_draws, _stem), do: missing()
  def draws_write_netcdf(_draws, _path), do: missing()

  defp missing, do: :erlang.nif_error(:not_loaded)
end
