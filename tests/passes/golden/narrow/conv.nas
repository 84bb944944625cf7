// Channels of a convolution are gone, and all that is tied to them: its norm, and what the next one reads.
// with: a = 1100, b.bn = 1100, b.relu = 1100
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node a = x : conv(4)
    node b = a : bn > relu
    b -> out : conv(3)
}
