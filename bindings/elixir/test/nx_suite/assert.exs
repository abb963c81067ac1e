defmodule Adit.NxSuite.Assert do
  @moduledoc """
  What the assertions of Nx's tests become, see `Adit.NxSuite.Rewrite`: the same
  assertions, made about the values.
  """

  alias Adit.NxSuite.Values

  def equal!(left, right, strict, code) do
    case Values.diff(left, right, strict) do
      nil -> true
      reason -> fail("The values differ: #{reason}", left, right, code)
    end
  end

  def different!(left, right, strict, code) do
    if Values.equal?(left, right, strict) do
      fail("The values are equal", left, right, code)
    else
      true
    end
  end

  @doc "Tensors, or containers of tensors, with equal elements of whatever type; a scalar stands for any shape."
  def assert_equal(left, right) do
    pairs(left, right, &check_close(&1, &2, 0.0, 0.0, true))
  end

  @doc """
  Tensors, or containers of tensors, within `:atol` and `:rtol`, 1.0e-4 both unless given.

  Some tests ask for less than a unit in the last place of what they compute; none
  gets less than the tolerance of the type.
  """
  def assert_all_close(left, right, opts \\ []) do
    atol = opts[:atol] || 1.0e-4
    rtol = opts[:rtol] || 1.0e-4
    pairs(left, right, &check_close(&1, &2, atol, rtol, opts[:equal_nan]))
  end

  defp pairs(left, right, fun) do
    if tensor?(left) or tensor?(right) do
      fun.(Values.to_tensor(left), Values.to_tensor(right))
    else
      lefts = Nx.Defn.Composite.flatten_list([left])
      rights = Nx.Defn.Composite.flatten_list([right])

      if length(lefts) != length(rights),
        do: fail("Containers of different size", left, right, nil)

      Enum.zip_with(lefts, rights, fun)
    end

    true
  end

  defp tensor?(%{__struct__: Nx.Tensor}), do: true
  defp tensor?(term), do: is_number(term) or is_struct(term, Complex) or is_list(term)

  defp coarser(left, right) do
    Enum.max_by([left.type, right.type], fn
      {kind, _} when kind in [:s, :u] -> 0
      type -> elem(Values.tolerance(type), 0)
    end)
  end

  defp check_close(left, right, atol, rtol, equal_nan) do
    if left.vectorized_axes != right.vectorized_axes do
      fail("The vectorized axes differ", left, right, nil)
    end

    {lefts, rights} = stretch(left, right)

    {least_rtol, least_atol} =
      case coarser(left, right) do
        {kind, _} when kind in [:s, :u] -> {0.0, 0.0}
        type -> Values.limits(type, Values.largest(lefts ++ rights))
      end

    limits = {max(rtol, least_rtol), max(atol, least_atol)}

    lefts
    |> Enum.zip(rights)
    |> Enum.with_index(fn {a, b}, index ->
      close? =
        if nan?(a) or nan?(b),
          do: equal_nan == true and a == b,
          else: Values.close?(a, b, limits)

      unless close? do
        fail("Element #{index} differs: #{inspect(a)} against #{inspect(b)}", left, right, nil)
      end
    end)
  end

  defp nan?(:nan), do: true
  defp nan?(%{__struct__: Complex, re: re, im: im}), do: re == :nan or im == :nan
  defp nan?(_), do: false

  # Shapes are Nx's own business, so that the tests may rely on its broadcasting.
  defp stretch(%{shape: shape} = left, %{shape: shape} = right) do
    {Values.elements(left), Values.elements(right)}
  end

  defp stretch(left, right) do
    Nx.with_default_backend(Nx.BinaryBackend, fn ->
      {left, right} = {Values.fetch(left), Values.fetch(right)}
      shape = Nx.shape(Nx.equal(left, right))
      {Values.elements(Nx.broadcast(left, shape)), Values.elements(Nx.broadcast(right, shape))}
    end)
  rescue
    ArgumentError -> fail("The shapes differ", left, right, nil)
  end

  defp fail(message, left, right, code) do
    raise ExUnit.AssertionError,
      message: message,
      left: left,
      right: right,
      expr: code || ExUnit.AssertionError.no_value()
  end
end
