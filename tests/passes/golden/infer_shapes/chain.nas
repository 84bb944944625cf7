// Widths, strides and vectors: every shape comes back from that of the input.
network n : image(3, 8, 8) -> classes(10) {
    in x
    x -> out : conv(8, 3, 2) > bn > max_pool(3, 2) > flatten > linear(10)
}
