// Numbers of candidates that cannot be kept.
set two = { conv(), conv(k = 5) }

network net(n = 3, half = 1 / 2) : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node a = x : choose exactly 3 two
    node b = x : choose exactly n of two
    node c = x : choose exactly 1 of { relu } > choose exactly 2 { relu }
    node d = x : choose exactly 0 two
    node e = x : choose n - 3 of two
    node f = x : choose exactly 1 - n of two
    node g = x : choose half of two
    node h = x : choose two of two
    a, b, c, d, e, f, g, h -> out : relu
}
