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

// newJob settles whom to ask and how, before anything is asked.
func (f *pullFlags) newJob(a *cli.App, n *cli.NodeFlags, words []string) (*session.Job, error) {
	named, err := namedTargets(a, words)
	if err != nil {
		return nil, err
	}
	cluster := len(words) == 0 || a.Flags.From != "" || a.Flags.Context != ""
	if cluster && !n.Live {
		return nil, cli.Usage(errors.New("profiles come from the processes, --live=false does not contact them"), "omit it, or give URLs without --from")
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
	spec, err := a.Asking(conn, n)
	if err != nil {
		return nil, err
	}
	return session.NewJob(a.Loader(), spec, named, spec.Nodes, o)
}

// namedTargets are the services that words name.
func namedTargets(a *cli.App, words []string) (named []pull.Target, err error) {
	for _, word := range words {
		password := ""
		if pull.WantsPassword(word) {
			if password = a.Getenv("KITESCOPE_PROFILE_PASSWORD"); password == "" {
				return nil, cli.Usage(fmt.Errorf("no password for %s", pull.RedactWord(word)), "set KITESCOPE_PROFILE_PASSWORD")
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

// options are how profiles are taken.
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

// pullTLS is what https URLs are held to: the flags of the server that is read.
func pullTLS(a *cli.App, named []pull.Target) (*tls.Config, error) {
	secure := slices.ContainsFunc(named, func(t pull.Target) bool { return t.URL.Scheme == "https" })
	if !secure {
		return nil, nil
	}
	g := &a.Flags
	if (g.Cert == "") != (g.Key == "") {
		return nil, cli.Usagef("--cert and --key must be given together")
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
			line = append(line, shellquote.Word("--"+f.Name+"="+pull.RedactWord(value)))
		}
	})
	for _, word := range words {
		line = append(line, shellquote.Word(pull.RedactWord(word)))
	}
	return strings.Join(line, " ")
}
