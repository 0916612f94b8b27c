// Package docs runs the commands of documentation pages as a reader would: every command of a page, in order, unless
// there is a reason not to. A test fails if it leaves out a command of its page, or has an exception that is not
// needed.
package docs
