// A name that only the library has: the import is what is missing.
set s = { factorized_reduce(8) }
