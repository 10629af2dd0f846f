package live

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
)

// address is the parsed address of a server. It holds secrets; print only shown.
type address struct {
	scheme         string // the first scheme of the kind
	host           string // host:port
	user, password string
	database       string
	uri            string // as written, with a scheme
}

// redacted returns the address without credentials.
func (a *address) redacted() string {
	if a.database == "" {
		return a.scheme + "://" + a.host
	}
	return a.scheme + "://" + a.host + "/" + a.database
}

// parseAddress parses scheme://[user:password@]host[:port][/database], or host:port of a Milvus. Its errors never
// contain the text, which may hold a password.
func parseAddress(text string) (*address, *kind, error) {
	all := kinds()
	scheme, _, whole := strings.Cut(text, "://")
	if !whole {
		scheme, text = all[0].schemes[0], all[0].schemes[0]+"://"+text
	}
	at := slices.IndexFunc(all, func(k kind) bool { return slices.Contains(k.schemes, strings.ToLower(scheme)) })
	if at < 0 {
		reason := "unknown scheme"
		if isScheme(scheme) { // otherwise it may be a user and the beginning of a password
			reason = "unknown scheme " + clip(scheme) + "://"
		}
		return nil, nil, fault(Mismatch, reason, "supported: %s://", strings.Join(Schemes(), "://, "))
	}
	k := &all[at]
	advice := "write " + k.schemes[0] +
		"://[user:password@]host:port[/database]; characters of a password that mean something in addresses as %40"
	parsed, err := url.Parse(text)
	if err != nil || parsed.Opaque != "" || parsed.Fragment != "" {
		return nil, nil, &FaultError{Kind: Mismatch, Reason: "the target's address does not parse", Advice: advice}
	}
	// A slash in a password turns the user into a host, and the rest into a database: show neither.
	if strings.Contains(parsed.EscapedPath()+parsed.RawQuery, "@") {
		return nil, nil,
			&FaultError{Kind: Mismatch, Reason: "the target's address has an @ after the host", Advice: advice}
	}
	// PostgreSQL may listen on a socket in a folder, given by a parameter as in libpq.
	folder := ""
	if k.port == "5432" && parsed.Hostname() == "" {
		folder = parsed.Query().Get("host")
	}
	if parsed.Hostname() == "" && folder == "" {
		return nil, nil, &FaultError{Kind: Mismatch, Reason: "the target's address names no host", Advice: advice}
	}
	a := &address{scheme: k.schemes[0], uri: text, database: strings.Trim(parsed.Path, "/")}
	port := parsed.Port()
	if port == "" {
		port = k.port
	}
	if a.host = folder; folder == "" {
		a.host = net.JoinHostPort(parsed.Hostname(), port)
	}
	a.user = parsed.User.Username()
	a.password, _ = parsed.User.Password()
	if strings.Contains(a.database, "/") {
		return nil, nil,
			&FaultError{
				Kind: Mismatch, Reason: "the target's address has more than a database after the host", Advice: advice,
			}
	}
	return a, k, nil
}

// isScheme reports whether text is a valid scheme (RFC 3986, 3.1).
func isScheme(text string) bool {
	for i, r := range strings.ToLower(text) {
		if (r < 'a' || r > 'z') && (i == 0 || (r < '0' || r > '9') && r != '+' && r != '-' && r != '.') {
			return false
		}
	}
	return text != ""
}

// clip shortens foreign text for a line: at most 40 bytes, without control characters.
func clip(s string) string { return line(s, 40) }

// parameters returns the query parameters of an address. It returns an error for any that is not in known.
func (a *address) parameters(known ...string) (map[string]string, error) {
	found := map[string]string{}
	u, err := url.Parse(a.uri)
	if err != nil {
		return nil,
			fault(Mismatch, "the target's address does not parse", "write %s://[user:password@]host:port", a.scheme)
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil,
			fault(Mismatch, "the target's address does not parse", "write %s://[user:password@]host:port", a.scheme)
	}
	for name, list := range values {
		switch {
		case !slices.Contains(known, name):
			return nil,
				faultf(Mismatch, "supported: "+strings.Join(known, ", "),
					"unknown parameter of the target's address: %s", clip(name))
		case len(list) > 1:
			return nil, faultf(Mismatch, "give it once", "the target's address has several %s", name)
		}
		found[name] = list[0]
	}
	return found, nil
}

// secured returns the TLS configuration of the parameters: tls=true, false (the default) or skip-verify, and ca, a
// file of certificates. It returns nil for plain text.
func (a *address) secured(parameters map[string]string) (*tls.Config, error) {
	host, _, err := net.SplitHostPort(a.host)
	if err != nil {
		host = a.host
	}
	config := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	ca := parameters["ca"]
	switch parameters["tls"] {
	case "true":
	case "skip-verify":
		config.InsecureSkipVerify = true
	case "", "false":
		if ca != "" {
			return nil, fault(Mismatch, "the target's address has ca without tls=true", "add tls=true")
		}
		return nil, nil //nolint:nilnil // plain text
	default:
		return nil,
			fault(Mismatch, "tls in the target's address is neither true, false nor skip-verify", "write ?tls=true")
	}
	if ca == "" {
		return config, nil
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil,
			faultf(Mismatch, "check the path", "the file of ca in the target's address cannot be read: %s", clip(ca))
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil,
			faultf(Mismatch, "give a file of certificates in PEM",
				"the file of ca in the target's address has no certificate: %s", clip(ca))
	}
	return config, nil
}
