package cli

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/render"
)

// Sections of flags. The help of a command lists the sections of ownSections. Topics explain the others once.
const (
	sectionOwn       = "Flags"
	sectionOutput    = "Output"
	sectionCluster   = "Which cluster"
	sectionEtcd      = "Reading etcd and files"
	sectionProcesses = "Querying processes"
	sectionMessages  = "Messages and exit code"
	// Sections of the less common flags of a command have the name of the topic that explains them.
	SectionReplay = "replay-flags"
	SectionTrial  = "trial-flags"
)

func ownSections() []string { return []string{sectionOwn, sectionOutput} }

// ConnectionSections returns the sections of "kitescope help connection".
func ConnectionSections() []string {
	return []string{sectionCluster, sectionEtcd, sectionProcesses, sectionMessages}
}

// sectionKey annotates a flag with its section.
const sectionKey = "kitescope_section"

// WithSection assigns the flags that add registers to a section of the help.
func WithSection(f *pflag.FlagSet, section string, add func()) {
	had := map[*pflag.Flag]bool{}
	f.VisitAll(func(x *pflag.Flag) { had[x] = true })
	add()
	f.VisitAll(func(x *pflag.Flag) {
		if !had[x] {
			setSection(x, section)
		}
	})
}

func setSection(x *pflag.Flag, section string) {
	if x.Annotations == nil {
		x.Annotations = map[string][]string{}
	}
	x.Annotations[sectionKey] = []string{section}
}

// outputFlags are in the section "Output" of every command.
var outputFlags = map[string]bool{
	"output": true, "out": true, "force": true, "no-headers": true, "ui": true, "theme": true,
	"where": true, "sort": true, "columns": true, "limit": true,
}

func sectionOf(x *pflag.Flag) string {
	if named := x.Annotations[sectionKey]; len(named) > 0 {
		return named[0]
	}
	if outputFlags[x.Name] {
		return sectionOutput
	}
	return sectionOwn
}

// AddHelp sets the help function of root and all commands below it.
func (s *Streams) AddHelp(root *cobra.Command) {
	root.PersistentFlags().BoolP("help", "h", false, "show help")
	root.PersistentFlags().Lookup("help").Hidden = true // otherwise every help text would start with it
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		h := help{w: s.Out, cmd: cmd, width: s.HelpWidth()}
		h.write()
	})
}

// HelpWidth returns the width of help texts, in cells.
func (s *Streams) HelpWidth() int {
	const narrow, wide = 60, 80
	if !s.OutTTY {
		return wide
	}
	width, _ := s.Size()
	return min(max(width, narrow), wide)
}

// help writes the help of a command.
type help struct {
	w     io.Writer
	cmd   *cobra.Command
	width int
}

func (h *help) write() {
	cmd := h.cmd
	text := cmd.Long
	if text == "" {
		text = strings.TrimRight(cmd.Short, ".") + "."
	}
	h.printf("%s\n", WrapHelp(strings.TrimRight(text, "\n"), h.width))
	if cmd.IsAdditionalHelpTopicCommand() {
		return
	}
	usage := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		usage = cmd.CommandPath() + " COMMAND [flags]"
	}
	h.printf("\nUsage: %s\n", usage)
	if cmd.Example != "" {
		h.printf("\nExamples:\n%s\n", strings.Trim(cmd.Example, "\n"))
	}
	h.commands()
	h.flags()
}

func (h *help) printf(format string, args ...any) { _, _ = fmt.Fprintf(h.w, format, args...) }

// listLine matches a line of a list: a term, a gap, its explanation.
var listLine = regexp.MustCompile(`^( +\S.*?  +)\S`)

