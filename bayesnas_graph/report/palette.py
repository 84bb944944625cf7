"""The colours that tell things apart, in charts and in pictures.

They are those of M. Okabe and K. Ito, Color Universal Design (2008), chosen to stay distinct for colour-blind readers.
Three are too pale for lines on white, and black cannot be seen on a dark page. So the light theme has darker shades of
orange, sky blue and yellow, and the dark theme has white in place of black. A colour has the same position, and roughly
the same hue, in both themes. The first ones differ most.
"""

from __future__ import annotations

LIGHT = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#7f5600", "#224f69", "#48440d")
DARK = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#ffffff", "#d55e00", "#0072b2", "#f0e442")

CATEGORICAL = {"light": LIGHT, "dark": DARK}
