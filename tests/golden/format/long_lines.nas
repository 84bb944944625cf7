// Long lines are broken at brackets, outermost first, otherwise at operators.
set candidates(stride) = { sep_conv(3, stride), sep_conv(5, stride), dil_conv(3, stride), dil_conv(5, stride), skip(stride) }
set kept = {
    relu,
    tanh,
}
motif m(width, growth) {
    in x
    x -> out : batch_norm_of_some_kind > relu > conv(4 * growth, 1) > batch_norm_of_some_kind > relu > conv(growth, 3)
    node y = if width > 100 and growth > 100 or width > 200 then some_long_operation(width) else another_long_operation(growth)
    node z = normal_cell_with_a_long_name(width, growth)(if width < 2 then x else y, if growth == 0 then x else y, x)
    let total = width * growth + width * growth + width * growth + width * growth + width * growth + width * growth
    node q = some_operation(another_operation(a_third_operation(width, growth, width), growth, width, growth), width)
}
