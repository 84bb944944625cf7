// The norms of a convolution and of a pool become one, as do the convolutions before it.
// with: device = cuda
cell c {
    in x
    x -> out : depthwise(3) > conv(4, 1) > bn(false)
    x -> out : depthwise(5) > conv(4, 1) > bn(false)
    x -> out : max_pool(3) > bn(false)
}

network n : image(4, 8, 8) -> image(4, 8, 8) {
    in x
    x -> out : c
}
