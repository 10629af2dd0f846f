package history

import (
	"maps"
	"slices"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// entry is an Event as it is kept. There may be hundreds of thousands: it has no pointer, and texts are in the pool.
type entry struct {
	first, last   int64
	collection    model.CollectionID
	detail        int64 // what it is, form says
	count         int32
	object        int32
	before, after text
	// via is what was in between, of a group.
	via  text
	kind kindID
	form detailForm
}

// detailForm says what the number of a detail means: most details are made of a number, and so are of one text each.
type detailForm uint8

const (
	detailText      detailForm = iota // a text of the pool
	detailRows                        // so many rows
	detailCompacted                   // into a segment
	detailBuiltBy                     // a node, of the index on a segment that the event is about
)

func (e *entry) setDetail(t text) { e.form, e.detail = detailText, int64(t) }

// text is a position in the texts of a pool; 0 is "".
type text int32

// object is what an event is about.
type object struct {
	segment model.SegmentID // it, or what an index is on
	index   model.IndexID
	build   model.BuildID
	name    text  // of an index
	other   int32 // the position of one of the others
	is      objectKind
}

// objectKind says what of an object is set.
type objectKind uint8

const (
	isOther objectKind = iota
	isSegment
	isBuild // an index on a segment
)

// pool keeps each text and each object once.
type pool struct {
	texts   []string
	textOf  map[string]text
	objects []object
	others  []model.Ref
	otherOf map[model.Ref]int32 // by a Ref without its name
	names   map[model.CollectionID]string
	// Texts of states of segments and of indexes, as far as they are in order; 0: not yet made.
	states      [256]text
	indexStates [16]text
}

func newPool() *pool {
	return &pool{
		texts: []string{""}, textOf: map[string]text{"": 0}, otherOf: map[model.Ref]int32{},
		names: map[model.CollectionID]string{},
	}
}

func (p *pool) text(s string) text {
	t, ok := p.textOf[s]
	if !ok {
		t = text(len(p.texts))
		p.texts = append(p.texts, s)
		p.textOf[s] = t
	}
	return t
}

// state is the text of a segment's state.
func (p *pool) state(s segmentBefore) text {
	const states, levels = 32, 4
	if s.state >= states || s.level >= levels {
		return p.text(stateText(s))
	}
	at := (int(s.state)*levels + int(s.level)) * 2
	if s.invisible {
		at++
	}
	if p.states[at] == 0 {
		p.states[at] = p.text(stateText(s))
	}
	return p.states[at]
}

func (p *pool) add(o object) int32 {
	p.objects = append(p.objects, o)
	return int32(len(p.objects)) - 1
}

// segment numbers a segment of which nothing was told.
func (p *pool) segment(id model.SegmentID) int32 { return p.add(object{is: isSegment, segment: id}) }

// indexState is the text of the state of an index.
func (p *pool) indexState(s model.IndexState) text {
	if int(s) >= len(p.indexStates) {
		return p.text(indexStateText(s))
	}
	if p.indexStates[s] == 0 && s != model.IndexStateNone {
		p.indexStates[s] = p.text(indexStateText(s))
	}
	return p.indexStates[s]
}

// build numbers an index on a segment, from 1 on, that had a number, 0: none; the newest name counts.
func (p *pool) build(known int32, o object) int32 {
	if known > 0 && p.objects[known-1].index == o.index {
		if o.name != 0 {
			p.objects[known-1].name = o.name
		}
		return known
	}
	return p.add(o) + 1
}

// object numbers a Ref by resource and id; the newest name counts.
func (p *pool) object(ref model.Ref) int32 {
	name := ref.Name
	ref.Name = ""
	i, ok := p.otherOf[ref]
	if !ok {
		i = p.add(object{other: int32(len(p.others))})
		p.others = append(p.others, ref)
		p.otherOf[ref] = i
	}
	if name != "" {
		p.others[p.objects[i].other].Name = name
	}
	return i
}

// ref is the object of a number.
func (p *pool) ref(i int32) model.Ref {
	o := &p.objects[i]
	switch o.is {
	case isSegment:
		return model.Ref{Resource: segments, ID: o.segment.String()}
	case isBuild:
		id := o.segment.String() + "/" + o.index.String() + "/" + o.build.String()
		return model.Ref{Resource: segmentIndexes, ID: id, Name: p.texts[o.name]}
	default:
		return p.others[o.other]
	}
}

// upTo is the pool as it is, to be read while it grows: texts are only added, objects are renamed.
func (p *pool) upTo() *pool {
	return &pool{texts: slices.Clip(p.texts), objects: slices.Clone(p.objects), others: slices.Clone(p.others), names: maps.Clone(p.names)}
}

// detailOf is the detail of an entry.
func (p *pool) detailOf(e *entry) string {
	switch e.form {
	case detailRows:
		return words.Count(e.detail, "row", "rows")
	case detailCompacted:
		return "compacted into " + model.SegmentID(e.detail).String()
	case detailBuiltBy:
		return builtText(p.objects[e.object].segment, e.detail)
	default:
		return p.texts[e.detail]
	}
}

// brief is an event without its message.
func (p *pool) brief(e *entry, clock *meta.Clock) Event {
	out := Event{
		Revision: e.first, Last: e.last, Count: int(e.count), Kind: kinds[e.kind].name, Object: p.ref(e.object),
		Before: p.texts[e.before], After: p.texts[e.after],
	}
	out.Time, out.Error = dated(clock, e.first)
	out.LastTime, _ = dated(clock, e.last)
	if e.collection != 0 {
		out.Collection = model.Ref{Resource: collections, ID: e.collection.String(), Name: p.names[e.collection]}
	}
	return out
}

func (p *pool) event(e *entry, clock *meta.Clock) Event {
	out := p.brief(e, clock)
	out.Message = message(&out, kinds[e.kind].words, p.texts[e.via], p.detailOf(e))
	return out
}
