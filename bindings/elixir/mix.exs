defmodule Mix.Tasks.Compile.AditNif do
  @moduledoc false
  # Builds priv/adit_nif.so by `make` in this folder. Nothing is downloaded.
  use Mix.Task.Compiler

  @impl true
  def run(_arguments) do
    case System.get_env("ADIT_NIF_DIR") do
      folder when folder in [nil, ""] -> make()
      folder -> link(folder)
    end
  end

  defp make do
    make = System.get_env("MAKE") || "make"

    case System.cmd(make, [], cd: __DIR__, stderr_to_stdout: true) do
      {_said, 0} ->
        # priv is there now: it becomes a part of what is built
        Mix.Project.build_structure()
        {:ok, []}

      {said, status} ->
        Mix.raise("""
        Adit's NIF could not be built: `#{make}` in #{__DIR__} gave #{status}.

        #{said}
        It needs a C++20 compiler, CMake and Erlang's headers (Debian: g++ cmake erlang-dev), and either an installed \
        libadit (ADIT_LIBRARY_DIR tells where) or the sources of Adit around this folder with what those need \
        (its README says what).
        """)
    end
  end

  # Another build made it.
  defp link(folder) do
    priv = Path.join(Mix.Project.app_path(), "priv")
    File.rm_rf!(priv)
    File.mkdir_p!(Path.dirname(priv))
    File.ln_s!(Path.expand(folder), priv)
    {:ok, []}
  end

  @impl true
  def clean, do: System.cmd(System.get_env("MAKE") || "make", ["clean"], cd: __DIR__)
end

defmodule Adit.MixProject do
  use Mix.Project

  # Without Nx ("1") there are the NIF, models, samplers and nodes, and their tests: for systems that have no Hex. With a
  # stand-in for it ("stand_in") the backend is there too, to be tested.
  defp without_nx?, do: System.get_env("ADIT_WITHOUT_NX") in ["1", "stand_in"]
  defp stand_in?, do: System.get_env("ADIT_WITHOUT_NX") == "stand_in"

  def project do
    [
      app: :adit,
      version: version(),
      elixir: "~> 1.14",
      compilers: [:adit_nif] ++ Mix.compilers(),
      elixirc_paths: elixirc_paths() ++ if(Mix.env() == :test and not stand_in?(), do: ["test/support"], else: []),
      build_path: if(without_nx?(), do: "_build/without_nx", else: "_build"),
      start_permanent: Mix.env() == :prod,
      deps: if(without_nx?(), do: [], else: deps()),
      aliases: ["hex.build": [&make_package/1, "hex.build"], "hex.publish": [&make_package/1, "hex.publish"]],
      name: "Adit",
      description:
        "Nx on the GPU (Vulkan) or the CPU: a backend, a compiler, and posteriors of Bayesian models by NUTS.",
      package: package(),
      docs: docs()
    ]
  end

  def application, do: [mod: {Adit.Application, []}, extra_applications: [:logger]]

  defp elixirc_paths do
    cond do
      stand_in?() -> ["test/stand_in" | Enum.reject(Path.wildcard("lib/**/*.ex"), &needs_defn?/1)]
      without_nx?() -> Enum.reject(Path.wildcard("lib/**/*.ex"), &(needs_defn?(&1) or needs_nx?(&1)))
      true -> ["lib"]
    end
  end

  defp needs_defn?(path), do: String.starts_with?(path, ["lib/adit.ex", "lib/adit/compiler"])
  defp needs_nx?(path), do: String.starts_with?(path, ["lib/adit/backend", "lib/adit/ops"])

  # ex_doc needs Hex, as Nx does unless it is a folder
  defp deps do
    case System.get_env("NX_PATH") do
      path when path in [nil, ""] -> [{:nx, "~> 0.10"}, {:ex_doc, "~> 0.30", only: :dev, runtime: false}]
      path -> [{:nx, path: path}]
    end
  end

  # The version of the whole; a package, which is apart from the root, has a file with it.
  defp version do
    root = Path.join(__DIR__, "../../CMakeLists.txt")

    if File.exists?(root) do
      [_, version] = Regex.run(~r/project\(adit VERSION ([0-9.]+)/, File.read!(root))
      version
    else
      __DIR__ |> Path.join("VERSION") |> File.read!() |> String.trim()
    end
  end

  defp make_package(_arguments) do
    File.write!(Path.join(__DIR__, "VERSION"), version() <> "\n")
    File.cp!(Path.join(__DIR__, "../../LICENSE"), Path.join(__DIR__, "LICENSE"))
  end

  defp package do
    [
      licenses: ["Apache-2.0"],
      links: %{"Nx" => "https://hexdocs.pm/nx"},
      files: ~w(lib c_src livebooks CMakeLists.txt Makefile mix.exs VERSION README.md LICENSE)
    ]
  end

  defp docs do
    [
      main: if(File.exists?(Path.join(__DIR__, "README.md")), do: "readme", else: "Adit"),
      extras:
        for(
          name <- ["README.md", "livebooks/intro.livemd"],
          path = Path.join(__DIR__, name),
          File.exists?(path),
          do: name
        )
    ]
  end
end
