package check

import (
	"cmp"
	"net"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/shellquote"
	"kitescope/internal/words"
)

// Step is one step to fix a finding: a command to copy, and a sentence that describes it. Either may be
// missing. Shell, Pymilvus and Do construct steps, and quote names of the cluster.
type Step struct {
	// Command is pasted as it is into a shell or, if Python is true, into a Python session. It may have
	// several lines.
	Command Hint
	Python  bool
	// Text is a sentence that describes the command, or an instruction if there is no command. It starts in
	// lower case with a verb, and has no full stop and no command.
	Text Hint
	// Changes is true if the step changes the cluster. Shell and Pymilvus set it for commands, Interrupting
	// sets it for any step.
	Changes bool
	// Interrupts names the work that fails or waits because of the step, and until when: "searches of films
	// until it is loaded again", or "nothing".
	Interrupts Hint
	// Within is the time after which the finding should be gone, 0 if the step alone does not end it.
	Within time.Duration
}

// ChangesCluster marks a step that changes the cluster.
const ChangesCluster = "changes the cluster"

// Effect returns how a step affects the cluster: "changes the cluster, interrupts nothing, helps within 30 s";
// "" if it changes nothing.
func (s Step) Effect() string {
	if !s.Changes {
		return ""
	}
	mark := ChangesCluster
	if s.Interrupts != "" {
		mark += ", interrupts " + string(s.Interrupts)
	}
	if s.Within > 0 {
		mark += ", helps within " + words.Span(s.Within)
	}
	return mark
}

// Fix returns the steps in their order: first those that fix the problem, then those that show more about it.
// It removes empty steps.
func Fix(steps ...Step) []Step {
	return slices.DeleteFunc(steps, func(s Step) bool { return s == Step{} })
}

// Shell returns a step with a shell command: check.Shell(check.Etcdctl("put").Arg(key, "true")).Does("turns
// it on within seconds"). The step changes the cluster unless the command is known to only read.
func Shell(c shellquote.Command) Step {
	command := c.String()
	reads := slices.ContainsFunc([]string{
		"kitescope", "df", "findmnt",
		"etcdctl endpoint", "etcdctl get", "etcdctl lease timetolive", "etcdctl snapshot save", "etcdctl watch",
	}, func(known string) bool { return strings.HasPrefix(command, known+" ") })
	return Step{Command: Advise("%s", c), Changes: !reads}
}

// Pymilvus returns a step with constant code for a Python session. Its fmt verbs insert names as literals:
// check.Pymilvus(p.Cluster, x.Database, "Collection(%s).flush()", x.Name). The step imports the names from
// pymilvus that the code uses, connects if the address of a proxy is known, and selects the database if it is
// not the default one.
func Pymilvus(c *model.Cluster, database model.DatabaseID, code stringConstant, args ...any) Step {
	return PymilvusIn(c, c.DatabaseName(database), code, args...)
}

// PymilvusIn is like Pymilvus with the name of a database, "" for code that needs none. The code changes the
// cluster unless it prints.
func PymilvusIn(c *model.Cluster, database string, code stringConstant, args ...any) Step {
	var lines Hint
	var names []Hint
	if uri := clientURI(c); uri != "" {
		lines, names = Python("connections.connect(uri=%s)\n", uri), append(names, "connections")
	}
	if cmp.Or(database, "default") != "default" {
		lines, names = lines+Python("db.using_database(%s)\n", database), append(names, "db")
	}
	for _, name := range [...]Hint{"Collection", "MilvusClient", "Partition", "Role", "utility"} {
		if strings.Contains(string(code), string(name)+"(") || strings.Contains(string(code), string(name)+".") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var imports Hint
	for i, name := range names {
		if i == 0 {
			imports = "from pymilvus import " + name
		} else {
			imports += ", " + name
		}
	}
	if imports != "" {
		imports += "\n"
	}
	return Step{
		Command: imports + lines + Python(code, args...), Python: true,
		Changes: !strings.HasPrefix(string(code), "print("),
	}
}

// clientURI returns the URI for clients of a proxy that reported its configuration. It returns "" if there is
// none, or if clients need more than an address. Loopback addresses are skipped because another cluster may
// listen there on the machine of the user.
func clientURI(c *model.Cluster) string {
	if c.Runtime == nil {
		return ""
	}
	for _, n := range c.Runtime.Nodes {
		if n.Role != "proxy" {
			continue
		}
		port, ok := n.Config.Get("proxy.port")
		host, _, err := net.SplitHostPort(n.Address)
		if !ok || err != nil || host == "localhost" || net.ParseIP(host).IsLoopback() {
			continue
		}
		users, _ := n.Config.Get("common.security.authorizationEnabled")
		tls, _ := n.Config.Get("common.security.tlsMode")
		if users == "true" || cmp.Or(tls, "0") != "0" {
			return ""
		}
		return "http://" + net.JoinHostPort(host, port)
	}
	return ""
}

// Do returns a step without a command. text is formatted as by Advise.
func Do(text stringConstant, args ...any) Step { return Step{Text: Advise(text, args...)} }

// Does sets the text that describes the command.
func (s Step) Does(text stringConstant, args ...any) Step {
	s.Text = Advise(text, args...)
	return s
}

// Interrupting marks a step that changes the cluster. It sets the work that the step interrupts, and within
// as the time after which the finding should be gone, 0 if the step alone does not end it.
func (s Step) Interrupting(within time.Duration, text stringConstant, args ...any) Step {
	s.Changes, s.Within, s.Interrupts = true, within, Advise(text, args...)
	return s
}

// Steps returns the steps to fix a finding, in their order. It is empty if no fix is known.
func (f *Finding) Steps() []Step { return f.Fix }

// Command returns the first step with a command, nil if none has one.
func (f *Finding) Command() *Step {
	for i := range f.Fix {
		if f.Fix[i].Command != "" {
			return &f.Fix[i]
		}
	}
	return nil
}

// Advice returns all steps on one line: "etcdctl defrag: gives the space back; see the log of etcd".
func (f *Finding) Advice() string {
	var parts []string
	for _, s := range f.Steps() {
		text := strings.ReplaceAll(string(s.Command), "\n", "; ")
		if text == "" {
			text = string(s.Text)
		}
		if s.Changes {
			text += " (" + s.Effect() + ")"
		}
		if s.Command != "" && s.Text != "" {
			text += ": " + string(s.Text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}
