// On a GPU dilated convolutions are fast, and nothing changes.
// with: device = cuda
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : depthwise(3, dilation = 2)
}
