defmodule Adit.Json do
  @moduledoc false
  # Data for Stan programs, as CmdStan reads them: numbers that are not finite are the words NaN, Inf and -Inf in
  # quotes, a matrix is a list of rows.

  def encode(value), do: value |> write() |> IO.iodata_to_binary()

  defp write(true), do: "1"
  defp write(false), do: "0"
  defp write(:nan), do: ~s("NaN")
  defp write(:infinity), do: ~s("Inf")
  defp write(:neg_infinity), do: ~s("-Inf")
  defp write(number) when is_integer(number), do: Integer.to_string(number)
  defp write(number) when is_float(number), do: Float.to_string(number)
  defp write(text) when is_binary(text), do: quoted(text)
  defp write(%{__struct__: Nx.Tensor} = tensor), do: tensor |> numbers() |> write()
  defp write(%Range{} = range), do: range |> Enum.to_list() |> write()
  defp write(list) when is_list(list), do: [?[, list |> Enum.map(&write/1) |> Enum.intersperse(?,), ?]]

  defp write({dtype, shape, binary} = raw) when is_atom(dtype) and is_binary(binary),
    do: write(rows(Adit.Value.to_flat_list(raw), dtype, Tuple.to_list(as_tuple(shape))))

  defp write(%{__struct__: _} = other), do: refuse(other)

  defp write(%{} = map) do
    pairs = for {name, value} <- map, do: [quoted(to_string(name)), ?:, write(value)]
    [?{, Enum.intersperse(pairs, ?,), ?}]
  end

  defp write(other), do: refuse(other)

  defp refuse(other) do
    raise ArgumentError, "expected numbers, lists, tensors and maps as data of a Stan program, got #{inspect(other)}"
  end

  defp as_tuple(shape) when is_list(shape), do: List.to_tuple(shape)
  defp as_tuple(shape), do: shape

  # Nx writes what is not finite as the same atoms.
  defp numbers(tensor), do: apply(Nx, if(tensor.shape == {}, do: :to_number, else: :to_list), [tensor])

  defp rows([number], dtype, []), do: whole(number, dtype)
  defp rows(flat, dtype, [_]), do: Enum.map(flat, &whole(&1, dtype))

  defp rows(flat, dtype, [extent | rest]) do
    each = Enum.product(rest)

    if each == 0,
      do: List.duplicate(rows([], dtype, rest), extent),
      else: flat |> Enum.chunk_every(each) |> Enum.map(&rows(&1, dtype, rest))
  end

  defp whole(number, dtype) when dtype in [:f16, :bf16, :f32, :f64] or is_atom(number), do: number
  defp whole(number, _), do: trunc(number)

  defp quoted(text) do
    escaped =
      for <<code::utf8 <- text>>, into: "" do
        case code do
          ?" -> ~S(\")
          ?\\ -> ~S(\\)
          code when code < 32 -> "\\u" <> String.pad_leading(Integer.to_string(code, 16), 4, "0")
          code -> <<code::utf8>>
        end
      end

    [?", escaped, ?"]
  end
end
