// Functions, repetitions, named candidates, arrays, numbers and padding, and the names they lead to.
let make_divisible(v, divisor = 8) = max(divisor, floor(v / divisor + 1/2) * divisor)
let widths = [8, 16] + [24] + (0..2)

motif block(w = 8) { in x  x -> out : conv(w) > bn }
motif res { in x  x -> out : choose { small = conv(k = 3), large = conv(k = 5), relu, tanh > bn }  x -> out }
network n(scale = 1.5) : image(3, 8, 8) -> image(16, 8, 8) {
    in x
    let half(n) = floor(n / 2)
    assert sum(widths) == 49 and sum(widths[0..2]) == 24 and sum(widths[0..0]) == 0 and widths[-1] == 1 and (2..7)[1] == 3
    assert half(5) == 2 and make_divisible(13 * scale) == 16
    assert 1e6 == 1M and 2.5e-3 == 1/400 and 1_000_000 == 1e6
    node h[k in 0..3] = x then h[k - 1] : block
    node y = h[-1] : relu > block(w = make_divisible(13 * scale)) * 2 > bn * 0 > res * 2
    node z = y : (relu > bn) * 2
    out z
    require params < 1e6
}

network same : image(3, 7, 8) -> image(4, 4, 4) {
    in x
    x -> out : conv(4, 2, padding = "same") > max_pool(2, 2, "same") > avg_pool(2, padding = "same")
}
