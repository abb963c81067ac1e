defmodule Adit.Value do
  @moduledoc """
  What the functions of `Adit.Model` and `Adit.Distribution` take and give.

  They take numbers (also `:infinity`, `:neg_infinity` and `:nan`), nested lists of numbers, `{dtype, shape, binary}`,
  and Nx tensors of any backend. Where Nx is loaded they give Nx tensors that are computed nowhere yet: every Nx
  operation and every `defn` function on them adds to the model. Without Nx they give references, and `call/3` makes
  operations on them.
  """
  alias Adit.{Error, NIF}

  @nx [Nx, Nx.Tensor, Adit.Backend]
  @compile {:no_warn_undefined, Nx}

  @to_nx %{
    u8: {:u, 8},
    u16: {:u, 16},
    u32: {:u, 32},
    u64: {:u, 64},
    i8: {:s, 8},
    i16: {:s, 16},
    i32: {:s, 32},
    i64: {:s, 64},
    f16: {:f, 16},
    bf16: {:bf, 16},
    f32: {:f, 32},
    f64: {:f, 64},
    c64: {:c, 64},
    c128: {:c, 128}
  }
  @from_nx Map.new(@to_nx, fn {ours, theirs} -> {theirs, ours} end)

  @doc "Whether Nx and the backend for it are loaded."
  def nx?, do: Enum.all?(@nx, &Code.ensure_loaded?/1)

  @doc "A handle of the library's for whatever stands for a tensor."
  def to_ref(ref) when is_reference(ref), do: ref
  def to_ref(%{__struct__: Nx.Tensor} = tensor), do: from_nx(tensor)

  def to_ref({dtype, shape, binary}) when is_atom(dtype) and is_binary(binary),
    do: upload(dtype, as_list(shape), binary)

  def to_ref(list) when is_list(list) do
    {shape, flat} = flatten(list)

    if flat != [] and Enum.all?(flat, &is_integer/1),
      do: upload(:i64, shape, for(x <- flat, into: <<>>, do: <<x::signed-native-64>>)),
      else: upload(:f64, shape, for(x <- flat, into: <<>>, do: float_bits(x)))
  end

  def to_ref(number)
      when is_number(number) or number in [:nan, :infinity, :neg_infinity] do
    value = if is_integer(number), do: number * 1.0, else: number
    [ref] = Error.unwrap(NIF.call(:full, [], value: value, shape: [], type: :f64))
    ref
  end

  def to_ref(other) do
    raise ArgumentError,
          "expected a number, a list of numbers, {dtype, shape, binary}, a tensor or a reference, got #{inspect(other)}"
  end

  @doc "A tensor of Nx for a handle, where Nx is loaded; else the handle itself."
  def wrap(ref, lazy \\ true) do
    if nx?() do
      {dtype, shape} = Error.unwrap(NIF.info(ref))

      struct(Nx.Tensor,
        data: struct(Adit.Backend, ref: ref, lazy: lazy),
        type: Map.fetch!(@to_nx, dtype),
        shape: List.to_tuple(shape),
        names: List.duplicate(nil, length(shape))
      )
    else
      ref
    end
  end

  @doc """
  An operation by the library's name, as nodes of the graph.

      theta = Adit.Value.call(:add, [mu, Adit.Value.call(:multiply, [tau, z])])

  Gives a list where the operation has several results.
  """
  def call(operation, values, attributes \\ []) do
    case Error.unwrap(NIF.call(operation, Enum.map(values, &to_ref/1), attributes)) do
      [one] -> wrap(one)
      several -> Enum.map(several, &wrap/1)
    end
  end

  @doc "Whether it depends on what has no value yet."
  def lazy?(%{__struct__: Nx.Tensor, data: %{__struct__: Adit.Backend, lazy: lazy}}), do: lazy
  def lazy?(_), do: false

  @doc "Computes and reads: `{dtype, shape, binary}`."
  def read(value) do
    ref = to_ref(value)
    {dtype, shape} = Error.unwrap(NIF.info(ref))
    {dtype, List.to_tuple(shape), Error.unwrap(NIF.to_binary(ref, 0, -1))}
  end

  @doc "All numbers of a real tensor in row-major order; what is no number or infinite comes as an atom."
  def to_flat_list(value) do
    [ref] = Error.unwrap(NIF.call(:as_type, [to_ref(value)], type: :f64))
    floats(Error.unwrap(NIF.to_binary(ref, 0, -1)))
  end

  @doc "The numbers of a binary of f64."
  def floats(binary), do: for(<<bits::binary-size(8) <- binary>>, do: float_of(bits))

  @doc "A tensor of Nx on its default backend, or `{shape, binary}` without Nx."
  def tensor(binary, shape) do
    if nx?(),
      do: binary |> Nx.from_binary({:f, 64}) |> Nx.reshape(List.to_tuple(shape)),
      else: {List.to_tuple(shape), binary}
  end

  @doc false
  # The same value without handles, so that it can be sent to another node.
  def portable(%{__struct__: Nx.Tensor, data: %{__struct__: Adit.Backend}} = tensor),
    do: Nx.backend_copy(tensor, Nx.BinaryBackend)

  def portable(%{__struct__: _} = struct), do: struct
  def portable(%{} = map), do: Map.new(map, fn {key, value} -> {key, portable(value)} end)
  def portable(list) when is_list(list), do: Enum.map(list, &portable/1)
  def portable(ref) when is_reference(ref), do: read(ref)

  def portable(tuple) when is_tuple(tuple),
    do: tuple |> Tuple.to_list() |> Enum.map(&portable/1) |> List.to_tuple()

  def portable(other), do: other

  @doc false
  # Whether a term holds a handle: one that is sent to another node is worth nothing there.
  def holds_handle?(term) when is_reference(term), do: true
  def holds_handle?(list) when is_list(list), do: any_holds?(list)
  def holds_handle?(tuple) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> any_holds?()
  def holds_handle?(%{} = map), do: map |> Map.to_list() |> any_holds?()

  def holds_handle?(fun) when is_function(fun) do
    {:env, environment} = Function.info(fun, :env)
    holds_handle?(environment)
  end

  def holds_handle?(_), do: false

  # Lists of an environment may be improper.
  defp any_holds?([head | tail]), do: holds_handle?(head) or any_holds?(tail)
  defp any_holds?([]), do: false
  defp any_holds?(tail), do: holds_handle?(tail)

  defp from_nx(%{data: %{__struct__: Adit.Backend, ref: ref}}), do: ref

  defp from_nx(%{type: type, shape: shape} = tensor) do
    case @from_nx do
      %{^type => dtype} -> upload(dtype, Tuple.to_list(shape), Nx.to_binary(tensor))
      _ -> raise ArgumentError, "expected a tensor of a type of whole bytes, got #{inspect(type)}"
    end
  end

  defp upload(dtype, shape, binary),
    do: Error.unwrap(NIF.from_binary(Adit.Device.default(), dtype, shape, binary))

  defp as_list(shape) when is_tuple(shape), do: Tuple.to_list(shape)
  defp as_list(shape), do: shape

  defp flatten(list) do
    shape = shape_of(list)
    flat = List.flatten(list)

    if length(flat) != Enum.product(shape),
      do: raise(ArgumentError, "expected lists of equal lengths, got #{inspect(list, limit: 20)}")

    {shape, flat}
  end

  defp shape_of([first | _] = list) when is_list(first), do: [length(list) | shape_of(first)]
  defp shape_of(list) when is_list(list), do: [length(list)]

  defp float_bits(:nan), do: <<0x7FF8000000000000::native-64>>
  defp float_bits(:infinity), do: <<0x7FF0000000000000::native-64>>
  defp float_bits(:neg_infinity), do: <<0xFFF0000000000000::native-64>>
  defp float_bits(number) when is_number(number), do: <<number * 1.0::float-native-64>>

  defp float_bits(other),
    do: raise(ArgumentError, "expected numbers in a list, got #{inspect(other)}")

  # A match on float-64 fails for what is not finite.
  defp float_of(<<number::float-native-64>>), do: number

  defp float_of(<<bits::native-64>>) do
    case bits do
      0x7FF0000000000000 -> :infinity
      0xFFF0000000000000 -> :neg_infinity
      _ -> :nan
    end
  end
end
