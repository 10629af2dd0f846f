package read

import (
	"strings"

	"kitescope/profile/bench"
)

// Names of observed metrics, and of the metrics per query computed from them.
const (
	cpuShare       = "cpu"                         // us + sy of vmstat, percent of the machine
	switchRate     = "context switches per second" // of vmstat
	cpuPerQuery    = "cpu per query"
	switchPerQuery = "context switches per query"
)

// observe adds to a run the values observed during it, and those values per query. Values per query are omitted
// if the run has no single request rate.
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
			// Mark Callaghan's (us + sy) / QPS: percent of the machine used by one query per second.
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

// rateOf returns the request rate of a run: the only rate, or the only one named QPS or requests per second.
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
