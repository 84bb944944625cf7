// Left as they are: a ReLU that two read, one that is an output, and a norm with weights.
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node y = x : bn > relu
    y -> out : conv(3)
    y -> out : tanh > relu
}
