package read

import (
	"strings"

	"kitescope/profile/bench"
)

// What observers call the figures that become a figure per query.
const (
	cpuShare       = "cpu"                         // us + sy of vmstat, percent of the machine
	switchRate     = "context switches per second" // of vmstat
	cpuPerQuery    = "cpu per query"
	switchPerQuery = "context switches per query"
)

// observe adds to a run what was observed during it, and what that is per query. Where the run has no single rate of
// requests, nothing is divided.
func observe(r *bench.Run, o bench.Run) {
	if r.Failed != "" {
		return
	}
	rate, ok := rateOf(r)
	var add []bench.Value
	for _, v := range o.Values {
		v.Concurrency, v.Load = rate.Concurrency, rate.Load
		add = append(add, v)
		if !ok || rate.X <= 0 {
			continue
		}
		m := bench.Metric{Concurrency: rate.Concurrency}
		var x float64
		switch {
		case v.Name == cpuShare && v.Unit == "%":
			// As Mark Callaghan computes it, (us + sy) / QPS: percent of the machine that one query a second takes.
			m.Name, m.Unit, x = cpuPerQuery, "%·s", v.X/rate.X
		case v.Name == switchRate:
			m.Name, x = switchPerQuery, v.X/rate.X
		default:
			continue
		}
		add = append(add, bench.Value{Metric: m, Better: bench.LowerIsBetter, X: x, Load: rate.Load})
	}
	have := map[bench.Metric]bool{}
	for _, v := range r.Values {
		have[v.Metric] = true
	}
	for _, v := range add {
		if !have[v.Metric] {
			r.Values = append(r.Values, v)
			have[v.Metric] = true
		}
	}
}

// rateOf is the rate of requests of a run: the only one, or the only one that is called so.
func rateOf(r *bench.Run) (rate bench.Value, ok bool) {
	var rates, called []bench.Value
	for _, v := range r.Values {
		if v.Unit != "1/s" || v.Better != bench.HigherIsBetter {
			continue
		}
		rates = append(rates, v)
		if strings.EqualFold(v.Name, "QPS") || strings.EqualFold(v.Name, "requests per second") {
			called = append(called, v)
		}
	}
	if len(rates) != 1 {
		rates = called
	}
	if len(rates) != 1 {
		return rate, false
	}
	return rates[0], true
}
