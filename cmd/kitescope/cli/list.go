package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"kitescope/internal/table"
	"kitescope/render"
)

// ListFlags are the sort order and the columns of a list.
type ListFlags struct {
	Sort    []string
	Columns []string
}

// Register adds --sort and --columns, with examples for their usage.
func (f *ListFlags) Register(cmd *cobra.Command, sorted, columns string) {
	fl := cmd.Flags()
	fl.StringSliceVar(&f.Sort, "sort", nil, "sort by columns, - for descending: "+sorted)
	fl.StringSliceVar(&f.Columns, "columns", nil, "columns to show: "+columns+" adds one")
}

// ReportFlags are the flags of a command that writes a report: its format, and the rows, order and columns of
// its list.
type ReportFlags struct {
	list    ListFlags
	output  string
	limit   int
	formats render.Formats
	rows    bool // -n limits the list
	where   []string
	schema  func(o render.ReportOptions) *table.Schema
}

// Register adds -o. If help is not "", it also adds -n with the default limit.
func (f *ReportFlags) Register(cmd *cobra.Command, formats render.Formats, limit int, help string) {
	f.formats = formats
	cmd.Flags().StringVarP(&f.output, "output", "o", "table", strings.Join(formats.Names(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", FixedCompletions(formats.Names()...))
	if help != "" {
		cmd.Flags().IntVarP(&f.limit, "limit", "n", limit, help)
	}
}

// List adds --where, --sort and --columns, and -n unless it exists, and completes the columns. It is for
// commands whose arguments are files. schema returns the columns of the report.
func (f *ReportFlags) List(
	cmd *cobra.Command, schema func(o render.ReportOptions) *table.Schema, where, sorted, columns string,
) {
	f.schema = schema
	f.list.Register(cmd, sorted, columns)
	fl := cmd.Flags()
	fl.StringArrayVar(&f.where, "where", nil, "only rows that match: "+where+"; repeatable")
	if f.rows = fl.Lookup("limit") == nil; f.rows {
		fl.IntVarP(&f.limit, "limit", "n", 0, "maximum number of rows; 0 for all")
	}
	names := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return schema(render.ReportOptions{}).ColumnNames(),
			cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	_ = cmd.RegisterFlagCompletionFunc("sort", names)
	_ = cmd.RegisterFlagCompletionFunc("columns", names)
}

// Parse parses the flags and returns the format and the options, before anything is read. Structured formats
// have all rows unless -n is given.
func (f *ReportFlags) Parse(a *App, cmd *cobra.Command) (render.Format, render.ReportOptions, error) {
	format, err := f.formats.Parse(f.output)
	if err != nil {
		return format, render.ReportOptions{}, Usage(err, "see: "+cmd.CommandPath()+" --help")
	}
	if f.limit < 0 {
		return format, render.ReportOptions{}, Usagef("--limit must be 0 or more, not %d", f.limit)
	}
	plain, err := a.RenderOptions("")
	if err != nil {
		return format, render.ReportOptions{}, err
	}
	o := render.ReportOptions{Options: plain, Limit: f.limit}
	if format.Structured() && !cmd.Flags().Changed("limit") {
		o.Limit = 0
	}
	return format, o, f.parseQuery(&o)
}

func (f *ReportFlags) parseQuery(o *render.ReportOptions) error {
	if f.schema == nil {
		return nil
	}
	schema := f.schema(*o)
	where, err := table.ParseSelection(schema, f.where)
	if err == nil {
		_, err = schema.ParseColumns(f.list.Columns, nil)
	}
	if err == nil {
		_, err = schema.ParseSort(f.list.Sort)
	}
	if err != nil {
		names := strings.Join(schema.ColumnNames(), ", ")
		if strings.Contains(err.Error(), names) {
			return Usage(err, "")
		}
		return Usage(err, "columns of "+schema.Name+": "+names)
	}
	o.Query, o.KeepColumns = table.Query{Where: where, Sort: f.list.Sort, Columns: f.list.Columns},
		len(f.list.Columns) > 0
	if f.rows {
		o.Query.Limit = f.limit
	}
	return nil
}
