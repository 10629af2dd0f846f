package draw

import (
	"strings"
	"testing"
)

// TestBreakCommand checks that a broken command loses no text, and that a shell reads the same words: lines end with a
// backslash, between words and never in quotes.
func TestBreakCommand(t *testing.T) {
	for _, command := range []string{
		"etcdctl --endpoints=10.0.0.5:2379,10.0.0.6:2379 put by-dev/config/queryCoord/autoBalance 'true or false'",
		`etcdctl put 'a key with blanks that is longer than any line of the terminal' x`,
		strings.Repeat("x", 200), "short",
		`echo "a \" b" c\ d e f g h i j k l m n o p q r s t u v w x y z`,
	} {
		for w := 8; w < 120; w++ {
			lines := BreakCommand(command, w, true)
			var b strings.Builder
			for i, line := range lines {
				if Width(line) > w {
					t.Errorf("%d cells: a line of %d: %q", w, Width(line), line)
				}
				text, goesOn := strings.CutSuffix(line, ` \`)
				b.WriteString(text)
				if goesOn && i < len(lines)-1 {
					b.WriteByte(' ')
					if strings.Count(text, "'")%2 == 1 && strings.Count(b.String(), "'")%2 == 1 {
						t.Errorf("%d cells: broken in quotes: %q", w, line)
					}
				}
			}
			if b.String() != command {
				t.Errorf("%d cells: %q has become %q", w, command, b.String())
			}
		}
	}
	if got := BreakCommand("    utility.load_balance(7, [9])", 20, false); strings.Join(got, "|") !=
		"    utility.load_bal|ance(7, [9])" && strings.Join(got, "|") != "    utility.load_balance(7,|[9])" {
		t.Errorf("Python is broken into %q", got)
	}
}
