package render

import "kitescope/profile/bench"

// RatioText is a ratio as a change: "+7.3%".
func RatioText(ratio float64) string { return ratioText(ratio) }

// PercentOfAll is a share of 1 in percent, for prose: "67%".
func PercentOfAll(share float64) string { return sharePercent(share) }

// MetricVisible is the least change that the runs of a metric could have shown, "?" if it is unknown.
func MetricVisible(l *bench.Line) string { return visibleText(l) }
