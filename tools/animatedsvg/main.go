// Command animatedsvg writes an animated SVG of a terminal, which browsers play without a script. Its frames are
// screens printed by `tmux capture-pane -e -p`. The files are named by order and duration in milliseconds,
// e.g. 012-1500.ansi. tools/docs/animatedsvg.sh records them.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

func main() {
	columns := flag.Int("columns", 100, "width of the screens")
	rows := flag.Int("rows", 30, "height of the screens")
	title := flag.String("title", "", "alternative text of the picture")
	flag.Parse()
	if err := run(flag.Arg(0), *title, *columns, *rows); err != nil {
		fmt.Fprintln(os.Stderr, "animatedsvg:", err)
		os.Exit(1)
	}
}

var frameName = regexp.MustCompile(`^\d+-(\d+)\.ansi$`)

// frame is a screen and its duration.
type frame struct {
	lines        [][]span
	milliseconds int
}

func run(dir, title string, columns, rows int) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.ansi"))
	if err != nil {
		return err
	}
	slices.Sort(names)
	var frames []frame
	for _, name := range names {
		m := frameName.FindStringSubmatch(filepath.Base(name))
		if m == nil {
			return fmt.Errorf("%s: expected ORDER-MILLISECONDS.ansi", name)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		ms, err := strconv.Atoi(m[1])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		frames = append(frames, frame{lines: parse(string(text), rows), milliseconds: ms})
	}
	if len(frames) == 0 {
		return fmt.Errorf("no screens in %q", dir)
	}
	w := bufio.NewWriter(os.Stdout)
	draw(w, frames, title, columns, rows)
	return w.Flush()
}
