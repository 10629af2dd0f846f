// Package expr reads Milvus's boolean expressions over scalar fields, and finds the rows of a segment that one lets pass.
//
// In: the text of an expression, the fields of a collection, the release of Milvus whose rules hold, and the columns of the
// segment's logs. Out: a Plan, or an *Error with the place in the text; and of a Plan over columns a bitmap.
//
// The steps: lex.go makes tokens and parse.go a tree, by the precedence of Milvus's grammar; check.go and its neighbours make
// of the tree a typed plan as Milvus's proxy does: constants are computed, values cast to the types of fields, what no server
// accepts is refused; plan.go and the files after it evaluate the plan column by column, 64 rows to a word, as segcore does.
// Nothing is evaluated twice, and no input makes the package panic.
//
// The grammar is written by hand from internal/parser/planparserv2/Plan.g4 of 2.1 to 3.0; the rules of types are those of
// parser_visitor.go, operators.go and utils.go beside it, the answers those of internal/core/src/exec/expression, in which
// a missing JSON path is unequal to everything, and a null row is neither a match nor, by not, none.
package expr

import (
	"fmt"
	"strings"
)

// Release is a release of Milvus, as far as expressions differ. The zero value is the newest that is known.
type Release struct{ Major, Minor int }

// before reports whether the release is known to be older than 2 and a minor number.
func (r Release) before(minor int) bool {
	return r != Release{} && (r.Major < 2 || r.Major == 2 && r.Minor < minor)
}

// Error is an expression that cannot be evaluated. At is the byte of the text where that shows.
type Error struct {
	Expr string
	At   int
	Text string
	Hint string // what to do instead; may be empty
}

func (e *Error) Error() string {
	return fmt.Sprintf("filter, column %d: %s", e.Column(), e.Text)
}

// Column is the place of the error in characters, from 1 on.
func (e *Error) Column() int { return len([]rune(e.Expr[:min(e.At, len(e.Expr))])) + 1 }

// shown is a name or a piece of the text in a message: not longer than a line is.
func shown(s string) string {
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return fmt.Sprintf("%q", s)
}
