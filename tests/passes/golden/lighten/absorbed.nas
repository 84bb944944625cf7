// A ReLU that only a convolution reads becomes part of it; norms without weights keep their output.
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : bn(false) > relu > depthwise(3) > bn(false) > relu > conv(3) > relu
}
