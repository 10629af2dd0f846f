package main

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestParse checks the spans and styles of a screen.
func TestParse(t *testing.T) {
	lines := parse("plain \x1b[1;38;5;196mred\x1b[0m\n\x1b[38;2;1;2;3m\x1b[48:2:4:5:6mboth\x1b[39;49m\x1b[7mturned\n"+
		"still\x1b[m\n", 3)
	want := [][]span{
		{{style{}, 0, "plain "}, {style{foreground: "#ff0000", bold: true}, 6, "red"}},
		{{style{foreground: "#010203", background: "#040506"}, 0, "both"}, {style{reverse: true}, 4, "turned"}},
		{{style{reverse: true}, 0, "still"}},
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines", len(lines))
	}
	for i := range want {
		if len(lines[i]) != len(want[i]) {
			t.Fatalf("line %d: %+v", i, lines[i])
		}
		for j := range want[i] {
			if lines[i][j] != want[i][j] {
				t.Errorf("line %d: %+v, want %+v", i, lines[i][j], want[i][j])
			}
		}
	}
}

// TestPicture checks that the SVG is well-formed and that each frame is visible for its share of the time.
func TestPicture(t *testing.T) {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	draw(w, []frame{{parse("a <b> & \x1b[7mc\x1b[m", 1), 1000}, {parse("second", 1), 3000}}, "two \"screens\"", 20, 1)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, b.String())
		}
	}
	for _, want := range []string{
		"25.000%{visibility:visible}100.000%{visibility:hidden}", "a &lt;b&gt; &amp;", "4000ms step-end infinite",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
}
