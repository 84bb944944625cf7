// Wide characters, tabs and control characters keep the marks under the text.
network n : vector(4) -> classes(4) {
	in x
	x -> out : /* 宽字 */ unknown
}
