// Left as they are: a padding or a size that the dilation does not divide, and convolutions that mix channels.
network n : image(3, 9, 9) -> image(3, 7, 7) {
    in x
    node a = x : depthwise(3, dilation = 2, padding = 1)
    node b = x : conv(3, dilation = 2, padding = 1)
    a, b -> out
}
