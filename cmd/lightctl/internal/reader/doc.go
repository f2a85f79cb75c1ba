// Package reader turns files into plain text: txt, md, html, docx, epub, pdf.
//
// A Reader takes one file at a time, as a whole, and returns its text and
// notes about what a person should know of it: an encoding that was guessed,
// pages without text. What is wrong with a file is an error; no file makes it
// panic, hang, or use memory out of proportion to Options.Limit, which bounds
// the file, what is unpacked from it, and its text.
//
// The text keeps the order of reading: paragraphs are divided by a blank line,
// list items and table rows by a line end. The rules of a format stand at its
// reader: [Reader.Read] names them.
//
// PDF is read by PDFium, compiled to WebAssembly and run in a sandbox without
// files or network. It is loaded when the first PDF is met; compiling it takes
// seconds, unless Options.CacheDir keeps the result between processes.
package reader
