package cli

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/inspect/live"
	"kitescope/inspect/session"
	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
	"kitescope/internal/redact"
)

// NodeFlags are the flags for querying the cluster's processes: whether to query them, and how to reach them.
type NodeFlags struct {
	Live        bool
	Recordings  []string
	prometheus  string
	Timeout     time.Duration
	window      time.Duration
	metricsPort int
	live        *pflag.Flag
	windowFlag  *pflag.Flag
	// Outage turns an etcd that hangs into a result: see session.Spec.
	Outage bool
	// Linger watches requests for longer unless --window is given: see session.Spec.
	Linger bool
	NodeSpec
}

// NodeSpec is the part of NodeFlags that a context stores.
type NodeSpec struct {
	Map          []string `yaml:"map,omitempty"`
	Proxy        string   `yaml:"proxy,omitempty"`
	User         string   `yaml:"user,omitempty"`
	PasswordEnv  string   `yaml:"password_env,omitempty"`
	PasswordFile string   `yaml:"password_file,omitempty"`
	TLS          bool     `yaml:"tls,omitempty"`
	CA           string   `yaml:"ca,omitempty"`
	Cert         string   `yaml:"cert,omitempty"`
	Key          string   `yaml:"key,omitempty"`
	ServerName   string   `yaml:"server_name,omitempty"`
	Insecure     bool     `yaml:"insecure,omitempty"`
}

// AddNodeFlags adds the flags of commands that can query processes. The parameter liveDefault is the default of
// --live.
func AddNodeFlags(cmd *cobra.Command, liveDefault bool) *NodeFlags {
	f, n := cmd.Flags(), &NodeFlags{}
	what := "query the cluster's processes too"
	if liveDefault {
		what = "query the cluster's processes"
	}
	f.BoolVar(&n.Live, "live", liveDefault, what)
	WithSection(f, sectionProcesses, func() { n.add(f) })
	n.live, n.windowFlag = f.Lookup("live"), f.Lookup("window")
	return n
}

func (n *NodeFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&n.Recordings, "runtime", nil,
		"read answers from a recording, a /metrics text, or a folder of them, instead of querying; repeatable")
	f.StringVar(&n.prometheus, "prometheus", "",
		"read metrics from a Prometheus, http://host:9090, instead of querying; with --at as of that time")
	f.DurationVar(&n.Timeout, "node-timeout", 5*time.Second,
		"deadline per process; a --window longer than half of it is added")
	f.DurationVar(&n.window, "window", session.ActivityWindow,
		"time to measure rates over; 0: since process start; without it, diagnose, why and impact watch requests for "+
			"10s")
	f.IntVar(&n.metricsPort, "metrics-port", 0, "port of /metrics, if a process does not report it")
	n.addConnectionFlags(f)
}

// AddConnectionFlags adds the flags for reaching processes, which a context stores.
func (n *NodeFlags) AddConnectionFlags(f *pflag.FlagSet) {
	WithSection(f, sectionProcesses, func() { n.addConnectionFlags(f) })
}

func (n *NodeFlags) addConnectionFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&n.Map, "map", nil, "reach an address at another: 10.2.0.7=localhost:30007; repeatable")
	f.StringVar(&n.Proxy, "proxy", "", "reach processes by socks5://host:port or http://host:port")
	f.StringVar(&n.User, "milvus-user", "", "Milvus user; password: KITESCOPE_MILVUS_PASSWORD")
	f.StringVar(&n.PasswordFile, "milvus-password-file", "", "file with the Milvus password")
	f.BoolVar(&n.TLS, "milvus-tls", false, "connect to processes with TLS (internaltls)")
	f.StringVar(&n.CA, "milvus-ca", "", "CA certificate of the processes (PEM); implies --milvus-tls")
	f.StringVar(&n.Cert, "milvus-cert", "", "client certificate for the processes (PEM)")
	f.StringVar(&n.Key, "milvus-key", "", "key of the client certificate for the processes (PEM)")
	f.StringVar(&n.ServerName, "milvus-server-name", "", "name to expect in the processes' certificates")
	f.BoolVar(&n.Insecure, "milvus-insecure", false, "do not verify the processes' certificates")
}

