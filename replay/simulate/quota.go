package simulate

// quota is the CPU that a container has: so many cores on average, and what it does not use for a while at once, as fast as the cores that it
// sees let it, up to what it has in one period. So work that needs little goes at full speed (CFS bandwidth control,
// Documentation/scheduler/sched-bwc.rst of Linux). There, what is left is lost when a period ends, and waiting lasts until then; what matters of it, on average
// over where in a period work begins, is the same, and nothing here falls into step with it. Times are in seconds, left and most are of CPU.
type quota struct{ cores, most, left float64 }

// quotaOf is that of a node; nil where its cores are those that its process sees.
func quotaOf(n *Node) *quota {
	if n.Limit <= 0 || n.Limit >= n.Read.Cores {
		return nil
	}
	period := n.Period
	if period <= 0 {
		period = DefaultPeriod
	}
	most := n.Limit * period.Seconds()
	return &quota{cores: n.Limit, most: most, left: most}
}

// burst is for how long so many cores can be used.
func (q *quota) burst(used float64) float64 { return q.left / (used - q.cores) }

// spend uses as many of so many cores as it may for a time, and returns for how long that would have been at full speed.
func (q *quota) spend(seconds, used float64) float64 {
	if used <= q.cores {
		q.left = min(q.most, q.left+seconds*(q.cores-used))
		return seconds
	}
	full := min(seconds, q.burst(used))
	q.left = max(0, q.left-full*(used-q.cores))
	return full + (seconds-full)*q.cores/used
}

// takes is how long work on so many cores lasts, that would last for a time at full speed.
func (q *quota) takes(seconds, used float64) float64 {
	if used <= q.cores {
		return seconds
	}
	full := min(seconds, q.burst(used))
	return full + (seconds-full)*used/q.cores
}
