// Equal uses of shared weights are computed once, except batch norms, which count every use.
network n : image(3, 8, 8) -> image(4, 8, 8) {
    in x
    share f = conv(4)
    share g = bn
    node a = x : f > g
    node b = x : f > g
    node c = x : relu > f
    a, b, c -> out
}
