// One choice: its zero switch before the candidates, as `zero = before` asks for.
// with: zero = before
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node y = x : choose { relu, conv(3) > bn }
    y -> out : tanh
}
