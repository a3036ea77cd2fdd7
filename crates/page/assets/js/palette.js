// Palette.
