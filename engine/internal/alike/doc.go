// Package alike compares names of entities. It knows two normal forms, the
// relation of an acronym to its long form, and that of a part to the whole. All
// of it looks at names alone: whether two alike names mean one thing is for the
// caller to weigh.
//
// Equal texts give equal results; functions are safe for concurrent use and take
// time linear in the name.
package alike