// Empty reports whether no field is set.
func (n *NodeSpec) Empty() bool { return reflect.ValueOf(*n).IsZero() }

// Resolve returns how to reach the processes: n, with missing values from the context of c.
func (n NodeSpec) Resolve(c Connection) NodeSpec {
	w := NodeSpec{}
	if c.Nodes != nil {
		w = *c.Nodes
	}
	if len(n.Map) > 0 {
		w.Map = n.Map
	}
	w.Proxy, w.User = cmp.Or(n.Proxy, w.Proxy), cmp.Or(n.User, w.User)
	w.PasswordFile = cmp.Or(n.PasswordFile, w.PasswordFile)
	w.CA, w.Cert, w.Key = cmp.Or(n.CA, w.CA), cmp.Or(n.Cert, w.Cert), cmp.Or(n.Key, w.Key)
	w.ServerName = cmp.Or(n.ServerName, w.ServerName)
	w.Insecure = n.Insecure || w.Insecure
	w.TLS = n.TLS || w.TLS || w.CA != "" || w.Cert != "" || w.ServerName != "" || w.Insecure
	return w
}

// ClientOptions returns the options of a client that queries processes.
func (a *App) ClientOptions(c Connection, n *NodeFlags) (live.Options, error) {
	way := n.Resolve(c)
	o := live.Options{
		Timeout: n.Timeout, Proxy: way.Proxy, User: way.User, Window: n.window, MetricsPort: n.metricsPort,
		Token: a.Getenv("KITESCOPE_MILVUS_TOKEN"), Now: a.Now, Log: a.callLogger(),
	}
	if c.From == demo.From {
		o.MetricsPort, o.Counters = cmp.Or(o.MetricsPort, a.Demo.proxyPort()), a.Demo.counters
	}
	if o.Timeout <= 0 {
		return o, Usagef("--node-timeout must be above 0, not %s", o.Timeout)
	}
	if o.Window < 0 {
		return o, Usagef("--window must be 0 or more, not %s", o.Window)
	}
	var err error
	if o.Map, err = parseAddressMap(way.Map); err != nil {
		return o, err
	}
	if o.TLS, err = way.TLSConfig(); err != nil {
		return o, err
	}
	if o.User == "" {
		return o, nil
	}
	o.Password, err = a.milvusPassword(way)
	return o, err
}

func (a *App) milvusPassword(spec NodeSpec) (string, error) {
	if spec.PasswordFile != "" {
		text, err := os.ReadFile(spec.PasswordFile)
		if err != nil {
			return "", fmt.Errorf("read the Milvus password file: %w", err)
		}
		return strings.TrimRight(string(text), "\r\n"), nil
	}
	for _, name := range []string{"KITESCOPE_MILVUS_PASSWORD", spec.PasswordEnv} {
		if name != "" && a.Getenv(name) != "" {
			return a.Getenv(name), nil
		}
	}
	return "",
		Usage(fmt.Errorf("no password for Milvus user %s", spec.User),
			"set KITESCOPE_MILVUS_PASSWORD or use --milvus-password-file")
}

// parseAddressMap parses address pairs, e.g. "10.2.0.7=localhost:30007".
func parseAddressMap(words []string) (map[string]string, error) {
	m := make(map[string]string, len(words))
	for _, word := range words {
		from, to, ok := strings.Cut(word, "=")
		if !ok || from == "" || to == "" {
			return nil,
				Usage(fmt.Errorf("--map %q is not ADDRESS=ADDRESS", redact.Text(word)),
					"for example: --map 10.2.0.7=localhost:30007")
		}
		m[from] = to
	}
	return m, nil
}

// TLSConfig returns the TLS configuration, or nil for plaintext.
func (n NodeSpec) TLSConfig() (*tls.Config, error) {
	if !n.TLS {
		return nil, nil
	}
	if (n.Cert == "") != (n.Key == "") {
		return nil, Usage(errors.New("--milvus-cert and --milvus-key must be given together"), "")
	}
	files := source.TLS{
		CAFile: n.CA, CertFile: n.Cert, KeyFile: n.Key, ServerName: n.ServerName, InsecureSkipVerify: n.Insecure,
	}
	return files.Load("--milvus-")
}
