//! MobileNetV2 on ImageNet.
//!
//! M. Sandler, A. Howard, M. Zhu, A. Zhmoginov, L.-C. Chen: MobileNetV2: Inverted Residuals and Linear
//! Bottlenecks. CVPR 2018.
//!
//! 3,504,872 parameters and 300 million multiply-adds.

import "std.nas"

/// The multiple of 8 next to a number, but not less than 90 % of it.
let divisible(n) = max(8, 8 * floor(n / 8 + 1 / 2), 8 * ceil((0.9 * n) / 8))

/// Blocks of one width. Only the first is strided, and it has no shortcut if the shape changes.
motif stage(width, blocks, stride, expand = 6) {
    in x
    x -> out : mbconv(width, 3, stride, expand) > mbconv(width, 3, 1, expand) * (blocks - 1)
}

/// The whole network. `multiplier` scales all widths, but the last layer is never narrower than
/// 1280. `stride` is the stride of the first convolution. The parameters after `drop` describe
/// the data.
network mobilenet_v2(
    multiplier = 1,
    stride = 2,
    drop = 0.2,
    channels = 3,
    size = 224,
    labels = 1000
) : image(channels, size, size) -> classes(labels) {
    in x
    let scaled(width) = divisible(width * multiplier)
    node stem = x : conv(scaled(32), 3, stride) > bn > relu6
    node y = stem : stage(scaled(16), 1, 1, 1)
        > stage(scaled(24), 2, 2)
        > stage(scaled(32), 3, 2)
        > stage(scaled(64), 4, 2)
        > stage(scaled(96), 3, 1)
        > stage(scaled(160), 3, 2)
        > stage(scaled(320), 1, 1)
        > conv(divisible(1280 * max(1, multiplier)), 1)
        > bn
        > relu6
    y -> out : global_avg_pool > dropout(drop) > linear(labels)
}
