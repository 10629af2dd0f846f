package target

import (
	"context"
	"strconv"
	"strings"

	"kitescope/engine/index"
)

// Description describes the content of an index file.
type Description struct {
	index.Description
	Target *Target
	Parts  []index.Part
}

// Describe returns the description of a target. It reads the whole target.
func Describe(ctx context.Context, t *Target) (*Description, error) {
	d := &Description{Target: t, Parts: t.File.Parts}
	f := t.File
	metric := f.Metric.String()
	switch {
	case t.metricGiven:
		metric += " (as given: not in the file)"
	case !f.MetricKnown:
		metric += " (assumed: not in the file)"
	}
	d.Text("type", f.Kind())
	if t.Set == nil {
		format := f.Format.String()
		if len(f.Codes) > 0 {
			format += ", " + strings.Join(f.Codes, " > ")
		}
		d.Text("format", format)
	} else {
		d.Text("format", string(t.Set.Format))
	}
	d.Text("metric", metric)
	d.Text("element", f.Element().String())
	d.Count("dimension", "", f.Dim)
	d.Count("rows", "", f.Rows)
	d.Text("size", strconv.Itoa(f.Bytes)+" bytes")
	f.Describe(&d.Description)
	return d, ctx.Err()
}
