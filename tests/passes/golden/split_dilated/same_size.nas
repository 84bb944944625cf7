// A dilation of 2 that keeps the size: the four phases of the image are convolved without dilation.
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : relu > depthwise(3, dilation = 2) > conv(3, 1)
}
