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

/// The network to search: 21 blocks after the first, which is fixed.
network search : image(3, 224, 224) -> classes(1000) {
    in x
    node stem = x : conv(32, 3, 2) > bn > relu6 > inverted_bottleneck(16, expand = 1)
    node a = stem : stage(24, 4, 2)
    node b = a : stage(40, 4, 2)
    node c = b : stage(80, 4, 2)
    node d = c : stage(96, 4, 1)
    node e = d : stage(192, 4, 2)
    node f = e : stage(320, 1, 1)
    f -> out : conv(1280, 1) > bn > relu6 > global_avg_pool > linear(1000)
    require flops < 600M
}
