# Runs Nx's own tests and doctests on a backend, compared by value.
#
#   NX_PATH=/path/to/nx/nx elixir run.exs [options] [test/nx/foo_test.exs[:LINE] ...]
#
#   --only TEXT      only tests whose full name contains TEXT, or matches it where TEXT is /.../; repeatable
#   --doctests       only doctests; --no-doctests: none
#   --verbose        each failure in full;  --trace: each test as it runs
#   --list           print the names of the selected tests, run nothing
#   --failed FILE    write the failures' names into FILE, and with --rerun run those that FILE names
#   --load FILE      load FILE first (a trial backend); repeatable
#   --all            run the tests of excluded.exs too
#   --seed N, --max-cases N, --timeout SECONDS
#
# Environment:
#
#   NX_PATH                 the Nx mix project, compiled (MIX_ENV=test mix compile)
#   ADIT_SUITE_PATH         another compiled mix project on Nx whose tests to run instead of Nx's own (Axon, Scholar)
#   ADIT_SUITE_BACKEND      the backend, default Adit.Backend; Nx.BinaryBackend is the self-check
#   ADIT_SUITE_COMPILER     a defn compiler (Adit); none: Nx's default
#   ADIT_DEVICE             passed on as the backend's option :device when ADIT_SUITE_DEVICE_OPTION=1; otherwise the
#                           backend reads it by itself
#   ADIT_SUITE_EBIN         more folders of beam files, separated by colons
#   ADIT_SUITE_DISTRIBUTED  0: leave out the tests that need further nodes
#
# The last line is "nx suite: N passed, M failed, K excluded"; the exit status is 1 where M > 0, and 2 where nothing ran.

