# The Livebook's cells, one after the other, as Livebook runs them: bindings, imports and aliases go from cell to cell.
if Code.ensure_loaded?(Nx) and Code.ensure_loaded?(Adit.Backend) do
  defmodule Adit.LivebookTest do
    use ExUnit.Case, async: false

    @moduletag timeout: 600_000

    @folder Path.join([__DIR__, "..", "livebooks"])

    for path <- Path.wildcard(Path.join(@folder, "*.livemd")) do
      @path path
      test "#{Path.basename(path)} runs from the first cell to the last" do
        backend = Nx.default_backend(Adit.Backend)
        options = Nx.Defn.default_options(compiler: Adit)

        unless Process.whereis(Adit.Node), do: start_supervised!(Adit.Node)
        Code.put_compiler_option(:ignore_module_conflict, true)

        try do
          cells = cells(File.read!(@path))
          assert length(cells) > 5

          Enum.reduce(cells, {[], []}, fn {line, code}, {bindings, environment} ->
            run_cell(code, line, bindings, environment)
          end)
        after
          Code.put_compiler_option(:ignore_module_conflict, false)
          Nx.default_backend(backend)
          Nx.Defn.default_options(options)
        end
      end
    end

    # What a cell imports and aliases is said again in front of the next ones: they see what a Livebook's would.
    defp run_cell(code, line, bindings, environment) do
      preamble = Enum.map_join(environment, fn text -> text <> "; " end)
      {_, bindings} = Code.eval_string(preamble <> code, bindings, file: @path, line: line)
      said = Regex.scan(~r/^(?:import|alias) .*$/m, code) |> List.flatten()
      {bindings, environment ++ said}
    rescue
      error ->
        reraise "line #{line} of #{Path.basename(@path)}: " <> Exception.message(error) <> "\n\n" <> code,
                __STACKTRACE__
    end

    # {line, code} of every cell but the one that installs.
    defp cells(text) do
      {cells, _} =
        text
        |> String.split("\n")
        |> Enum.with_index(1)
        |> Enum.reduce({[], nil}, fn
          {"```elixir", line}, {cells, nil} -> {cells, {line + 1, []}}
          {"```", _}, {cells, {line, code}} -> {[{line, code |> Enum.reverse() |> Enum.join("\n")} | cells], nil}
          {text, _}, {cells, {line, code}} -> {cells, {line, [text | code]}}
          _, state -> state
        end)

      cells |> Enum.reverse() |> Enum.reject(fn {_, code} -> code =~ "Mix.install" end)
    end
  end
else
  IO.puts("SKIPPED test/livebook_test.exs: Nx was not found")
end
