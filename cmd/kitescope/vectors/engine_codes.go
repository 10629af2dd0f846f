package vectors

import (
	"fmt"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine/target"
	"kitescope/internal/words"
)

// shade gives the target the codes that the flags ask for, which options has checked, for so many searches.
func (f *engineFlags) shade(t *target.Target, searches, threads int) error {
	codes, _ := target.ParseCodes(f.codes)
	if f.exactly {
		codes = target.CodesOn
	}
	return t.Shade(codes, searches, threads)
}

// compared tells how answers with codes and without compare, what they were searched with in front, or fails if they differ.
func compared(a *cli.App, how string, coded, plain *target.Answers, with, without time.Duration) error {
	if i := target.Differ(coded, plain); i >= 0 {
		return fmt.Errorf("query %d: its answer with codes is not the one without: this is a fault of kitescope", i)
	}
	a.Note("%s%s with codes: ids and distances equal to the bit; %s without codes, %s with: %.2fx",
		how, words.Plural(len(coded.Hits), "answer"), without.Round(time.Microsecond), with.Round(time.Microsecond), float64(without)/float64(max(with, 1)))
	return nil
}
