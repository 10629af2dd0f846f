package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/driver"
	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile"
)

type webFlags struct {
	input profileInput
	base  string
	http  string
}

func profileWeb(a *cli.App) *cobra.Command {
	var f webFlags
	cmd := &cobra.Command{
		Use: "web [FILE...]",
		Long: `Serve the web UI of "go tool pprof -http" for the given profiles, merged, until interrupted:
graph, flame graph, top, peek, source. It listens on loopback only; over ssh, forward the port.
Names stay as in the profiles: nothing is symbolised again.`,
		Example: `  kitescope profile web cpu.pb.gz
  kitescope profile web after --base before --http 127.0.0.1:8080`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), a, args) },
	}
	f.input.Register(cmd)
	cmd.Flags().StringVar(&f.base, "base", "", "compare with this profile: pprof's -diff_base")
	cmd.Flags().StringVar(&f.http, "http", "127.0.0.1:0", "loopback address and port to listen on; port 0 takes a free one")
	return cmd
}

func (f *webFlags) run(ctx context.Context, a *cli.App, args []string) error {
	if err := loopback(f.http); err != nil {
		return err
	}
	p, err := f.input.Merged(ctx, a, args, false)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "kitescope-web-")
	if err != nil {
		return fmt.Errorf("hand the profile to the web UI: %w", err)
	}
	defer os.RemoveAll(dir)
	words := []string{"profile", "web-child", "--http", f.http, "--file"}
	path, err := keepProfile(dir, "profile", p)
	if err != nil {
		return err
	}
	words = append(words, path)
	if f.base != "" {
		base, err := f.input.Merged(ctx, a, []string{f.base}, false)
		if err != nil {
			return err
		}
		if path, err = keepProfile(dir, "base", base); err != nil {
			return err
		}
		words = append(words, "--base", path)
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start the web UI: %w", err)
	}
	child := exec.CommandContext(ctx, exe, words...)
	child.Args[0] = "kitescope"
	child.Stdout, child.Stderr = a.Out, a.Err
	child.Cancel = func() error { return child.Process.Signal(os.Interrupt) }
	child.WaitDelay = 5 * time.Second
	err = child.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return &cli.CodeError{Code: exit.ExitCode()} // it has said why
	}
	if ctx.Err() != nil {
		return nil // interrupting is how it ends
	}
	return err
}

// keepProfile writes a profile for the child to read.
func keepProfile(dir, name string, p *profile.Profile) (string, error) {
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		return "", fmt.Errorf("hand the profile to the web UI: %w", err)
	}
	path := filepath.Join(dir, name+".pb.gz")
	return path, os.WriteFile(path, b.Bytes(), 0o600)
}

// loopback refuses addresses that others could reach: profiles tell what a service does.
func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return cli.Usage(fmt.Errorf("--http %q is not an address: %w", address, err), "for example: --http 127.0.0.1:8080")
	}
	if host == "localhost" {
		return nil
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return cli.Usage(fmt.Errorf("--http %s is not on loopback", address), "listen on 127.0.0.1 and forward the port: ssh -L 8080:127.0.0.1:8080 host")
	}
	return nil
}

// profileWebChild is the process that serves: pprof's driver keeps its configuration in globals,
// so that it may run once in a process.
func profileWebChild(a *cli.App) *cobra.Command {
	var file, base, address string
	cmd := &cobra.Command{
		Use: "web-child", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			args := []string{"-symbolize=none", "-no_browser", "-http=" + address}
			if base != "" {
				args = append(args, "-diff_base="+base)
			}
			server := &pprofServer{ctx: cmd.Context(), app: a}
			err := driver.PProf(&driver.Options{
				Flagset: &pprofFlags{FlagSet: flag.NewFlagSet("pprof", flag.ContinueOnError), args: append(args, file)},
				UI:      &pprofUI{a}, HTTPServer: server.serve,
			})
			if err != nil {
				return fmt.Errorf("serve the web UI: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "")
	cmd.Flags().StringVar(&base, "base", "", "")
	cmd.Flags().StringVar(&address, "http", "127.0.0.1:0", "")
	return cmd
}

// pprofServer serves what the driver made.
type pprofServer struct {
	ctx context.Context
	app *cli.App
}

// writesSettings are the driver's pages that change a file of the user.
var writesSettings = map[string]bool{"/saveconfig": true, "/deleteconfig": true}

func (s *pprofServer) serve(args *driver.HTTPServerArgs) error {
	listener, err := (&net.ListenConfig{}).Listen(s.ctx, "tcp", net.JoinHostPort(args.Host, strconv.Itoa(args.Port)))
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	for path, handler := range args.Handlers {
		if !writesSettings[path] {
			mux.Handle(path, handler)
		}
	}
	server := &http.Server{Handler: ownHost(listener.Addr().String(), mux), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(s.ctx, func() { _ = server.Close() })
	defer stop()
	if _, err := fmt.Fprintf(s.app.Out, "http://%s/\n", listener.Addr()); err != nil {
		return err
	}
	s.app.Warn("serving the pprof web UI until interrupted")
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ownHost answers requests for this address only, so that a page elsewhere cannot read the
// profile by a name that it makes lead here.
func ownHost(address string, next http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(address)
	own := map[string]bool{address: true, "localhost:" + port: true, "127.0.0.1:" + port: true, "[::1]:" + port: true}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !own[r.Host] {
			http.Error(w, "this is the pprof UI of another host", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// pprofFlags is the driver's command line.
type pprofFlags struct {
	*flag.FlagSet
	args []string
}

// StringList implements driver.FlagSet.
func (f *pprofFlags) StringList(name, def, usage string) *[]*string {
	return &[]*string{f.String(name, def, usage)}
}

// ExtraUsage implements driver.FlagSet.
func (f *pprofFlags) ExtraUsage() string { return "" }

// AddExtraUsage implements driver.FlagSet.
func (f *pprofFlags) AddExtraUsage(string) {}

// Parse implements driver.FlagSet.
func (f *pprofFlags) Parse(func()) []string {
	f.SetOutput(io.Discard)
	if f.FlagSet.Parse(f.args) != nil {
		return nil
	}
	return f.Args()
}

// pprofUI is the driver's way to talk.
type pprofUI struct{ *cli.App }

// ReadLine implements driver.UI.
func (u *pprofUI) ReadLine(string) (string, error) { return "", io.EOF }

// Print implements driver.UI.
func (u *pprofUI) Print(...any) {} // the server says where it is

// PrintErr implements driver.UI.
func (u *pprofUI) PrintErr(args ...any) { u.Warn("%s", strings.TrimSpace(fmt.Sprint(args...))) }

// IsTerminal implements driver.UI.
func (u *pprofUI) IsTerminal() bool { return false }

// WantBrowser implements driver.UI.
func (u *pprofUI) WantBrowser() bool { return false }

// SetAutoComplete implements driver.UI.
func (u *pprofUI) SetAutoComplete(func(string) string) {}
