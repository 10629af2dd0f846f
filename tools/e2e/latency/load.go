package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"kitescope/tools/e2e/lab"
)

// Measured is the client's measurement of the requests of a stream that ended in a window. Times are of
// successful requests.
type Measured struct {
	Request    string  `json:"request"`
	Collection string  `json:"collection"`
	Count      int     `json:"count"`
	Errors     int     `json:"errors,omitempty"`
	Error      string  `json:"error,omitempty"` // one of the errors
	PerSecond  float64 `json:"per_second"`
	MeanMS     float64 `json:"mean_ms"`
	P50MS      float64 `json:"p50_ms"`
	P99MS      float64 `json:"p99_ms"`
}

// measure computes the statistics of the requests that ended between from and to.
func measure(stream int, s *lab.Stream, all []lab.Sample, from, to time.Time) Measured {
	m := Measured{Request: s.Request, Collection: s.Collection}
	var took []float64
	sum := 0.0
	for _, r := range all {
		ended := time.UnixMicro(int64((r.Began + r.Took) * 1e6))
		if r.Stream != stream || ended.Before(from) || ended.After(to) {
			continue
		}
		if r.Error != "" {
			m.Errors, m.Error = m.Errors+1, r.Error
			continue
		}
		took = append(took, r.Took*1000)
		sum += r.Took * 1000
	}
	m.Count = len(took)
	if m.Count == 0 {
		return m
	}
	slices.Sort(took)
	m.PerSecond, m.MeanMS = float64(m.Count)/to.Sub(from).Seconds(), sum/float64(m.Count)
	m.P50MS, m.P99MS = took[m.Count/2], took[m.Count*99/100]
	return m
}

// saveMeasured writes the client's measurements next to the scrapes.
func saveMeasured(dir string, from, to time.Time, all []Measured) error {
	text, err := json.MarshalIndent(map[string]any{"from": from, "to": to, "streams": all}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "client.json"), text, 0o644)
}
