package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Sections of flags in the help of a command, in this order. Flags of no section are the command's own, and come before all others.
const (
	sectionOwn       = "Flags"
	sectionRows      = "Rows and columns"
	sectionOutput    = "Output"
	sectionProcesses = "Asking processes"
	sectionCluster   = "Which cluster"
	sectionEtcd      = "Reading etcd and files"
	sectionMessages  = "Messages and exit code"
)

// sections lists them. The last three are of flags that every command has: help names these in one line, "help flags" explains them.
func sections() []string {
	return []string{sectionOwn, sectionOutput, sectionRows, sectionProcesses, sectionCluster, sectionEtcd, sectionMessages}
}

// sectionKey annotates a flag with its section.
const sectionKey = "kitescope_section"

// In puts the flags that add adds into a section of the help.
func In(f *pflag.FlagSet, section string, add func()) {
	had := map[*pflag.Flag]bool{}
	f.VisitAll(func(x *pflag.Flag) { had[x] = true })
	add()
	f.VisitAll(func(x *pflag.Flag) {
		if !had[x] {
			put(x, section)
		}
	})
}

func put(x *pflag.Flag, section string) {
	if x.Annotations == nil {
		x.Annotations = map[string][]string{}
	}
	x.Annotations[sectionKey] = []string{section}
}

// usual are the sections of flags that mean the same wherever they are: a command need not say it of each.
var usual = map[string]string{
	"output": sectionOutput, "out": sectionOutput, "force": sectionOutput, "no-headers": sectionOutput, "ui": sectionOutput, "theme": sectionOutput,
	"where": sectionRows, "sort": sectionRows, "columns": sectionRows, "limit": sectionRows,
}

func sectionOf(x *pflag.Flag) string {
	if named := x.Annotations[sectionKey]; len(named) > 0 {
		return named[0]
	}
	if section, ok := usual[x.Name]; ok {
		return section
	}
	return sectionOwn
}

// helpAsked is how much help a command line asks for: --help for all of it, -h for what one looks up.
type helpAsked struct{ whole, brief bool }

// brief is the value of -h.
type brief struct{ asked *helpAsked }

func (b brief) String() string { return "false" }
func (b brief) Type() string   { return "bool" }
func (b brief) Set(string) error {
	b.asked.whole, b.asked.brief = true, true
	return nil
}

// AddHelp gives root and all below it their help, --help and -h.
func (s *Streams) AddHelp(root *cobra.Command) {
	asked := &helpAsked{}
	f := root.PersistentFlags()
	f.BoolVar(&asked.whole, "help", false, "show help with all flags; -h is shorter")
	f.VarPF(brief{asked}, "brief-help", "h", "").NoOptDefVal = "true"
	for _, name := range []string{"help", "brief-help"} {
		f.Lookup(name).Hidden = true // every help would begin with them
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		h := help{w: s.Out, cmd: cmd, brief: asked.brief, width: s.helpWidth()}
		h.write()
	})
}

// helpWidth is the width that help is laid out for.
func (s *Streams) helpWidth() int {
	const narrow, piped, wide = 60, 100, 120
	if !s.OutTTY {
		return piped
	}
	width, _ := s.Size()
	return min(max(width, narrow), wide)
}

// help is a command's.
type help struct {
	w     io.Writer
	cmd   *cobra.Command
	brief bool
	width int
}

