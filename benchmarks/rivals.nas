//! The cell of NAS-Bench-201 in a network that one core trains in seconds: two cells, on images of half the size.
//!
//! There is as little as possible around the cells, so that the cell matters. The residual blocks of the benchmark would
//! hold most of the parameters of such a small network.

import "std.nas"
import "nasbench201.nas"

/// The network that strategies are compared on. `wide` is the width of the second cell.
network search(
    width = 8,
    wide = 2 * width,
    channels = 3,
    size = 32,
    labels = 10
) : image(channels, size, size) -> classes(labels) {
    in x
    node a = x : conv(width, 3, 2) > bn > dense(choose 1 candidates)
    node b = a : avg_pool(2, 2) > relu_conv_bn(wide, 1) > dense(choose 1 candidates)
    b -> out : bn > relu > global_avg_pool > linear(labels)
}
