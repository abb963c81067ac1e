defmodule Adit.Ops.Elementwise do
  @moduledoc false
  # Operations on one, two or three elements of the same place.
  #
  # Nx says the type of a result; its operands may have others (a number beside a tensor of u8 comes as s32). What Nx
  # means is the exact result, brought into that type. So operands are promoted by the library and the result is
  # converted ("as"), but where a promoted type would lose something.

  import Adit.Ops.Types, only: [is_narrow: 1]
  alias Adit.Ops.{Convert, Graph, Narrow, Types}
  alias Nx.Tensor, as: T

  @math [:exp, :expm1, :log, :log1p, :sigmoid, :cos, :sin, :tan, :cosh, :sinh, :tanh, :acos, :asin, :atan, :acosh] ++
          [:asinh, :atanh, :sqrt, :rsqrt, :cbrt, :erf, :erfc, :erf_inv, :conjugate]
  @same [:abs, :bitwise_not, :ceil, :floor, :negate, :round, :sign, :real, :imag, :is_nan, :is_infinity]
  @bits [:count_leading_zeros, :population_count]
  @arithmetic [:add, :subtract, :multiply, :pow, :remainder, :quotient, :min, :max] ++
                [:bitwise_and, :bitwise_or, :bitwise_xor, :left_shift, :right_shift]
  @floating [:divide, :atan2]
  @compare [:equal, :not_equal, :greater, :less, :greater_equal, :less_equal] ++
             [:logical_and, :logical_or, :logical_xor]

  @order [:equal, :not_equal, :greater, :less, :greater_equal, :less_equal]

  @unary @math ++ @same ++ @bits
  @binary @arithmetic ++ @floating ++ @compare

  def operations, do: @unary ++ @binary ++ [:select, :clip]

  # {name, references, attributes}: the one call that an operation is, where its result is of no narrow type.
  def plan(op, out, x) when op in @math, do: {op, [Graph.ref(x)], cast(x.type, out.type)}
  def plan(op, _out, x) when op in @same, do: {op, [Graph.ref(x)], []}
  def plan(op, out, x) when op in @bits, do: {op, [Graph.ref(x)], as(x.type, out.type)}

  def plan(op, %{type: type}, %T{type: type} = a, %T{type: type} = b) when op in @arithmetic or op in @floating do
    {name(op), refs(a, b), []}
  end

  def plan(op, %{type: type}, a, b) when op in @floating do
    if Types.integer?(a.type) and Types.integer?(b.type),
      do: {op, refs(a, b), [cast: Types.dtype(type)]},
      else: {op, refs(a, b), [as: Types.dtype(type)]}
  end

  def plan(op, %{type: {:u, 64}}, a, b) when op in @arithmetic, do: {name(op), refs(a, b), [cast: :u64]}

  def plan(op, %{type: type}, a, b) when op in @arithmetic do
    {name(op), refs(a, b), [as: Types.dtype(type)]}
  end

  def plan(op, _out, a, b) when op in @compare do
    # u64 beside a smaller type would be promoted to s64.
    if unsigned?(a, b) or unsigned?(b, a),
      do: {op, refs(a, b), [cast: :u64]},
      else: {op, refs(a, b), []}
  end

  defp unsigned?(%T{type: {:u, 64}}, %T{type: {:u, _}}), do: true

  defp unsigned?(%T{type: {:u, 64}}, %T{type: {:s, _}, data: %Adit.Backend{host: {:number, value}}}),
    do: is_integer(value) and value >= 0

  defp unsigned?(_, _), do: false

  defp name(:min), do: :minimum
  defp name(:max), do: :maximum
  defp name(op), do: op

  defp refs(%T{data: %Adit.Backend{ref: a}}, %T{data: %Adit.Backend{ref: b}}), do: [a, b]
  defp refs(a, b), do: [Graph.ref(a, Graph.device_of(b)), Graph.ref(b, Graph.device_of(a))]

  defp cast(type, type), do: []
  defp cast(_from, type), do: [cast: Types.dtype(type)]
  defp as(type, type), do: []
  defp as(_from, type), do: [as: Types.dtype(type)]

  # Of complex numbers Nx has its own answers at infinity.
  def apply(op, %{type: {:c, _} = type}, [x]) when op in [:tanh, :asin, :acos, :atan, :atanh] do
    z = Convert.ref(x, type)
    Narrow.select(Graph.call(:is_infinity, [z], []), nan(type), Graph.call(op, [z], []))
  end

  def apply(op, %{type: {:c, bits} = type}, [x]) when op in [:asinh, :acosh] do
    z = Convert.ref(x, type)
    part = {:f, div(bits, 2)}
    [re, im] = [Graph.call(:real, [z], []), Graph.call(:imag, [z], [])]
    angle = Graph.call(:multiply, [Graph.call(:sign, [im], []), Graph.number(:math.pi() / 4, part)], [])
    far = Graph.call(:complex, [Graph.call(:abs, [re], []), angle], [])
    right = Graph.call(:equal, [re, Graph.number(:infinity, part)], [])
    known = Graph.call(:logical_and, [right, im], [])
    infinite = Narrow.select(known, far, nan(type))
    Narrow.select(Graph.call(:is_infinity, [z], []), infinite, Graph.call(op, [z], []))
  end

  # The root of the length, at a third of the angle.
  def apply(:cbrt, %{type: {:c, bits} = type}, [x]) do
    z = Convert.ref(x, type)
    length = Graph.call(:cbrt, [Graph.call(:abs, [z], [])], [])
    angle = Graph.call(:phase, [z], [])
    third = Graph.call(:multiply, [angle, Graph.number(1 / 3, {:f, div(bits, 2)})], [])
    re = Graph.call(:multiply, [length, Graph.call(:cos, [third], [])], [])
    im = Graph.call(:multiply, [length, Graph.call(:sin, [third], [])], [])
    Graph.call(:complex, [re, Narrow.select(angle, im, angle)], [])
  end

  def apply(:pow, %{type: {:c, _} = type}, [a, b]) do
    [ra, rb] = refs(a, b)
    power = Graph.call(:pow, [ra, rb], as: Types.dtype(type))
    either = [Graph.call(:is_infinity, [ra], []), Graph.call(:is_infinity, [rb], [])]
    Narrow.select(Graph.call(:logical_or, either, []), nan(type), power)
  end

  # Of real numbers that are held as complex ones.
  def apply(:atan2, %{type: {:c, bits} = type}, [a, b]) do
    check(:atan2, a)
    check(:atan2, b)
    device = Graph.device_of(a) || Graph.device_of(b)
    parts = for x <- [a, b], do: Graph.call(:real, [Convert.ref(x, type, device)], [])
    angle = Graph.call(:atan2, parts, [])
    Graph.call(:complex, [angle, Graph.number(0, {:f, div(bits, 2)})], [])
  end

  def apply(:population_count, out, [%T{type: {_, bits}} = x]) when bits < 8 do
    ones = x |> Graph.ref() |> Narrow.bits(:u8) |> Narrow.mask(Bitwise.bsl(1, bits) - 1, {:u, 8})
    Convert.convert(Graph.call(:population_count, [ones], []), {:u, 8}, out.type)
  end

  def apply(:count_leading_zeros, out, [%T{type: {_, bits}} = x]) when bits < 8 do
    ones = x |> Graph.ref() |> Narrow.bits(:u8) |> Narrow.mask(Bitwise.bsl(1, bits) - 1, {:u, 8})
    zeros = Graph.call(:count_leading_zeros, [ones], [])
    zeros = Graph.call(:subtract, [zeros, Graph.number(8 - bits, {:u, 8})], [])
    Convert.convert(zeros, {:u, 8}, out.type)
  end

  def apply(op, out, [x]) when op in @unary do
    {name, refs, attributes} = plan(op, out, x)
    finish(name, refs, attributes, out.type)
  end

  # Of u64 and a signed type: no type holds both, so negative numbers are told apart.
  def apply(op, out, [%T{type: {:u, 64}} = a, %T{type: {:s, _}} = b]) when op in @order do
    if unsigned?(a, b), do: plainly(op, out, a, b), else: beside_unsigned(op, a, b)
  end

  def apply(op, out, [%T{type: {:s, _}} = a, %T{type: {:u, 64}} = b]) when op in @order do
    if unsigned?(b, a), do: plainly(op, out, a, b), else: beside_unsigned(mirrored(op), b, a)
  end

  def apply(op, out, [a, b]) when op in @binary do
    check(op, a, b)
    {name, refs, attributes} = plan(op, out, a, b)
    finish(name, refs, attributes, out.type)
  end

  def apply(:select, %{type: type, shape: shape}, [predicate, a, b]) do
    device = Graph.device_of(predicate) || Graph.device_of(a) || Graph.device_of(b)
    refs = [Graph.ref(predicate, device), Convert.ref(a, type, device), Convert.ref(b, type, device)]
    chosen = Graph.call(:select, refs, [])
    # A predicate of one element, and numbers, do not say the shape.
    if shape in [predicate.shape, a.shape, b.shape],
      do: chosen,
      else: Graph.call(:broadcast_to, [chosen], shape: shape)
  end

  # As Nx has it: not above the lower end (NaN is not) gives the lower end, and the upper end wins where they cross.
  def apply(:clip, %{type: type}, [x, low, high]) do
    device = Graph.device_of(x)
    [x, low, high] = [Convert.ref(x, type, device), Convert.ref(low, type, device), Convert.ref(high, type, device)]
    above = Narrow.select(Graph.call(:greater, [x, low], []), x, low)
    Narrow.select(Graph.call(:less, [above, high], []), above, high)
  end

  defp plainly(op, out, a, b) do
    {name, refs, attributes} = plan(op, out, a, b)
    finish(name, refs, attributes, out.type)
  end

  defp beside_unsigned(op, a, b) do
    [ra, rb] = refs(a, b)
    negative = Graph.call(:less, [rb, Graph.number(0, b.type)], [])
    above = Graph.number(if(op in [:not_equal, :greater, :greater_equal], do: 1, else: 0), {:u, 8})
    Narrow.select(negative, above, Graph.call(op, [ra, rb], cast: :u64))
  end

  defp mirrored(:less), do: :greater
  defp mirrored(:greater), do: :less
  defp mirrored(:less_equal), do: :greater_equal
  defp mirrored(:greater_equal), do: :less_equal
  defp mirrored(op), do: op

  defp finish(name, refs, attributes, type) when is_narrow(type) do
    Narrow.settle(Graph.call(name, refs, attributes), type)
  end

  defp finish(name, refs, attributes, _type), do: Graph.call(name, refs, attributes)

  # Nx refuses negative shifts; those that are known on the host are refused here, others give 0 or the sign.
  def check(op, %T{type: type, data: %Adit.Backend{host: host}}) when op in [:left_shift, :right_shift] do
    case Enum.find(Types.numbers(host, type) || [], &(&1 < 0)) do
      nil -> :ok
      by -> raise ArgumentError, "cannot #{if op == :left_shift, do: "left", else: "right"} shift by #{by}"
    end
  end

  def check(:atan2, %T{data: %Adit.Backend{host: {:number, %Complex{im: im}}}}) when im != 0 do
    raise ArithmeticError, "Complex.atan2 only accepts real numbers as arguments"
  end

  def check(_op, _tensor), do: :ok

  # fmod of what is not finite: Erlang refuses it, and so does Nx. Where both are known it is asked.
  def check(:remainder, a, b) do
    with {:ok, a} <- known(a), {:ok, b} <- known(b), true <- is_atom(a) or is_atom(b) do
      _ = :math.fmod(a, b)
    end

    :ok
  end

  def check(op, _a, b), do: check(op, b)

  defp known(%T{shape: {}, data: %Adit.Backend{host: {:number, value}}}), do: {:ok, value}

  defp known(%T{shape: {}, type: {:f, bits}, data: %Adit.Backend{host: host}}) when is_bitstring(host) and bits > 8 do
    case host do
      <<value::float-native-size(bits)>> -> {:ok, value}
      _not_finite -> {:ok, :not_finite}
    end
  end

  defp known(_tensor), do: :unknown

  defp nan(type), do: Graph.number(%{__struct__: Complex, re: :nan, im: :nan}, type)
end
