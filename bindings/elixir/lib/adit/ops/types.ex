defmodule Adit.Ops.Types do
  @moduledoc false
  # Types of Nx and how they lie on a device. Integers of 2 and 4 bits and floats of 8 bits are narrow: they are held in a
  # wider type and brought back onto their grid after each operation (Adit.Ops.Narrow). Here is also how their bits look
  # on the host.

  @narrow [{:s, 2}, {:s, 4}, {:u, 2}, {:u, 4}, {:f, 8}, {:f8_e4m3fn, 8}]

  defguard is_narrow(type) when type in @narrow
  defguard is_complex(type) when elem(type, 0) == :c

  # What holds an element of a type. f16 holds each number of f8 (its first byte is one), f32 each of f8_e4m3fn.
  def dtype({:f, 32}), do: :f32
  def dtype({:s, 32}), do: :i32
  def dtype({:u, 8}), do: :u8
  def dtype({:f, 64}), do: :f64
  def dtype({:s, 64}), do: :i64
  def dtype({:bf, 16}), do: :bf16
  def dtype({:f, 16}), do: :f16
  def dtype({:s, 8}), do: :i8
  def dtype({:s, 16}), do: :i16
  def dtype({:u, 16}), do: :u16
  def dtype({:u, 32}), do: :u32
  def dtype({:u, 64}), do: :u64
  def dtype({:c, 64}), do: :c64
  def dtype({:c, 128}), do: :c128
  def dtype({:s, _}), do: :i8
  def dtype({:u, _}), do: :u8
  def dtype({:f, 8}), do: :f16
  def dtype({:f8_e4m3fn, 8}), do: :f32

  def integer?({kind, _}), do: kind == :s or kind == :u
  def complex?({kind, _}), do: kind == :c

  # The smallest and the largest number of a type; infinities where it has them.
  def lowest({:s, bits}), do: -Bitwise.bsl(1, bits - 1)
  def lowest({:u, _}), do: 0
  def lowest({:f8_e4m3fn, 8}), do: -448.0
  def lowest(_float), do: :neg_infinity

  def highest({:s, bits}), do: Bitwise.bsl(1, bits - 1) - 1
  def highest({:u, bits}), do: Bitwise.bsl(1, bits) - 1
  def highest({:f8_e4m3fn, 8}), do: 448.0
  def highest(_float), do: :infinity

  # A number as an attribute of `full`: integers wrap as Nx's do, and 64 bits without a sign travel with one.
  def number(%{__struct__: Complex, re: re, im: im}, _type), do: {real(re), real(im)}
  def number(value, {:s, bits}) when is_integer(value), do: wrap_signed(value, bits)
  def number(value, {:u, 64}) when is_integer(value), do: wrap_signed(value, 64)
  def number(value, {:u, bits}) when is_integer(value), do: Bitwise.band(value, Bitwise.bsl(1, bits) - 1)
  def number(value, _type), do: real(value)

  defp real(value) when is_integer(value), do: value * 1.0
  defp real(value), do: value

  defp wrap_signed(value, bits) do
    <<wrapped::size(bits)-signed>> = <<value::size(bits)>>
    wrapped
  end

  # Bits as Nx has them into bytes as the device holds them, and back.
  def unpack(bits, type) when not is_narrow(type), do: bits
  def unpack(bits, {:s, n}), do: for(<<x::size(n)-signed <- bits>>, into: <<>>, do: <<x::8-signed>>)
  def unpack(bits, {:u, n}), do: for(<<x::size(n) <- bits>>, into: <<>>, do: <<x::8>>)
  def unpack(bits, {:f, 8}), do: for(<<x <- bits>>, into: <<>>, do: <<x * 256::16-native>>)
  def unpack(bits, {:f8_e4m3fn, 8}), do: for(<<x <- bits>>, into: <<>>, do: <<e4m3_to_f32(x)::32-native>>)

  def pack(bytes, type) when not is_narrow(type), do: bytes
  def pack(bytes, {:s, n}), do: for(<<x::8-signed <- bytes>>, into: <<>>, do: <<x::size(n)-signed>>)
  def pack(bytes, {:u, n}), do: for(<<x::8 <- bytes>>, into: <<>>, do: <<x::size(n)>>)
  def pack(bytes, {:f, 8}), do: for(<<x::16-native <- bytes>>, into: <<>>, do: <<Bitwise.bsr(x, 8)>>)
  def pack(bytes, {:f8_e4m3fn, 8}), do: for(<<x::32-native <- bytes>>, into: <<>>, do: <<f32_to_e4m3(x)>>)

  # Patterns of bits. f8_e4m3fn has a sign, 4 bits of exponent (bias 7) and 3 of mantissa; its only NaN has all bits set.
  defp e4m3_to_f32(byte) do
    <<sign::1, exponent::4, mantissa::3>> = <<byte>>

    cond do
      exponent == 15 and mantissa == 7 ->
        0x7FC00000

      exponent == 0 ->
        <<pattern::32>> = <<if(sign == 1, do: -mantissa / 512, else: mantissa / 512)::32-float>>
        Bitwise.bor(pattern, Bitwise.bsl(sign, 31))

      true ->
        <<pattern::32>> = <<sign::1, exponent + 120::8, mantissa::3, 0::20>>
        pattern
    end
  end

  # Only of numbers that are on the grid.
  defp f32_to_e4m3(pattern) do
    <<sign::1, exponent::8, mantissa::23>> = <<pattern::32>>

    cond do
      exponent == 255 ->
        0x7F

      exponent > 120 ->
        <<byte>> = <<sign::1, exponent - 120::4, Bitwise.bsr(mantissa, 20)::3>>
        byte

      exponent == 0 ->
        Bitwise.bsl(sign, 7)

      true ->
        # Units of 2^-9: below 2^-6 the leading one is part of the mantissa.
        units = Bitwise.bsr(Bitwise.bor(mantissa, 0x800000), 23 - (exponent - 118))
        Bitwise.bor(Bitwise.bsl(sign, 7), units)
    end
  end

  # The numbers that a small tensor made on the host holds, or nil where they are not known.
  def numbers(nil, _type), do: nil
  def numbers({:number, value}, _type), do: [value]
  def numbers(bits, {:s, n}), do: for(<<x::size(n)-signed-native <- bits>>, do: x)
  def numbers(bits, {:u, n}), do: for(<<x::size(n)-native <- bits>>, do: x)
  def numbers(_bits, _type), do: nil
end
