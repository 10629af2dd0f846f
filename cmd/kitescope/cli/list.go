package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"kitescope/internal/table"
	"kitescope/render"
)

// ListFlags say in which order a list is shown, with which columns.
type ListFlags struct {
	Sort    []string
	Columns []string
}

// Register adds --sort and --columns, which examples explain.
func (f *ListFlags) Register(cmd *cobra.Command, sorted, columns string) {
	fl := cmd.Flags()
	fl.StringSliceVar(&f.Sort, "sort", nil, "sort by columns, - for descending: "+sorted)
	fl.StringSliceVar(&f.Columns, "columns", nil, "columns to show: "+columns+" adds one")
}

// ReportFlags are those of a command that writes a report: in which format, and of its list which rows, in which order, with which
// columns.
type ReportFlags struct {
	list    ListFlags
	output  string
	limit   int
	formats render.Formats
	rows    bool // -n is of the list
	where   []string
	schema  func(o render.ReportOptions) *table.Schema
}

// Register adds -o, and -n with its default if help says what it counts.
func (f *ReportFlags) Register(cmd *cobra.Command, formats render.Formats, limit int, help string) {
	f.formats = formats
	cmd.Flags().StringVarP(&f.output, "output", "o", "table", strings.Join(formats.Names(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", Fixed(formats.Names()...))
	if help != "" {
		cmd.Flags().IntVarP(&f.limit, "limit", "n", limit, help)
	}
}

// List adds --where, --sort and --columns, and -n where there is none, of lists whose arguments are files, and completes the columns.
// The schema is what can be asked of the report.
func (f *ReportFlags) List(cmd *cobra.Command, schema func(o render.ReportOptions) *table.Schema, where, sorted, columns string) {
	f.schema = schema
	f.list.Register(cmd, sorted, columns)
	fl := cmd.Flags()
	fl.StringArrayVar(&f.where, "where", nil, "only rows that match: "+where+"; repeatable")
	if f.rows = fl.Lookup("limit") == nil; f.rows {
		fl.IntVarP(&f.limit, "limit", "n", 0, "maximum number of rows; 0 for all")
	}
	names := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return schema(render.ReportOptions{}).ColumnNames(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	_ = cmd.RegisterFlagCompletionFunc("sort", names)
	_ = cmd.RegisterFlagCompletionFunc("columns", names)
}

// Settle is how the report is written, checked before anything is read. Structured formats have all rows unless -n is given.
func (f *ReportFlags) Settle(a *App, cmd *cobra.Command) (render.Format, render.ReportOptions, error) {
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
	return format, o, f.ask(&o)
}

func (f *ReportFlags) ask(o *render.ReportOptions) error {
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
	o.Ask, o.KeepColumns = table.Query{Where: where, Sort: f.list.Sort, Columns: f.list.Columns}, len(f.list.Columns) > 0
	if f.rows {
		o.Ask.Limit = f.limit
	}
	return nil
}
