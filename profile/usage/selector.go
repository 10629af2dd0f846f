package usage

import (
	"fmt"
	"regexp"
	"strings"
)

// Selector chooses counters of a text of metrics, as PromQL's instant vector selectors do:
// milvus_proxy_sq_latency_count{query_type="search",node_id!~"9.*"}. What several series match is added up.
type Selector struct {
	Name     string
	text     string
	matchers []matcher
}

type matcher struct {
	label, value string
	not          bool
	pattern      *regexp.Regexp // of =~ and !~
}

// String is the selector as it was written.
func (s *Selector) String() string { return s.text }

// ParseSelector reads a selector.
func ParseSelector(text string) (*Selector, error) {
	name, rest, has := strings.Cut(text, "{")
	s := &Selector{Name: strings.TrimSpace(name), text: text}
	if !isName(s.Name, true) {
		return nil, fmt.Errorf("%q is not a metric name", s.Name)
	}
	if !has {
		return s, nil
	}
	for {
		rest = strings.TrimLeft(rest, " \t,")
		if after, done := strings.CutPrefix(rest, "}"); done {
			if strings.TrimSpace(after) != "" {
				return nil, fmt.Errorf("something follows the labels of %s: %q", s.Name, after)
			}
			return s, nil
		}
		m, after, err := parseMatcher(rest)
		if err != nil {
			return nil, fmt.Errorf("labels of %s: %w", s.Name, err)
		}
		s.matchers = append(s.matchers, m)
		rest = after
	}
}

// isName reports whether text is a name (prometheus.io/docs/concepts/data_model, "Metric names and labels"); those of
// metrics may have colons.
func isName(text string, colons bool) bool {
	for i := range len(text) {
		c := text[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':' && colons
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return text != ""
}

func parseMatcher(text string) (m matcher, rest string, err error) {
	at := strings.IndexAny(text, "=!")
	if at < 0 || !isName(strings.TrimSpace(text[:at]), false) {
		return m, "", fmt.Errorf(`%q is not LABEL="VALUE"`, text)
	}
	m.label = strings.TrimSpace(text[:at])
	operator, quoted := "", ""
	for _, operator = range []string{"=~", "!~", "!=", "="} {
		var has bool
		if quoted, has = strings.CutPrefix(text[at:], operator); has {
			break
		}
		quoted = ""
	}
	quoted = strings.TrimLeft(quoted, " \t")
	if !strings.HasPrefix(quoted, `"`) {
		return m, "", fmt.Errorf(`%q is not LABEL="VALUE" (or !=, =~, !~)`, text)
	}
	value, after, ok := unquote([]byte(quoted[1:]))
	if !ok {
		return m, "", fmt.Errorf("%q has no closing quote", text)
	}
	m.value, m.not = value, operator[0] == '!'
	if strings.HasSuffix(operator, "~") {
		if m.pattern, err = regexp.Compile("^(?:" + value + ")$"); err != nil { // PromQL's are anchored
			return m, "", fmt.Errorf("%q is not a regular expression: %w", value, err)
		}
	}
	return m, string(after), nil
}

// matches reports whether labels have all that is asked for. A label that is not there is empty, as in PromQL.
func (s *Selector) matches(labels []label) bool {
	for i := range s.matchers {
		m := &s.matchers[i]
		value := ""
		for _, l := range labels {
			if l.name == m.label {
				value = l.value
			}
		}
		is := value == m.value
		if m.pattern != nil {
			is = m.pattern.MatchString(value)
		}
		if is == m.not {
			return false
		}
	}
	return true
}
