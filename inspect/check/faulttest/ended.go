package faulttest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/live"
)

// ended implements "ended NODE NAME{LABEL=VALUE,...} [STATUS=N]... [hang=N]". The counter NAME has a label
// for the status. For each STATUS, N operations started and ended between two scrapes (after again). For
// hang, N operations started before the first scrape and did not end.
func (w *World) ended(args []word) error {
	m := sample.FindStringSubmatch(args[1].text + "=0")
	if m == nil {
		return fmt.Errorf("%q is not NAME{LABEL=VALUE}", args[1].text)
	}
	all, err := w.calls(args[0].text, "GET_/metrics")
	if err != nil {
		return err
	}
	last, err := w.newest(args[0].text)
	if err != nil {
		return err
	}
	for _, a := range args[2:] {
		status, text, _ := strings.Cut(a.text, "=")
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return err
		}
		of := last
		if status == "hang" {
			of = all
		}
		for _, r := range of {
			for _, status := range []string{"total", status} {
				if status != "hang" {
					if err := addTo(r, m[1], m[2]+",status="+status, n); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// addTo adds n to a counter. A missing counter starts at 0.
func addTo(r *live.Record, name, labels string, n float64) error {
	lines := scrapeLines(r)
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "# TYPE "+name+" ") }) {
		lines = append(lines, "# TYPE "+name+" counter")
	}
	labels = strings.TrimPrefix(labels, ",")
	err := lines.set(name, labels, strconv.FormatFloat(lines.value(name, labels)+n, 'f', -1, 64))
	if err != nil && (n > 0 || !errors.Is(err, errNoChange)) {
		return err
	}
	lines.write(r)
	return nil
}

// completeInFlight ends the requests in flight at a scrape. As many others are in flight at the next one.
func completeInFlight(r *live.Record) error {
	type counter struct{ total, ended float64 }
	const total = `status="total"`
	counters, order := map[string]*counter{}, []string(nil)
	lines := scrapeLines(r)
	for _, line := range lines {
		head, value, ok := cutSample(line)
		name, labels, labelled := strings.Cut(strings.TrimSuffix(head, "}"), "{")
		if !ok || !labelled || !strings.HasSuffix(name, "_count") {
			continue
		}
		pairs := strings.Split(labels, ",")
		i := slices.IndexFunc(pairs, func(p string) bool { return strings.HasPrefix(p, "status=") })
		if i < 0 {
			continue
		}
		is := pairs[i] == total
		pairs[i] = total
		key := name + "{" + strings.Join(pairs, ",") + "}"
		if counters[key] == nil {
			counters[key], order = &counter{}, append(order, key)
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return err
		}
		if is {
			counters[key].total = v
		} else {
			counters[key].ended += v
		}
	}
	for _, key := range order {
		c := counters[key]
		if n := c.total - c.ended; c.total > 0 && n > 0 {
			name, labels, _ := strings.Cut(strings.TrimSuffix(key, "}"), "{")
			for _, status := range []string{total, `status="success"`} {
				if err := addTo(r, name, strings.Replace(labels, total, status, 1), n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// took implements "took NODE METHOD DURATION": the duration of a call, or of all calls if METHOD is "*".
func (w *World) took(args []word) error {
	d, err := time.ParseDuration(args[2].text)
	if err != nil {
		return err
	}
	list, err := w.recordsOf(args[0].text)
	if args[1].text != "*" {
		list, err = w.calls(args[0].text, args[1].text)
	}
	for _, r := range list {
		r.Took = d
	}
	return err
}
