package main

import (
	"bufio"
	"bytes"
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
	"kitescope/inspect/session"
	"kitescope/internal/shellquote"
	"kitescope/profile/pull"
)

// newJob validates the flags and returns the job that pulls the profiles. It does not contact any process. The
// targets are the URLs in words and, if words is empty or a cluster is given, the processes of the cluster.
func (f *pullFlags) newJob(a *cli.App, n *cli.NodeFlags, words []string) (*session.Job, error) {
	named, err := namedTargets(a, words)
	if err != nil {
		return nil, err
	}
	cluster := len(words) == 0 || a.Flags.From != "" || a.Flags.Context != ""
	if cluster && !n.Live {
		return nil,
			cli.Usage(errors.New("profiles come from the processes, --live=false does not contact them"),
				"omit it, or give URLs without --from")
	}
	o, err := f.options(a, named)
	if err != nil {
		return nil, err
	}
	if !cluster {
		way, err := a.ClientOptions(cli.Connection{}, n)
		if err != nil {
			return nil, err
		}
		return session.NewJob(a.Loader(), nil, named, way, o)
	}
	conn, err := a.Connection()
	if err != nil {
		return nil, err
	}
	spec, err := a.LiveSpec(conn, n)
	if err != nil {
		return nil, err
	}
	return session.NewJob(a.Loader(), spec, named, spec.Nodes, o)
}

// namedTargets parses the URLs in words. It returns a usage error if a URL needs a password and
// KITESCOPE_PROFILE_PASSWORD is not set.
func namedTargets(a *cli.App, words []string) (named []pull.Target, err error) {
	for _, word := range words {
		password := ""
		if pull.WantsPassword(word) {
			if password = a.Getenv("KITESCOPE_PROFILE_PASSWORD"); password == "" {
				return nil,
					cli.Usage(fmt.Errorf("no password for %s", pull.RedactWord(word)), "set KITESCOPE_PROFILE_PASSWORD")
			}
		}
		t, err := pull.ParseTarget(word, password)
		if errors.Is(err, pull.ErrNoPort) {
			return nil, cli.Usage(err, "give a folder with -O, a process with its port: host:6060, or http://host")
		}
		if err != nil {
			return nil, cli.Usage(err, "for example: kitescope profile pull http://host:6060/debug/pprof")
		}
		named = append(named, t)
	}
	return named, nil
}

// options converts the flags to the options of a pull.
func (f *pullFlags) options(a *cli.App, named []pull.Target) (pull.Options, error) {
	o := pull.Options{Seconds: f.seconds, BusyWait: f.busyWait, Tool: cli.Version, Command: f.command}
	if f.busyWait == 0 {
		o.BusyWait = -1
	}
	var err error
	if o.Kinds, err = pull.ParseKinds(f.kinds); err != nil {
		return o, cli.Usage(err, "")
	}
	if o.Header, err = pullHeader(a, f.headerFile); err != nil {
		return o, err
	}
	o.TLS, err = pullTLS(a, named)
	return o, err
}

// pullTLS returns the TLS configuration for https URLs, from the global TLS flags (--ca, --cert, ...). It returns
// nil if no target uses https.
func pullTLS(a *cli.App, named []pull.Target) (*tls.Config, error) {
	secure := slices.ContainsFunc(named, func(t pull.Target) bool { return t.URL.Scheme == "https" })
	if !secure {
		return nil, nil
	}
	g := &a.Flags
	if (g.Cert == "") != (g.Key == "") {
		return nil, cli.Usagef("--cert and --key must be given together")
	}
	return cli.NodeSpec{
		TLS: true, CA: g.CA, Cert: g.Cert, Key: g.Key, ServerName: g.ServerName, Insecure: g.Insecure,
	}.TLSConfig()
}

// maxHeaderFile is the maximum size of the --header-file, in bytes.
const maxHeaderFile = 64 << 10

// pullHeader returns the headers sent with each request: the bearer token from KITESCOPE_PROFILE_TOKEN, and the
// headers in the file at path, if any. The file has one NAME: VALUE per line; empty lines and lines that start
// with # are skipped.
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
		return nil, fmt.Errorf("read the headers %s: too large: %d bytes", path, len(text))
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name, value = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !ok || !isToken(name) ||
			strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			// Do not print the line, because it may hold all or part of a secret.
			return nil,
				cli.Usage(fmt.Errorf("read the headers %s: line %d is not NAME: VALUE", path, n),
					"for example: X-Api-Key: 1234")
		}
		header[name] = []string{value}
	}
	return header, lines.Err()
}

// isToken reports whether a word is a valid header name (RFC 9110, section 5.6.2).
func isToken(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// commandLine returns the command line for the manifest: the command, the flags that were set and the arguments,
// without credentials.
func commandLine(cmd *cobra.Command, words []string) string {
	line := []string{cmd.CommandPath()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, value := range cli.FlagValues(f) {
			line = append(line, shellquote.Word("--"+f.Name+"="+pull.RedactWord(value)))
		}
	})
	for _, word := range words {
		line = append(line, shellquote.Word(pull.RedactWord(word)))
	}
	return strings.Join(line, " ")
}
