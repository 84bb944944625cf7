import "std.nas"

/// The candidates of an edge.
set candidates(width) = { relu_conv_bn(width, 3), sep_conv(3), max_pool(3), identity }

/// Three nodes, each reading all before it.
///
/// All uses share their switches.
cell block(width) {
    in x
    node entry = x : relu_conv_bn(width)
    node h[3]
    for j in 0..3 {
        entry, h[0..j] -> h[j] : choose candidates(width)
    }
    out concat(h)
}

network digits(width = 8) : image(1, 8, 8) -> classes(10) {
    in x
    node stem = x : conv(width, 3) > bn
    node large = stem : block(width)
    node small = large : max_pool(2, 2) > block(2 * width)
    node last = small : block(2 * width)
    last -> out : global_avg_pool > linear(10)
    require params < 20K
}
