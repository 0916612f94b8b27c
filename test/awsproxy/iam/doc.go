// Package iam evaluates IAM policy documents as AWS describes it: an explicit
// deny wins, then an allow, and what nothing allows is denied. Permission
// boundaries and session policies only take away; the policy of a resource gives
// to others as well, and a deny there locks its own account out.
//
// What it does not know it refuses when a document is parsed: an element, an
// operator or a condition key that was passed over in silence would let a
// document pass here that AWS judges otherwise.
package iam
