// Carries headers.hpp, which is compiled once for all of src/.
