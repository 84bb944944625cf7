// One choice: its zero switch after the candidates, as `zero = after` asks for.
// with: zero = after
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node y = x : choose { relu, conv(3) > bn }
    y -> out : tanh
}
