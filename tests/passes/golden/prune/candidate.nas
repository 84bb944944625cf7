// A closed candidate is gone with all that leads only to it; a choice of one candidate is still a choice.
// with: off = y.chain
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node y = x : choose { relu > conv(3), tanh }
    y -> out : bn
}
