defmodule Adit.Backend do
  @moduledoc """
  Nx tensors on a device of Adit's: a GPU by Vulkan, or the CPU.

      Nx.global_default_backend(Adit.Backend)
      Nx.global_default_backend({Adit.Backend, device: "cpu"})

  Each operation runs on the device when it is called, and its result stays there until it is read. Nothing is computed
  by another backend: every operation and every block of Nx is one of Adit's.

  Options:

    * `:device` - "cpu", "vulkan:0", ...; without one the default device (see `Adit.Device`).

  What differs from `Nx.BinaryBackend`:

    * indices outside of an axis, negative shifts and zeros on the diagonal of a triangular system raise where the
      values are known without asking the device (a small tensor made on the host); elsewhere indices are clamped,
      shifts give 0 or the sign, and systems infinities or NaN;
    * integers divided by zero give 0 instead of raising;
    * bf16 is rounded to nearest, not cut; floats that overflow become infinite instead of raising;
    * `Nx.LinAlg.cholesky` of matrices beyond 4 x 4 gives NaN where a pivot is 0;
    * `Nx.LinAlg.eigh`, `svd` and `qr` are more exact. Their signs are those of Nx up to 8 x 8; beyond that the largest
      part of a vector is positive, and the diagonal of r. `Nx.Defn.grad` takes Nx's own factors for these functions, so
      gradients through the vectors themselves (not through the values) are only right where the signs are the same.

  Types of 2 and 4 bits and of 8-bit floats are held in wider ones and brought onto their grid after each operation.

  A tensor belongs to its node: a reference that is sent to another one names nothing there. Send
  `Nx.backend_copy(tensor, Nx.BinaryBackend)` instead.
  """

  @behaviour Nx.Backend

  # ref: the library's tensor. lazy: a placeholder of a function that is being built, or what depends on one; it has no
  # value yet. device: the name of its device, nil for the default one. host: what a small tensor holds that was made on
  # the host, for checks that must not wait for the device.
  @enforce_keys [:ref]
  defstruct [:ref, :device, :host, lazy: false]

  import Adit.Ops.Types, only: [is_narrow: 1, is_complex: 1]
  alias Adit.{Device, Error, NIF, Ops}
  alias Adit.Ops.{Elementwise, Graph, Types}
  alias Nx.Tensor, as: T
  alias __MODULE__, as: B

  @known_bytes 256

  @impl true
  def init(options) do
    options = Keyword.validate!(options, [:device])
    if device = options[:device], do: Device.get(device)
    options
  end

  # --- Tensors made on the host

  @impl true
  def constant(%{shape: {}} = out, value, options) do
    made(out, Ops.apply(:constant, out, [value, options]), options, {:number, value})
  end

  def constant(out, value, options), do: made(out, Ops.apply(:constant, out, [value, options]), options, nil)

  @impl true
  def iota(out, axis, options), do: made(out, Ops.apply(:iota, out, [axis, options]), options, nil)

  @impl true
  def eye(out, options), do: made(out, Ops.apply(:eye, out, [options]), options, nil)

  @impl true
  def from_binary(%{type: type, shape: shape} = out, bits, options) do
    bits = if is_bitstring(bits), do: bits, else: :erlang.list_to_bitstring(bits)
    id = device_option(options)
    ref = Graph.upload(bits, type, shape, Device.get(id))
    %{out | data: %B{ref: ref, device: Device.mark(id), host: known(bits)}}
  end

  # They are computed where they are used; on another device than the default one at once.
  defp made(out, ref, options, host) do
    case Device.mark(device_option(options)) do
      nil -> %{out | data: %B{ref: ref, host: host}}
      id -> %{out | data: %B{ref: moved(ref, id), device: id, host: host}}
    end
  end

  defp device_option([]), do: nil
  defp device_option(device: id), do: id
  defp device_option(options) when is_list(options), do: Keyword.validate!(options, [:device])[:device]
  defp device_option(_options), do: nil

  # A copy, for a part of a large binary would keep the whole one.
  defp known(bits) when bit_size(bits) <= @known_bytes * 8 and is_binary(bits), do: :binary.copy(bits)
  defp known(bits) when bit_size(bits) <= @known_bytes * 8, do: bits
  defp known(_bits), do: nil

  # --- Data

  @impl true
  def to_binary(%T{type: type, data: %B{ref: ref, lazy: false}}, limit) do
    Types.pack(read(ref, limit), type)
  end

  def to_binary(%T{data: %B{lazy: true}}, _limit) do
    raise ArgumentError,
          "a tensor inside a function that is being compiled has no value yet: it cannot be read, printed or be turned " <>
            "into a number there"
  end

  defp read(ref, count) do
    case NIF.to_binary(ref, 0, count) do
      {:ok, binary} -> binary
      error -> Error.raise!(error)
    end
  end

  @impl true
  def backend_deallocate(%T{data: %B{ref: ref}}) do
    case NIF.deallocate(ref) do
      {:error, _, _} = error -> Error.raise!(error)
      answer -> answer
    end
  end

  @impl true
  def backend_copy(tensor, Nx.Tensor, options), do: backend_copy(tensor, Nx.BinaryBackend, options)

  # Tensors never change: a copy is another handle of the same memory.
  def backend_copy(%T{data: %B{ref: ref} = data} = tensor, B, options) do
    id = device_option(options) || data.device
    %{tensor | data: %{data | ref: moved(ref, id), device: Device.mark(id)}}
  end

  def backend_copy(%T{shape: shape} = tensor, backend, options) do
    backend.from_binary(tensor, to_binary(tensor, Tuple.product(shape)), options)
  end

  @impl true
  def backend_transfer(%T{data: %B{} = data} = tensor, B, options) do
    id = device_option(options)

    if id == nil or Device.mark(id) == data.device do
      tensor
    else
      tensor |> backend_copy(B, options) |> tap(fn _ -> backend_deallocate(tensor) end)
    end
  end

  def backend_transfer(tensor, backend, options) do
    tensor |> backend_copy(backend, options) |> tap(fn _ -> backend_deallocate(tensor) end)
  end

  defp moved(ref, id) do
    case NIF.to_device(ref, Device.get(id)) do
      {:ok, moved} -> moved
      error -> Error.raise!(error)
    end
  end

  @impl true
  def to_batched(out, %T{shape: shape} = tensor, options) do
    size = elem(out.shape, 0)
    extent = elem(shape, 0)
    full = div(extent, size)
    left = rem(extent, size)
    batches = if left != 0 and options[:leftover] == :repeat, do: full + 1, else: full

    # A batch is cut when it is asked for.
    Stream.map(0..(batches - 1)//1, fn
      ^full ->
        tail = rows(tensor, full * size, left)
        head = rows(tensor, 0, size - left)
        concatenate(out, [tail, head], 0)

      i ->
        rows(tensor, i * size, size)
    end)
  end

  defp rows(%T{shape: shape} = tensor, first, count) do
    [_ | rest] = Tuple.to_list(shape)
    starts = [first | Enum.map(rest, fn _ -> 0 end)]
    strides = [1 | Enum.map(rest, fn _ -> 1 end)]
    slice(%{tensor | shape: put_elem(shape, 0, count)}, tensor, starts, [count | rest], strides)
  end

  @impl true
  def from_pointer(pointer, type, shape, backend_options, options) do
    names = options[:names] || List.duplicate(nil, tuple_size(shape))
    out = %T{type: type, shape: shape, names: names, data: nil}
    bytes = div(Tuple.product(shape) * elem(type, 1), 8)
    id = device_option(backend_options)

    case pointer do
      _ when is_narrow(type) ->
        raise ArgumentError, "Adit.Backend holds #{inspect(type)} in a wider type: it takes no pointers to it"

      %{kind: :local, data_size: size} when size != nil and size != bytes ->
        raise ArgumentError, "invalid pointer data_size for shape, expected: #{bytes}, got: #{size}"

      %{kind: :local, address: address} when is_integer(address) ->
        case NIF.from_pointer(Device.get(id), Types.dtype(type), shape, address) do
          {:ok, ref} -> %{out | data: %B{ref: ref, device: Device.mark(id)}}
          error -> Error.raise!(error)
        end

      _ ->
        raise ArgumentError, "Adit.Backend takes pointers of kind :local alone, got: #{inspect(pointer)}"
    end
  end

  @impl true
  def to_pointer(%T{type: type, shape: shape, data: %B{ref: ref, lazy: false}}, options) do
    mode = Keyword.get(options, :mode, :local)

    if mode != :local do
      raise ArgumentError, "Adit.Backend gives pointers of mode :local alone, got: #{inspect(mode)}"
    end

    if is_narrow(type) do
      raise ArgumentError, "Adit.Backend holds #{inspect(type)} in a wider type: it gives no pointers to it"
    end

    # A constant is in memory once it is computed.
    with :ok <- NIF.eval([ref]), {:ok, address} <- NIF.to_pointer(ref) do
      struct!(Nx.Pointer, kind: :local, address: address, data_size: div(Tuple.product(shape) * elem(type, 1), 8))
    else
      error -> Error.raise!(error)
    end
  end

  @impl true
  def inspect(%T{data: %B{lazy: true}}, _options), do: "Adit.Backend<not computed yet>"

  def inspect(%T{type: type, shape: shape, data: %B{ref: ref, device: device}} = tensor, options) do
    size = Tuple.product(shape)
    count = if options.limit == :infinity, do: size, else: min(size, options.limit + 1)
    bytes = read(ref, count)

    # Integers of a few bits are shown as what holds them.
    numbers =
      case type do
        {kind, bits} when kind in [:s, :u] and bits < 8 ->
          Nx.Backend.inspect(%{tensor | type: {kind, 8}}, bytes, options)

        _ ->
          Nx.Backend.inspect(tensor, Types.pack(bytes, type), options)
      end

    if Application.get_env(:adit, :add_backend_on_inspect, false) do
      place = "Adit.Backend<#{device || Device.default_id()}>"
      Inspect.Algebra.concat([place, Inspect.Algebra.line(), numbers])
    else
      numbers
    end
  end

  # --- Elementwise: the short way, one call into the library

  unary =
    [:exp, :expm1, :log, :log1p, :sigmoid, :cos, :sin, :tan, :cosh, :sinh, :sqrt, :rsqrt, :erf, :erfc, :erf_inv] ++
      [:conjugate, :abs, :bitwise_not, :ceil, :floor, :negate, :round, :sign, :real, :imag, :is_nan, :is_infinity] ++
      [:count_leading_zeros, :population_count]

  # Nx has rules of its own for these where numbers are complex: they are more than one call.
  real_unary = [:tanh, :acos, :asin, :atan, :acosh, :asinh, :atanh, :cbrt]

  for op <- unary ++ real_unary do
    only_real = op in real_unary

    @impl true
    def unquote(op)(%{type: to} = out, %T{type: type, data: %B{lazy: false, device: device}} = x)
        when not is_narrow(type) and not is_narrow(to) and not (unquote(only_real) and is_complex(to)) do
      {name, refs, attributes} = Elementwise.plan(unquote(op), out, x)
      eager(out, name, refs, attributes, device)
    end

    def unquote(op)(out, x), do: run(unquote(op), out, [x])
  end

  arithmetic =
    [add: :add, subtract: :subtract, multiply: :multiply, divide: :divide, quotient: :quotient] ++
      [min: :minimum, max: :maximum, pow: :pow, atan2: :atan2, remainder: :remainder] ++
      [bitwise_and: :bitwise_and, bitwise_or: :bitwise_or, bitwise_xor: :bitwise_xor]

  for {op, name} <- arithmetic do
    only_real = op in [:pow, :atan2]

    @impl true
    def unquote(op)(
          %{type: type} = out,
          %T{type: type, data: %B{ref: a, lazy: false, device: device_a, host: nil}},
          %T{type: type, data: %B{ref: b, lazy: false, device: device_b}}
        )
        when not is_narrow(type) and not (unquote(only_real) and is_complex(type)) do
      eager(out, unquote(name), [a, b], [], device_a || device_b)
    end

    def unquote(op)(out, a, b), do: binary(unquote(op), out, a, b)
  end

  for op <- [:equal, :not_equal, :greater, :less, :greater_equal, :less_equal] ++
              [:logical_and, :logical_or, :logical_xor, :left_shift, :right_shift] do
    @impl true
    def unquote(op)(out, a, b), do: binary(unquote(op), out, a, b)
  end

  # No type holds both u64 and a signed one: comparing them is more than one call.
  defp binary(op, %{type: {:u, 8}} = out, %T{type: {:u, 64}} = a, %T{type: {:s, _}} = b), do: run(op, out, [a, b])
  defp binary(op, %{type: {:u, 8}} = out, %T{type: {:s, _}} = a, %T{type: {:u, 64}} = b), do: run(op, out, [a, b])

  defp binary(
         op,
         %{type: type} = out,
         %T{data: %B{lazy: false, device: device_a}} = a,
         %T{data: %B{lazy: false, device: device_b}} = b
       )
       when not is_narrow(type) and not (op in [:pow, :atan2] and is_complex(type)) do
    Elementwise.check(op, a, b)
    {name, refs, attributes} = Elementwise.plan(op, out, a, b)
    eager(out, name, refs, attributes, device_a || device_b)
  end

  defp binary(op, out, a, b), do: run(op, out, [a, b])

  defp eager(out, name, refs, attributes, device) do
    case NIF.call_eager(name, refs, attributes) do
      {:ok, [ref]} -> %{out | data: %B{ref: ref, device: device}}
      error -> Error.raise!(error)
    end
  end

  # --- The rest: nodes, then their evaluation

  for {op, arity} <- [
        as_type: 1,
        bitcast: 1,
        transpose: 2,
        pad: 3,
        reverse: 2,
        dot: 6,
        clip: 3,
        slice: 4,
        put_slice: 3,
        gather: 3,
        concatenate: 2,
        stack: 2,
        select: 3,
        conv: 3,
        all: 2,
        any: 2,
        sum: 2,
        product: 2,
        reduce_max: 2,
        reduce_min: 2,
        argmax: 2,
        argmin: 2,
        reduce: 4,
        window_reduce: 5,
        window_sum: 3,
        window_product: 3,
        window_max: 3,
        window_min: 3,
        window_scatter_max: 5,
        window_scatter_min: 5,
        sort: 2,
        argsort: 2,
        indexed_add: 4,
        indexed_put: 4,
        triangular_solve: 3,
        fft: 2,
        ifft: 2
      ] do
    args = Macro.generate_arguments(arity, __MODULE__)

    @impl true
    def unquote(op)(out, unquote_splicing(args)), do: run(unquote(op), out, unquote(args))
  end

  # What is known of the elements stays known.
  @impl true
  def reshape(out, x), do: keep(run(:reshape, out, [x]), x)

  @impl true
  def squeeze(out, x, axes), do: keep(run(:squeeze, out, [x, axes]), x)

  @impl true
  def broadcast(out, %T{data: %B{host: {:number, _}}} = x, shape, axes), do: keep(run(:broadcast, out, [x, shape, axes]), x)
  def broadcast(out, x, shape, axes), do: run(:broadcast, out, [x, shape, axes])

  defp keep(%T{data: data} = result, %T{data: %B{host: host}}), do: %{result | data: %{data | host: host}}
  defp keep(result, _x), do: result

  # Nx before 0.12 has no blocks and makes them of other operations.
  if {:block, 4} in Nx.Backend.behaviour_info(:callbacks), do: @impl(true)

  def block(struct, out, args, fun) do
    case Ops.block(struct, out, args) do
      {:ok, refs} -> finish(out, refs, args)
      # What it makes on its way is to be on our device as well, whatever the default backend is.
      :none -> Nx.with_default_backend(beside(args), fn -> apply(fun, [struct | args]) end)
    end
  end

  defp beside(args) do
    case Ops.device_of(args) do
      nil -> B
      device -> {B, device: device}
    end
  end

  defp run(op, out, args), do: finish(out, Ops.apply(op, out, args), args)

  # Placeholders, and what depends on them, wait for the function they are part of.
  defp finish(out, refs, args) do
    lazy = Ops.lazy?(args)
    unless lazy, do: evaluate(refs)
    wrap(out, refs, lazy, Ops.device_of(args))
  end

  defp evaluate(refs) do
    list = if is_tuple(refs), do: Tuple.to_list(refs), else: [refs]

    case NIF.eval(list) do
      :ok -> :ok
      error -> Error.raise!(error)
    end
  end

  defp wrap(outs, refs, lazy, device) when is_tuple(outs) do
    Enum.zip_with(Tuple.to_list(outs), Tuple.to_list(refs), &wrap(&1, &2, lazy, device)) |> List.to_tuple()
  end

  defp wrap(out, ref, lazy, device), do: %{out | data: %B{ref: ref, lazy: lazy, device: device}}
end
