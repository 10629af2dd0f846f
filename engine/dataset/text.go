package dataset

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// How much of a file's own words an error repeats.
const (
	shownName  = 60
	shownNames = 20
)

// shown is a name of the file for an error: short, and quoted where it has more than printable characters.
func shown(name string) string {
	short := cut(name, shownName)
	if !utf8.ValidString(short) || strings.ContainsFunc(short, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(short)
	}
	return short
}

// cut shortens a text to so many bytes, at the start of a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// list names the first of some columns, and how many more there are.
func list(names []string) string {
	var out []string
	for _, name := range names[:min(len(names), shownNames)] {
		out = append(out, shown(name))
	}
	if more := len(names) - shownNames; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}

// shownError is what parquet-go says of a file, with the file's own names in it.
func shownError(err error) string {
	words := strings.Fields(cut(err.Error(), 8*shownName))
	for i, word := range words {
		words[i] = shown(word)
	}
	return strings.Join(words, " ")
}
