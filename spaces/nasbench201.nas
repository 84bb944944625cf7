//! NAS-Bench-201 on CIFAR-10.
//!
//! X. Dong, Y. Yang: NAS-Bench-201: Extending the Scope of Reproducible Neural Architecture Search.
//! ICLR 2020.
//!
//! The benchmark has 5^6 architectures: on each of six edges one of four operations, or none. None
//! is not a candidate here, because every switch can be off. An architecture of only 3x3
//! convolutions has 1,531,546 parameters, one of only skips 73,306.

import "std.nas"

/// ReLU, convolution, batch norm; keeps the number of channels.
motif nor_conv(k) {
    in x
    x -> out : relu_conv_bn(channels(x), k)
}

/// The candidates of an edge.
set candidates = { identity, nor_conv(1), nor_conv(3), avg_pool(3) }

/// Four nodes, including the input, each connected to all before it. Shared by the whole network.
cell dense(edge) {
    in x
    node h[3]
    for j in 0..3 {
        x, h[0..j] -> h[j] : edge
    }
    out h[2]
}

/// The residual block between two stages: halves the size, doubles the width.
motif residual_reduction(width) {
    in x
    x -> out : relu_conv_bn(width, 3, 2) > relu_conv_bn(width, 3)
    x -> out : avg_pool(2, 2) > conv(width, 1)
}

/// Several cells in a row.
motif stage(edge, cells) {
    in x
    node c[k in 0..cells] = x then c[k - 1] : dense(edge)
    out c[cells - 1]
}

/// The network of the benchmark; `edge` is the operation on the edges of its cell.
motif skeleton(edge, width = 16, cells = 5, labels = 10, stride = 1) {
    in x
    node a = x : conv(width, 3, stride) > bn > stage(edge, cells)
    node b = a : residual_reduction(2 * width) > stage(edge, cells)
    node c = b : residual_reduction(4 * width) > stage(edge, cells)
    c -> out : bn > relu > global_avg_pool > linear(labels)
}

/// The network to search. With a stride of 2 at its first convolution it takes a quarter of the
/// time. Its last parameters describe the data.
network search(
    width = 16,
    cells = 5,
    stride = 1,
    channels = 3,
    size = 32,
    labels = 10
) : image(channels, size, size) -> classes(labels) {
    in x
    out skeleton(choose 1 candidates, width, cells, labels, stride)(x)
}

/// A 3x3 convolution on every edge: the largest architecture.
network all_conv3x3 : image(3, 32, 32) -> classes(10) {
    in x
    out skeleton(nor_conv(3))(x)
}

/// A skip on every edge: the cells have no parameters.
network all_skip : image(3, 32, 32) -> classes(10) {
    in x
    out skeleton(identity)(x)
}
