// Timeline.
