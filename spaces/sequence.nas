//! A space for signals: sequences of measurements, such as those of an accelerometer.
//!
//! Residual blocks of convolution, batch norm and ReLU, with a global average at the end, are an idea
//! of Z. Wang, W. Yan, T. Oates: Time series classification from scratch with deep neural networks: A
//! strong baseline. IJCNN 2017. Kernels, pools and candidates are ours. The data are as in D. Anguita et
//! al.: A Public Domain Dataset for Human Activity Recognition Using Smartphones. ESANN 2013: nine
//! signals of 128 measurements, six activities.
//!
//! A cell reads a sequence and has three nodes. Every edge is a choice among convolutions of several
//! lengths, pools, self-attention, and the sequence itself.

import "std.nas"

/// A convolution and its norm.
motif conv_bn(k, dilation = 1) {
    in x
    x -> out : relu > conv1d(k = k, dilation = dilation) > bn
}

/// A convolution of each channel and one at each position.
motif separable(k) {
    in x
    x -> out : relu > depthwise1d(k) > conv1d(k = 1) > bn
}

/// Self-attention and its norm.
motif attend(heads) {
    in x
    x -> out : layer_norm > self_attention(heads)
}

/// What an edge of a cell can be. "Nothing" needs no entry.
set candidates(heads) = {
    conv_3 = conv_bn(3),
    conv_5 = conv_bn(5),
    dil_5 = conv_bn(5, dilation = 2),
    sep_9 = separable(9),
    max_pool = max_pool1d(3) > bn(affine = false),
    attention = attend(heads),
    skip = identity
}

/// The cell: each node reads the input and all nodes before it.
cell block(heads) {
    in x
    node h[3]
    for j in 0..3 {
        x, h[0..j] -> h[j] : choose candidates(heads)
    }
    concat(h) -> out : relu > conv1d(channels(x), 1) > bn
    x -> out
}

/// The network to search. The parameters after `heads` describe the data.
network search(
    width = 32,
    heads = 4,
    channels = 9,
    length = 128,
    labels = 6
) : sequence(channels, length) -> classes(labels) {
    in x
    node stem = x : conv1d(width, 7) > bn > relu
    node y = stem : block(heads) > max_pool1d(2, 2) > block(heads) > max_pool1d(2, 2) > block(heads)
    y -> out : global_avg_pool > linear(labels)
}
