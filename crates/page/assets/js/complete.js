// Complete.
