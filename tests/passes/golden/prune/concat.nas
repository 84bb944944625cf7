// A concatenation that loses an input is narrower, and what follows it takes its new width.
// with: off = a
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node a = x : optional conv(4)
    node b = x : conv(5)
    node c = concat(a, b)
    c -> out : bn > conv(3, 1)
}
