motif bn_relu_conv(width, k) {
    in x
    x -> out : bn > relu > conv(width, k)
}

motif layer {
    in x
    x -> out : bn_relu_conv(48, 1) > bn_relu_conv(12, 3)
}

motif transition(width) {
    in x
    x -> out : bn_relu_conv(width, 1) > avg_pool(2, 2)
}

motif dense_block {
    in x
    node f_1 = x : layer
    node seen_1 = concat(x, f_1)
    node f_2 = seen_1 : layer
    node seen_2 = concat(x, f_1, f_2)
    node f_3 = seen_2 : layer
    node seen_3 = concat(x, f_1, f_2, f_3)
    node f_4 = seen_3 : layer
    node seen_4 = concat(x, f_1, f_2, f_3, f_4)
    node f_5 = seen_4 : layer
    node seen_5 = concat(x, f_1, f_2, f_3, f_4, f_5)
    node f_6 = seen_5 : layer
    node seen_6 = concat(x, f_1, f_2, f_3, f_4, f_5, f_6)
    node f_7 = seen_6 : layer
    node seen_7 = concat(x, f_1, f_2, f_3, f_4, f_5, f_6, f_7)
    node f_8 = seen_7 : layer
    node seen_8 = concat(x, f_1, f_2, f_3, f_4, f_5, f_6, f_7, f_8)
    node f_9 = seen_8 : layer
    node seen_9 = concat(x, f_1, f_2, f_3, f_4, f_5, f_6, f_7, f_8, f_9)
    node f_10 = seen_9 : layer
    node seen_10 = concat(x, f_1, f_2, f_3, f_4, f_5, f_6, f_7, f_8, f_9, f_10)
    node f_11 = seen_10 : layer
    node seen_11 = concat(x, f_1, f_2, f_3, f_4, f_5, f_6, f_7, f_8, f_9, f_10, f_11)
    node f_12 = seen_11 : layer
    node seen_12 = concat(x, f_1, f_2, f_3, f_4, f_5, f_6, f_7, f_8, f_9, f_10, f_11, f_12)
    node f_13 = seen_12 : layer
    node seen_13 = concat(x, f_1, f_2, f_3, f_4, f_5, f_6, f_7, f_8, f_9, f_10, f_11, f_12, f_13)
    node f_14 = seen_13 : layer
    node seen_14 = concat(
        x,
        f_1,
        f_2,
        f_3,
        f_4,
        f_5,
        f_6,
        f_7,
        f_8,
        f_9,
        f_10,
        f_11,
        f_12,
        f_13,
        f_14
    )
    node f_15 = seen_14 : layer
    node seen_15 = concat(
        x,
        f_1,
        f_2,
        f_3,
        f_4,
        f_5,
        f_6,
        f_7,
        f_8,
        f_9,
        f_10,
        f_11,
        f_12,
        f_13,
        f_14,
        f_15
    )
    node f_16 = seen_15 : layer
    out concat(
        x,
        f_1,
        f_2,
        f_3,
        f_4,
        f_5,
        f_6,
        f_7,
        f_8,
        f_9,
        f_10,
        f_11,
        f_12,
        f_13,
        f_14,
        f_15,
        f_16
    )
}

network densenet_bc_100_12 : image(3, 32, 32) -> classes(10) {
    in x
    node stem = x : conv(24)
    node y = stem : dense_block > transition(108) > dense_block > transition(150) > dense_block
    y -> out : bn > relu > global_avg_pool > linear(10)
}
