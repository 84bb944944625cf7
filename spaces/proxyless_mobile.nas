//! The mobile space of ProxylessNAS on ImageNet.
//!
//! H. Cai, L. Zhu, S. Han: ProxylessNAS: Direct Neural Architecture Search on Target Task and
//! Hardware. ICLR 2019.
//!
//! MobileNetV2 with a choice of kernels, expansions and depth. The paper limits the latency on
//! a phone; here the limit is the usual one of the mobile setting, on multiply-adds.

import "std.nas"

/// Three kernels with two expansions each, without residuals, which `stage` adds.
set convolutions(width, stride) = {
    inverted_bottleneck(width, k, stride, expand) for expand in [3, 6] for k in [3, 5, 7]
}

/// Blocks of one width. The first changes the shape, so it cannot be skipped. The others add to
/// their input: without it, a block is the identity, and the stage is a block shorter.
motif stage(width, blocks, stride) {
    in x
    node h[blocks]
    x -> h[0] : choose 1 convolutions(width, stride)
    for i in 1..blocks {
        h[i - 1] -> h[i]
        h[i - 1] -> h[i] : optional choose 1 convolutions(width, 1)
    }
    out h[blocks - 1]
}

/// The network to search: 21 blocks after the first, which is fixed. `multiplier` scales all widths,
/// `blocks` is the number of blocks in each stage but the last, and `stride` the stride of the first
/// convolution. The parameters after it describe the data.
network search(
    multiplier = 1,
    blocks = 4,
    stride = 2,
    channels = 3,
    size = 224,
    labels = 1000
) : image(channels, size, size) -> classes(labels) {
    in x
    node stem = x : conv(round(32 * multiplier), 3, stride)
        > bn
        > relu6
        > inverted_bottleneck(round(16 * multiplier), expand = 1)
    node a = stem : stage(round(24 * multiplier), blocks, 2)
    node b = a : stage(round(40 * multiplier), blocks, 2)
    node c = b : stage(round(80 * multiplier), blocks, 2)
    node d = c : stage(round(96 * multiplier), blocks, 1)
    node e = d : stage(round(192 * multiplier), blocks, 2)
    node f = e : stage(round(320 * multiplier), 1, 1)
    f -> out : conv(round(1280 * multiplier), 1) > bn > relu6 > global_avg_pool > linear(labels)
    require flops < 600M
}
