// A stride that the dilation divides reads one phase only.
network n : image(3, 8, 8) -> image(3, 4, 4) {
    in x
    x -> out : depthwise(3, 2, dilation = 2)
}
