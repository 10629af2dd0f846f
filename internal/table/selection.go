package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Selection selects rows of a table. The zero Selection selects all rows.
//
// A row must match all terms on columns, and at least one of the bare words (names). See ParseSelection.
type Selection struct {
	schema *Schema
	terms  []term
	names  []name
}

// name is a bare word: "docs", "tenant_a.orders", "docs/_default", "!tmp*".
type name struct {
	word string
	// owner is the text before a slash: "docs" of "docs/_default".
	owner string
	text  string
	not   bool
}

// term is one word that restricts one column.
type term struct {
	word   string // as given
	column int
	op     operator
	// values are alternatives: "a" and "b" of "state=a,b".
	values []value
	// key is the text after a dot: "M" of "params.M=16".
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

// operators in the order in which splitWord tries them, longer ones first.
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

// ParseSelection parses the words of a selection.
//
//	state=growing            equal; words of State columns in any case; * is a wildcard in texts
//	state=growing,sealed     one of several; "a,b" in quotes is one value
//	state!=dropped           not equal
//	rows>1e6 size>=1GiB      numbers, with k M G T, sizes with KiB MB and so on
//	checkpoint_age>5m        durations: 90s 5m 2h30m 3d
//	created_at<2026-11-01    times: 2026-11-01, 09:14, RFC 3339, 3h before now
//	indexed<50%              percentages
//	name~^tmp                matches a regular expression (RE2); !~ does not match
//	aliases=prod             lists: contains
//	params.M=16              one entry of pairs
//	collection=tenant.docs   collections: by name, database.name, alias or id
//	watcher=                 has no value
//	docs                     a name or id; several words are alternatives; !docs excludes
//	docs/_default            a name inside a collection
//
// Cells with an unknown value are never selected. An error names the word.
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
	if ids := s.schema.IDColumn(i); ids >= 0 {
		i = ids // holds the same names, and matches ids too
	}
	if key != "" {
		if kind := s.schema.Columns[i].Kind; kind != Pairs && kind != NamedPairs {
			return fmt.Errorf("%s has no entries", columnName)
		}
		key = column[len(columnName)+1:] // in the original case
	}
	values, err := parseValues(&s.schema.Columns[i], op, key != "", rest)
	if err != nil {
		return err
	}
	s.terms = append(s.terms, term{word: word, column: i, op: op, values: values, key: key})
	return nil
}

// splitWord splits a word at its operator. The text before the operator must look like a column, so that "a=b"
// inside a quoted name is not parsed as a term.
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
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-' ||
		c == ' '
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

// qualifies reports whether "collection/name" is supported: rows have a named owner, and their own names contain
// no slash.
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

// ownerColumn returns the column with the names of the rows' owners, e.g. collections, or -1 without such a
// column.
func (s *Selection) ownerColumn() int {
	if s.schema == nil {
		return -1
	}
	return slices.IndexFunc(s.schema.Columns, func(c Column) bool { return c.IDColumn != "" })
}

// Empty reports whether the selection selects every row.
func (s Selection) Empty() bool { return len(s.terms) == 0 && len(s.names) == 0 }

// Words returns the words of the selection: names first, then terms.
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

// Columns returns the sorted positions of the columns that the selection reads.
func (s Selection) Columns() []int {
	var list []int
	for _, t := range s.terms {
		list = append(list, t.column)
		if ids := s.schema.Columns[t.column].IDColumn; ids != "" {
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

// RequiredValue returns the single value that a term requires of a column accepted by the function is, or "" without
// such a term.
func (s Selection) RequiredValue(is func(c *Column) bool) string {
	for _, t := range s.terms {
		if is(&s.schema.Columns[t.column]) && t.op == equal && len(t.values) == 1 && t.values[0].glob == nil {
			return t.values[0].text
		}
	}
	return ""
}

// Name returns the bare word of the selection and the owner before its slash. ok is false unless there is exactly
// one bare word and it is not negated.
func (s Selection) Name() (owner, text string, ok bool) {
	if len(s.names) != 1 || s.names[0].not {
		return "", "", false
	}
	return s.names[0].owner, s.names[0].text, true
}

// Named returns a selection by one bare word, which it does not parse.
func Named(schema *Schema, word string) Selection {
	return Selection{schema: schema, names: []name{{word: word, text: word}}}
}
