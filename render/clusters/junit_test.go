package clusters

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kitescope/render"
)

// junitShape is the usual schema (Jenkins's junit-10.xsd, and Ant's): which attributes an element
// must and may have, and which elements may stand in it.
var junitShape = map[string]struct {
	must, may, children []string
	text                bool
}{
	"testsuites": {[]string{"tests", "failures", "errors"}, []string{"name", "time", "skipped"}, []string{"testsuite"}, false},
	"testsuite": {
		[]string{"name", "tests", "failures", "errors", "skipped", "time"},
		[]string{"timestamp", "hostname", "id", "package"},
		[]string{"properties", "testcase", "system-out", "system-err"},
		false,
	},
	"properties": {nil, nil, []string{"property"}, false},
	"property":   {[]string{"name", "value"}, nil, nil, false},
	"testcase":   {[]string{"name", "classname", "time"}, []string{"file"}, []string{"skipped", "error", "failure", "system-out", "system-err"}, false},
	"skipped":    {nil, []string{"message", "type"}, nil, true},
	"error":      {nil, []string{"message", "type"}, nil, true},
	"failure":    {nil, []string{"message", "type"}, nil, true},
	"system-out": {nil, nil, nil, true},
}

// element is one of an XML document.
type element struct {
	name     string
	attrs    map[string]string
	children []*element
	text     string
}

func parseXML(t *testing.T, text []byte) *element {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	stack := []*element{{}}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return stack[0].children[0]
		}
		if err != nil {
			t.Fatal(err)
		}
		top := stack[len(stack)-1]
		switch x := token.(type) {
		case xml.StartElement:
			e := &element{name: x.Name.Local, attrs: map[string]string{}}
			for _, a := range x.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			top.children = append(top.children, e)
			stack = append(stack, e)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text += string(x)
		}
	}
}

func (e *element) check(t *testing.T) {
	t.Helper()
	shape, ok := junitShape[e.name]
	if !ok {
		t.Fatalf("there is no element %s", e.name)
	}
	for _, name := range shape.must {
		if _, ok := e.attrs[name]; !ok {
			t.Errorf("%s lacks %s", e.name, name)
		}
	}
	for name := range e.attrs {
		if !slices.Contains(shape.must, name) && !slices.Contains(shape.may, name) {
			t.Errorf("%s has an attribute %s", e.name, name)
		}
	}
	if !shape.text && strings.TrimSpace(e.text) != "" {
		t.Errorf("%s has the text %q", e.name, e.text)
	}
	at := 0
	for _, c := range e.children {
		i := slices.Index(shape.children, c.name)
		if i < at {
			t.Errorf("%s has %s after %s", e.name, c.name, shape.children[at])
		}
		at = max(at, i)
		c.check(t)
	}
}

// count counts test cases with a child of a name.
func (e *element) count(name string) int {
	n := 0
	for _, c := range e.children {
		if c.name == "testcase" && slices.ContainsFunc(c.children, func(x *element) bool { return x.name == name }) {
			n++
		}
	}
	return n
}

func TestJUnit(t *testing.T) {
	for name, d := range diagnoses(t) {
		t.Run(name, func(t *testing.T) {
			suites := parseXML(t, written(t, d, "junit", render.Options{}))
			suites.check(t)
			suite := suites.children[0]
			for attr, n := range map[string]int{
				"tests": len(d.Report.Results), "failures": suite.count("failure"), "errors": suite.count("error"), "skipped": suite.count("skipped"),
			} {
				for _, e := range []*element{suites, suite} {
					if e.attrs[attr] != strconv.Itoa(n) {
						t.Errorf("%s says %s=%q, there are %d", e.name, attr, e.attrs[attr], n)
					}
				}
			}
			if failed := suite.count("failure") > 0; failed != d.Bar.Failing(d.Report, d.Since) {
				t.Errorf("a test fails: %t, the run: %t", failed, d.Bar.Failing(d.Report, d.Since))
			}
			for _, c := range suite.children {
				if c.name != "testcase" {
					continue
				}
				problems := 0
				for _, x := range c.children {
					if x.name != "system-out" {
						problems++
					}
				}
				if problems > 1 {
					t.Errorf("%s has %d of failure, error and skipped", c.attrs["name"], problems)
				}
			}
		})
	}
}

// TestJUnitTellsAll: a finding below --fail-on is told, and does not fail.
func TestJUnitTellsAll(t *testing.T) {
	text := string(written(t, diagnoses(t)["full"], "junit", render.Options{}))
	for _, want := range []string{"auto-balance is off while replicas are uneven", "findings that do not fail the run", "not looked at: querynode-12"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q", want)
		}
	}
}
