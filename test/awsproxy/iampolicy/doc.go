// Package iampolicy evaluates IAM policy documents as AWS describes it: an explicit deny wins, then an allow, and what
// nothing allows is denied. Permission boundaries and session policies only restrict. The policy of a resource also
// gives access to others, and a deny there also applies to the resource's own account.
//
// The package refuses unknown elements, operators and condition keys when it parses a document: if it ignored one, a
// document might pass here that AWS judges differently.
package iampolicy
