package model

import "time"

// StartedAt is when the process started, zero if unknown.
func (p *Process) StartedAt() time.Time {
	if p == nil {
		return time.Time{}
	}
	const beyond = 253402300800 // the year 10000: no time, and none that JSON can say
	seconds, ok := p.Metrics.Sum("process_start_time_seconds")
	if !ok || !(seconds > 0 && seconds < beyond) {
		return time.Time{}
	}
	return time.UnixMilli(int64(seconds * 1000)).UTC()
}

// CPU is the processor time that a process uses, in cores: over the time between its two
// scrapes, else on average since it started. ok is false if neither is known.
func (p *Process) CPU() (cores float64, over time.Duration, ok bool) {
	const name = "process_cpu_seconds_total"
	if p == nil {
		return 0, 0, false
	}
	now, ok := p.Metrics.Sum(name)
	if !ok {
		return 0, 0, false
	}
	if before, had := p.Before.Sum(name); had && now >= before && !p.standsStill() {
		if over = p.Metrics.At.Sub(p.Before.At); over > 0 {
			return (now - before) / over.Seconds(), over, true
		}
	}
	if over = p.Metrics.At.Sub(p.StartedAt()); p.StartedAt().IsZero() || over <= 0 {
		return 0, 0, false
	}
	return now / over.Seconds(), over, true
}

// standsStill reports whether the two scrapes are one and the same, told twice: answering a
// scrape allocates, so that this counter of a live Go process never stands still.
func (p *Process) standsStill() bool {
	const name = "go_memstats_alloc_bytes_total"
	now, ok := p.Metrics.Sum(name)
	before, had := p.Before.Sum(name)
	return ok && had && now == before
}

// ResidentBytes is the memory that a process holds, as the operating system counts it.
func (p *Process) ResidentBytes() (int64, bool) {
	if p == nil {
		return 0, false
	}
	v, ok := p.Metrics.Sum("process_resident_memory_bytes")
	return int64(v), ok
}
