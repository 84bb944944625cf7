// A problem inside the library is shown with the line of the user's file that led to it.
import "std.nas"

network n : vector(8) -> classes(2) {
    in x
    x -> out : sep_conv(3) > linear(2)
}
