// Comprehensions break before `for` and `if`, declarations before `:` if their source is conditional.
set a(w) = { inverted_bottleneck(w, k, stride, expand, with_a_long_argument) for expand in [3, 6] for k in [3, 5, 7] if expand * k < 30 }
let widths = [make_divisible(base * multiplier * growth, 8) for base in [16, 24, 40, 80, 112, 192, 320] if base > minimum_width and base < maximum_width]
motif m(width) {
    in x
    node h[k in 0..cells] = if k == 0 then some_long_source_name(width) else h[k - 1] : relu_conv_bn(width, 3) > sep_conv(3)
    node b = a : if cells == 1 then identity else separable_bn_relu(2 * width, 3, 2) > top(2 * width, stride, affine)
    node g[k in 0..cells] = if k == 0 then x else if k == 1 then some_other_source_name(width) else g[k - 1] : residual_block(width, 3)
    node s = [conv_bn_relu(width, k, stride, affine)(x) for k in [3, 5, 7, 9] if k < largest_kernel_of_all_of_them]
    node q[k in 0..4] = some_long_source_name_here(width, affine) then q[k - 1] : relu_conv_bn(width, 3) > sep_conv(3)
    let f(v, divisor = 8, minimum = 16, maximum = 1024) = max(minimum, min(maximum, floor(v / divisor + 1 / 2) * divisor))
}
