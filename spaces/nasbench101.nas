//! NAS-Bench-101 on CIFAR-10.
//!
//! C. Ying, A. Klein, E. Christiansen, E. Real, K. Murphy, F. Hutter: NAS-Bench-101: Towards
//! Reproducible Neural Architecture Search. ICML 2019.
//!
//! A cell is a graph of up to seven vertices, of which the first is its input and the last its
//! output, with at most nine edges. Each of the five others applies one of three operations to the
//! sum of what it reads. In the benchmark, the values that the output reads are concatenated, and
//! share its channels. Here each has all channels, and they are summed: the same if there is one.
//! The largest architecture has 49,979,274 parameters, as in the benchmark.

import "std.nas"

/// The operations of a vertex.
set operations(width) = { conv_bn_relu(width, 3), conv_bn_relu(width, 1), max_pool(3) }

/// A cell: `s[i]` is the sum that vertex `v[i]` reads. Edges from the input are projections.
cell module(width) {
    in x
    node s[5]
    node v[i in 0..5] = s[i] : choose exactly 1 operations(width)
    for i in 0..5 {
        x -> s[i] : optional conv_bn_relu(width)
        v[0..i] -> s[i] : optional identity
    }
    x -> out : optional conv_bn_relu(width)
    v -> out : optional identity
    require edges <= 9
}

/// Several cells in a row.
motif stage(width, cells) {
    in x
    node h[k in 0..cells] = if k == 0 then x else h[k - 1] : module(width)
    out h[cells - 1]
}

/// The network to search. The parameters after `cells` describe the data.
network search(
    width = 128,
    cells = 3,
    channels = 3,
    size = 32,
    labels = 10
) : image(channels, size, size) -> classes(labels) {
    in x
    node a = x : conv_bn_relu(width, 3) > stage(width, cells)
    node b = a : max_pool(2, 2) > stage(2 * width, cells)
    node c = b : max_pool(2, 2) > stage(4 * width, cells)
    c -> out : global_avg_pool > linear(labels)
}
