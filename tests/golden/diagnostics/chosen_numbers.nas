// Numbers that are chosen where they cannot be, and widths that an operation cannot read.

let w = choose { 8, 16 }
let v = choose { 4, 8 }

let mixed = choose { 8, conv(8) }

let three = choose 2 { 1, 2, 3 }

motif two_numbers {
    in x
    x -> out : conv(w + v)
}

motif a_condition {
    in x
    x -> out : if w > 8 then conv(w) else relu
}

motif a_range {
    in x
    node h[w] = x : relu
    out sum(h)
}

motif groups {
    in x
    x -> out : conv(w, groups = 4)
}

motif a_norm {
    in x
    x -> out : conv(w) > layer_norm
}

motif a_sum {
    in x
    x -> out : conv(w)
    x -> out : conv(v)
}

motif a_stride(s = choose { 1, 2 }) {
    in x
    x -> out : conv(8, 3, s)
}

motif half {
    in x
    x -> out : relu * (w / 16)
}

motif candidates {
    in x
    x -> out : choose { conv(w), conv(16) }
}

network several : image(4, 8, 8) -> image(8, 8, 8) {
    in x
    node a = x : two_numbers
    node b = x : a_condition
    node c = x : a_range
    node d = x : groups
    node e = x : a_norm
    node f = x : a_sum
    node g = x : a_stride
    node h = x : half
    node i = x : candidates
    a, b, c, d, e, f, g, h, i -> out : conv(8)
}

network an_output : image(4, 8, 8) -> image(16, 8, 8) {
    in x
    x -> out : conv(w)
}

network a_size(size = choose { 8, 16 }) : image(4, size, size) -> image(4, 8, 8) {
    in x
    out x
}

network unknown : image(4, 8, 8) -> image(4, 8, 8) {
    in x
    x -> out : conv(choose mixed) > conv(three)
}
