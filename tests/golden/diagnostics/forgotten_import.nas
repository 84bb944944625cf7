// A name from the library: the import is missing.
set s = { factorized_reduce(8) }
