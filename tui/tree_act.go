package tui

import (
	"strings"

	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/tui/draw"
)

func (t *treePage) Can(m *Model, a Action) string {
	switch a {
	case ActOpen, ActDescribe, ActOwner, ActRelated, ActRight, ActLeft, ActExpandAll, ActCopyRow, ActFilter:
		if t.root == nil {
			return "no data yet"
		}
	}
	switch {
	case a == ActAll && t.root != nil && t.root.Left == 0 && !t.shown.All:
		return "nothing is left out"
	case a == ActWorst && (t.root == nil || t.root.Worst == (table.Tally{})):
		return "there are no findings about what is here"
	}
	l, ok := t.current()
	if !ok {
		return ""
	}
	switch a {
	case ActExpandAll:
		if len(l.node.Children) == 0 {
			return "there is nothing below"
		}
	case ActOwner:
		if l.depth == 0 {
			return "this is the top of the tree"
		}
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
		t.shown.All = !t.shown.All
		return t.Refresh(m)
	case ActWorst:
		t.shown.Worst = !t.shown.Worst
		return t.Refresh(m)
	case ActFilter:
		m.Prompt = FilterPrompt(t.filter, t.setFilter, func(*Model) string { return words.Number(len(t.lines)) + " lines" }, func(_ *Model, a Action) { t.Move(a, len(t.lines)) })
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
	case ActExpandAll:
		t.setBelow(l, !t.allOpen())
		t.flatten()
	case ActCopyRow:
		return m.Copy(l.node.Label, l.node.Kind+" "+l.node.Label)
	}
	return nil
}

// fold expands or collapses; where there is nothing to, it moves in that direction.
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
		m.Say(ToneWarn, l.node.Label+" has no row in "+r.Name)
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

// text is the tree as it is shown, without colours.
func (t *treePage) text() string {
	var b strings.Builder
	f := draw.Fields{Wide: true}
	for _, l := range t.lines {
		b.WriteString(draw.Pad(2*l.depth) + words.Harmless(l.node.Label) + "  " + f.Text(nil, l.node) + "\n")
	}
	return b.String()
}

func (t *treePage) Click(m *Model, x, y int) Cmd {
	i := t.top + y
	if i >= len(t.lines) {
		return nil
	}
	l := t.lines[i]
	onSign := x >= 1+2*l.depth && x < 3+2*l.depth
	if i == t.Cursor || onSign {
		t.Cursor = i
		return t.actOn(m, ActOpen, l)
	}
	t.Cursor = i
	return nil
}

func (t *treePage) Wheel(_ *Model, lines int) {
	t.Cursor += lines
	t.clamp(len(t.lines))
}
