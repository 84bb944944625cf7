//! The cell of NAS-Bench-201 in a network that two cores train in a minute: two cells, on images of half the size.

import "nasbench201.nas"

/// The network that strategies are compared on.
network search(width = 8, channels = 3, size = 32, labels = 10) : image(channels, size, size) -> classes(labels) {
    in x
    node a = x : conv(width, 3, 2) > bn > dense(choose 1 candidates)
    node b = a : residual_reduction(2 * width) > dense(choose 1 candidates)
    b -> out : bn > relu > global_avg_pool > linear(labels)
}
