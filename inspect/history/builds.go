package history

import (
	"strconv"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
)

// buildKey is an index on a segment.
type buildKey struct {
	segment model.SegmentID
	build   model.BuildID
}

// buildBefore is what is kept of an index on a segment.
type buildBefore struct {
	state  model.IndexState
	object int32 // in the pool, from 1 on; 0: nothing was told of it
}

// buildTable has what is kept of indexes on segments. Places of those that are gone stay: what was told of one goes on if it comes back.
type buildTable struct {
	at   map[buildKey]int32
	list []buildBefore
}

func (t *buildTable) find(key buildKey) *buildBefore {
	i, ok := t.at[key]
	if !ok {
		i = int32(len(t.list))
		t.at[key] = i
		t.list = append(t.list, buildBefore{})
	}
	return &t.list[i]
}

// takeIndex tells when the files of an index are finished, or cannot be made.
func (r *Reader) takeIndex(x *meta.IndexBrief, gone bool) bool {
	now := r.builds.find(buildKey{x.Segment, x.Build})
	old := now.state
	if gone {
		now.state = model.IndexStateNone
		return false
	}
	now.state = x.State
	if r.beginning || old == x.State {
		return false
	}
	e := entry{collection: x.Collection}
	switch x.State {
	case model.IndexFinished:
		e.kind, e.form, e.detail = indexBuilt, detailBuiltBy, int64(x.Node)
	case model.IndexFailed, model.IndexRetry:
		e.kind = indexFailed
		e.setDetail(r.pool.text(x.FailReason))
	default:
		return false
	}
	e.before, e.after = r.pool.indexState(old), r.pool.indexState(x.State)
	now.object = r.pool.build(now.object, object{is: isBuild, segment: x.Segment, index: x.Index, build: x.Build, name: r.indexes[x.Index]})
	e.object = now.object - 1
	return r.enter(&e)
}

func indexStateText(s model.IndexState) string {
	if s == model.IndexStateNone {
		return ""
	}
	return s.String()
}

// builtText is where an index was built, and by which node if that is known.
func builtText(segment model.SegmentID, node int64) string {
	text := "on segment " + segment.String()
	if node != 0 {
		text += " by node " + strconv.FormatInt(node, 10)
	}
	return text
}
