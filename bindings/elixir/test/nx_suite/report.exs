defmodule Adit.NxSuite.Report do
  @moduledoc """
  An ExUnit formatter that keeps the failures, prints them grouped by the function
  (of doctests) or the file and `describe` (of tests) they are about.
  """

  use GenServer

  # A process within a native function, or within one of Erlang's own that does not yield, outlives ExUnit's timeout
  # and can take the schedulers with it. So a shell is told of every start and end, and where it hears nothing for
  # longer than a test may take it says what was running and ends this system.
  @watch """
  while true; do
    if IFS= read -r -t "$1" line; then last=$line
    elif [ $? -gt 128 ]; then
      printf '\\n%s\\n' "stuck, not even the timeout ends it: $last" >&2
      kill -9 "$2"
    else exit 0
    fi
  done
  """

  @impl true
  def init(opts) do
    config = Application.get_env(:adit_nx_suite, :report, [])
    :persistent_term.put(__MODULE__, %{passed: 0, failures: []})

    {:ok,
     %{
       passed: 0,
       failures: [],
       running: [],
       verbose: config[:verbose],
       trace: config[:trace],
       shell: watch(config[:patience]),
       width: opts[:width] || 120
     }}
  end

  defp watch(seconds) do
    bash = System.find_executable("bash")
    args = ["-c", @watch, "watch", to_string(seconds), System.pid()]
    if seconds && bash, do: Port.open({:spawn_executable, bash}, [:binary, args: args])
  end

  @impl true
  def handle_info(_, state), do: {:noreply, state}

  @impl true
  def handle_cast({:test_started, test}, state) do
    if state.trace, do: IO.puts("#{group(test)} | #{test.name}")
    {:noreply, tell(%{state | running: [id(test) | state.running]})}
  end

  def handle_cast({:test_finished, test}, state) do
    finished(test, tell(%{state | running: List.delete(state.running, id(test))}))
  end

  def handle_cast({:module_finished, %{state: {:failed, reasons}} = module}, state) do
    IO.puts("#{inspect(module.name)} could not be set up: #{reasons |> hd() |> brief()}")
    {:noreply, state}
  end

  def handle_cast({:suite_finished, _}, state) do
    :persistent_term.put(__MODULE__, %{
      passed: state.passed,
      failures: Enum.reverse(state.failures)
    })

    {:noreply, state}
  end

  def handle_cast(_, state), do: {:noreply, state}

  defp finished(%{state: nil} = test, state) do
    if state.trace, do: IO.puts("  passed in #{div(test.time, 1000)} ms")
    {:noreply, %{state | passed: state.passed + 1}}
  end

  defp finished(%{state: {kind, what}} = test, state)
       when kind in [:failed, :invalid] do
    reasons = if kind == :failed, do: what, else: [{:error, "the module's setup failed", []}]
    number = length(state.failures) + 1
    brief = reasons |> hd() |> brief()
    if state.trace, do: IO.puts("  FAILED: #{brief}")

    text =
      if state.verbose && kind == :failed, do: full(test, reasons, number, state.width), else: ""

    {:noreply, %{state | failures: [{group(test), test, brief, text} | state.failures]}}
  end

  defp finished(_, state), do: {:noreply, state}

  defp tell(state) do
    if state.shell do
      text =
        "#{Enum.join(state.running, "; ")} (#{state.passed} passed, #{length(state.failures)} failed before it)"

      Port.command(state.shell, String.replace(text, "\n", " ") <> "\n")
    end

    state
  end

  @doc "The outcome of the run: the number passed, and for each failure `{group, test, brief, text}`."
  def outcome, do: :persistent_term.get(__MODULE__)

  @doc "Prints the failures by group, those with most first."
  def print(failures) do
    failures
    |> Enum.group_by(&elem(&1, 0))
    |> Enum.sort_by(fn {group, list} -> {-length(list), group} end)
    |> Enum.each(fn {group, list} ->
      IO.puts("\n#{group}: #{length(list)} failed")

      for {_, test, brief, text} <- Enum.sort_by(list, fn {_, test, _, _} -> test.tags.line end) do
        IO.puts("  #{id(test)}\n      #{brief}")
        if text != "", do: IO.puts(text)
      end
    end)
  end

  @doc "file: name, as in excluded.exs."
  def id(test), do: "#{file(test)}: #{test.name}"

  def file(test), do: Path.relative_to(test.tags.file, File.cwd!())

  defp group(%{tags: %{test_type: :doctest}} = test) do
    case Regex.run(~r/^doctest (\S+) \(\d+\)$/, to_string(test.name)) do
      [_, function] -> function
      nil -> test.name |> to_string() |> String.replace(~r/^doctest | \(\d+\)$/, "")
    end
  end

  defp group(test) do
    case test.tags[:describe] do
      nil -> file(test)
      describe -> "#{file(test)} #{describe}"
    end
  end

  defp brief({kind, reason, _stack}) do
    text =
      case reason do
        %{__struct__: ExUnit.AssertionError, message: message} -> message
        %{__exception__: true} -> "** (#{inspect(reason.__struct__)}) " <> safe_message(reason)
        other -> "** (#{inspect(kind)}) " <> inspect(other, limit: 10)
      end

    text = text |> String.split(~r/\s+/) |> Enum.join(" ")
    if String.length(text) > 220, do: String.slice(text, 0, 220) <> " ...", else: text
  end

  defp safe_message(error) do
    Exception.message(error)
  rescue
    _ -> "(no message)"
  end

  defp full(test, reasons, number, width) do
    ExUnit.Formatter.format_test_failure(test, reasons, number, width, fn _, text -> text end)
  rescue
    error -> "  (the failure cannot be formatted: #{Exception.message(error)})"
  end
end