// WrapHelp wraps the paragraphs of a text, and the explanations in its lists.
func WrapHelp(text string, width int) string {
	var lines []string
	var hangs []int // the indent of continuation lines, for each line
	for line := range strings.SplitSeq(text, "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		last := len(lines) - 1
		const list = 4 // a line indented by at least this many cells continues the line above
		if last >= 0 && line != "" && lines[last] != "" && indent == hangs[last] && (indent == 0 || indent >= list) {
			lines[last] += " " + line[indent:]
			continue
		}
		if m := listLine.FindStringSubmatch(line); m != nil {
			indent = len(m[1])
		}
		lines, hangs = append(lines, line), append(hangs, indent)
	}
	for i, line := range lines {
		if hang := hangs[i]; len(line) > hang {
			lines[i] = line[:hang] + strings.Join(render.Wrap(line[hang:], width-hang), "\n"+strings.Repeat(" ", hang))
		}
	}
	return strings.Join(lines, "\n")
}

// commands lists the subcommands by group, followed by the names of setup commands and topics.
func (h *help) commands() {
	below := h.cmd.Commands()
	widest := 0
	for _, c := range below {
		if c.IsAvailableCommand() && c.GroupID != GroupSetup {
			widest = max(widest, len(c.Name()))
		}
	}
	list := func(title, group string) {
		for _, c := range below {
			if c.GroupID == group && c.IsAvailableCommand() {
				h.printf("%s  %-*s  %s\n", title, widest, c.Name(), c.Short)
				title = ""
			}
		}
	}
	for _, g := range h.cmd.Groups() {
		if g.ID != GroupSetup {
			list("\n"+g.Title+"\n", g.ID)
		}
	}
	if h.cmd.HasParent() {
		list("\nCommands:\n", "")
		return
	}
	var setup, topics []string
	for _, c := range below {
		switch {
		case c.IsAdditionalHelpTopicCommand():
			topics = append(topics, c.Name())
		case c.GroupID == GroupSetup && c.IsAvailableCommand():
			setup = append(setup, c.Name())
		}
	}
	h.printf("\nSet up: %s\n%s\n", strings.Join(setup, ", "), WrapHelp("Topics: "+strings.Join(topics, ", "), h.width))
}

// flags explains the command's own flags and names the topics that explain the others.
func (h *help) flags() {
	of := bySection(h.cmd.Flags())
	for _, section := range ownSections() {
		if len(of[section]) > 0 {
			h.printf("\n%s:\n%s", section, flagUsages(of[section], h.width))
		}
	}
	h.printf("\n")
	for _, topic := range []string{SectionReplay, SectionTrial} {
		if len(of[topic]) > 0 {
			h.printf("More flags: kitescope help %s\n", topic)
		}
	}
	h.printf("Cluster, etcd and process flags: kitescope help connection\n")
	if h.cmd.HasAvailableSubCommands() {
		of, path := "COMMAND, TOPIC or RESOURCE", strings.Replace(h.cmd.CommandPath(), "kitescope", "kitescope help", 1)
		if h.cmd.HasParent() {
			of = "COMMAND"
		}
		h.printf("Details: %s %s\n", path, of)
	}
}

func bySection(set *pflag.FlagSet) map[string][]*pflag.Flag {
	of := map[string][]*pflag.Flag{}
	set.VisitAll(func(x *pflag.Flag) {
		if !x.Hidden {
			of[sectionOf(x)] = append(of[sectionOf(x)], x)
		}
	})
	return of
}

// flagUsages returns the usage of flags, wrapped at width.
func flagUsages(list []*pflag.Flag, width int) string {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, x := range list {
		set.AddFlag(x)
	}
	return set.FlagUsagesWrapped(width)
}

// ExplainFlags returns the full usage of the flags in some sections, for a help topic.
func ExplainFlags(set *pflag.FlagSet, width int, sections ...string) string {
	of := bySection(set)
	var b strings.Builder
	for _, section := range slices.DeleteFunc(sections, func(s string) bool { return len(of[s]) == 0 }) {
		fmt.Fprintf(&b, "%s:\n%s\n", section, flagUsages(of[section], width))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
