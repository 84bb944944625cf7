//! The space of once-for-all on ImageNet: elastic depth, width and kernel.
//!
//! H. Cai, C. Gan, T. Wang, Z. Zhang, S. Han: Once-for-All: Train One Network and Specialize it for
//! Efficient Deployment. ICLR 2020.
//!
//! Five stages of MobileNetV3 blocks. Each stage has 2, 3 or 4 blocks; each block expands its
//! channels by 3, 4 or 6 and has a kernel of 3, 5 or 7. These are (9^2 + 9^3 + 9^4)^5, about 2e19,
//! networks. As published, networks that are narrower, shallower or have smaller kernels use a part of
//! the weights of the largest. Published kernels are also multiplied by a matrix, which is left out
//! here, and the size of the image is not chosen.

import "mobilenet_v3.nas" as v3

/// A block: expand, convolve each channel, project. Its kernel and its expansion are chosen.
motif block(
    width,
    stride,
    attention,
    activation,
    kernel = choose { 3, 5, 7 },
    expand = choose { 3, 4, 6 }
) {
    in x
    share each = depthwise(kernel, stride)
    node wide = x : conv(v3.divisible(expand * channels(x)), 1) > bn > activation
    node deep = wide : each > bn > activation
    deep -> out : (if attention then v3.excite else identity) > conv(width, 1) > bn
    if stride == 1 and channels(x) == width {
        x -> out
    }
}

/// A stage: its first block changes the shape, and one to three more follow.
motif stage(width, stride, attention, activation, more = choose { 1, 2, 3 }) {
    in x
    x -> out : block(width, stride, attention, activation)
        > block(width, 1, attention, activation) * more
}

/// The network to search. `multiplier` scales all widths; the parameters after it describe the data.
network search(
    multiplier = 1,
    stride = 2,
    channels = 3,
    size = 224,
    labels = 1000
) : image(channels, size, size) -> classes(labels) {
    in x
    let scaled(width) = v3.divisible(width * multiplier)
    node stem = x : conv(scaled(16), 3, stride) > bn > hard_swish > first_block(scaled(16))
    node y = stem : stage(scaled(24), stride, false, relu)
        > stage(scaled(40), 2, true, relu)
        > stage(scaled(80), 2, false, hard_swish)
        > stage(scaled(112), 1, true, hard_swish)
        > stage(scaled(160), 2, true, hard_swish)
    y -> out : conv(scaled(960), 1)
        > bn
        > hard_swish
        > global_avg_pool
        > linear(scaled(1280), bias = false)
        > hard_swish
        > linear(labels)
}

/// The first block, which is fixed.
motif first_block(width) {
    in x
    x -> out : depthwise(3) > bn > relu > conv(width, 1) > bn
    x -> out
}
