package log

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// accessFormats returns the access log formats that are defaults of Milvus or examples of its documentation. Lines
// are matched in this order, because an earlier format has more fields than a later one that would also match.
func accessFormats() []string {
	const base = `[$time_now] [ACCESS] <$user_name: $user_addr> $method_name [status: $method_status] [code: $error_code] ` +
		`[sdk: $sdk_version] [msg: $error_msg] [traceID: $trace_id] [timeCost: $time_cost]`
	const named = base +
		` [database: $database_name] [collection: $collection_name] [partitions: $partition_name] [expr: $method_expr]`
	return []string{
		// configs/milvus.yaml of 2.6, proxy.accessLog.formatters.search and .query. $nq and $search_params are in
		// internal/proxy/accesslog/info/info.go since 2.5.
		named + ` [nq: $nq] [params: $search_params]`,
		named + ` [params: $query_params]`,
		// configs/milvus.yaml of 2.3.5, 2.4 and 2.5: "query" (of Query, Search and Delete) and "base".
		named,
		base,
		// The examples of Milvus's documentation (configure_access_logs.md), which were the defaults of 2.3.4.
		`[$time_now] [ACCESS] <$user_name: $user_addr> $method_status-$method_name [traceID: $trace_id] [timeCost: $time_cost] ` +
			`[database: $database_name] [collection: $collection_name] [partitions: $partition_name] [expr: $method_expr]`,
		`[$time_now] [ACCESS] <$user_name: $user_addr> $method_name-$method_status-$error_code [traceID: $trace_id] [timeCost: $time_cost]`,
		// 2.3.0 to 2.3.3, PrintAccessInfo in internal/proxy/accesslog/access_log.go: a line of the zap logger.
		`[$time_now] ["$method_status: $user_addr-$method_name"] [timeCost="$time_cost"] [traceId=$trace_id] ` +
			`[responseSize=$response_size] [errorCode=$error_code]`,
	}
}

// accessFormat parses lines of a format.
type accessFormat struct {
	// literals is the text around the fields: one more than there are fields.
	literals []string
	fields   []string
}

var fieldName = regexp.MustCompile(`\$[a-z_]+`)

// compileFormat parses a format as written in proxy.accessLog.formatters.*.format. It ignores fields with unknown
// names, because later versions of Milvus have more.
func compileFormat(format string) (accessFormat, error) {
	var f accessFormat
	format = strings.TrimRight(format, "\r\n")
	at := 0
	for _, where := range fieldName.FindAllStringIndex(format, -1) {
		literal := format[at:where[0]]
		if literal == "" && len(f.fields) > 0 {
			return f,
				fmt.Errorf("format %q: nothing between %s and %s", format, f.fields[len(f.fields)-1],
					format[where[0]:where[1]])
		}
		f.literals = append(f.literals, literal)
		f.fields = append(f.fields, format[where[0]:where[1]])
		at = where[1]
	}
	f.literals = append(f.literals, format[at:])
	if !slices.Contains(f.fields, "$method_name") {
		return f, fmt.Errorf("format %q: expected $method_name in it", format)
	}
	if !slices.ContainsFunc(f.fields,
		func(s string) bool { return strings.HasPrefix(s, "$time_") && s != "$time_cost" }) {
		return f, fmt.Errorf("format %q: expected $time_now, $time_start or $time_end in it", format)
	}
	return f, nil
}

// accessFields holds the fields of a line that define a request. Fields that the format lacks are "".
type accessFields struct {
	method, status, code           string
	now, start, end, cost          string
	database, collection, expr, nq string
	params                         string
	partitions, consistency        string
	sdk, trace                     string
	// hasExpr is true if the format has the expression, which may be empty.
	hasExpr bool
}

var errFormat = errors.New("the line has a different format")

// match parses a line. Each field ends at the first occurrence of the literal that follows it; the last one ends at
// the end of the line.
func (f *accessFormat) match(line string, fields *accessFields) bool {
	*fields = accessFields{}
	if !strings.HasPrefix(line, f.literals[0]) {
		return false
	}
	rest := line[len(f.literals[0]):]
	for i, name := range f.fields {
		after := f.literals[i+1]
		end := -1
		switch {
		case i < len(f.fields)-1:
			end = strings.Index(rest, after)
		case strings.HasSuffix(rest, after):
			end = len(rest) - len(after)
		}
		if end < 0 {
			return false
		}
		fields.set(name, rest[:end])
		rest = rest[end+len(after):]
	}
	return true
}

func (a *accessFields) set(name, value string) {
	if value == "Unknown" {
		value = ""
	}
	switch name {
	case "$method_name":
		a.method = value
	case "$method_status":
		a.status = value
	case "$error_code":
		a.code = value
	case "$time_now":
		a.now = value
	case "$time_start":
		a.start = value
	case "$time_end":
		a.end = value
	case "$time_cost":
		a.cost = value
	case "$database_name":
		a.database = value
	case "$collection_name":
		a.collection = value
	case "$method_expr":
		a.expr, a.hasExpr = value, true
	case "$nq":
		a.nq = value
	case "$search_params", "$query_params":
		a.params = value
	case "$partition_name":
		a.partitions = value
	case "$consistency_level":
		a.consistency = value
	case "$sdk_version":
		a.sdk = value
	case "$trace_id":
		a.trace = value
	}
}
