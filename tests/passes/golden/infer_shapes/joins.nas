// A concatenation adds widths, a sum keeps them.
network n : image(3, 8, 8) -> image(8, 8, 8) {
    in x
    node a = x : conv(5)
    node b = concat(a, x)
    node c = b : conv(8)
    b, c -> out : identity
}
