defmodule Adit.NxSuite.DocTest do
  @moduledoc """
  `doctest` and `doctest_file` with the results compared by value: ExUnit extracts
  and compiles the examples as ever, then its comparisons are replaced by ours.
  """

  alias Adit.NxSuite.{Rewrite, Values}

  defmacro doctest(module, opts \\ []) do
    file = __CALLER__.file
    line = __CALLER__.line

    quote bind_quoted: [module: module, opts: opts, file: file, line: line] do
      for {name, code, tags} <- ExUnit.DocTest.__doctests__(module, opts) do
        @file ExUnit.DocTest.__file__(module)
        name = ExUnit.Case.register_test(__MODULE__, file, line, :doctest, name, tags)
        def unquote(name)(_), do: unquote(Adit.NxSuite.DocTest.by_value(code, file))
      end
    end
  end

  defmacro doctest_file(path, opts \\ []) do
    file = __CALLER__.file
    line = __CALLER__.line

    quote bind_quoted: [path: path, opts: opts, file: file, line: line] do
      for {name, code, tags} <- ExUnit.DocTest.__doctest_file__(path, __MODULE__, opts) do
        name = ExUnit.Case.register_test(__MODULE__, file, line, :doctest, name, tags)
        def unquote(name)(_), do: unquote(Adit.NxSuite.DocTest.by_value(code, file))
      end
    end
  end

  @doc "The compiled example with the comparisons of this module."
  def by_value(code, file) do
    code = replace(code)

    quote do
      unquote(Values).start(unquote(file), __ENV__.function)
      unquote(code)
    end
  end

  defp replace(code) do
    code
    |> Macro.prewalk(fn
      {{:., meta, [{:__aliases__, _, [:ExUnit, :DocTest]}, name]}, call_meta, args}
      when name in [:__test__, :__inspect__] ->
        {{:., meta, [__MODULE__, name]}, call_meta, args}

      other ->
        other
    end)
    |> Rewrite.quoted()
  end

  def __test__(value, expected, doctest, last_expr, expected_expr, module, source, line) do
    case Values.diff(value, expected, true) do
      nil ->
        {:ok, value}

      reason ->
        fail(
          reason,
          doctest,
          "#{last_expr} === #{String.trim(expected_expr)}",
          module,
          source,
          line,
          left: value,
          right: expected
        )
    end
  end

  def __inspect__(value, expected, doctest, last_expr, _expected_expr, module, source, line) do
    actual = inspect(value, safe: false)

    case Values.diff_text(actual, expected) do
      nil ->
        {:ok, value}

      _ ->
        fail("the text shown differs", doctest, "inspect(#{last_expr})", module, source, line,
          left: actual,
          right: expected
        )
    end
  end

  defp fail(reason, doctest, expr, module, source, line, sides) do
    location = if source, do: [file: String.to_charlist(source), line: line], else: [line: line]
    error = [message: "Doctest failed: #{reason}", doctest: doctest, expr: expr] ++ sides
    reraise ExUnit.AssertionError, error, [{module, :__MODULE__, 0, location}]
  end
end
