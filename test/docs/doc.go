// Package docs types what the pages print, as somebody does who follows them: every command of a page, in its order, or
// a reason why not. What a page prints and a test does not type fails that test, and so does an exception that nothing
// needs.
package docs
