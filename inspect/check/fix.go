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

// Step is one thing to do about a finding: a command to copy, and a sentence that says what it does; either may be missing.
// Shell, Pymilvus and Do make them, with names from a cluster quoted for who reads them.
type Step struct {
	// Command is pasted as it is into a shell, or, where Python says so, into a session of Python. It may have several lines.
	Command Hint
	Python  bool
	// Text is a sentence: what the command does, or what to do where no command does it. It begins in lower case with a verb, has
	// no full stop, and no command in it.
	Text Hint
	// Changes reports that the step changes the cluster. Shell and Pymilvus decide it for commands, Interrupting sets it.
	Changes bool
	// Interrupts is what fails or waits because of the step, and for how long: "searches of films until it is loaded again", or "nothing".
	Interrupts Hint
	// Within is the time after which the finding should be gone, 0 where the step alone does not end it.
	Within time.Duration
}

// ChangesCluster marks a step that changes the cluster.
const ChangesCluster = "changes the cluster"

// Mark returns how a step affects the cluster: "changes the cluster, interrupts nothing, helps within 30 s"; "" if it changes nothing.
func (s Step) Mark() string {
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

// Fix is what to do, in order: what cures first, what shows more behind it. Empty steps are left out.
func Fix(steps ...Step) []Step {
	return slices.DeleteFunc(steps, func(s Step) bool { return s == Step{} })
}

// Shell is a command of a shell: check.Shell(check.Etcdctl("put").Arg(key, "true")).Does("turns it on within seconds").
// It changes the cluster unless it is known to only read.
func Shell(c shellquote.Command) Step {
	command := c.String()
	reads := slices.ContainsFunc([]string{
		"kitescope", "df", "findmnt",
		"etcdctl endpoint", "etcdctl get", "etcdctl lease timetolive", "etcdctl snapshot save", "etcdctl watch",
	}, func(known string) bool { return strings.HasPrefix(command, known+" ") })
	return Step{Command: Advise("%s", c), Changes: !reads}
}

// Pymilvus is code of ours for a session of Python, with the verbs of fmt for names, which come as literals:
// check.Pymilvus(p.Cluster, x.Database, "Collection(%s).flush()", x.Name). What it takes from pymilvus is imported, it is
// connected where the address of a proxy is known, and a database that is not the default one is chosen.
func Pymilvus(c *model.Cluster, database model.DatabaseID, code ours, args ...any) Step {
	return PymilvusIn(c, c.DatabaseName(database), code, args...)
}

// PymilvusIn is Pymilvus with the name of a database, "" for what belongs to none. Code changes the cluster unless it prints.
func PymilvusIn(c *model.Cluster, database string, code ours, args ...any) Step {
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
	return Step{Command: imports + lines + Python(code, args...), Python: true, Changes: !strings.HasPrefix(string(code), "print(")}
}

// clientURI is where clients reach a proxy that reported its configuration, "" if none did, or they need more than an address. That of a
// loopback is left out: on the machine of who pastes it another cluster may answer.
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

// Do is a sentence where no command does it, with the verbs of fmt as Advise has them.
func Do(text ours, args ...any) Step { return Step{Text: Advise(text, args...)} }

// Does says what a command does.
func (s Step) Does(text ours, args ...any) Step {
	s.Text = Advise(text, args...)
	return s
}

// Interrupting marks a step that changes the cluster, with the work that it interrupts and the time after which the finding should be gone,
// 0 if the step alone does not end it.
func (s Step) Interrupting(within time.Duration, text ours, args ...any) Step {
	s.Changes, s.Within, s.Interrupts = true, within, Advise(text, args...)
	return s
}

// Steps are what to do about a finding, in their order. None: nothing is known.
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

// Advice is what to do on one line: "etcdctl defrag: gives the space back; see the log of etcd".
func (f *Finding) Advice() string {
	var parts []string
	for _, s := range f.Steps() {
		text := strings.ReplaceAll(string(s.Command), "\n", "; ")
		if text == "" {
			text = string(s.Text)
		}
		if s.Changes {
			text += " (" + s.Mark() + ")"
		}
		if s.Command != "" && s.Text != "" {
			text += ": " + string(s.Text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}