func (h *help) write() {
	cmd := h.cmd
	text := cmd.Long
	if text == "" || h.brief && cmd.Short != "" {
		text = strings.TrimRight(cmd.Short, ".") + "."
	}
	h.say("%s\n", strings.TrimRight(text, "\n"))
	if cmd.IsAdditionalHelpTopicCommand() {
		return
	}
	h.say("\nUsage:\n")
	if cmd.Runnable() && !cmd.HasAvailableSubCommands() || !cmd.HasParent() {
		h.say("  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		h.say("  %s COMMAND [flags]\n", cmd.CommandPath())
	}
	h.examples()
	h.commands()
	h.flags()
}

func (h *help) say(format string, args ...any) { _, _ = fmt.Fprintf(h.w, format, args...) }

// examples are all of a command; of a brief help the first ones.
func (h *help) examples() {
	lines := strings.Split(strings.Trim(h.cmd.Example, "\n"), "\n")
	if h.cmd.Example == "" {
		return
	}
	if most := 3; h.brief {
		lines = lines[:min(most, len(lines))]
	}
	h.say("\nExamples:\n%s\n", strings.Join(lines, "\n"))
}

// commands are those below, by group, and the topics.
func (h *help) commands() {
	below := h.cmd.Commands()
	widest := 0
	for _, c := range below {
		widest = max(widest, len(c.Name()))
	}
	list := func(title string, of func(*cobra.Command) bool) {
		for _, c := range below {
			if !of(c) {
				continue
			}
			if title != "" {
				h.say("\n%s\n", title)
				title = ""
			}
			h.say("  %-*s  %s\n", widest, c.Name(), c.Short)
		}
	}
	for _, g := range h.cmd.Groups() {
		list(g.Title, func(c *cobra.Command) bool { return c.GroupID == g.ID && c.IsAvailableCommand() })
	}
	list("Commands:", func(c *cobra.Command) bool { return c.GroupID == "" && c.IsAvailableCommand() })
	if !h.brief {
		list("Topics:", (*cobra.Command).IsAdditionalHelpTopicCommand)
	}
}

// flags are the command's by section; those of every command are named alone.
func (h *help) flags() {
	every := shown(h.cmd.Root().PersistentFlags())
	isEvery := func(x *pflag.Flag) bool { return slices.Contains(every, x) }
	of := bySection(slices.DeleteFunc(shown(h.cmd.Flags()), isEvery))
	for _, section := range sections() {
		switch list := of[section]; {
		case len(list) == 0:
		case h.brief && section == sectionProcesses:
			h.say("\n%s:\n%s", section, h.named(list))
		default:
			h.say("\n%s:\n%s", section, h.explained(list))
		}
	}
	every = slices.DeleteFunc(every, func(x *pflag.Flag) bool { return h.cmd.Flags().Lookup(x.Name) != x }) // a command may have left it out
	if len(every) > 0 {
		h.say("\nGlobal flags (kitescope help flags):\n%s", h.named(every))
	}
	path := strings.TrimPrefix(h.cmd.CommandPath(), "kitescope ")
	switch {
	case h.cmd.HasAvailableSubCommands() && !h.cmd.HasParent():
		h.say("\nFor details: kitescope help COMMAND, TOPIC or RESOURCE\n")
	case h.cmd.HasAvailableSubCommands():
		h.say("\nFor details: kitescope %s COMMAND --help\n", path)
	case h.brief:
		h.say("\nFor details: kitescope %s --help\n", path)
	}
}

// shown are the flags of a set that help tells of.
func shown(set *pflag.FlagSet) (list []*pflag.Flag) {
	set.VisitAll(func(x *pflag.Flag) {
		if !x.Hidden {
			list = append(list, x)
		}
	})
	return list
}

func bySection(list []*pflag.Flag) map[string][]*pflag.Flag {
	of := map[string][]*pflag.Flag{}
	for _, x := range list {
		of[sectionOf(x)] = append(of[sectionOf(x)], x)
	}
	return of
}

// explained has a flag a line, or as many as it takes; of a brief help one.
func (h *help) explained(list []*pflag.Flag) string {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, x := range list {
		set.AddFlag(x)
	}
	if !h.brief {
		return set.FlagUsagesWrapped(h.width)
	}
	var b strings.Builder
	for line := range strings.Lines(set.FlagUsages()) {
		b.WriteString(ansi.Truncate(strings.TrimRight(line, "\n"), h.width, "…") + "\n")
	}
	return b.String()
}

// named has the names of flags alone.
func (h *help) named(list []*pflag.Flag) string {
	var b strings.Builder
	column := h.width
	for _, x := range list {
		if column+len(" --")+len(x.Name) > h.width {
			b.WriteString(strings.Repeat("\n", min(1, b.Len())) + " ")
			column = 1
		}
		b.WriteString(" --" + x.Name)
		column += len(" --") + len(x.Name)
	}
	return b.String() + "\n"
}

// EveryFlag explains the flags that every command has.
func EveryFlag(root *cobra.Command) string {
	h := help{cmd: root, width: 100} //nolint:mnd // as help in a pipe
	of := bySection(shown(root.PersistentFlags()))
	var b strings.Builder
	for _, section := range sections() {
		if len(of[section]) > 0 {
			fmt.Fprintf(&b, "%s:\n%s\n", section, h.explained(of[section]))
		}
	}
	return b.String()
}
