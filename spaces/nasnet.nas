//! The search space of NASNet on CIFAR-10.
//!
//! B. Zoph, V. Vasudevan, J. Shlens, Q. V. Le: Learning Transferable Architectures for Scalable
//! Image Recognition. CVPR 2018.
//!
//! A cell has five blocks. Each has two branches, which may be equal: a branch reads one of the inputs
//! of the cell and the blocks before, and applies one of the 13 operations of the paper. These are
//! (13^5 * 6!)^4, about 5e33, pairs of cells, if all blocks are used. Blocks that no other block reads
//! are concatenated. Unlike in the paper, the branches of a block are only added, and a block that
//! nothing reads is left out.
//! AmoebaNet (E. Real, A. Aggarwal, Y. Huang, Q. V. Le: Regularized Evolution for Image Classifier
//! Architecture Search. AAAI 2019) searches the same cells with fewer operations. NASNet-A and
//! AmoebaNet-A can be derived from their genotypes.

import "std.nas"
import "darts.nas" as darts

/// The operations of a branch. `affine` is false in a searched network, as in DARTS.
set operations(stride, affine) = {
    skip(stride, affine),
    conv_keep(1, stride, affine),
    conv_keep(3, stride, affine),
    conv_3x1_1x3(stride, affine),
    conv_7x1_1x7(stride, affine),
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

/// A convolution of 1x3, then one of 3x1.
motif conv_3x1_1x3(stride, affine) {
    in x
    x -> out : in_two_steps(3, stride, affine)
}

/// A convolution of 1x7, then one of 7x1.
motif conv_7x1_1x7(stride, affine) {
    in x
    x -> out : in_two_steps(7, stride, affine)
}

/// ReLU, a convolution along the rows, one along the columns, batch norm.
motif in_two_steps(k, stride, affine) {
    in x
    x -> out : relu
        > conv(k = [1, k], stride = [1, stride])
        > conv(k = [k, 1], stride = [stride, 1])
        > bn(affine)
}

/// The normal cell.
cell normal(width, after_reduction, affine) {
    in a, b
    node p, q = darts.preprocess(width, after_reduction, affine)(a, b)
    node left[5], right[5], h[5]
    node joined : concat
    h -> joined : optional identity
    for j in 0..5 {
        p, q, h[0..j] -> left[j], right[j] : choose 1 operations(1, affine)
        left[j], right[j] -> h[j]
        require inputs(left[j]) == 1
        require inputs(right[j]) == 1
        for i in 0..j {
            require edge(h[i], left[j]) or edge(h[i], right[j]) implies not edge(h[i], joined)
        }
    }
    out joined
}

/// The reduction cell. It halves the size on the edges from its inputs.
cell reduction(width, after_reduction, affine) {
    in a, b
    node p, q = darts.preprocess(width, after_reduction, affine)(a, b)
    node left[5], right[5], h[5]
    node joined : concat
    h -> joined : optional identity
    for j in 0..5 {
        p, q -> left[j], right[j] : choose 1 operations(2, affine)
        h[0..j] -> left[j], right[j] : choose 1 operations(1, affine)
        left[j], right[j] -> h[j]
        require inputs(left[j]) == 1
        require inputs(right[j]) == 1
        for i in 0..j {
            require edge(h[i], left[j]) or edge(h[i], right[j]) implies not edge(h[i], joined)
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
