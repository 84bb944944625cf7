//! The size space of NATS-Bench on CIFAR-10.
//!
//! X. Dong, L. Liu, K. Musial, B. Gabrys: NATS-Bench: Benchmarking NAS Algorithms for Architecture
//! Topology and Size. TPAMI 2021.
//!
//! The cell is fixed, the best one of NAS-Bench-201 on CIFAR-100. The benchmark has 8^5 = 32,768
//! architectures: each of five layers has one of eight widths, from 8 to 64 channels.
//!
//! The second and the third cell may change the width. Their skip is then a convolution, as it is
//! here. Where the benchmark has equal widths before and after such a cell, its skip is the identity.

import "std.nas"

/// The widths of a layer.
set widths = { 8 * i for i in 1..9 }

/// ReLU, convolution, batch norm.
motif nor_conv(width) {
    in x
    x -> out : relu_conv_bn(width, 3)
}

/// The cell: three nodes after the input, with a convolution on each edge but one, which is a skip.
motif fixed(width, skip = identity) {
    in x
    node a = x : nor_conv(width)
    node b
    x, a -> b : nor_conv(width)
    x -> out : skip
    a, b -> out : nor_conv(width)
}

/// The residual block that halves the size.
motif residual_reduction(width) {
    in x
    x -> out : relu_conv_bn(width, 3, 2) > relu_conv_bn(width, 3)
    x -> out : avg_pool(2, 2) > conv(width, 1)
}

/// A skip that changes the width.
motif widen(width) {
    in x
    x -> out : conv(width, 1) > bn
}

/// The network to search. Its last parameters describe the data.
network search(
    channels = 3,
    size = 32,
    labels = 10
) : image(channels, size, size) -> classes(labels) {
    in x
    let w = [choose widths for i in 0..5]
    node y = x : conv(w[0], 3)
        > bn
        > fixed(w[0])
        > residual_reduction(w[1])
        > fixed(w[2], widen(w[2]))
        > residual_reduction(w[3])
        > fixed(w[4], widen(w[4]))
    y -> out : bn > relu > global_avg_pool > linear(labels)
}
