package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/render"
	"kitescope/table"
)

// ListFlags say which rows of a list are shown, in which order, with which columns.
type ListFlags struct {
	Sort    []string
	Columns []string
	where   []string
	schema  func(o render.ReportOptions) *table.Schema
}

// Register adds --sort and --columns, which examples explain.
func (f *ListFlags) Register(cmd *cobra.Command, sorted, columns string) {
	fl := cmd.Flags()
	fl.StringSliceVar(&f.Sort, "sort", nil, "columns to sort by; - in front for descending: --sort "+sorted)
	fl.StringSliceVar(&f.Columns, "columns", nil, "columns to show: "+columns+" adds to the usual ones")
}

// RegisterReport adds --where as well, of lists whose arguments are files, and completes the columns. The schema is what can be asked
// of the report.
func (f *ListFlags) RegisterReport(cmd *cobra.Command, schema func(o render.ReportOptions) *table.Schema, where, sorted, columns string) {
	f.schema = schema
	f.Register(cmd, sorted, columns)
	cmd.Flags().StringArrayVar(&f.where, "where", nil, "only rows that match, such as "+where+" (see: kitescope help selectors); repeatable")
	names := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return schema(render.ReportOptions{}).ColumnNames(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	_ = cmd.RegisterFlagCompletionFunc("sort", names)
	_ = cmd.RegisterFlagCompletionFunc("columns", names)
}

// Ask settles what is asked of a report, before anything is read.
func (f *ListFlags) Ask(o *render.ReportOptions) error {
	if f.schema == nil {
		return nil
	}
	schema := f.schema(*o)
	where, err := table.ParseSelection(schema, f.where)
	if err == nil {
		_, err = schema.ParseColumns(f.Columns, nil)
	}
	if err == nil {
		_, err = schema.ParseSort(f.Sort)
	}
	if err != nil {
		return Usage(err, fmt.Sprintf("columns of %s: %s", schema.Name, strings.Join(schema.ColumnNames(), ", ")))
	}
	o.Ask, o.KeepColumns = table.Query{Where: where, Sort: f.Sort, Columns: f.Columns}, len(f.Columns) > 0
	return nil
}
