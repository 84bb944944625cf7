//! EfficientNet-B0 on ImageNet.
//!
//! M. Tan, Q. V. Le: EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks.
//! ICML 2019.
//!
//! 5,288,548 parameters and 0.39 billion multiply-adds. Larger networks of the paper are scaled from
//! this one: B1 has a `depth` of 1.1 and a `size` of 240, B4 a `multiplier` of 1.4, a `depth` of 1.8 and
//! a `size` of 380. The paper also drops whole blocks while training, which is a setting of the
//! training here.

import "std.nas"

/// The multiple of 8 next to a number, but not less than 90 % of it.
let divisible(n) = max(8, 8 * floor(n / 8 + 1 / 2), 8 * ceil((0.9 * n) / 8))

/// Squeeze and excitation with `inner` channels in between.
motif excite(inner) {
    in x
    node weight = x : global_avg_pool > linear(inner) > swish > linear(channels(x)) > sigmoid
    out scale(x, weight)
}

/// A block: expand, convolve each channel, excite, project. Excitation is a quarter as wide as the
/// input of the block.
motif block(width, k, stride, expand) {
    in x
    node wide = x : if expand == 1 then identity else conv(expand * channels(x), 1) > bn > swish
    wide -> out : depthwise(k, stride)
        > bn
        > swish
        > excite(max(1, floor(channels(x) / 4)))
        > conv(width, 1)
        > bn
    if stride == 1 and channels(x) == width {
        x -> out
    }
}

/// Blocks of one width. Only the first is strided.
motif stage(width, blocks, k, stride, expand = 6) {
    in x
    x -> out : block(width, k, stride, expand) > block(width, k, 1, expand) * (blocks - 1)
}

/// The whole network. `multiplier` scales all widths and `depth` the number of blocks; `stride` is the
/// stride of the first convolution. The parameters after `drop` describe the data.
network efficientnet(
    multiplier = 1,
    depth = 1,
    stride = 2,
    drop = 0.2,
    channels = 3,
    size = 224,
    labels = 1000
) : image(channels, size, size) -> classes(labels) {
    in x
    let scaled(width) = divisible(width * multiplier)
    let blocks(n) = ceil(n * depth)
    node stem = x : conv(scaled(32), 3, stride) > bn > swish
    node y = stem : stage(scaled(16), blocks(1), 3, 1, 1)
        > stage(scaled(24), blocks(2), 3, 2)
        > stage(scaled(40), blocks(2), 5, 2)
        > stage(scaled(80), blocks(3), 3, 2)
        > stage(scaled(112), blocks(3), 5, 1)
        > stage(scaled(192), blocks(4), 5, 2)
        > stage(scaled(320), blocks(1), 3, 1)
        > conv(scaled(1280), 1)
        > bn
        > swish
    y -> out : global_avg_pool > dropout(drop) > linear(labels)
}
