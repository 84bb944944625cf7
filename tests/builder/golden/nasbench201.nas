//! NAS-Bench-201 on CIFAR-10.

import "std.nas"

cell dense(edge) {
    in x
    node h[3]
    x, h[0..0] -> h[0] : edge
    x, h[0..1] -> h[1] : edge
    x, h[0..2] -> h[2] : edge
    out h[2]
}

motif stage(edge, cells) {
    in x
    node c[i in 0..cells] = if i == 0 then x else c[i - 1] : dense(edge)
    out c[cells - 1]
}

motif residual_reduction(width) {
    in x
    x -> out : relu_conv_bn(width, 3, 2) > relu_conv_bn(width, 3)
    x -> out : avg_pool(2, 2) > conv(width, 1)
}

motif skeleton(edge, width = 16, cells = 5, labels = 10, stride = 1) {
    in x
    node a = x : conv(width, 3, stride) > bn > stage(edge, cells)
    node b = a : residual_reduction(2 * width) > stage(edge, cells)
    node c = b : residual_reduction(4 * width) > stage(edge, cells)
    c -> out : bn > relu > global_avg_pool > linear(labels)
}

motif nor_conv(k) {
    in x
    x -> out : relu_conv_bn(channels(x), k)
}

set edges = { identity, nor_conv(1), nor_conv(3), avg_pool(3) }

network search(
    width = 16,
    cells = 5,
    stride = 1,
    channels = 3,
    size = 32,
    labels = 10
) : image(channels, size, size) -> classes(labels) {
    in x
    out skeleton(choose 1 edges, width, cells, labels, stride)(x)
}

network all_conv3x3 : image(3, 32, 32) -> classes(10) {
    in x
    out skeleton(nor_conv(3))(x)
}

network all_skip : image(3, 32, 32) -> classes(10) {
    in x
    out skeleton(identity)(x)
}
