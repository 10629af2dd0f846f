package check

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// number writes a count with its thousands apart: "6,974".
func number[N ~int | ~int32 | ~int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// plural counts things: "1 segment", "3 segments", "2 processes".
func plural[N ~int | ~int32 | ~int64](n N, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "s"):
		thing += "e"
	}
	return number(n) + " " + thing + "s"
}

// percent writes a share of 0 to 1 as tables do: "28.3 %", with at most one decimal. What is not all is not rounded to it.
func percent(share float64) string {
	const noise = 1e-9 // of sums that come to 1
	p := 100 * share
	switch {
	case p > noise && p < 0.1:
		return "<0.1 %"
	case p < 100-noise:
		p = min(p, 99.9)
	}
	return strconv.FormatFloat(math.Round(p*10)/10, 'f', -1, 64) + " %"
}

// span writes how long something takes or has taken, to two digits: "13 s", "29 min", "3.5 h", "4 d".
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	case d < 100*time.Minute:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	case d < 10*time.Hour:
		return strings.TrimSuffix(strconv.FormatFloat(d.Hours(), 'f', 1, 64), ".0") + " h"
	case d < 48*time.Hour:
		return strconv.FormatFloat(d.Hours(), 'f', 0, 64) + " h"
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

// few lists the first names of a list: "a, b, c and 4 more".
func few(names []string) string {
	const most = 4
	switch {
	case len(names) == 0:
		return "none"
	case len(names) == 1:
		return names[0]
	case len(names) <= most:
		last := len(names) - 1
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most-1], ", "), len(names)-most+1)
}

// collectionLabel is how messages call a collection: its name, with the database unless that is the
// default one; its id if the name is gone.
func collectionLabel(c *model.Cluster, id model.CollectionID) string {
	x := c.Collection(id)
	switch {
	case x == nil:
		return id.String()
	case c.DatabaseName(x.Database) != "default":
		return c.DatabaseName(x.Database) + "." + x.Name
	}
	return x.Name
}

// References to objects, as "kitescope get" lists them.

func refCollection(c *model.Cluster, id model.CollectionID) model.Ref {
	return model.Ref{Resource: "collections", ID: id.String(), Name: c.CollectionName(id)}
}

func refVChannel(name string) model.Ref {
	return model.Ref{Resource: "vchannels", ID: name, Name: name}
}

func refSegment(id model.SegmentID) model.Ref {
	return model.Ref{Resource: "segments", ID: id.String()}
}

func refReplica(r *model.Replica) model.Ref {
	return model.Ref{Resource: "replicas", ID: r.ID.String()}
}

func refNode(role string, id model.NodeID) model.Ref {
	name := role + "-" + id.String()
	return model.Ref{Resource: "nodes", ID: name, Name: name}
}

// mentions reports whether a finding is about an object, or speaks of it.
func (f *Finding) mentions(ref model.Ref) bool {
	if f.Object.Resource == ref.Resource && f.Object.ID == ref.ID {
		return true
	}
	for i := range f.Objects {
		if f.Objects[i].Resource == ref.Resource && f.Objects[i].ID == ref.ID {
			return true
		}
	}
	return false
}

// shares reports whether two findings speak of a common object of a resource: a node, a collection.
func shares(resource string) func(*model.Cluster, *Finding, *Finding) bool {
	return func(_ *model.Cluster, effect, cause *Finding) bool {
		if effect.Object.Resource == resource && cause.mentions(effect.Object) {
			return true
		}
		for i := range effect.Objects {
			if effect.Objects[i].Resource == resource && cause.mentions(effect.Objects[i]) {
				return true
			}
		}
		return false
	}
}
