"""How torch computes an operation, held as data: built for a module, printed for a source file."""

from __future__ import annotations

from dataclasses import dataclass

Plain = int | float | bool


@dataclass(frozen=True, slots=True)
class ModuleCall:
    """A call to a constructor of a module: of `torch.nn`, of our `runtime`, or of a package that the user named.

    >>> ModuleCall("Conv2d", (3, 8, 1), (("bias", False),)).source()
    'nn.Conv2d(3, 8, 1, bias=False)'
    """

    target: str
    args: tuple[Plain, ...] = ()
    kwargs: tuple[tuple[str, Plain], ...] = ()
    package: str = "nn"

    @property
    def constructor(self) -> str:
        """What is called, where `nn` is `torch.nn`, names of `runtime` and other packages have been imported."""
        return self.target if self.package == "runtime" else f"{self.package}.{self.target}"

    def source(self) -> str:
        """The call as Python."""
        given = [*map(repr, self.args), *(f"{name}={value!r}" for name, value in self.kwargs)]
        return f"{self.constructor}({', '.join(given)})"


@dataclass(frozen=True, slots=True)
class Expression:
    """A function of tensors without weights, as Python in which `{0}`, `{1}` stand for the inputs.

    `torch`, `F`, which is `torch.nn.functional`, and one function of our `runtime` may be used.

    >>> Expression("F.relu({0})").source(["x"])
    'F.relu(x)'
    """

    template: str
    helper: str | None = None  # the function of `runtime`

    def source(self, inputs: list[str]) -> str:
        """The expression for inputs of these names."""
        return self.template.format(*inputs)

    def encloses(self, position: int) -> bool:
        """Whether an input stands between brackets and commas, so that any expression can take its place."""
        before, _, after = self.template.partition(f"{{{position}}}")
        return before.rstrip().endswith(("(", "[", ",")) and after.startswith((")", "]", ","))
