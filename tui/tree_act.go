package tui

import (
	"strings"

	"kitescope/inspect/view"
	"kitescope/internal/words"
	"kitescope/tui/draw"
)

func (t *treePage) Can(_ *Model, a Action) string {
	switch a {
	case ActOpen, ActDescribe, ActOwner, ActRelated, ActRight, ActLeft, ActCopyRow, ActFilter:
		if t.root == nil {
			return "no data yet"
		}
	}
	if a == ActAll && t.root != nil && t.root.Omitted == 0 && !t.options.All {
		return "nothing is hidden"
	}
	if l, ok := t.current(); ok && a == ActOwner && l.depth == 0 {
		return "this is the top of the tree"
	}
	return ""
}

func (t *treePage) Act(m *Model, a Action) Cmd {
	l, ok := t.current()
	if ok && (a == ActLeft || a == ActRight) {
		t.fold(a, l)
		return nil
	}
	if t.Move(a, len(t.lines)) {
		return nil
	}
	switch a {
	case ActBack:
		if t.filter != "" {
			return t.setFilter(m, "")
		}
		return m.Back()
	case ActAll:
		t.options.All = !t.options.All
		return t.Refresh(m)
	case ActFilter:
		m.Prompt = FilterPrompt(t.filter, t.setFilter, func(*Model) string {
			return words.Number(len(t.lines)) + " lines"
		})
		return nil
	case ActSave:
		return Save(m, FileName("tree", t.word)+".txt", TextWriter(t.text()))
	}
	if ok {
		return t.actOn(m, a, l)
	}
	return nil
}

// actOn performs an action on the current node.
func (t *treePage) actOn(m *Model, a Action, l treeLine) Cmd {
	switch a {
	case ActOpen:
		if len(l.node.Children) == 0 {
			return m.Push(newDetailPage(l.node.Ref))
		}
		t.open[l.key()] = !l.open
		t.flatten()
	case ActDescribe:
		return m.Push(newDetailPage(l.node.Ref))
	case ActOwner:
		t.toParent(l)
	case ActRelated:
		return t.related(m, l)
	case ActCopyRow:
		return m.Copy(l.node.Label, l.node.Kind+" "+l.node.Label)
	}
	return nil
}

// fold expands or collapses a node. If there is nothing to fold, it moves down or to the parent.
func (t *treePage) fold(a Action, l treeLine) {
	switch {
	case a == ActRight && !l.open && len(l.node.Children) > 0:
		t.open[l.key()] = true
		t.flatten()
	case a == ActRight && l.open:
		t.Move(ActDown, len(t.lines))
	case a == ActLeft && l.open:
		t.open[l.key()] = false
		t.flatten()
	case a == ActLeft:
		t.toParent(l)
	}
}

func (t *treePage) toParent(l treeLine) {
	for i := t.Cursor; i >= 0; i-- {
		if t.lines[i].depth < l.depth {
			t.Cursor = i
			t.clamp(len(t.lines))
			return
		}
	}
}

func (t *treePage) related(m *Model, l treeLine) Cmd {
	r := m.resource(l.node.Ref.Resource)
	if r == nil {
		return nil
	}
	rows := r.Table(t.env)
	row := view.RowOf(rows, l.node.Ref.ID)
	if row < 0 {
		m.Notify(ToneWarn, l.node.Label+" has no row in "+r.Name)
		return nil
	}
	m.Menu = relatedMenu(m, rows, row)
	return nil
}

func (t *treePage) setFilter(_ *Model, text string) Cmd {
	at, had := t.current()
	t.filter = strings.ToLower(strings.TrimSpace(text))
	t.flatten()
	if had {
		t.goBack(at.key())
	}
	return nil
}

// text returns the visible tree without colours.
func (t *treePage) text() string {
	var b strings.Builder
	f := draw.Fields{Wide: true}
	for _, l := range t.lines {
		b.WriteString(draw.Pad(2*l.depth) + words.Sanitize(l.node.Label) + "  " + f.Text(nil, l.node) + "\n")
	}
	return b.String()
}
