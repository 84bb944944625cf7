// Siblings go on as one as far as they are equal, and part where one of them differs.
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node h[3] = x : conv(3) > bn
    h[0], h[1] -> out : relu > conv(3)
    h[2] -> out : tanh
}
