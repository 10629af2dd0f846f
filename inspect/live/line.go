package live

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"
)

// line summarizes a record: the process, the call and its outcome, e.g. "querynode-3 10.2.0.7:21123:
// GetDataDistribution answered, 1,204 bytes in 12ms".
func (r *Record) line() string {
	who := r.Role
	if r.Node != 0 {
		who += "-" + r.Node.String()
	}
	what := path.Base(r.Method)
	if strings.HasPrefix(r.Method, "GET ") {
		what = pageName(r.Method)
	}
	text := strings.TrimSpace(who+" "+r.Address) + ": " + what + " " + cmp.Or(r.Outcome, "ended")
	if len(r.Response) > 0 {
		text += fmt.Sprintf(", %d bytes", len(r.Response))
	}
	if r.Took > 0 {
		text += " in " + r.Took.Round(time.Millisecond/10).String()
	}
	if r.Error != "" {
		text += ": " + oneLine(r.Error)
	}
	return text
}
