// Three equal chains of one value: one wide convolution, then a group for each of them.
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node h[3] = x : conv(5) > bn > relu > conv(3, 1)
    h -> out
}
