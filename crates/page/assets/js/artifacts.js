// Artifacts.
