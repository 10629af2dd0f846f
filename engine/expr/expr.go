// Package expr parses Milvus's boolean expressions over scalar fields and selects the rows of a segment that
// match one.
//
// Parse takes the text of an expression and a Schema: the fields of a collection and the release of Milvus
// whose rules apply. It returns a Plan, or an *Error with the position in the text. A Plan evaluates the
// columns of a segment's logs to a bitmap.
//
// The lexer (lex.go) produces tokens, and the parser (parse.go) produces a tree by the precedence of Milvus's
// grammar. The checker (check.go and its neighbours) turns the tree into a typed plan as Milvus's proxy does:
// it computes constants, casts values to the types of fields and rejects what no server accepts. The plan
// (plan.go and the files after it) evaluates column by column, 64 rows to a word, as segcore does. Nothing is
// evaluated twice, and no input makes the package panic.
//
// The grammar is written by hand from internal/parser/planparserv2/Plan.g4 of 2.1 to 3.0. The type rules follow
// parser_visitor.go, operators.go and utils.go in the same directory. The results follow
// internal/core/src/exec/expression: a missing JSON path is unequal to everything, and a null row matches
// neither a condition nor its negation.
package expr

import (
	"fmt"
	"strings"
)

// Release is a release of Milvus, for the differences between expressions. The zero value is the newest known
// release.
type Release struct{ Major, Minor int }

// before reports whether the release is known to be older than 2.minor.
func (r Release) before(minor int) bool {
	return r != Release{} && (r.Major < 2 || r.Major == 2 && r.Minor < minor)
}

// Error describes an expression that cannot be evaluated. At is the offset in bytes of the error in Expr.
type Error struct {
	Expr string
	At   int
	Text string
	Hint string // what to do instead; may be empty
}

func (e *Error) Error() string {
	return fmt.Sprintf("filter, column %d: %s", e.Column(), e.Text)
}

// Column returns the position of the error in characters, starting at 1.
func (e *Error) Column() int { return len([]rune(e.Expr[:min(e.At, len(e.Expr))])) + 1 }

// quoteShort quotes a name or a piece of the expression for a message, cut to at most 60 bytes.
func quoteShort(s string) string {
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return fmt.Sprintf("%q", s)
}
