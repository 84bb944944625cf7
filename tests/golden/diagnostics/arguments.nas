// Every kind of wrong call, found without any network.
motif block(width, k = 3) {
    in x
    x -> out : conv(width, k)
}

set wrong = {
    block,
    block(),
    block(1, 2, 3),
    block(8, kernel = 3),
    block(8, width = 8),
    conv(8, strde = 2),
    relu(4),
}

network n : image(3, 8, 8) -> image(8, 8, 8) {
    in x
    x -> out : choose { conv(true), conv(8, 2.5), conv(0), dropout(2), bn(1) }
    x -> out : choose { conv(8, 2.5) }
    x -> out : choose { conv(0) }
    x -> out : choose { dropout(2) }
    x -> out : choose { bn(1) }
}
