// A choice in a candidate of another has a zero switch of its own, and so has the outer one.
// with: zero = after
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : choose { choose { relu, tanh } > bn, identity }
}
