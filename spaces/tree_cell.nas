//! Tree cells on PyramidNet: the space that BayesNAS searches without a proxy, on CIFAR-10.
//!
//! H. Zhou, M. Yang, J. Wang, W. Pan: BayesNAS: A Bayesian Approach for Neural Architecture Search.
//! ICML 2019.
//! Tree cells: H. Cai, J. Yang, W. Zhang, S. Han, Y. Yu: Path-Level Network Transformation for
//! Efficient Architecture Search. ICML 2018.
//! Backbone: D. Han, J. Kim, J. Kim: Deep Pyramidal Residual Networks. CVPR 2017.
//!
//! Cai et al. repeat one cell and also let a node split and concatenate its channels. Here every
//! block has its own tree, and branches copy and add.

import "std.nas"

/// The candidates of a branch. Only the 3x3 convolution is grouped: it is what a tree replaces.
set branches(width, stride, groups) = {
    bn_relu_conv(width, 1, stride),
    bn_relu_conv(width, 3, stride, groups = groups),
    bn_relu_separable(width, 3, stride),
    bn_relu_separable(width, 5, stride),
    bn_relu_separable(width, 7, stride),
    avg_pool(3, stride),
    max_pool(3, stride),
    skip(stride),
}

/// A tree: three branches, each leading into a smaller tree down to the leaves, and summed again.
/// It has 3^depth paths, and halves the size on the first branches.
motif tree(depth, stride, groups) {
    in x
    node branch[3] = x : choose branches(channels(x), stride, groups)
    branch -> out : if depth == 1 then identity else tree(depth - 1, 1, groups)
}

/// The bottleneck of PyramidNet, with its 3x3 convolution replaced by a tree. There is no ReLU at
/// the start, and one more norm at the end; the shortcut has no weights.
motif bottleneck(width, stride, groups) {
    in x
    node inner = x : bn > conv(width, 1)
    node y = inner : tree(2, stride, groups)
    y -> out : bn_relu_conv(4 * width) > bn
    node shortcut = x : if stride == 1 then identity else avg_pool(2, 2)
    shortcut -> out : pad_channels(4 * width)
}

/// Three stages of `blocks` bottlenecks. Each block is wider than the previous one by the same
/// amount, `alpha` in total, rounded, then down to a multiple of `groups` so that they divide it.
/// `stride` is the stride of the first convolution: 2 makes everything after it four times cheaper.
/// The parameters after it describe the data.
network search(
    blocks = 18,
    alpha = 84,
    groups = 2,
    width = 16,
    stride = 1,
    channels = 3,
    size = 32,
    labels = 10
) : image(channels, size, size) -> classes(labels) {
    in x
    let count = 3 * blocks
    node h[count + 1]
    x -> h[0] : conv(width, 3, stride) > bn
    for k in 0..count {
        let w = round(width + alpha * (k + 1) / count)
        let step = if k == blocks or k == 2 * blocks then 2 else 1
        h[k] -> h[k + 1] : bottleneck(w - w % groups, step, groups)
    }
    h[count] -> out : bn > relu > global_avg_pool > linear(labels)
}
