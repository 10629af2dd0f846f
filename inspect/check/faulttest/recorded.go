package faulttest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/live"
)

// recorded implements "recorded TIME": it sets the time of each recorded response.
func (w *World) recorded(args []word) error {
	at, err := w.at(args[0].text)
	for i := range w.records {
		w.records[i].At = at
	}
	return err
}

const (
	cpuSeconds     = "process_cpu_seconds_total"
	allocatedBytes = "go_memstats_alloc_bytes_total"
)

// scrapedAgain implements "again DURATION [NODE=CORES]...": the metrics of every process were scraped twice,
// DURATION apart. In that time a process used CORES, by default 0.05.
func (w *World) scrapedAgain(args []word) error {
	apart, err := time.ParseDuration(args[0].text)
	if err != nil || apart <= 0 {
		return errors.New("again wants a duration")
	}
	cores := make(map[string]float64)
	for _, a := range args[1:] {
		name, value, _ := strings.Cut(a.text, "=")
		if cores[name], err = strconv.ParseFloat(value, 64); err != nil {
			return err
		}
	}
	list, err := w.calls("*", "GET_/metrics")
	if err != nil {
		return err
	}
	var again []live.Record
	for _, r := range list {
		used, named := cores[sessionName(r)]
		if !named {
			used = 0.05
		}
		delete(cores, sessionName(r))
		before, err := sampleValue(r, cpuSeconds)
		if err != nil {
			return err
		}
		next := *r
		r.At, next.At = w.now.Add(-apart), w.now
		next.Response = bytes.Clone(r.Response)
		if err := setSample(&next, cpuSeconds, "", strconv.FormatFloat(before+used*apart.Seconds(), 'f', 3, 64)); err !=
			nil {
			return err
		}
		// A response to a scrape allocates memory. Without this change the second scrape would count as a
		// repetition of the first.
		if allocated, err := sampleValue(r, allocatedBytes); err == nil {
			if err := setSample(&next, allocatedBytes, "", strconv.FormatFloat(allocated+1e6, 'g', -1, 64)); err !=
				nil {
				return err
			}
		}
		if err := completeInFlight(&next); err != nil {
			return err
		}
		again = append(again, next)
	}
	if len(cores) > 0 {
		return fmt.Errorf("no metrics of %v", slices.Sorted(maps.Keys(cores)))
	}
	w.records = append(w.records, again...)
	return nil
}

// sampleValue returns the value of a sample without labels in the text of a scrape.
func sampleValue(r *live.Record, name string) (float64, error) {
	for line := range strings.Lines(string(r.Response)) {
		if head, value, ok := cutSample(strings.TrimSpace(line)); ok && head == name {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("the metrics of %s have no %s", sessionName(r), name)
}

// topicsBehind returns topics that end the given number of messages after the checkpoints of their vchannels.
// Checkpoints store Kafka's offsets as little-endian int64.
func (w *World) topicsBehind(text string) ([]live.TopicOffsets, error) {
	behind, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, err
	}
	ends := make(map[string]int64)
	for _, v := range w.base.Cluster.VChannels {
		if at, ok := v.Checkpoint.Offset(); ok {
			ends[v.PChannel] = max(ends[v.PChannel], at+behind)
		}
	}
	var topics []live.TopicOffsets
	for _, name := range slices.Sorted(maps.Keys(ends)) {
		topics = append(topics, live.TopicOffsets{Name: name, End: ends[name]})
	}
	if len(topics) == 0 {
		return nil, errors.New("no checkpoint of the base holds an offset")
	}
	return topics, nil
}
