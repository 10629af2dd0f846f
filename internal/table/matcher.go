package table

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/words"
)

// Matcher is a Selection bound to a table, with names resolved to ids and relative times to absolute ones.
// Match does not allocate unless a pattern is matched with a number.
type Matcher struct {
	table Table
	terms []boundTerm
	names []boundName
	ids   *idSet // replaces names if the selection consists of ids, otherwise nil
}

// boundTerm is a term whose values are resolved for a table.
type boundTerm struct {
	*term
	kind Kind
	// ids replace the values if byID is set. They are compared with the column idColumn.
	byID     bool
	idColumn int
	ids      []int64
	now      int64
	// nowUnknown terms count from the current time, which is unknown. They select nothing.
	nowUnknown bool
}

// boundName is a bare word with the columns to compare it with.
type boundName struct {
	*name
	value   value
	id      int64
	isID    bool
	columns []int
	// owner must match too, if the word has a slash.
	owner *boundTerm
	// ids are the ids that the word resolves to, in the table's own column of ids.
	ids      []int64
	idColumn int
}

// On binds the selection to a table.
func (s Selection) On(t Table) *Matcher {
	m := &Matcher{table: t}
	for i := range s.terms {
		m.terms = append(m.terms, bindTerm(t, &s.terms[i]))
	}
	if m.ids = s.idSet(); m.ids != nil {
		return m
	}
	for i := range s.names {
		m.names = append(m.names, s.bindName(t, &s.names[i]))
	}
	return m
}

// Match reports whether one row is selected. To match many rows, call On once.
func (s Selection) Match(t Table, row int) bool { return s.On(t).Match(row) }

func bindTerm(t Table, x *term) boundTerm {
	schema, now := t.Schema(), time.Time{}
	if c, ok := t.(interface{ Now() time.Time }); ok {
		now = c.Now()
	}
	c := &schema.Columns[x.column]
	b := boundTerm{term: x, kind: c.Kind, now: now.UnixNano()}
	b.nowUnknown = now.IsZero() && slices.ContainsFunc(x.values, func(v value) bool { return v.when.FromNow() })
	if c.Vocabulary {
		b.kind = State
	}
	if c.IDColumn == "" || x.op != equal && x.op != unequal {
		return b
	}
	b.idColumn = schema.Column(c.IDColumn)
	b.byID = true
	for i := range x.values {
		v := &x.values[i]
		if v.glob != nil || v.absent {
			b.byID = false // only names can be compared
			return b
		}
		b.ids = append(b.ids, resolve(t, x.column, v.text)...)
	}
	return b
}

// resolve returns the ids that a word in a column refers to.
func resolve(t Table, column int, word string) []int64 {
	if c, ok := t.(Context); ok {
		return c.Resolve(column, word)
	}
	return nil
}

func (s Selection) bindName(t Table, n *name) boundName {
	r := t.Schema()
	b := boundName{name: n, value: parseText(n.text), idColumn: -1}
	named := -1
	if v, err := strconv.ParseInt(n.text, 10, 64); err == nil {
		b.id, b.isID = v, true
	}
	for _, column := range r.Names {
		i := r.Column(column)
		b.columns = append(b.columns, i)
		if ids := r.Columns[i].IDColumn; ids != "" && b.value.glob == nil {
			b.idColumn, named = r.Column(ids), i
		}
	}
	if b.idColumn >= 0 {
		b.ids = resolve(t, named, n.text)
	}
	if n.owner != "" {
		x := &term{column: s.ownerColumn(), op: equal, values: []value{parseText(n.owner)}}
		bound := bindTerm(t, x)
		b.owner = &bound
	}
	return b
}

// Match reports whether a row is selected.
func (m *Matcher) Match(row int) bool {
	for i := range m.terms {
		if !m.terms[i].match(m.table, row) {
			return false
		}
	}
	return m.matchNames(row)
}

func (m *Matcher) matchNames(row int) bool {
	if m.ids != nil {
		_, ok := m.ids.lookup(m.table, row)
		return ok
	}
	wanted, found := false, false
	for i := range m.names {
		n := &m.names[i]
		if n.not && n.match(m.table, row) {
			return false
		}
		if !n.not {
			wanted = true
			found = found || n.match(m.table, row)
		}
	}
	return found || !wanted
}

func (n *boundName) match(t Table, row int) bool {
	if n.owner != nil && !n.owner.match(t, row) {
		return false
	}
	if len(n.ids) > 0 && slices.Contains(n.ids, t.Cell(row, n.idColumn).Int) {
		return true
	}
	r := t.Schema()
	for _, i := range n.columns {
		c := t.Cell(row, i)
		if c.Absent != Present {
			continue
		}
		if r.Columns[i].Kind == ID || r.Columns[i].Kind == NamedID {
			if n.isID && c.Int == n.id || n.value.glob != nil && n.value.glob.match(strconv.FormatInt(c.Int, 10)) {
				return true
			}
			continue
		}
		if equalText(&n.value, r.Columns[i].Kind, c) {
			return true
		}
	}
	return false
}

func (b *boundTerm) match(t Table, row int) bool {
	if b.byID {
		id := t.Cell(row, b.idColumn)
		if id.Absent == Unknown {
			return false
		}
		return (id.Absent == Present && slices.Contains(b.ids, id.Int)) == (b.op == equal)
	}
	c := t.Cell(row, b.column)
	if c.Absent == Unknown || b.nowUnknown {
		return false
	}
	switch b.op {
	case equal:
		return b.anyEqual(c)
	case unequal:
		return !b.anyEqual(c)
	case like:
		return b.like(c)
	case unlike:
		return !b.like(c)
	default:
		return c.Absent == Present && b.compare(c)
	}
}

