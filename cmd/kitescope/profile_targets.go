package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/session"
	"kitescope/inspect/session/targets"
	"kitescope/inspect/source"
	"kitescope/paste"
	"kitescope/profile/pull"
)

// pullJob is a pull whose flags were understood.
type pullJob struct {
	loader  *session.Loader
	spec    *session.Spec // of the cluster whose processes are pulled as well, nil of none
	seconds int
	named   []pull.Target
	options pull.Options
}

// newPullJob settles whom to ask and how, before anything is asked.
func (f *pullFlags) newPullJob(a *cli.App, n *cli.NodeFlags, words []string) (*pullJob, error) {
	cluster := len(words) == 0 || a.Flags.From != "" || a.Flags.Context != ""
	var named []pull.Target
	for _, word := range words {
		password := ""
		if pull.WantsPassword(word) {
			if password = a.Getenv("KITESCOPE_PROFILE_PASSWORD"); password == "" {
				return nil, cli.Usage(fmt.Errorf("no password for %s", pull.RedactWord(word)), "set KITESCOPE_PROFILE_PASSWORD")
			}
		}
		t, err := pull.ParseTarget(word, password)
		if errors.Is(err, pull.ErrNoPort) {
			return nil, cli.Usage(err, "a folder is named with -O, a process with its port: host:6060, or http://host")
		}
		if err != nil {
			return nil, cli.Usage(err, "for example: kitescope profile pull http://host:6060/debug/pprof")
		}
		named = append(named, t)
	}
	if cluster && !n.Live {
		return nil, cli.Usage(errors.New("profiles come from the processes, and --live=false leaves them alone"), "leave it out, or name URLs without --from")
	}
	if !cluster {
		way, err := a.ClientOptions(cli.Connection{}, n)
		if err != nil {
			return nil, err
		}
		return f.pullJobOf(a, named, nil, way)
	}
	if _, err := pull.ParseKinds(f.kinds); err != nil {
		return nil, cli.Usage(err, "")
	}
	conn, err := a.Connection()
	if err != nil {
		return nil, err
	}
	spec, err := a.Asking(conn, n)
	if err != nil {
		return nil, err
	}
	return f.pullJobOf(a, named, spec, spec.Nodes)
}

// pullJobOf is newPullJob of targets that are known, and of the processes of a cluster, nil of none.
func (f *pullFlags) pullJobOf(a *cli.App, named []pull.Target, spec *session.Spec, way live.Options) (*pullJob, error) {
	j := &pullJob{loader: a.Loader(), spec: spec, seconds: f.seconds, named: named}
	kinds, err := pull.ParseKinds(f.kinds)
	if err != nil {
		return nil, cli.Usage(err, "")
	}
	client, err := live.Open(way)
	if err != nil {
		return nil, err
	}
	busy := f.busyWait
	if busy == 0 {
		busy = -1
	}
	j.options = pull.Options{
		Kinds: kinds, Seconds: f.seconds, Timeout: way.Timeout, BusyWait: busy,
		Dial: client.Dial, Now: a.Now, Tool: cli.VersionText(), Command: f.command,
	}
	if j.options.Header, err = pullHeader(a, f.headerFile); err != nil {
		return nil, err
	}
	j.options.TLS, err = pullTLS(a, j.named)
	return j, err
}

// pullTLS is what https URLs are held to: the flags of the server that is read.
func pullTLS(a *cli.App, named []pull.Target) (*tls.Config, error) {
	secure := slices.ContainsFunc(named, func(t pull.Target) bool { return t.URL.Scheme == "https" })
	if !secure {
		return nil, nil
	}
	g := &a.Flags
	if (g.Cert == "") != (g.Key == "") {
		return nil, cli.Usagef("--cert and --key belong together")
	}
	return cli.NodeSpec{TLS: true, CA: g.CA, Cert: g.Cert, Key: g.Key, ServerName: g.ServerName, Insecure: g.Insecure}.TLSConfig()
}

// maxHeaderFile bounds a file of headers.
const maxHeaderFile = 64 << 10

// pullHeader is what is sent along with each request.
func pullHeader(a *cli.App, path string) (http.Header, error) {
	header := http.Header{}
	if token := a.Getenv("KITESCOPE_PROFILE_TOKEN"); token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	if path == "" {
		return header, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the headers: %w", err)
	}
	if len(text) > maxHeaderFile {
		return nil, fmt.Errorf("read the headers %s: %d bytes are no list of headers", path, len(text))
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name, value = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !ok || !isToken(name) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			// The line itself is not shown: it is a secret, or half of one.
			return nil, cli.Usage(fmt.Errorf("read the headers %s: line %d is not NAME: VALUE", path, n), "for example: X-Api-Key: 1234")
		}
		header[name] = []string{value}
	}
	return header, lines.Err()
}

// isToken reports whether a word can name a header (RFC 9110, section 5.6.2).
func isToken(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// commandLine is a command line as it can be kept: what was set and named, without credentials.
func commandLine(cmd *cobra.Command, words []string) string {
	line := []string{cmd.CommandPath()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, value := range cli.FlagValues(f) {
			line = append(line, paste.Word("--"+f.Name+"="+pull.RedactWord(value)))
		}
	})
	for _, word := range words {
		line = append(line, paste.Word(pull.RedactWord(word)))
	}
	return strings.Join(line, " ")
}

// targets are the processes to ask. A cluster is asked anew each time: nodes come and go.
func (j *pullJob) targets(ctx context.Context) ([]pull.Target, error) {
	if j.spec == nil {
		return j.named, nil
	}
	src, err := j.loader.Open(ctx, j.spec)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	etcd, ok := src.(source.Live)
	if !ok {
		return nil, notLive(j.spec.From)
	}
	c, err := j.loader.Metadata(ctx, src, meta.Want{Parts: session.NodeNeeds})
	if err != nil {
		return nil, err
	}
	way := j.spec.Nodes
	way.Window = 0 // rates are not wanted
	if c, err = session.Ask(ctx, etcd, way, c); err != nil {
		return nil, err
	}
	if len(c.Runtime.Nodes) == 0 {
		return nil, fmt.Errorf("no process is registered at %s: nothing to take profiles of", j.spec.From)
	}
	j.options.Root = c.Origin.Root
	return targets.With(c, targets.Of(c), j.named), nil
}

func notLive(from string) error {
	return cli.Usage(
		fmt.Errorf("profiles are taken from running processes, and %s is a file", from),
		"name a live cluster: --from etcd://host:2379, or the URL of a process",
	)
}