defmodule Adit.NxSuite.Run do
  @here __DIR__

  @switches [
    only: :keep,
    load: :keep,
    doctests: :boolean,
    verbose: :boolean,
    trace: :boolean,
    list: :boolean,
    failed: :string,
    rerun: :boolean,
    all: :boolean,
    seed: :integer,
    max_cases: :integer,
    timeout: :integer
  ]

  def main(argv) do
    {opts, paths, unknown} = OptionParser.parse(argv, strict: @switches)
    if unknown != [], do: stop("unknown option #{inspect(unknown)}")

    nx = System.get_env("NX_PATH")

    suite =
      System.get_env("ADIT_SUITE_PATH") || nx ||
        stop("set NX_PATH to the folder of the Nx mix project")

    suite = Path.expand(suite)
    failed = opts[:failed] && Path.expand(opts[:failed])
    loads = for file <- Keyword.get_values(opts, :load), do: Path.expand(file)

    add_code_paths(suite)
    application = suite_application(suite)
    name = to_string(application)
    {:ok, _} = Application.ensure_all_started(application)
    Code.put_compiler_option(:ignore_module_conflict, true)

    for file <- ~w(values assert rewrite doctest report) do
      Code.ensure_loaded?(Module.concat(Adit.NxSuite, Macro.camelize(file))) ||
        Code.require_file("#{file}.exs", @here)
    end

    Enum.each(loads, &Code.require_file/1)
    backend = backend()
    excluded = if opts[:all], do: [], else: excluded(name)

    File.cd!(suite)
    # Should a file be compiled while a backend is set, its constants would be references.
    Nx.global_default_backend(Nx.BinaryBackend)
    compile_support()
    {files, lines} = files(paths)
    if name == "nx", do: Adit.NxSuite.Values.loosen(listed("loose.exs"), suite)

    Application.ensure_all_started(:ex_unit)
    Application.put_env(:ex_unit, :autorun, false)
    ExUnit.start(autorun: false, assert_receive_timeout: 1000)
    help(files)

    started = System.monotonic_time(:millisecond)
    modules = compile_tests(files)
    compiled = System.monotonic_time(:millisecond)

    {tagged_out, tests} =
      for(module <- modules, test <- module.__ex_unit__().tests, do: locate(test, module))
      |> Enum.filter(&selected?(&1, opts, lines, failed))
      |> Enum.split_with(&tagged_out?/1)

    if tagged_out != [] do
      IO.puts(
        "#{length(tagged_out)} tests are left out by the suite's own helper, for their tags"
      )
    end

    {left_out, tests} =
      Enum.split_with(tests, &({Adit.NxSuite.Report.file(&1), to_string(&1.name)} in excluded))

    cond do
      opts[:list] ->
        Enum.each(tests, &IO.puts(Adit.NxSuite.Report.id(&1)))

      tests == [] ->
        stop("no test selected (#{length(left_out)} excluded)")

      true ->
        run(tests, length(left_out), backend, opts, failed, name, compiled - started)
    end
  end

  defp run(tests, left_out, backend, opts, failed, name, compile_ms) do
    set_backend(backend)
    timeout = 1000 * (opts[:timeout] || 120)

    Application.put_env(:adit_nx_suite, :report,
      verbose: opts[:verbose],
      trace: opts[:trace],
      patience: div(timeout, 1000) + 15
    )

    ExUnit.configure(
      formatters: [Adit.NxSuite.Report],
      seed: opts[:seed] || 0,
      max_cases: opts[:max_cases] || System.schedulers_online(),
      timeout: timeout,
      only_test_ids: MapSet.new(tests, &{&1.module, &1.name})
    )

    # The tests make processes crash on purpose; those that look at the log capture it.
    unless opts[:verbose], do: :logger.remove_handler(:default)

    started = System.monotonic_time(:millisecond)
    result = ExUnit.run()
    ran = System.monotonic_time(:millisecond)
    doctests = Enum.count(tests, &doctest?/1)

    IO.puts("""

    #{doctests} doctests and #{length(tests) - doctests} tests on #{inspect(backend)}#{compiler_note()}; \
    compiled in #{div(compile_ms, 1000)} s, run in #{div(ran - started, 1000)} s\
    """)

    whole? =
      conclude(
        Adit.NxSuite.Report.outcome(),
        tests,
        left_out,
        failed,
        opts,
        name,
        Map.get(result, :skipped, 0)
      )

    System.halt(if whole?, do: 0, else: 1)
  end

  # Prints the failures and the last line; whether all passed.
  defp conclude(
         %{passed: passed, failures: failures},
         tests,
         left_out,
         failed,
         opts,
         name,
         skipped
       ) do
    Adit.NxSuite.Report.print(failures)

    if failed && !opts[:rerun] do
      File.write!(
        failed,
        Enum.map(failures, fn {_, test, _, _} -> [Adit.NxSuite.Report.id(test), "\n"] end)
      )
    end

    lost = max(length(tests) - passed - length(failures) - skipped, 0)
    IO.puts("")
    if skipped > 0, do: IO.puts("#{skipped} skipped by the suite itself")
    if lost > 0, do: IO.puts("#{lost} of the failed did not come to run")

    IO.puts(
      "#{name} suite: #{passed} passed, #{length(failures) + lost} failed, #{left_out} excluded"
    )

    passed == length(tests) - skipped
  end

  ## What to run on

  defp suite_application(suite) do
    case Regex.run(~r/app: :(\w+)/, File.read!(Path.join(suite, "mix.exs"))) do
      [_, name] -> String.to_atom(name)
      nil -> :nx
    end
  end

  defp add_code_paths(suite) do
    # A project's consolidated protocols know nothing of the containers that the tests define.
    for path <- :code.get_path(),
        Path.basename(to_string(path)) == "consolidated",
        do: :code.del_path(path)

    for protocol <- [
          Nx.Container,
          Nx.LazyContainer,
          Nx.Stream,
          Inspect,
          Enumerable,
          Collectable,
          String.Chars
        ] do
      :code.purge(protocol)
      :code.delete(protocol)
    end

    extra = "ADIT_SUITE_EBIN" |> System.get_env("") |> String.split(":", trim: true)

    builds =
      for env <- ~w(test dev prod),
          dir = Path.join(suite, "_build/#{env}/lib"),
          File.dir?(dir),
          do: dir

    own =
      for env <- ~w(test dev prod),
          dir = Path.expand("../../_build/#{env}/lib/adit", @here),
          File.dir?(dir),
          do: dir

    unless Code.ensure_loaded?(Nx) and builds == [] do
      builds == [] && stop("#{suite} is not compiled: run MIX_ENV=test mix compile there")
      for ebin <- Path.wildcard(hd(builds) <> "/*/ebin"), do: Code.prepend_path(ebin)
    end

    unless Code.ensure_loaded?(Adit.Backend) do
      for dir <- Enum.take(own, 1), do: Code.prepend_path(Path.join(dir, "ebin"))
    end

    for ebin <- extra, do: Code.prepend_path(Path.expand(ebin))
    Code.ensure_loaded?(Nx) || stop("Nx cannot be loaded")
  end

  defp backend do
    backend = Module.concat([System.get_env("ADIT_SUITE_BACKEND", "Adit.Backend")])
    Code.ensure_loaded?(backend) || stop("the backend #{inspect(backend)} cannot be loaded")
    Application.load(:adit)
    _ = Application.ensure_all_started(:adit)

    case {System.get_env("ADIT_SUITE_DEVICE_OPTION"), System.get_env("ADIT_DEVICE")} do
      {"1", device} when device not in [nil, ""] -> {backend, device: device}
      _ -> backend
    end
  end

  defp compiler do
    case System.get_env("ADIT_SUITE_COMPILER", "") do
      "" -> nil
      name -> Module.concat([name])
    end
  end

  defp compiler_note, do: if(compiler(), do: " with compiler #{inspect(compiler())}", else: "")

  defp set_backend(backend) do
    Nx.global_default_backend(backend)
    if compiler = compiler(), do: Nx.Defn.global_default_options(compiler: compiler)
  end

  ## Which tests

  defp excluded(name) do
    list = listed(if name == "nx", do: "excluded.exs", else: "excluded_#{name}.exs")
    for {file, tests} <- list, {name, _reason} <- tests, do: {file, name}
  end

  defp listed(file) do
    file = Path.join(@here, file)
    if File.exists?(file), do: file |> Code.eval_file() |> elem(0), else: []
  end

  defp files([]), do: {Path.wildcard("test/**/*_test.exs"), %{}}

  defp files(paths) do
    found =
      for path <- paths do
        {path, line} =
          case Regex.run(~r/^(.*):(\d+)$/, path) do
            [_, path, line] -> {path, String.to_integer(line)}
            nil -> {path, nil}
          end

        candidates = [
          path,
          "test/#{path}",
          "test/nx/#{path}",
          "test/nx/#{path}_test.exs",
          "test/nx/defn/#{path}_test.exs"
        ]

        path = Enum.find(candidates, &File.exists?/1) || stop("no such file: #{path}")
        paths = if File.dir?(path), do: Path.wildcard(path <> "/**/*_test.exs"), else: [path]
        {paths, line}
      end

    lines = for {[path], line} when line != nil <- found, do: {path, line}
    files = Enum.flat_map(found, &elem(&1, 0))
    {Enum.uniq(files), Enum.group_by(lines, &elem(&1, 0), &elem(&1, 1))}
  end

  # ExUnit adds these tags only when it runs the test.
  defp locate(test, module), do: %{test | module: module}

  defp selected?(test, opts, lines, failed) do
    name = to_string(test.name)

    Enum.all?([
      opts[:doctests] in [nil, doctest?(test)],
      case Keyword.get_values(opts, :only) do
        [] -> true
        texts -> Enum.any?(texts, &named?(name, &1))
      end,
      case lines[Adit.NxSuite.Report.file(test)] do
        nil -> true
        numbers -> Enum.any?(numbers, &on_line?(test, &1))
      end,
      if(opts[:rerun], do: Adit.NxSuite.Report.id(test) in rerun(failed), else: true)
    ])
  end

  defp named?(name, "/" <> rest), do: name =~ Regex.compile!(String.trim_trailing(rest, "/"))
  defp named?(name, text), do: String.contains?(name, text)

  defp rerun(nil), do: stop("--rerun needs --failed FILE")
  defp rerun(file), do: file |> File.read!() |> String.split("\n", trim: true)

  # A line is that of a describe, or within a test: the last one that starts at or before it.
  defp on_line?(test, line) do
    starts =
      for other <- test.module.__ex_unit__().tests, other.tags.line <= line, do: other.tags.line

    test.tags[:describe_line] == line or (starts != [] and test.tags.line == Enum.max(starts))
  end

  defp doctest?(test), do: test.tags.test_type == :doctest

  ## Compilation

  # The support modules go to disk, where the further nodes find them too.
  defp compile_support do
    folder = Path.join(System.tmp_dir!(), "adit_nx_suite_#{System.pid()}")
    File.mkdir_p!(folder)
    Code.prepend_path(folder)
    System.at_exit(fn _ -> File.rm_rf(folder) end)

    quiet(fn ->
      for file <- Path.wildcard("test/support/**/*.ex"), {module, beam} <- compile(file) do
        File.write!(Path.join(folder, "#{module}.beam"), beam)
      end
    end)
  end

  defp compile_tests(files) do
    files
    |> Task.async_stream(fn file -> quiet(fn -> compile(file) end) end,
      timeout: :infinity,
      max_concurrency: System.schedulers_online()
    )
    |> Enum.flat_map(fn {:ok, modules} ->
      for {module, _} <- modules, function_exported?(module, :__ex_unit__, 0), do: module
    end)
  end

  defp compile(file) do
    file = Path.expand(file)
    Code.compile_quoted(Adit.NxSuite.Rewrite.file(file), file)
  end

  # Warnings about the files of others are not ours to show. (A raised error is shown all the same.)
  defp quiet(fun) do
    {result, diagnostics} =
      Code.with_diagnostics([log: false], fn ->
        try do
          {:ok, fun.()}
        rescue
          error -> {:error, error, __STACKTRACE__}
        end
      end)

    case result do
      {:ok, value} ->
        value

      {:error, error, stack} ->
        for %{severity: :error} = found <- diagnostics, do: Code.print_diagnostic(found)
        reraise error, stack
    end
  end

  # The suite's own helper says which tags to leave out. Nx's also starts further nodes, and leaves the tests on
  # them out where it cannot.
  defp help(files) do
    helper = "test/test_helper.exs"
    text = if File.exists?(helper), do: File.read!(helper), else: ""

    cond do
      text == "" ->
        :ok

      text =~ ":distributed" and
          (System.get_env("ADIT_SUITE_DISTRIBUTED") == "0" or
             not Enum.any?(files, &(File.read!(&1) =~ ":distributed"))) ->
        ExUnit.configure(exclude: [:distributed])

      true ->
        Code.eval_file(helper)
    end
  end

  defp tagged_out?(test) do
    Enum.any?(ExUnit.configuration()[:exclude], fn
      {key, value} -> test.tags[key] == value
      key -> Map.has_key?(test.tags, key)
    end)
  end

  defp stop(reason) do
    IO.puts(:stderr, reason)
    System.halt(2)
  end
end

Adit.NxSuite.Run.main(System.argv())
