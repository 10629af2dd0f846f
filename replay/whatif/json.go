package whatif

import (
	"fmt"
	"io"
	"time"

	"kitescope/internal/encode"
	"kitescope/replay"
)

// ReportVersion is written into files; a file of a later one is refused.
const ReportVersion = 1

// reportFile is what a saved report begins with. Releases before this one wrote fewer keys: any may be missing.
var reportFile = encode.File{
	What: "a what-if report", APIVersion: "kitescope/v1", Kind: "ReplayWhatIf", Version: ReportVersion, Limit: 256 << 20, Open: everything, Tag: "whatif",
	Lenient: true,
}

// everything is spread over lines.
const everything = 64

// document is a report as it is written: what JSON says in other words than Report.
type document struct {
	Base     predicted
	Others   []predicted
	Sessions []int
	Load     Load
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

// TellReport tells an encoder a report (docs/reference/json.md): keys in lower_snake, ids as strings, times of day in RFC 3339, durations numbers
// of seconds to the nanosecond, what is unknown left out. Layouts are written in figures, without their segments.
func TellReport(e *encode.Encoder, r *Report) {
	d := document{
		Base: newPredicted(r, &r.Base), Others: make([]predicted, len(r.Others)), Sessions: r.Sessions, Load: r.Load, Check: r.Check, Setup: r.Setup,
		Cover: r.Cover, Notes: r.Notes,
	}
	for i := range r.Others {
		d.Others[i] = newPredicted(r, &r.Others[i])
	}
	reportFile.Tell(e, &d)
}

func newPredicted(r *Report, p *Prediction) predicted {
	return predicted{*p, summaryOf(p.Layout), r.GainAtLoad(p)}
}

// WriteReport writes a report as JSON (TellReport).
func WriteReport(w io.Writer, r *Report) error {
	e := encode.JSON(w, reportFile.Open)
	TellReport(e, r)
	return e.Flush()
}

// ReadReport reads what WriteReport wrote. Layouts have no segments, nodes or replicas then: Prediction.Nodes tells of nodes. The error
// says what was expected.
func ReadReport(from io.Reader) (*Report, error) {
	var d document
	if _, err := reportFile.Read(from, &d); err != nil {
		return nil, err
	}
	r := &Report{Base: d.Base.prediction(), Sessions: d.Sessions, Load: d.Load, Check: d.Check, Setup: d.Setup, Cover: d.Cover, Notes: d.Notes}
	if r.Base.Outcome == nil {
		return nil, fmt.Errorf("read %s: base.outcome is missing", reportFile.What)
	}
	for i := range d.Others {
		r.Others = append(r.Others, d.Others[i].prediction())
		if r.Others[i].Outcome == nil {
			return nil, fmt.Errorf("read %s: others[%d].outcome is missing", reportFile.What, i)
		}
	}
	return r, nil
}

func (p *predicted) prediction() Prediction {
	p.Prediction.Layout = p.Layout.layout()
	return p.Prediction
}
