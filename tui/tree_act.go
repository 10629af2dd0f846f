package tui

import (
	"strings"

	"kitescope/inspect/view"
	"kitescope/tui/draw"
	"kitescope/words"
)

func (t *treePage) can(m *Model, a action) string {
	switch a {
	case actOpen, actDescribe, actOwner, actRelated, actRight, actLeft, actExpandAll, actCollapseAll, actCopyRow, actFilter:
		if t.root == nil {
			return "no data yet"
		}
	default:
	}
	l, ok := t.current()
	if !ok {
		return ""
	}
	switch a {
	case actExpandAll, actCollapseAll:
		if len(l.node.Children) == 0 {
			return "there is nothing below"
		}
	case actOwner:
		if l.depth == 0 {
			return "this is the top of the tree"
		}
	default:
	}
	return ""
}

func (t *treePage) act(m *Model, a action) cmd {
	l, ok := t.current()
	if ok && (a == actLeft || a == actRight) {
		t.fold(a, l)
		return nil
	}
	if t.move(a, len(t.lines)) {
		return nil
	}
	switch a {
	case actBack:
		if t.filter != "" {
			return t.setFilter(m, "")
		}
		return m.back()
	case actFilter:
		m.prompt = filterPrompt(t.filter, t.setFilter, func(*Model) string { return words.Number(len(t.lines)) + " lines" }, func(_ *Model, a action) { t.move(a, len(t.lines)) })
		return nil
	case actSave:
		return save(m, fileName("tree", t.word)+".txt", textWriter(t.text()))
	default:
	}
	if ok {
		return t.actOn(m, a, l)
	}
	return nil
}

// actOn performs an action on the current node.
func (t *treePage) actOn(m *Model, a action, l treeLine) cmd {
	switch a {
	case actOpen:
		if len(l.node.Children) == 0 {
			return m.push(newDetailPage(l.node.Ref))
		}
		t.open[l.key()] = !l.open
		t.flatten()
	case actDescribe:
		return m.push(newDetailPage(l.node.Ref))
	case actOwner:
		t.toParent(l)
	case actRelated:
		return t.related(m, l)
	case actExpandAll, actCollapseAll:
		t.setBelow(l, a == actExpandAll)
		t.flatten()
	case actCopyRow:
		return m.copyText(l.node.Label, l.node.Kind+" "+l.node.Label)
	default:
	}
	return nil
}

// fold expands or collapses; where there is nothing to, it moves in that direction.
func (t *treePage) fold(a action, l treeLine) {
	switch {
	case a == actRight && !l.open && len(l.node.Children) > 0:
		t.open[l.key()] = true
		t.flatten()
	case a == actRight && l.open:
		t.move(actDown, len(t.lines))
	case a == actLeft && l.open:
		t.open[l.key()] = false
		t.flatten()
	case a == actLeft:
		t.toParent(l)
	}
}

func (t *treePage) toParent(l treeLine) {
	for i := t.cursor; i >= 0; i-- {
		if t.lines[i].depth < l.depth {
			t.cursor = i
			t.clamp(len(t.lines))
			return
		}
	}
}

func (t *treePage) related(m *Model, l treeLine) cmd {
	r := m.resource(l.node.Ref.Resource)
	if r == nil {
		return nil
	}
	table := r.Table(t.env)
	row := view.RowOf(table, l.node.Ref.ID)
	if row < 0 {
		m.say(toneWarn, l.node.Label+" has no row in "+r.Name)
		return nil
	}
	m.menu = relatedMenu(m, table, row)
	return nil
}

func (t *treePage) setFilter(_ *Model, text string) cmd {
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
	f := fieldLayout{wide: true, widest: map[string]int{}}
	for _, l := range t.lines {
		b.WriteString(draw.Pad(2*l.depth) + words.Harmless(l.node.Label) + "  " + f.text(nil, l.node) + "\n")
	}
	return b.String()
}

func (t *treePage) click(m *Model, x, y int) cmd {
	i := t.top + y
	if i >= len(t.lines) {
		return nil
	}
	l := t.lines[i]
	onSign := x >= 1+2*l.depth && x < 3+2*l.depth
	if i == t.cursor || onSign {
		t.cursor = i
		return t.actOn(m, actOpen, l)
	}
	t.cursor = i
	return nil
}

func (t *treePage) wheel(_ *Model, lines int) {
	t.cursor += lines
	t.clamp(len(t.lines))
}
