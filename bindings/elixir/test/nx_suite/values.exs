defmodule Adit.NxSuite.Values do
  @moduledoc """
  Compares two terms by the values of the tensors in them.

  Nx's own tests compare tensors with `==`, that is, struct against struct. That
  is only meaningful while the elements are part of the struct. A backend whose
  tensors refer to memory elsewhere needs the elements fetched first: every
  tensor met, however deep in lists, tuples, maps and structs, is copied to
  `Nx.BinaryBackend` and its elements are compared.

  Types, shapes, names, vectorized axes, integers and everything that is not a
  number must be equal. Floats may differ by the tolerance of their type, see
  `tolerance/1`; NaN equals NaN, and an infinity only itself.
  """

  # type => {relative, absolute per unit of the largest element, least and most absolute}
  @tolerances %{
    {:f, 64} => {1.0e-9, 1.0e-12, 1.0e-14, 1.0e-10},
    {:f, 32} => {1.0e-4, 4.0e-6, 1.0e-7, 4.0e-5},
    {:f, 16} => {2.0e-3, 1.0e-3, 1.0e-6, 1.0e-2},
    {:bf, 16} => {1.6e-2, 8.0e-3, 1.0e-6, 5.0e-2},
    {:f, 8} => {0.25, 0.1, 1.0e-4, 0.25},
    {:f8_e4m3fn, 8} => {0.13, 0.06, 1.0e-4, 0.13}
  }

  @number ~r/[-+]?\d+\.\d+(?:[eE][-+]?\d+)?/
  @type_in_text ~r/\b(bf16|f16|f32|f64|c64|c128|f8_e4m3fn|f8)\b/

  @doc "Whether both terms hold the same values. `strict` tells 1 from 1.0, as `===` does."
  def equal?(left, right, strict \\ false), do: diff(left, right, strict) == nil

  @doc "The relative tolerance of a type and the terms its absolute tolerance is made of."
  def tolerance({:c, 64}), do: tolerance({:f, 32})
  def tolerance({:c, 128}), do: tolerance({:f, 64})
  def tolerance(type), do: Map.get(@tolerances, type, @tolerances[{:f, 32}])

  @doc "`nil` when equal, otherwise a sentence about the first difference."
  def diff(left, right, strict \\ false)

  def diff(%{__struct__: Nx.Tensor} = left, %{__struct__: Nx.Tensor} = right, strict) do
    cond do
      left.type != right.type ->
        "type #{inspect(left.type)} against #{inspect(right.type)}"

      left.shape != right.shape ->
        "shape #{inspect(left.shape)} against #{inspect(right.shape)}"

      left.names != right.names ->
        "names #{inspect(left.names)} against #{inspect(right.names)}"

      axes(left) != axes(right) ->
        "vectorized axes #{inspect(axes(left))} against #{inspect(axes(right))}"

      symbolic?(left) or symbolic?(right) ->
        diff_symbolic(left.data, right.data, strict)

      true ->
        diff_elements(left, right)
    end
  end

  def diff(left, right, strict) when is_float(left) or is_float(right) do
    cond do
      not (is_number(left) and is_number(right)) -> differ(left, right)
      strict and is_float(left) != is_float(right) -> differ(left, right)
      close?(left, right, limits({:f, 32}, max(abs(left), abs(right)))) -> nil
      true -> differ(left, right)
    end
  end

  def diff(left, right, _strict) when is_binary(left) and is_binary(right),
    do: diff_text(left, right)

  def diff([left | lefts], [right | rights], strict) do
    diff(left, right, strict) || diff(lefts, rights, strict)
  end

  def diff(left, right, strict)
      when is_tuple(left) and is_tuple(right) and tuple_size(left) == tuple_size(right) do
    diff(Tuple.to_list(left), Tuple.to_list(right), strict)
  end

  def diff(left, right, strict) when is_map(left) and is_map(right) do
    if Map.keys(left) == Map.keys(right) do
      Enum.find_value(Map.keys(left), fn key ->
        reason = diff(Map.fetch!(left, key), Map.fetch!(right, key), strict)
        reason && "#{inspect(key)}: #{reason}"
      end)
    else
      "keys #{inspect(Map.keys(left))} against #{inspect(Map.keys(right))}"
    end
  end

  def diff(left, right, _strict) when left === right, do: nil
  def diff(left, right, _strict), do: differ(left, right)

  defp differ(left, right) do
    "#{inspect(left, limit: 20)} against #{inspect(right, limit: 20)}"
  end

  ## Tensors

  @doc "The tensor with its elements fetched into `Nx.BinaryBackend`."
  def fetch(%{__struct__: Nx.Tensor, data: %{__struct__: Nx.BinaryBackend}} = tensor), do: tensor
  def fetch(tensor), do: Nx.backend_copy(tensor, Nx.BinaryBackend)

  @doc "The elements of a tensor, or of a number or a list that Nx takes for one, as a flat list."
  def elements(tensor) do
    Nx.with_default_backend(Nx.BinaryBackend, fn ->
      tensor |> to_tensor() |> fetch() |> Nx.devectorize() |> Nx.to_flat_list()
    end)
  end

  @doc "A tensor as it is; a number or a list as a tensor of `Nx.BinaryBackend`."
  def to_tensor(%{__struct__: Nx.Tensor} = tensor), do: tensor
  def to_tensor(other), do: Nx.with_default_backend(Nx.BinaryBackend, fn -> Nx.tensor(other) end)

  @doc "Whether any of the terms is a tensor with elements to fetch."
  def tensors?(terms) do
    Enum.any?(terms, fn
      %{__struct__: Nx.Tensor} = tensor -> not symbolic?(tensor)
      _ -> false
    end)
  end

  defp axes(tensor), do: Map.get(tensor, :vectorized_axes, [])

  # An expression or a template has no elements to fetch.
  defp symbolic?(%{data: %{__struct__: module}}), do: module in [Nx.Defn.Expr, Nx.TemplateBackend]
  defp symbolic?(_), do: true

  defp diff_symbolic(left, right, strict),
    do: if(left == right, do: nil, else: diff(left, right, strict))

  defp diff_elements(left, right) do
    case {try_fetch(left), try_fetch(right)} do
      {{:ok, %{data: data}}, {:ok, %{data: data}}} ->
        nil

      {{:ok, left}, {:ok, right}} ->
        if float?(left.type) do
          diff_close(elements(left), elements(right), left.type)
        else
          diff_exact(elements(left), elements(right))
        end

      # For instance the tests' own backend that can only be asked to deallocate.
      {{:error, reason}, _} ->
        if left.data == right.data, do: nil, else: "left cannot be fetched: #{reason}"

      {_, {:error, reason}} ->
        "right cannot be fetched: #{reason}"
    end
  end

  defp try_fetch(tensor) do
    {:ok, fetch(tensor)}
  rescue
    error -> {:error, Exception.message(error)}
  end

  defp float?({kind, _}), do: kind in [:f, :bf, :c, :f8_e4m3fn]

  defp diff_exact(lefts, rights) do
    at(Enum.zip(lefts, rights), fn {left, right} -> left === right end)
  end

  defp diff_close(lefts, rights, type) do
    limits = limits(type, largest(lefts ++ rights))
    at(Enum.zip(lefts, rights), fn {left, right} -> close?(left, right, limits) end)
  end

  defp at(pairs, fun) do
    pairs
    |> Enum.with_index()
    |> Enum.find_value(fn {{left, right} = pair, index} ->
      if fun.(pair), do: nil, else: "element #{index}: #{differ(left, right)}"
    end)
  end

  ## Numbers

  @doc "The relative and the absolute tolerance for elements of a type, given the largest of them."
  def limits(type, largest) do
    {relative, per_unit, least, most} = tolerance(type)
    {more_relative, more_absolute} = Process.get(__MODULE__, {0.0, 0.0})
    absolute = (per_unit * largest) |> max(least) |> min(most)
    {max(relative, more_relative), max(absolute, more_absolute)}
  end

  @doc "Tells which test runs in this process: those of loose.exs have tolerances of their own."
  def start(file, {name, _arity}) do
    case :persistent_term.get({__MODULE__, :loose}, %{}) do
      %{{^file, ^name} => limits} -> Process.put(__MODULE__, limits)
      %{} -> Process.delete(__MODULE__)
    end
  end

  @doc "Takes in loose.exs, for test files under a folder."
  def loosen(list, folder) do
    loose =
      for {file, tests} <- list, {name, limits, _reason} <- tests, into: %{} do
        {{Path.expand(file, folder), String.to_atom(name)}, limits}
      end

    :persistent_term.put({__MODULE__, :loose}, loose)
  end

  @doc "Whether two numbers (or :nan, :infinity, :neg_infinity, complex ones) are within `{relative, absolute}`."
  def close?(left, right, _limits) when left == right, do: true

  def close?(left, right, {relative, absolute}) do
    case {parts(left), parts(right)} do
      {{a, b}, {c, d}} when is_number(a) and is_number(b) and is_number(c) and is_number(d) ->
        modulus(safe_sub(a, c), safe_sub(b, d)) <= absolute + relative * modulus(c, d)

      {{a, b}, {c, d}} ->
        part_close?(a, c, {relative, absolute}) and part_close?(b, d, {relative, absolute})
    end
  end

  defp part_close?(left, right, {relative, absolute}) when is_number(left) and is_number(right) do
    abs(safe_sub(left, right)) <= absolute + relative * abs(right)
  end

  defp part_close?(left, right, _limits), do: left == right

  defp parts(%{__struct__: Complex, re: re, im: im}), do: {re, im}
  defp parts(other), do: {other, 0.0}

  # Erlang raises on overflow.
  defp safe_sub(left, right) do
    left - right
  rescue
    ArithmeticError -> 1.0e308
  end

  defp modulus(re, im) do
    big = max(abs(re), abs(im))
    if big == 0, do: 0.0, else: big * :math.sqrt(square(re / big) + square(im / big))
  rescue
    ArithmeticError -> 1.0e308
  end

  defp square(x), do: x * x

  @doc "The largest magnitude among numbers."
  def largest(numbers) do
    Enum.reduce(numbers, 0.0, fn number, largest ->
      {re, im} = parts(number)
      [re, im] |> Enum.filter(&is_number/1) |> Enum.map(&abs/1) |> Enum.reduce(largest, &max/2)
    end)
  end

  ## Text

  @doc """
  Compares texts. In one that shows tensors, the numbers with a fraction may
  differ by the tolerance of the type shown before them, and since their length
  may differ too, so may the line breaks.
  """
  def diff_text(left, right) when left == right, do: nil

  def diff_text(left, right) do
    if String.valid?(left) and String.valid?(right) and left =~ "Nx.Tensor" and
         right =~ "Nx.Tensor" do
      if segments_differ?(segments(left), segments(right)), do: differ_text(left, right)
    else
      differ(left, right)
    end
  end

  defp differ_text(left, right), do: "text\n#{left}\nagainst\n#{right}"

  defp segments(text) do
    text |> String.split(~r/\s+/) |> Enum.join(" ") |> String.split("Nx.Tensor<")
  end

  defp segments_differ?([left | lefts], [right | rights]) do
    segment_differs?(left, right) || segments_differ?(lefts, rights)
  end

  defp segments_differ?([], []), do: false
  defp segments_differ?(_, _), do: true

  defp segment_differs?(left, right) do
    type =
      case Regex.run(@type_in_text, right) do
        [type, _] -> text_type(type)
        nil -> {:f, 32}
      end

    lefts = Regex.split(@number, left, include_captures: true)
    rights = Regex.split(@number, right, include_captures: true)
    numbers = for token <- lefts ++ rights, token =~ ~r/^#{@number.source}$/, do: to_float(token)
    limits = limits(type, largest(numbers))

    length(lefts) != length(rights) or
      Enum.any?(Enum.zip(lefts, rights), fn {left, right} ->
        left != right and
          not (number?(left) and number?(right) and
                 close?(to_float(left), to_float(right), limits))
      end)
  end

  defp number?(token), do: token =~ ~r/^#{@number.source}$/

  defp to_float(token) do
    {float, ""} = token |> String.trim_leading("+") |> Float.parse()
    float
  end

  defp text_type("bf16"), do: {:bf, 16}
  defp text_type("f16"), do: {:f, 16}
  defp text_type("f64"), do: {:f, 64}
  defp text_type("c128"), do: {:f, 64}
  defp text_type("f8"), do: {:f, 8}
  defp text_type("f8_e4m3fn"), do: {:f8_e4m3fn, 8}
  defp text_type(_), do: {:f, 32}
end
