//! The search space of DARTS on CIFAR-10.
//!
//! H. Liu, K. Simonyan, Y. Yang: DARTS: Differentiable Architecture Search. ICLR 2019.
//!
//! The candidates are those of BayesNAS (H. Zhou, M. Yang, J. Wang, W. Pan: BayesNAS: A Bayesian
//! Approach for Neural Architecture Search. ICML 2019): DARTS without `none`, because every
//! switch can be off. An edge may keep several candidates. Like the original, the supernet of
//! `search` has 1,930,618 parameters.

import "std.nas"

/// The candidates of an edge. `affine` is false in a searched network: its norms have no weights,
/// and its pools are normalised too.
set candidates(stride, affine) = {
    sep_conv(3, stride, affine),
    sep_conv(5, stride, affine),
    dil_conv(3, stride, affine = affine),
    dil_conv(5, stride, affine = affine),
    max_pool_3x3(stride, affine),
    avg_pool_3x3(stride, affine),
    skip(stride, affine),
}

/// Max pooling, followed by a norm in the search. A motif, so the switch has one name in both.
motif max_pool_3x3(stride, affine) {
    in x
    x -> out : if affine then max_pool(3, stride) else max_pool_bn(3, stride)
}

/// Average pooling, followed by a norm in the search.
motif avg_pool_3x3(stride, affine) {
    in x
    x -> out : if affine then avg_pool(3, stride) else avg_pool_bn(3, stride)
}

/// Projects the two inputs of a cell to its width, and the first to the size of the second.
motif preprocess(width, after_reduction, affine) {
    in a, b
    let project = relu_conv_bn(width, affine = affine)
    node p = a : if after_reduction then factorized_reduce(width, affine) else project
    node q = b : project
    out p, q
}

/// The normal cell. Each inner node reads both inputs and all nodes before it.
cell normal(width, after_reduction, affine) {
    in a, b
    node p, q = preprocess(width, after_reduction, affine)(a, b)
    node h[4]
    for j in 0..4 {
        p, q, h[0..j] -> h[j] : choose candidates(1, affine)
    }
    out concat(h)
}

/// The reduction cell. It halves the size on the edges from its inputs.
cell reduction(width, after_reduction, affine) {
    in a, b
    node p, q = preprocess(width, after_reduction, affine)(a, b)
    node h[4]
    for j in 0..4 {
        p, q -> h[j] : choose candidates(2, affine)
        h[0..j] -> h[j] : choose candidates(1, affine)
    }
    out concat(h)
}

/// A stack of cells, each of which reads the two before it. The cells at one third and two thirds
/// of the depth halve the size and double the width. `after_reduction` says whether input `a` is
/// twice as large as `b`.
motif stack(normal_cell, reduction_cell, width, cells, affine, after_reduction = false) {
    in a, b
    let first = floor(cells / 3)
    let second = floor(2 * cells / 3)
    node s[cells + 2]
    a -> s[0]
    b -> s[1]
    for k in 0..cells {
        let w = width * (if k < first then 1 else if k < second then 2 else 4)
        let uneven = if k == 0 then after_reduction else k == first + 1 or k == second + 1
        let step = if k == first or k == second then reduction_cell else normal_cell
        step(w, uneven, affine)(s[k], s[k + 1]) -> s[k + 2]
    }
    out s[cells + 1]
}

/// The whole network, given the two cells. `stride` is the stride of the stem: 2 makes everything
/// after it four times cheaper.
motif backbone(normal_cell, reduction_cell, width, cells, affine, labels = 10, stride = 1) {
    in x
    node stem = x : conv(3 * width, 3, stride) > bn
    node y = stack(normal_cell, reduction_cell, width, cells, affine)(stem, stem)
    y -> out : global_avg_pool > linear(labels)
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
    out backbone(
        normal,
        reduction,
        width,
        cells,
        affine = false,
        labels = labels,
        stride = stride
    )(x)
}

/// The network in which an architecture is trained. It has the same switches as `search`.
network evaluation(
    width = 36,
    cells = 20,
    stride = 1,
    channels = 3,
    size = 32,
    labels = 10
) : image(channels, size, size) -> classes(labels) {
    in x
    out backbone(
        normal,
        reduction,
        width,
        cells,
        affine = true,
        labels = labels,
        stride = stride
    )(x)
}

/// The whole network for ImageNet. Two stems reduce 224 pixels to 56 and to 28: the first cell
/// reads both, as if a reduction cell came before it.
motif imagenet_backbone(normal_cell, reduction_cell, width, cells, affine, labels = 1000) {
    in x
    node a = x : conv(floor(width / 2), 3, 2) > bn > relu > conv(width, 3, 2) > bn
    node b = a : relu_conv_bn(width, 3, 2)
    let body = stack(normal_cell, reduction_cell, width, cells, affine, true)
    body(a, b) -> out : global_avg_pool > linear(labels)
}

/// The network in which cells found on CIFAR-10 are trained on ImageNet.
network imagenet(width = 48, cells = 14) : image(3, 224, 224) -> classes(1000) {
    in x
    out imagenet_backbone(normal, reduction, width, cells, affine = true)(x)
}
