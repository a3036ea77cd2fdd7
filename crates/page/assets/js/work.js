// Work.
