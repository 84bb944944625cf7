//! A first search space, small enough for any computer.
//!
//! For handwritten digits of 8 by 8 pixels (E. Alpaydin, C. Kaynak: Optical Recognition of
//! Handwritten Digits. UCI Machine Learning Repository, 1998). Read it from top to bottom: each
//! definition shows one idea. Definitions may be used before they appear.

// `std.nas` comes with the language. It defines operations such as `relu_conv_bn` and `sep_conv`.
import "std.nas"

/// A set holds operations to choose from. "Nothing" is never listed: every candidate has a
/// switch, and a search may turn off all switches of a choice.
set candidates(width) = { relu_conv_bn(width, 3), sep_conv(3), max_pool(3), identity }

/// A cell is a small graph. All its uses share their switches, so a search finds one cell, not
/// three. A `motif` looks the same, but each use has its own switches.
cell block(width) {
    in x

    // An edge leads from a node to a node. Its operation follows the colon; `>` applies one after
    // another. Each edge has its own weights.
    node entry = x : relu_conv_bn(width)

    // An array of nodes, and a loop over 0, 1 and 2. A node sums its incoming edges. `h[0..j]` are
    // the elements before `h[j]`, so each node reads all nodes before it.
    node h[3]
    for j in 0..3 {
        entry, h[0..j] -> h[j] : choose candidates(width)
    }

    // The output: the channels of all three nodes, concatenated.
    out concat(h)
}

/// A network can be searched and trained. It declares what it takes and returns. Each of its
/// parameters has a default, which a run may override.
network digits(width = 8) : image(1, 8, 8) -> classes(10) {
    in x
    node stem = x : conv(width, 3) > bn
    node large = stem : block(width)
    node small = large : max_pool(2, 2) > block(2 * width)
    node last = small : block(2 * width)
    last -> out : global_avg_pool > linear(10)

    // A budget for the network that a search finds, not for all candidates together.
    require params < 20K
}
