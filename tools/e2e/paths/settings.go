package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/tools/e2e/lab"
)

var settingLine = regexp.MustCompile(`^( *)([A-Za-z0-9]+): *([^ #]*)`)

// setting is a line of milvus.yaml whose value is a number or a switch.
type setting struct{ name, value string }

// settings returns the numbers and switches of milvus.yaml in the sections that a role reads.
func settings(yaml, role string) []setting {
	sections := []string{role, "common", "etcd", "kafka", "quotaandlimits", "grpc"}
	var all []setting
	var path []string
	var depths []int
	for line := range strings.Lines(yaml) {
		m := settingLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		for len(depths) > 0 && depths[len(depths)-1] >= len(m[1]) {
			depths, path = depths[:len(depths)-1], path[:len(path)-1]
		}
		depths, path = append(depths, len(m[1])), append(path, m[2])
		_, err := strconv.ParseFloat(m[3], 64)
		isSwitch := m[3] == "true" || m[3] == "false"
		if (err == nil || isSwitch) && slices.Contains(sections, strings.ToLower(path[0])) &&
			!strings.HasSuffix(strings.ToLower(m[2]), "port") {
			all = append(all, setting{strings.ToUpper(strings.Join(path, "_")), m[3]})
		}
	}
	return all
}

// other returns another value of a setting: a number times a factor, or the opposite.
func (s setting) other(factor float64) string {
	switch s.value {
	case "true":
		return "false"
	case "false":
		return "true"
	}
	n, _ := strconv.ParseFloat(s.value, 64)
	if n == 0 {
		n = 1
	}
	if strings.Contains(s.value, ".") {
		return strconv.FormatFloat(n*factor, 'g', 4, 64)
	}
	return strconv.Itoa(int(n * factor))
}

// drawSetting starts a process again with a setting that nothing else has.
func drawSetting(d *dice) *Action {
	process, place, factor := pick(d, lab.AllProcesses), d.Float64(),
		pick(d, []float64{0, 0.001, 0.01, 0.1, 10, 100, 1000})
	return with(process, fmt.Sprintf("a setting at %.3f times %g", place, factor), func(l *Lab) (string, error) {
		text, err := os.ReadFile(filepath.Join(l.Run(), "conf", "milvus.yaml"))
		if err != nil {
			return "", err
		}
		all := settings(string(text), lab.RoleOf(process))
		s := all[int(place*float64(len(all)))]
		return s.name + "=" + s.other(factor), nil
	})
}

// drawLogin starts the proxy again, which then demands logins of all.
func drawLogin(*dice) *Action {
	return with("proxy", "demands logins", func(*Lab) (string, error) {
		return "COMMON_SECURITY_AUTHORIZATIONENABLED=true", nil
	})
}

// with starts a process again with a variable of its own.
func with(process, args string, variable func(l *Lab) (string, error)) *Action {
	set := ""
	return &Action{
		Components: []string{process}, Args: args,
		inject: func(ctx context.Context, l *Lab, a *Action) error {
			var err error
			if set, err = variable(l); err != nil {
				return err
			}
			name, _, _ := strings.Cut(set, "=")
			a.names = append(a.names, strings.ReplaceAll(strings.ToLower(name), "_", "."))
			l.Undo(func() error { return l.stopAndStart(context.WithoutCancel(ctx), process) })
			return l.stopAndStart(ctx, process, set)
		},
		effect: func(ctx context.Context, l *Lab) (bool, string) {
			_, err := l.Healthz(ctx, process, 2*time.Second)
			return true, fmt.Sprintf("%s; healthz: %v", set, err)
		},
	}
}
