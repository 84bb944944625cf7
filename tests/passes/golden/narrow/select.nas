// One reader needs fewer channels than another keeps: it reads them through a `select`.
// with: read out.a = 0110
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node a = x : conv(4)
    a -> out : conv(3)
    a -> out : tanh > conv(3)
}
