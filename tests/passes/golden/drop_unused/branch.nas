// Only `a` is an output: `b` and what leads to it alone are removed, the input stays.
// with: output = a
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node a = x : relu
    node b = x : tanh > bn
    a, b -> out
}
