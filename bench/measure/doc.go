// Package measure has what measurements share: CPU clocks, counters of the
// operating system, percentiles, and the rows of a report with their goals.
//
// CPU time is quoted before wall time because it hardly depends on what else
// the machine does.
package measure
