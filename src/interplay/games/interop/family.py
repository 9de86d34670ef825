"""The family of wrapped JaxMARL environments. Variants are not listed: that alone would import JaxMARL."""

from interplay.games.family import GameFamily

FAMILY = GameFamily(
    name="jaxmarl",
    build="interplay.games.interop.jaxmarl:make",
    options="interplay.games.interop.jaxmarl:JaxMARLOptions",
)
