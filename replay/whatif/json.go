package whatif

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"time"

	"kitescope/replay"
)

// ReportVersion is written into files; a file of a later one is refused.
const ReportVersion = 1

const (
	apiVersion = "kitescope/v1"
	reportKind = "ReplayWhatIf"
	// maxReport bounds a file that is read.
	maxReport = 256 << 20
)

// document is a report as it is written: what JSON says in other words than Report.
type document struct {
	Version  int
	Base     predicted
	Others   []predicted
	Sessions []int
	Load     any
	Check    Check
	Setup    replay.Setup
	Cover    replay.Coverage
	Notes    []string
}

// predicted is a Prediction with a layout in figures.
type predicted struct {
	Prediction
	Layout summary
	// GainAtLoad is written for others to read: it follows from outcomes.
	GainAtLoad float64
}

// summary is a layout without its segments, which may be hundreds of thousands.
type summary struct {
	Source       string
	Taken        time.Time
	Version      string
	CollectionID int64
	Collection   string
	Database     string
	VectorField  string
	Dim          int
	Index        replay.Index
	Assumed      bool
	Replicas     int
	Segments     int
	Growing      int
	Unindexed    int
	Indexed      int
	Rows         int64
	RowsUnknown  int
}

func summaryOf(l *replay.Layout) summary {
	if l == nil {
		return summary{}
	}
	s := summary{
		Source: l.Source, Taken: l.Taken, Version: l.Version, CollectionID: l.Collection.ID, Collection: l.Collection.Name, Database: l.Collection.Database,
		VectorField: l.Collection.VectorField, Dim: l.Collection.Dim, Index: l.Collection.Index, Assumed: l.Assumed, Replicas: len(l.Replicas),
		Segments: len(l.Segments),
	}
	for i := range l.Segments {
		switch g := &l.Segments[i]; g.State {
		case replay.Growing:
			s.Growing++
		case replay.Unindexed:
			s.Unindexed++
		default:
			s.Indexed++
		}
		s.Rows += max(0, l.Segments[i].Rows)
		if l.Segments[i].Rows < 0 {
			s.RowsUnknown++
		}
	}
	return s
}

// layout is the same without segments, nodes and replicas.
func (s *summary) layout() *replay.Layout {
	return &replay.Layout{
		Source: s.Source, Taken: s.Taken, Version: s.Version, Assumed: s.Assumed,
		Collection: replay.Collection{
			ID: s.CollectionID, Name: s.Collection, Database: s.Database, VectorField: s.VectorField, Dim: s.Dim, Index: s.Index,
		},
	}
}

// WriteReport writes a report as JSON (docs/JSON.md): keys in lower_snake, ids as strings, times of day in RFC 3339, durations numbers
// of seconds to the nanosecond, what is unknown left out. Layouts are written in figures, without their segments.
func WriteReport(w io.Writer, r *Report) error {
	base := predicted{r.Base, summaryOf(r.Base.Layout), r.GainAtLoad(&r.Base)}
	var e encoder
	e.text.WriteString(`{"apiVersion":"` + apiVersion + `","kind":"` + reportKind + `","version":` + strconv.Itoa(ReportVersion))
	e.field("base", reflect.ValueOf(base))
	others := make([]predicted, len(r.Others))
	for i := range r.Others {
		others[i] = predicted{r.Others[i], summaryOf(r.Others[i].Layout), r.GainAtLoad(&r.Others[i])}
	}
	e.field("others", reflect.ValueOf(others))
	e.field("sessions", reflect.ValueOf(r.Sessions))
	e.field("load", reflect.ValueOf(r.Load))
	e.field("check", reflect.ValueOf(r.Check))
	e.field("setup", reflect.ValueOf(r.Setup))
	e.field("cover", reflect.ValueOf(r.Cover))
	e.field("notes", reflect.ValueOf(r.Notes))
	e.text.WriteByte('}')
	var out bytes.Buffer
	if err := json.Indent(&out, e.text.Bytes(), "", "  "); err != nil {
		return fmt.Errorf("write a what-if report: %w", err)
	}
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}

// ReadReport reads what WriteReport wrote. Layouts have no segments, nodes or replicas then: Prediction.Nodes tells of nodes. The error
// says what was expected.
func ReadReport(r io.Reader) (*Report, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxReport+1))
	if err != nil {
		return nil, fmt.Errorf("read a what-if report: %w", err)
	}
	if len(data) > maxReport {
		return nil, fmt.Errorf("read a what-if report: more than %d MiB", maxReport>>20)
	}
	report, err := decodeReport(data)
	if err != nil {
		return nil, fmt.Errorf("read a what-if report: %w", err)
	}
	return report, nil
}

func decodeReport(data []byte) (*Report, error) {
	var head struct {
		APIVersion string `json:"apiVersion"` //nolint:tagliatelle // as in all of kitescope's JSON
		Kind       string
		Version    int
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	switch {
	case head.APIVersion != apiVersion:
		return nil, fmt.Errorf("apiVersion %s was expected, found %q", apiVersion, head.APIVersion)
	case head.Kind != reportKind:
		return nil, fmt.Errorf("kind %s was expected, found %q", reportKind, head.Kind)
	case head.Version < 1 || head.Version > ReportVersion:
		return nil, fmt.Errorf("version %d was expected, found %d: a newer kitescope reads it", ReportVersion, head.Version)
	}
	var d document
	var r Report
	d.Load = &r.Load
	if err := decode(data, reflect.ValueOf(&d).Elem(), "report"); err != nil {
		return nil, err
	}
	r.Base = d.Base.prediction()
	for i := range d.Others {
		r.Others = append(r.Others, d.Others[i].prediction())
	}
	r.Sessions, r.Check, r.Setup, r.Cover, r.Notes = d.Sessions, d.Check, d.Setup, d.Cover, d.Notes
	if r.Base.Outcome == nil {
		return nil, errors.New("base.outcome is missing")
	}
	for i := range r.Others {
		if r.Others[i].Outcome == nil {
			return nil, fmt.Errorf("others[%d].outcome is missing", i)
		}
	}
	return &r, nil
}

func (p *predicted) prediction() Prediction {
	p.Prediction.Layout = p.Layout.layout()
	return p.Prediction
}
