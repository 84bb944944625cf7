// A missing file, one with a similar name in the library, and a name that a library file lacks.
import "nowhere.nas"
import "stdd.nas"
import "std.nas" as std

set s = { std.sep_convv(3) }
