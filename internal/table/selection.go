package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Selection says which rows of a table are wanted. The zero Selection wants all.
//
// Terms on columns must all hold; of bare words (names) one must. See ParseSelection.
type Selection struct {
	schema *Schema
	terms  []term
	names  []name
}

// name is a bare word: "docs", "tenant_a.orders", "docs/_default", "!tmp*".
type name struct {
	word string
	// owner is what stands before a slash: "docs" of "docs/_default".
	owner string
	text  string
	not   bool
}

// term is one word about one column.
type term struct {
	word   string // as given
	column int
	op     operator
	// values are alternatives: "a,b" of "state=a,b".
	values []value
	// key is what follows a dot: "M" of "params.M=16".
	key string
}

type operator uint8

const (
	equal operator = iota
	unequal
	greater
	greaterEqual
	less
	lessEqual
	like
	unlike
)

// operators in the order in which they are looked for: the longer first.
var operators = []struct {
	text string
	op   operator
}{
	{"!=", unequal},
	{">=", greaterEqual},
	{"<=", lessEqual},
	{"!~", unlike},
	{"==", equal},
	{"=", equal},
	{">", greater},
	{"<", less},
	{"~", like},
}

// ParseSelection reads the words of a selection.
//
//	state=growing            equal; words of State columns in any case; * is a wildcard in texts
//	state=growing,sealed     one of several; "a,b" in quotes is one value
//	state!=dropped           not equal
//	rows>1e6 size>=1GiB      numbers, with k M G T, sizes with KiB MB and so on
//	checkpoint_age>5m        durations: 90s 5m 2h30m 3d
//	created_at<2026-11-01    times: 2026-11-01, 09:14, RFC 3339, 3h before now
//	indexed<50%              percentages
//	name~^tmp                regular expression (RE2), !~ for none that match
//	aliases=prod             lists: contains
//	params.M=16              one entry of pairs
//	collection=tenant.docs   collections: by name, database.name, alias or id
//	watcher=                 has no value
//	docs                     a name or id; several words are alternatives; !docs excludes
//	docs/_default            a name inside a collection
//
// Cells that are unknown are never selected. The error names the word.
func ParseSelection(schema *Schema, words []string) (Selection, error) {
	s := Selection{schema: schema}
	for _, word := range words {
		if strings.TrimSpace(word) == "" {
			continue
		}
		if err := s.add(word); err != nil {
			return Selection{}, fmt.Errorf("selector %q: %w", word, err)
		}
	}
	return s, nil
}

func (s *Selection) add(word string) error {
	column, op, rest, ok := splitWord(word)
	if !ok {
		return s.addName(word)
	}
	columnName, key, _ := strings.Cut(strings.ToLower(column), ".")
	i := s.schema.Column(columnName)
	if i < 0 {
		return s.schema.unknownColumn(columnName)
	}
	if ids := s.schema.Numbered(i); ids >= 0 {
		i = ids // has the same names, and finds them by number, too
	}
	if key != "" {
		if kind := s.schema.Columns[i].Kind; kind != Pairs && kind != NamedPairs {
			return fmt.Errorf("%s has no entries", columnName)
		}
		key = column[len(columnName)+1:] // in the case as given
	}
	values, err := parseValues(&s.schema.Columns[i], op, key != "", rest)
	if err != nil {
		return err
	}
	s.terms = append(s.terms, term{word: word, column: i, op: op, values: values, key: key})
	return nil
}

// splitWord finds the operator. What stands before it must look like a column, so
// that "a=b" inside a quoted name is no term.
func splitWord(word string) (column string, op operator, rest string, ok bool) {
	i := strings.IndexAny(word, "=!<>~")
	if i <= 0 {
		return "", 0, "", false
	}
	for _, c := range word[:i] {
		if !isColumnRune(c) {
			return "", 0, "", false
		}
	}
	for _, o := range operators {
		if after, found := strings.CutPrefix(word[i:], o.text); found {
			return word[:i], o.op, after, true
		}
	}
	return "", 0, "", false
}

func isColumnRune(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-' || c == ' '
}

func (s *Selection) addName(word string) error {
	n := name{word: word}
	n.text, n.not = strings.CutPrefix(word, "!")
	if n.text == "" {
		return fmt.Errorf("no name after %q", "!")
	}
	if before, after, ok := strings.Cut(n.text, "/"); ok && before != "" && after != "" && s.qualifies() {
		n.owner, n.text = before, after
	}
	if s.onlyIDs() && !strings.Contains(n.text, "*") {
		if _, err := strconv.ParseInt(n.text, 10, 64); err != nil {
			return s.noID(n.text)
		}
	}
	if len(s.schema.Names) == 0 {
		return fmt.Errorf("%s have no names; use column=value", s.schema.Name)
	}
	s.names = append(s.names, n)
	return nil
}

// qualifies reports whether "collection/name" is understood: rows belong to something with a name, and their own names
// hold no slash.
func (s *Selection) qualifies() bool { return s.ownerColumn() >= 0 && !s.schema.Slashes }

func (s *Selection) onlyIDs() bool {
	for _, column := range s.schema.Names {
		if s.schema.Columns[s.schema.Column(column)].Kind != ID {
			return false
		}
	}
	return len(s.schema.Names) > 0
}

func (s *Selection) noID(text string) error {
	if i := s.ownerColumn(); i >= 0 {
		return fmt.Errorf("%s have ids, not names; did you mean %s=%s?", s.schema.Name, s.schema.Columns[i].Name, text)
	}
	return fmt.Errorf("%s have ids, not names", s.schema.Name)
}

// ownerColumn is the column that names what rows belong to, such as collections, -1 if there is none.
func (s *Selection) ownerColumn() int {
	if s.schema == nil {
		return -1
	}
	return slices.IndexFunc(s.schema.Columns, func(c Column) bool { return c.By != "" })
}

// Empty reports whether every row is selected.
func (s Selection) Empty() bool { return len(s.terms) == 0 && len(s.names) == 0 }

// Words are the selection as it was given.
func (s Selection) Words() []string {
	var words []string
	for _, n := range s.names {
		words = append(words, n.word)
	}
	for _, t := range s.terms {
		words = append(words, t.word)
	}
	return words
}

// Columns are the columns that decide.
func (s Selection) Columns() []int {
	var list []int
	for _, t := range s.terms {
		list = append(list, t.column)
		if ids := s.schema.Columns[t.column].By; ids != "" {
			list = append(list, s.schema.Column(ids))
		}
	}
	if len(s.names) > 0 {
		for _, column := range s.schema.Names {
			list = append(list, s.schema.Column(column))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Only is the one value that a term demands of a column of which is reports true, "" if there is none.
func (s Selection) Only(is func(c *Column) bool) string {
	for _, t := range s.terms {
		if is(&s.schema.Columns[t.column]) && t.op == equal && len(t.values) == 1 && t.values[0].glob == nil {
			return t.values[0].text
		}
	}
	return ""
}

// Name is the one bare word of the selection, and the owner in front of its slash; ok is false if there is not exactly
// one that rows must match.
func (s Selection) Name() (owner, text string, ok bool) {
	if len(s.names) != 1 || s.names[0].not {
		return "", "", false
	}
	return s.names[0].owner, s.names[0].text, true
}

// Named is a selection by one bare word, whatever stands in it.
func Named(schema *Schema, word string) Selection {
	return Selection{schema: schema, names: []name{{word: word, text: word}}}
}
