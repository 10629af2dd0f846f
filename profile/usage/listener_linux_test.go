package usage

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// listen listens on an address until the test ends.
func listen(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

func TestOpenListener(t *testing.T) {
	me, err := OpenProcess(os.Getpid(), false, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	everywhere := listen(t, "tcp", ":0") // both address families
	_, port, _ := net.SplitHostPort(everywhere)
	loopback := listen(t, "tcp", "127.0.0.1:0")
	_, loopbackPort, _ := net.SplitHostPort(loopback)
	socket := listen(t, "unix", filepath.Join(t.TempDir(), ".s.PGSQL.5432"))
	for _, at := range [][2]string{
		{"tcp", loopback},
		{"tcp", "localhost:" + loopbackPort},
		{"tcp", "127.0.0.1:" + port},
		{"tcp", "[::1]:" + port},
		{"unix", socket},
	} {
		p, err := OpenListener(at[0], at[1], []string{"postgres", me.command}, time.Now)
		if err != nil {
			t.Errorf("%s %s: %v", at[0], at[1], err)
			continue
		}
		if p.PID != os.Getpid() || !p.Tree {
			t.Errorf("%s %s: pid %d, tree %t, want %d and its children", at[0], at[1], p.PID, p.Tree, os.Getpid())
		}
		if !slices.Equal(p.Arguments(), os.Args) {
			t.Errorf("arguments %q, want %q", p.Arguments(), os.Args)
		}
		r, err := p.Read(t.Context())
		if err != nil || !r.Values.Known(CPU) || !r.Values.Known(Voluntary) {
			t.Errorf("%s: %v, %v", at[1], r.Values, err)
		}
	}
	// A socket bound to one address does not serve another one.
	other := net.JoinHostPort("127.0.0.2", loopbackPort)
	for _, c := range []struct{ network, address, command, want string }{
		{"tcp", loopback, "postgres", "which is not postgres"}, // as for the proxy of a container
		{"tcp", other, me.command, "no process on this machine does"},
		{"unix", socket + "x", me.command, "no process on this machine does"},
	} {
		if _, err := OpenListener(c.network, c.address, []string{c.command}, time.Now); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s as %s: %v, want %q", c.address, c.command, err, c.want)
		}
	}
	for _, address := range []string{"192.0.2.7:" + port, "db.example:" + port} {
		if _, err := OpenListener("tcp", address, []string{me.command}, time.Now); !errors.Is(err, ErrNotLocal) {
			t.Errorf("%s: %v, want that it is elsewhere", address, err)
		}
	}
}

func TestInvisibleListener(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"net/tcp": "  sl  local_address rem_address   st\n   0: 0100007F:1538 00000000:0000 0A 00000000:00000000 " +
			"00:00000000 00000000 26 0 4711 1\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := openListener(root, "tcp", "127.0.0.1:5432", []string{"postgres"}, time.Now)
	if err == nil || !strings.Contains(err.Error(), "not visible from here") {
		t.Errorf("%v, want that the process is not to be seen", err)
	}
}
