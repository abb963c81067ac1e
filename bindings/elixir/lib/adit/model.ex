defmodule Adit.Model do
  @moduledoc """
  Models: variables with priors, observations, and what follows from them; together one log density.

      import Adit.Distribution
      alias Adit.Model

      model =
        Model.build("eight_schools", fn m ->
          school = Model.plate(m, "school", 8)
          mu = Model.sample(m, "mu", normal(0, 5))
          tau = Model.sample(m, "tau", half_cauchy(5))
          z = Model.sample(m, "z", normal(0, 1), [school])
          theta = Model.deterministic(m, "theta", Nx.add(mu, Nx.multiply(tau, z)))
          sigma = Model.data(m, "sigma", [15, 10, 16, 11, 9, 11, 10, 18])
          Model.observe(m, "y", normal(theta, sigma), [28, 8, -3, 7, -1, 1, 18, 12])
        end)

  What `sample/5`, `parameter/4`, `deterministic/4` and `data/3` give are Nx tensors that have no value yet. Nx
  operations and `defn` functions on them become part of the model, and of the kernel that samples it.

  A model that was built by a function, or from a Stan program, can be sampled on other nodes: they build it again. The
  function's module must be loaded there; tensors that it needs are given as data to `build/3`.
  """
  alias Adit.{Constraint, Distribution, Error, Json, NIF, Value}
  alias __MODULE__.Plate

  @compile {:no_warn_undefined, [Nx, Nx.Defn]}

  # recipe: what makes it again; changes: data that were set afterwards, the first first.
  defstruct [:name, :ref, :recipe, changes: []]
  @type t :: %__MODULE__{}

  defmodule Plate do
    @moduledoc "A named axis: draws carry its name and its coordinates."
    defstruct [:name, :size]
  end

  @doc "An empty model. One that is stated by calls on it, not by `build/2`, stays on this node."
  def new(name \\ "model"),
    do: %__MODULE__{name: to_string(name), ref: Error.unwrap(NIF.model_new(to_string(name)))}

  @doc """
  A model that `fun` states. It gets the model; with `data` also these, which may hold tensors.

      Model.build("line", %{x: x, y: y}, fn m, data -> ... end)
  """
  def build(name, fun) when is_function(fun, 1), do: build_by(name, fun, [])
  def build(name, data, fun) when is_function(fun, 2), do: build_by(name, fun, [data])

  @doc """
  The model of a Stan program: its text, or the path of a file that ends in `.stan`.

  Data are a map by name with numbers, lists and tensors (`:nan`, `:infinity` and `:neg_infinity` are numbers), or the
  path of a JSON file. Options: `name`, `seed` (of random numbers in transformed data).
  """
  def from_stan(program, data \\ %{}, options \\ []) do
    {stem, text} = program_of(program)
    name = to_string(Keyword.get(options, :name, stem))
    stan(name, text, json_of(data), Keyword.get(options, :seed, 1))
  end

  @doc "A named axis of `size` places, or one with a coordinate for each."
  def plate(model, name, size_or_coordinates)

  def plate(%__MODULE__{} = model, name, size) when is_integer(size),
    do: add_plate(model, to_string(name), size, [])

  def plate(%__MODULE__{} = model, name, coordinates) when is_list(coordinates),
    do: add_plate(model, to_string(name), length(coordinates), Enum.map(coordinates, &to_string/1))

  @doc """
  A variable with a prior; its value. Extents are numbers and plates.

  `form: :non_centred` samples its standard form as `name_raw`; `name` then follows from it.
  """
  def sample(model, name, prior, extents \\ [], options \\ [])

  def sample(%__MODULE__{} = model, name, %Distribution{ref: nil} = prior, extents, options) do
    if form(options), do: raise(ArgumentError, "a custom distribution has no non-centred form")
    value = parameter(model, name, prior.support, extents)
    add_log_density(model, "#{name}_log_density", prior.log_density.(value))
    value
  end

  def sample(%__MODULE__{ref: ref}, name, %Distribution{} = prior, extents, options) do
    NIF.model_sample(ref, to_string(name), prior.ref, extents(extents), form(options))
    |> Error.unwrap()
    |> Value.wrap()
  end

  @doc "A variable with a flat prior where the constraint lets it be; its value."
  def parameter(%__MODULE__{ref: ref}, name, constraint \\ Constraint.real(), extents \\ []) do
    NIF.model_parameter(ref, to_string(name), constraint.ref, extents(extents))
    |> Error.unwrap()
    |> Value.wrap()
  end

  @doc "Values that were seen. The likelihood broadcasts to their shape."
  def observe(model, name, likelihood, value)

  def observe(%__MODULE__{} = model, name, %Distribution{ref: nil} = likelihood, value) do
    value = data(model, name, value)
    add_log_density(model, "#{name}_log_density", likelihood.log_density.(value))
  end

  def observe(%__MODULE__{ref: ref}, name, %Distribution{} = likelihood, value),
    do: Error.unwrap(NIF.model_observe(ref, to_string(name), likelihood.ref, Value.to_ref(value)))

  @doc "A value that is kept with the draws."
  def deterministic(%__MODULE__{ref: ref}, name, value, extents \\ []) do
    NIF.model_deterministic(ref, to_string(name), Value.to_ref(value), extents(extents))
    |> Error.unwrap()
    |> Value.wrap()
  end

  @doc "Data that may be exchanged by name with `set_data/3`."
  def data(%__MODULE__{ref: ref}, name, value) do
    NIF.model_data(ref, to_string(name), Value.to_ref(value)) |> Error.unwrap() |> Value.wrap()
  end

  @doc """
  A term of the log density; a tensor is summed.

      Model.add_log_density(m, "prior", MyDensities.horseshoe(beta))
  """
  def add_log_density(%__MODULE__{ref: ref}, name, term),
    do: Error.unwrap(NIF.model_add_log_density(ref, to_string(name), Value.to_ref(term)))

  @doc """
  The model with other data of the same type and shape. Nothing is compiled anew.

  The model that it was given changes too: both are one.
  """
  def set_data(%__MODULE__{ref: ref} = model, name, value) do
    name = to_string(name)
    Error.unwrap(NIF.model_set_data(ref, name, Value.to_ref(value)))
    %{model | changes: model.changes ++ [{name, value}]}
  end

  @doc "How many unconstrained numbers a chain moves in."
  def size(%__MODULE__{ref: ref}), do: Error.unwrap(NIF.model_size(ref))

  @doc "The log density at an unconstrained point, with the Jacobians of the constraints."
  def log_density(%__MODULE__{ref: ref}, point) do
    NIF.model_log_density(ref, Value.to_ref(point))
    |> Error.unwrap()
    |> Value.wrap(Value.lazy?(point))
  end

  @doc false
  # What another node needs to make the model again.
  def portable(%__MODULE__{recipe: nil, name: name}) do
    raise ArgumentError,
          "the model #{name} was stated by calls and cannot be sent to other nodes: state it by Adit.Model.build"
  end

  def portable(%__MODULE__{recipe: {:build, name, fun, arguments}, changes: changes}) do
    if Value.holds_handle?(fun) do
      raise ArgumentError,
            "the function of the model #{name} holds tensors of this node: " <>
              "give them as data, Adit.Model.build(name, data, fn m, data -> ... end)"
    end

    {{:build, name, fun, Value.portable(arguments)}, Value.portable(changes)}
  end

  def portable(%__MODULE__{recipe: recipe, changes: changes}), do: {recipe, Value.portable(changes)}

  @doc false
  def replay({recipe, changes}) do
    model =
      case recipe do
        {:build, name, fun, arguments} -> build_by(name, known_here!(name, fun), arguments)
        {:stan, name, text, json, seed} -> stan(name, text, json, seed)
      end

    Enum.reduce(changes, model, fn {name, value}, model -> set_data(model, name, value) end)
  end

  defp build_by(name, fun, arguments) do
    name = to_string(name)
    model = new(name)
    tracing(fn -> apply(fun, [model | arguments]) end)
    %{model | recipe: {:build, name, fun, arguments}}
  end

  # A function that comes from another node runs where its module is, in the same version. Those of a shell or of a
  # Livebook run everywhere.
  defp known_here!(name, fun) do
    module = Function.info(fun)[:module]

    if Code.ensure_loaded?(module) and is_function(fun) and callable?(fun),
      do: fun,
      else:
        raise(Error,
          kind: :not_found,
          message:
            "the function of the model #{name} is of the module #{inspect(module)}, which node #{node()} does not " <>
              "have in this version"
        )
  end

  defp callable?(fun) do
    info = Function.info(fun)

    case info[:type] do
      :external -> function_exported?(info[:module], info[:name], info[:arity])
      :local -> info[:module].module_info(:md5) == info[:new_uniq] or info[:module] == :erl_eval
    end
  end

  # Where a function states a model, `defn` functions go through the compiler that makes nodes of what has no value, and
  # constants are made where the model's tensors are.
  defp tracing(fun) do
    if Value.nx?() do
      before = Nx.Defn.default_options(compiler: compiler())

      try do
        Nx.with_default_backend(Adit.Backend, fun)
      after
        Nx.Defn.default_options(before)
      end
    else
      fun.()
    end
  end

  defp compiler do
    if Code.ensure_loaded?(Adit) and function_exported?(Adit, :__jit__, 5),
      do: Adit,
      else: Nx.Defn.Evaluator
  end

  defp stan(name, text, json, seed) do
    ref = Error.unwrap(NIF.model_from_stan(name, text, json, seed))
    %__MODULE__{name: name, ref: ref, recipe: {:stan, name, text, json, seed}}
  end

  defp program_of(program) do
    if String.ends_with?(program, ".stan") and not String.contains?(program, "\n"),
      do: {Path.basename(program, ".stan"), File.read!(program)},
      else: {"model", program}
  end

  defp json_of(path) when is_binary(path), do: File.read!(path)
  defp json_of(data) when is_list(data), do: data |> Map.new() |> json_of()
  defp json_of(data) when map_size(data) == 0, do: ""
  defp json_of(%{} = data), do: Json.encode(data)

  defp add_plate(model, name, size, coordinates) do
    Error.unwrap(NIF.model_plate(model.ref, name, size, coordinates))
    %Plate{name: name, size: size}
  end

  defp extents(extents), do: extents |> List.wrap() |> Enum.map(&extent/1)
  defp extent(%Plate{name: name}), do: name
  defp extent(size) when is_integer(size), do: size
  defp extent(name) when is_binary(name) or is_atom(name), do: to_string(name)

  defp form(options) do
    case Keyword.get(options, :form, :centred) do
      :centred -> false
      :non_centred -> true
      other -> raise ArgumentError, "form: expected :centred or :non_centred, got #{inspect(other)}"
    end
  end
end
