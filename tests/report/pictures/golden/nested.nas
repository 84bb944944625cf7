// Choices inside chains: the operations around them and their limits are shown; alike chains differ in arguments.
network n : image(4, 8, 8) -> image(4, 8, 8) {
    in x
    node h = x : choose {
        conv(4, 3) > bn > choose 1 { relu, tanh } > conv(4, 1),
        conv(4, 5) > bn > choose 1 { relu, tanh } > conv(4, 1),
        choose { relu, tanh },
        conv(4, 3) > bn > relu > conv(4, 5) > bn > relu > conv(4, 7) > bn > sigmoid,
        identity,
    }
    h -> out : relu
}