func (b *boundTerm) anyEqual(c Cell) bool {
	for i := range b.values {
		v := &b.values[i]
		if v.absent {
			if isAbsent(b.kind, c) {
				return true
			}
			continue
		}
		if c.Absent != Present {
			continue
		}
		if b.key != "" {
			if anyEntry(c, b.key, func(s string) bool { return equalWord(v, s, b.kind.Named()) }) {
				return true
			}
			continue
		}
		if b.equal(v, c) {
			return true
		}
	}
	return false
}

func isAbsent(k Kind, c Cell) bool {
	return c.Absent == None || len(c.List) == 0 && (k == List || k == Pairs || k == NamedIDs || k == NamedPairs)
}

func (b *boundTerm) equal(v *value, c Cell) bool {
	switch b.kind {
	case Text, State, List, Pairs, NamedIDs, NamedPairs, NamedText:
		return equalText(v, b.kind, c)
	case NamedID:
		return equalNamed(v, c)
	case Percent, Number, Exact:
		return c.Float == v.number || shownAs(b.kind, c, v.text)
	default:
		from, to := b.bounds(v)
		return c.Int >= from && (c.Int < to || from == to && c.Int == from) || shownAs(b.kind, c, v.text)
	}
}

// unspaced removes characters that users leave out: "1.2MiB", "50".
var unspaced = strings.NewReplacer(" ", "", "%", "")

// shownAs reports whether a table displays a cell as text. Few sizes are exactly 1.2 MiB.
func shownAs(k Kind, c Cell, text string) bool {
	var shown string
	switch k {
	case Bytes:
		shown = words.Bytes(c.Int)
	case Percent:
		shown = words.Percent(c.Float)
	case Duration:
		shown = words.Age(time.Duration(c.Int))
	default:
		return false
	}
	return strings.EqualFold(unspaced.Replace(shown), unspaced.Replace(text))
}

func (b *boundTerm) bounds(v *value) (from, to int64) {
	if v.when.FromNow() {
		from, to := v.when.In(time.Unix(0, b.now))
		return from.UnixNano(), to.UnixNano()
	}
	return v.from, v.to
}

func (b *boundTerm) compare(c Cell) bool {
	v := &b.values[0]
	if isFloat(b.kind) {
		switch b.op {
		case greater:
			return c.Float > v.number
		case greaterEqual:
			return c.Float >= v.number
		case less:
			return c.Float < v.number
		default:
			return c.Float <= v.number
		}
	}
	from, to := b.bounds(v)
	switch b.op {
	case greater:
		return c.Int >= to && (from != to || c.Int > to)
	case greaterEqual:
		return c.Int >= from
	case less:
		return c.Int < from
	default:
		return c.Int < to || from == to && c.Int == from
	}
}

func (b *boundTerm) like(c Cell) bool {
	re := b.values[0].pattern
	if c.Absent != Present {
		return false
	}
	switch b.kind {
	case Text, State:
		return re.MatchString(c.Text)
	case NamedID:
		return re.MatchString(c.Text)
	case List, NamedIDs, NamedText:
		return slices.ContainsFunc(c.List, re.MatchString)
	case Pairs, NamedPairs:
		if b.key != "" {
			return anyEntry(c, b.key, re.MatchString)
		}
		for i := 0; i+1 < len(c.List); i += 2 {
			if re.MatchString(c.List[i] + "=" + c.List[i+1]) {
				return true
			}
		}
		return false
	case Percent, Number, Exact:
		return re.Match(strconv.AppendFloat(nil, c.Float, 'g', -1, 64))
	default:
		return re.Match(strconv.AppendInt(nil, c.Int, 10))
	}
}

// equalText compares a value with a text, with each element of a list, or with each key or "key=value" of pairs.
func equalText(v *value, k Kind, c Cell) bool {
	switch k {
	case NamedIDs, NamedText:
		return slices.ContainsFunc(c.List, func(s string) bool { return equalWord(v, s, true) })
	case List:
		return slices.ContainsFunc(c.List, func(s string) bool { return equalWord(v, s, false) })
	case Pairs, NamedPairs:
		key, val, both := strings.Cut(v.text, "=")
		return anyEntry(c, key, func(s string) bool {
			return !both || s == val || k == NamedPairs && strings.EqualFold(s, val)
		})
	default:
		return equalWord(v, c.Text, k == State)
	}
}

// equalNamed compares a value with the id, or with the name regardless of case.
func equalNamed(v *value, c Cell) bool {
	if v.named {
		return equalWord(v, c.Text, true)
	}
	return c.Int == v.from
}

func equalWord(v *value, s string, anyCase bool) bool {
	if anyCase {
		if v.glob != nil {
			return newGlob(strings.ToLower(v.text)).match(strings.ToLower(s))
		}
		return strings.EqualFold(v.text, s)
	}
	if v.glob != nil {
		return v.glob.match(s)
	}
	return v.text == s
}

// anyEntry reports whether match accepts a value of the given key in a cell of pairs.
func anyEntry(c Cell, key string, match func(string) bool) bool {
	for i := 0; i+1 < len(c.List); i += 2 {
		if c.List[i] == key && match(c.List[i+1]) {
			return true
		}
	}
	return false
}
