//! The search space of NASNet on CIFAR-10.
//!
//! B. Zoph, V. Vasudevan, J. Shlens, Q. V. Le: Learning Transferable Architectures for Scalable
//! Image Recognition. CVPR 2018.
//!
//! A cell has five blocks. Each reads two of the inputs of the cell and the blocks before it, applies
//! an operation to each, and adds the results. Blocks that no other block reads are concatenated.
//! Unlike in the paper, the two inputs of a block differ, blocks are only added, and there are no
//! convolutions of 1x3 after 3x1 and 1x7 after 7x1. A block that nothing reads is left out.
//! AmoebaNet (E. Real, A. Aggarwal, Y. Huang, Q. V. Le: Regularized Evolution for Image Classifier
//! Architecture Search. AAAI 2019) searches the same cells with fewer operations.

import "std.nas"
import "darts.nas" as darts

/// The operations of an edge. `affine` is false in a searched network, as in DARTS.
set operations(stride, affine) = {
    skip(stride, affine),
    conv_keep(1, stride, affine),
    conv_keep(3, stride, affine),
    sep_conv(3, stride, affine),
    sep_conv(5, stride, affine),
    sep_conv(7, stride, affine),
    dil_conv(3, stride, affine = affine),
    average(3, stride, affine),
    maximum(3, stride, affine),
    maximum(5, stride, affine),
    maximum(7, stride, affine),
}

/// Average pooling, followed by a norm in the search.
motif average(k, stride, affine) {
    in x
    x -> out : if affine then avg_pool(k, stride) else avg_pool_bn(k, stride)
}

/// Max pooling, followed by a norm in the search.
motif maximum(k, stride, affine) {
    in x
    x -> out : if affine then max_pool(k, stride) else max_pool_bn(k, stride)
}

/// ReLU, convolution, batch norm; keeps the number of channels.
motif conv_keep(k, stride, affine) {
    in x
    x -> out : relu_conv_bn(channels(x), k, stride, affine)
}

/// The normal cell.
cell normal(width, after_reduction, affine) {
    in a, b
    node p, q = darts.preprocess(width, after_reduction, affine)(a, b)
    node h[5]
    node joined : concat
    h -> joined : optional identity
    for j in 0..5 {
        p, q, h[0..j] -> h[j] : choose 1 operations(1, affine)
        require inputs(h[j]) == 2
        for i in 0..j {
            require edge(h[i], h[j]) implies not edge(h[i], joined)
        }
    }
    out joined
}

/// The reduction cell. It halves the size on the edges from its inputs.
cell reduction(width, after_reduction, affine) {
    in a, b
    node p, q = darts.preprocess(width, after_reduction, affine)(a, b)
    node h[5]
    node joined : concat
    h -> joined : optional identity
    for j in 0..5 {
        p, q -> h[j] : choose 1 operations(2, affine)
        h[0..j] -> h[j] : choose 1 operations(1, affine)
        require inputs(h[j]) == 2
        for i in 0..j {
            require edge(h[i], h[j]) implies not edge(h[i], joined)
        }
    }
    out joined
}

/// The network to search. The parameters after `stride` describe the data.
network search(
    width = 16,
    cells = 8,
    stride = 1,
    channels = 3,
    size = 32,
    labels = 10
) : image(channels, size, size) -> classes(labels) {
    in x
    let backbone = darts.backbone(normal, reduction, width, cells, false, labels, stride)
    out backbone(x)
}

/// The network in which an architecture is trained. It has the same switches as `search`.
network evaluation(
    width = 32,
    cells = 20,
    channels = 3,
    size = 32,
    labels = 10
) : image(channels, size, size) -> classes(labels) {
    in x
    out darts.backbone(normal, reduction, width, cells, true, labels)(x)
}
