//! U-Net for images of classes, as published and with every level searchable.
//!
//! O. Ronneberger, P. Fischer, T. Brox: U-Net: Convolutional Networks for Biomedical Image
//! Segmentation. MICCAI 2015.
//!
//! `unet` has the 23 convolutions of the paper, 31,030,658 parameters. Unlike in the paper,
//! convolutions keep the size, so that nothing has to be cropped, and images have any size that four
//! poolings can halve. `search` chooses the convolutions of every level, how images are made larger,
//! and which skip connections are kept; the idea is that of NAS-Unet (Y. Weng, T. Zhou, Y. Li, X. Qiu:
//! NAS-Unet: Neural Architecture Search for Medical Image Segmentation. IEEE Access 7, 2019). Its
//! network `classify` has the same switches, and a label for the whole image.

import "std.nas"

/// Two convolutions, as published: with a bias, without norms.
motif double_conv(width) {
    in x
    x -> out : (conv(width, 3, bias = true) > relu) * 2
}

/// The network of the paper, for images of one channel and two classes.
network unet(
    width = 64,
    channels = 1,
    size = 512,
    labels = 2
) : image(channels, size, size) -> map(labels, size, size) {
    in x
    node down[i in 0..5] = x then max_pool(2, 2)(down[i - 1]) : double_conv(width * 2^i)
    node up[i in 0..4] = upwards(width * 2^(3 - i))(
        if i == 0 then down[4] else up[i - 1],
        down[3 - i]
    ) : double_conv(width * 2^(3 - i))
    up[-1] -> out : conv(labels, 1, bias = true)
}

/// Makes an image twice as large, with `width` channels, and appends those of another.
motif upwards(width) {
    in x, skip
    out concat(skip, conv_transpose(width, 2, 2, bias = true)(x))
}

/// The convolutions of a level.
set blocks(width) = {
    conv_bn_relu(width, 3),
    conv_bn_relu(width, 5),
    separable_bn_relu(width, 3),
    separable_bn_relu(width, 5),
    dilated = conv(width, 3, dilation = 2) > bn > relu,
    rows_and_columns = conv(width, [1, 7]) > conv(width, [7, 1]) > bn > relu,
}

/// Ways to make an image twice as large.
set larger(width) = {
    conv_transpose(width, 2, 2),
    nearest = upsample(2) > conv(width, 3),
    bilinear = upsample(2, "bilinear") > conv(width, 3),
}

/// One level on the way down: two blocks, the second added to the first.
motif level(width) {
    in x
    node y = x : choose exactly 1 blocks(width)
    y -> out
    y -> out : choose 1 blocks(width)
}

/// One level on the way up. The skip connection is added, if it is kept.
motif level_up(width) {
    in x, skip
    node y
    x -> y : choose exactly 1 larger(width)
    skip -> y : optional conv(width, 1)
    y -> out : bn > relu > level(width)
}

/// The levels. The result has the size of the image, and `width` channels.
motif body(width, levels) {
    in x
    node down[i in 0..levels] = x then max_pool(2, 2)(down[i - 1]) : level(width * 2^i)
    node up[i in 1..levels] = level_up(width * 2^(levels - 1 - i))(
        if i == 1 then down[levels - 1] else up[i - 2],
        down[levels - 1 - i]
    )
    out up[-1]
}

/// The network to search: a class for every pixel. The parameters after `levels` describe the data.
network search(
    width = 32,
    levels = 4,
    channels = 3,
    size = 128,
    labels = 2
) : image(channels, size, size) -> map(labels, size, size) {
    in x
    x -> out : body(width, levels) > conv(labels, 1, bias = true)
}

/// The same for data with one label per image, such as `digits`.
network classify(
    width = 32,
    levels = 3,
    channels = 3,
    size = 32,
    labels = 10
) : image(channels, size, size) -> classes(labels) {
    in x
    x -> out : body(width, levels) > global_avg_pool > linear(labels)
}
