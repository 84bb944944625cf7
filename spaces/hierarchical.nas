//! Motifs of motifs: the hierarchical space on CIFAR-10.
//!
//! H. Liu, K. Simonyan, O. Vinyals, C. Fernando, K. Kavukcuoglu: Hierarchical Representations for
//! Efficient Architecture Search. ICLR 2018.
//!
//! Six primitives make six motifs of four nodes, and these make one motif of five nodes, the cell.
//! The paper concatenates all edges into a node. Here the candidates of an edge must agree in
//! width, so inner nodes add, and only the last one concatenates and projects, as in NASLib.

import "std.nas"

/// Level 1: the primitives. None is not a candidate, because every switch can be off.
set primitives(width) = {
    conv_bn_relu(width, 1),
    depthwise_bn_relu(3),
    separable_bn_relu(width, 3),
    max_pool(3),
    avg_pool(3),
    identity,
}

/// Level 2: the motifs.
set motifs(width) = {
    motif_1(width),
    motif_2(width),
    motif_3(width),
    motif_4(width),
    motif_5(width),
    motif_6(width),
}

/// A graph of `nodes` nodes, including the input and the output, with one of `operations` from each
/// to every later one.
motif assemble(nodes, operations, width) {
    in x
    node h[nodes - 2]
    node last : concat
    for j in 0..nodes - 2 {
        x, h[0..j] -> h[j] : choose 1 operations
    }
    x, h -> last : choose 1 operations
    last -> out : conv_bn_relu(width)
}

// A cell has one set of switches wherever it is used. The motifs differ, so each is a cell.

/// The first motif of level 2.
cell motif_1(width) {
    in x
    out assemble(4, primitives(width), width)(x)
}

/// The second motif of level 2.
cell motif_2(width) {
    in x
    out assemble(4, primitives(width), width)(x)
}

/// The third motif of level 2.
cell motif_3(width) {
    in x
    out assemble(4, primitives(width), width)(x)
}

/// The fourth motif of level 2.
cell motif_4(width) {
    in x
    out assemble(4, primitives(width), width)(x)
}

/// The fifth motif of level 2.
cell motif_5(width) {
    in x
    out assemble(4, primitives(width), width)(x)
}

/// The sixth motif of level 2.
cell motif_6(width) {
    in x
    out assemble(4, primitives(width), width)(x)
}

/// Level 3: the cell, made of motifs.
cell top(width) {
    in x
    out assemble(5, motifs(width), width)(x)
}

/// The small network searched in the paper: three cells, with a separable convolution between them
/// that halves the size and doubles the width. Fewer `cells`, and a `stride` of 2 at the first
/// convolution, take less time. The parameters after it describe the data.
network search(
    width = 16,
    cells = 3,
    stride = 1,
    channels = 3,
    size = 32,
    labels = 10
) : image(channels, size, size) -> classes(labels) {
    assert 1 <= cells and cells <= 3, "there are one to three cells"
    in x
    node a = x : conv_bn_relu(width, 3, stride) > top(width)
    node b = a : if cells == 1
        then identity
        else separable_bn_relu(2 * width, 3, 2) > top(2 * width)
    node c = b : if cells < 3 then identity else separable_bn_relu(4 * width, 3, 2) > top(4 * width)
    c -> out : separable_bn_relu(4 * width) > global_avg_pool > linear(labels)
}
