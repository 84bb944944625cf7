// Comments stay in place: before, after, between and inside.
import "std.nas" // after an import


// a blank line above, and two become one



set s = { // after a brace
    relu, // after an element
    // on its own line
    tanh /* inline */, /* before */ swish
    // before the closing brace
}
motif m { // after the brace of a body

    // first in a body
    in x // one
    node a = x : relu // two, aligned
    a -> out : relu > // after an operator
        tanh
    /* a block
       of two lines */
    // last in a body
}
// at the end
