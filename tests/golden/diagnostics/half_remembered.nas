// Syntax of choices, requirements, functions and names as people half remember it: each message shows what to write.

let double(n) { 2 * n }

let wide = (n) -> 2 * n

motif m0 {
    in x
    x -> out : choose exactly one { conv(16), conv(16, 5) }
}

motif m1 {
    in x
    x -> out : choose two { conv(16), conv(16, 5), relu }
}

motif m2 {
    in x
    x -> out : exactly 1 { conv(16), conv(16, 5) }
}

motif m3 {
    in x
    x -> out : choose at least 1 { conv(16), conv(16, 5) }
}

motif m4 {
    in x
    x -> out : choose 1..2 { conv(16), conv(16, 5) }
}

motif m5 {
    in x
    x -> out : conv(choose 16..64)
}

motif m6 {
    in x
    x -> out : conv(16) ** 3
}

motif m7 {
    in x
    x -> out : conv(16) * choose { 1, 2, 3 }
}

motif m8 {
    in x
    node h
    x -> h : optional relu
    require edge(x -> h)
    h -> out
}

motif m9 {
    in x
    node h
    x -> h : optional relu
    require edge(x, h) => edge(h, out)
    h -> out
}

motif m10 {
    in x
    node h
    x -> h : optional relu
    require inputs(h) in { 1, 2 }
    h -> out
}

motif m11 {
    in x
    x -> out : choose { small: conv(16), big: conv(16, 5) }
}

motif m12 {
    in x
    x -> out : choose { small -> conv(16), big -> conv(16, 5) }
}

motif m13 {
    in x
    x -> out : choose { "small" = conv(16), "big" = conv(16, 5) }
}

network n0 : image(3, 8, 8) -> image(16, 8, 8) {
    in x
    x -> out : conv(16)
    require params < 1 M
    require flops < 1M
}
