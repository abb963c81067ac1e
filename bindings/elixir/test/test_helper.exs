# Tests that need Nx are there where Nx is.
unless Code.ensure_loaded?(Nx) do
  IO.puts(:stderr, "SKIPPED: Nx is not here, so the tests of Adit.Backend and of `compiler: Adit` are not run.")
end

ExUnit.start()
