package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/table"
)

// ListFlags say which rows of a list are shown, in which order, with which columns.
type ListFlags struct {
	Sort    []string
	Columns []string
	where   []string
}

// Register adds --sort and --columns, which examples explain.
func (f *ListFlags) Register(cmd *cobra.Command, sorted, columns string) {
	fl := cmd.Flags()
	fl.StringSliceVar(&f.Sort, "sort", nil, "columns to sort by; - in front for descending: --sort "+sorted)
	fl.StringSliceVar(&f.Columns, "columns", nil, "columns to show: "+columns+" adds to the usual ones")
}

// RegisterWhere adds --where, of lists whose arguments are files, and completes the columns of a list.
func (f *ListFlags) RegisterWhere(cmd *cobra.Command, schema *table.Schema, example string) {
	cmd.Flags().StringArrayVar(&f.where, "where", nil, "only rows that match, such as "+example+" (see: kitescope help selectors); repeatable")
	columns := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return schema.ColumnNames(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	_ = cmd.RegisterFlagCompletionFunc("sort", columns)
	_ = cmd.RegisterFlagCompletionFunc("columns", columns)
}

// Query is what is asked of a list, checked before anything is read.
func (f *ListFlags) Query(schema *table.Schema) (table.Query, error) {
	where, err := table.ParseSelection(schema, f.where)
	if err == nil {
		_, err = schema.ParseColumns(f.Columns, nil)
	}
	if err == nil {
		_, err = schema.ParseSort(f.Sort)
	}
	if err != nil {
		return table.Query{}, Usage(err, fmt.Sprintf("columns of %s: %s", schema.Name, strings.Join(schema.ColumnNames(), ", ")))
	}
	return table.Query{Where: where, Sort: f.Sort, Columns: f.Columns}, nil
}
