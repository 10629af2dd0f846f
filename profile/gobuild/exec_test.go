package gobuild

import (
	"fmt"
	"strings"
	"testing"
)

func TestLinesAreCut(t *testing.T) {
	var got []string
	w := &lineWriter{to: func(b []byte) bool { got = append(got, string(b)); return true }, tail: &tail{}}
	long := strings.Repeat("x", 3*maxLine)
	for _, part := range []string{"one\ntw", "o\n\n", long[:maxLine+1], long[maxLine+1:], "\nlast"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	w.end()
	if want := []string{"one", "two", long[:maxLine], "last"}; strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%.100q", got)
	}
}

func TestLastWordsAreBounded(t *testing.T) {
	var last tail
	for i := range 100_000 {
		last.add(fmt.Appendf(nil, "line %d", i))
	}
	got := last.String()
	if len(got) > maxTail+8 || !strings.HasPrefix(got, "...\nline ") || !strings.HasSuffix(got, "line 99999\n") {
		t.Errorf("%d bytes: %.40q ... %q", len(got), got, got[len(got)-20:])
	}
}

func TestAnswerIsBounded(t *testing.T) {
	c := capped{left: 10}
	if _, err := c.Write([]byte("12345")); err != nil {
		t.Error(err)
	}
	if _, err := c.Write([]byte("678901")); err == nil || !c.over {
		t.Error("takes more than it may")
	}
}
