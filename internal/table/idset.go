package table

import "strconv"

// idSet is a selection by ids only. Scripts pass thousands of ids, and comparing each id with each row would take
// quadratic time.
type idSet struct {
	ids    map[int64]bool
	column int
}

// idSet returns nil unless all names are plain ids and ids are the only names that the table has.
func (s Selection) idSet() *idSet {
	if len(s.names) == 0 || len(s.schema.Names) != 1 || !s.onlyIDs() {
		return nil
	}
	set := &idSet{ids: make(map[int64]bool, len(s.names)), column: s.schema.Column(s.schema.Names[0])}
	for i := range s.names {
		n := &s.names[i]
		id, err := strconv.ParseInt(n.text, 10, 64)
		if err != nil || n.not || n.owner != "" {
			return nil
		}
		set.ids[id] = true
	}
	return set
}

// lookup returns a row's id and whether the set contains it.
func (s *idSet) lookup(t Table, row int) (int64, bool) {
	c := t.Cell(row, s.column)
	return c.Int, c.Absent == Present && s.ids[c.Int]
}

// missing returns the words of names whose ids no row has.
func (s *idSet) missing(t Table, names []name) []string {
	found := make(map[int64]bool, len(s.ids))
	for row := 0; row < t.Len() && len(found) < len(s.ids); row++ {
		if id, ok := s.lookup(t, row); ok {
			found[id] = true
		}
	}
	var words []string
	for i := range names {
		if id, err := strconv.ParseInt(names[i].text, 10, 64); err == nil && !found[id] {
			words = append(words, names[i].word)
		}
	}
	return words
}
