//! ShuffleNetV2 on ImageNet, as published and with every block searchable.
//!
//! N. Ma, X. Zhang, H.-T. Zheng, J. Sun: ShuffleNet V2: Practical Guidelines for Efficient CNN
//! Architecture Design. ECCV 2018.
//!
//! `shufflenet_v2` is the network of the paper, 2,278,604 parameters. `search` is the space of single
//! path one-shot search (Z. Guo, X. Zhang, H. Mu, W. Heng, Z. Liu, Y. Wei, J. Sun: Single Path One-Shot
//! Neural Architecture Search with Uniform Sampling. ECCV 2020): 20 blocks, each with a kernel of 3, 5
//! or 7, or with three separable convolutions. These are 4^20, about 1e12, networks. Unlike in their
//! code, both halves of a block that changes the shape are equally wide.

import "std.nas"

/// A depthwise convolution between two that mix channels.
motif usual(width, k, stride) {
    in x
    x -> out : conv_bn_relu(width) > depthwise(k, stride) > bn > conv_bn_relu(width)
}

/// Three separable convolutions, as in Xception.
motif xception(width, stride) {
    in x
    x -> out : depthwise(3, stride)
        > bn
        > conv_bn_relu(width)
        > (depthwise(3) > bn > conv_bn_relu(width)) * 2
}

/// A block: one half of the channels stays as it is, the other goes through `branch`, and both are
/// shuffled. If it changes the shape, both halves read all channels.
motif block(width, stride, k, branch) {
    in x
    let half = width / 2
    let splits = stride == 1 and channels(x) == width
    node kept = x : if splits
        then slice_channels(0, half)
        else depthwise(k, stride) > bn > conv_bn_relu(half)
    node changed = x : (if splits then slice_channels(half, half) else identity) > branch
    concat(kept, changed) -> out : channel_shuffle(2)
}

/// A block of the published network.
let plain(width, stride) = block(width, stride, 3, usual(width / 2, 3, stride))

/// The network of the paper.
network shufflenet_v2(widths = [116, 232, 464], last = 1024) : image(3, 224, 224) -> classes(1000) {
    in x
    node stem = x : conv(24, 3, 2) > bn > relu > max_pool(3, 2)
    let blocks = [4, 8, 4]
    node s[i in 0..3] = stem then s[i - 1]
        : plain(widths[i], 2) > plain(widths[i], 1) * (blocks[i] - 1)
    s[-1] -> out : conv_bn_relu(last) > global_avg_pool > linear(1000)
}

/// The candidates of a block.
set candidates(width, stride) = {
    block(width, stride, k, usual(width / 2, k, stride)) for k in [3, 5, 7]
}
    | { three = block(width, stride, 3, xception(width / 2, stride)) }

/// Blocks of one width, the first of which halves the size.
motif stage(width, blocks, stride = 2) {
    in x
    x -> out : choose exactly 1 candidates(width, stride)
        > (choose exactly 1 candidates(width, 1)) * (blocks - 1)
}

/// The network to search. `multiplier` scales all widths, `stride` is that of the first convolution.
/// The parameters after it describe the data.
network search(
    multiplier = 1,
    stride = 2,
    channels = 3,
    size = 224,
    labels = 1000
) : image(channels, size, size) -> classes(labels) {
    in x
    let w(width) = 2 * round(width * multiplier / 2)
    node stem = x : conv(w(16), 3, stride) > bn > relu
    node y = stem : stage(w(64), 4, stride) > stage(w(160), 4) > stage(w(320), 8) > stage(w(640), 4)
    y -> out : conv_bn_relu(w(1024)) > global_avg_pool > linear(labels)
}
