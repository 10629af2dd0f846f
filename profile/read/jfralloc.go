package read

import (
	"fmt"
	"math"
	"strings"

	"kitescope/profile"
)

// The events of a Java Flight Recording that are samples of allocations (jdk/jfr/conf/*.jfc, and metadata.xml of
// hotspot's jfr). The first two are of the object for which a thread takes a new buffer (TLAB), or of one that fits into
// none; the third, of Java 16 and later, is a choice of both that has a bound a second.
const (
	allocInBuffer = "jdk.ObjectAllocationInNewTLAB"
	allocOutside  = "jdk.ObjectAllocationOutsideTLAB"
	allocSample   = "jdk.ObjectAllocationSample"
)

// jfrAlloc are the indexes of the types of allocations: objects is 0 where nothing tells how large they were.
type jfrAlloc struct {
	objects, space, samples int
	n, total                int64
}

// alloc adds a sample of an allocation. What it stands for is the buffer that was filled, or the bytes that were allocated
// since the sample before (weight); so many objects of its size were in those.
func (s *jfrSamples) alloc(e *jfrEvent) error {
	of, weight, size := &s.buffers, e.Values.Size, e.Values.Size
	switch e.Type {
	case allocInBuffer:
		weight = e.Values.Buffer
	case allocSample:
		of, weight, size = &s.chosen, e.Values.Weight, 0
	}
	if weight <= 0 {
		s.weightless++
		return nil
	}
	if of.n == 0 {
		s.allocTypes(of, size > 0)
	}
	of.n++
	var err error
	if of.total, err = plus(of.total, weight); err != nil {
		return err
	}
	values := make([]int64, len(s.b.Meta().Types))
	values[of.space], values[of.samples] = weight, 1
	if size > 0 && of.objects > 0 {
		values[of.objects] = max(1, int64(math.Round(float64(weight)/float64(size))))
	}
	if class := e.Values.Class; class != nil && class.Name != "" {
		return s.add(e, values, profile.Label{Key: "class", Str: javaName(class.Name)})
	}
	return s.add(e, values)
}

// allocTypes adds the types of one way of sampling. Names are those of Go's heap profiles.
func (s *jfrSamples) allocTypes(of *jfrAlloc, sized bool) {
	add := func(kind, unit string) int {
		s.b.AddType(profile.ValueType{Type: kind, Unit: unit}, -1)
		return len(s.b.Meta().Types) - 1
	}
	if sized {
		of.objects = add("alloc_objects", "count")
	}
	of.space = add("alloc_space", "bytes")
	of.samples = add("alloc_space samples", "count")
}

// allocated ends a profile: both ways of sampling allocations tell the same, so that one is left out, and types of which
// there was nothing are.
func (s *jfrSamples) allocated(p *profile.Profile) *profile.Profile {
	without := map[int]bool{}
	if s.threads == 0 {
		without[0] = true
	}
	if s.buffers.n > 0 && s.chosen.n > 0 {
		p.Notes = append(p.Notes, profile.Note{
			What:  fmt.Sprintf("events %s skipped: %s and related events report the same allocations", allocSample, allocInBuffer),
			Count: s.chosen.n,
		})
		without[s.chosen.space], without[s.chosen.samples] = true, true
	}
	if s.weightless > 0 {
		p.Notes = append(p.Notes, profile.Note{What: "allocations without a size were left out", Count: s.weightless})
	}
	if s.threads == 0 {
		p.DefaultType = "alloc_space"
	}
	return withoutTypes(p, without)
}

// withoutTypes drops types, and the samples that have no value of the others.
func withoutTypes(p *profile.Profile, without map[int]bool) *profile.Profile {
	if len(without) == 0 {
		return p
	}
	q := *p
	q.Types, q.Values, q.Stacks, q.Starts, q.LabelOf = nil, nil, nil, []uint32{0}, nil
	for kind, t := range p.Types {
		if !without[kind] {
			q.Types = append(q.Types, t)
		}
	}
	for i := range p.Len() {
		kept, some := q.Values, false
		for kind := range p.Types {
			if !without[kind] {
				kept = append(kept, p.Value(i, kind))
				some = some || p.Value(i, kind) != 0
			}
		}
		if !some {
			continue
		}
		q.Values = kept
		q.Stacks = append(q.Stacks, p.Stack(i)...)
		q.Starts = append(q.Starts, uint32(len(q.Stacks)))
		if p.LabelOf != nil {
			q.LabelOf = append(q.LabelOf, p.LabelOf[i])
		}
	}
	return &q
}

// javaName is the name of a class as people write it: "[Ljava/lang/Object;" is java.lang.Object[], "[[B" byte[][].
func javaName(name string) string {
	element := strings.TrimLeft(name, "[")
	depth := len(name) - len(element)
	if depth > 0 {
		if word, ok := javaPrimitives[element]; ok {
			element = word
		} else {
			element = strings.TrimSuffix(strings.TrimPrefix(element, "L"), ";")
		}
	}
	return strings.ReplaceAll(element, "/", ".") + strings.Repeat("[]", depth)
}

// javaPrimitives are the letters of descriptors (The Java Virtual Machine Specification, 4.3.2).
var javaPrimitives = map[string]string{
	"B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long", "S": "short", "Z": "boolean",
}
