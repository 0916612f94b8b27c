package rds

import (
	"fmt"
	"strings"
	"unicode"
)

// Lengths of passwords, from the API reference of CreateDBInstance. Generated ones fit the lowest of its limits.
const (
	shortest  = 8
	generates = 30
)

func longest(engineName string) int {
	switch family(engineName) {
	case "oracle":
		return 30
	case "mysql", "mariadb":
		return 41
	default:
		return 128
	}
}

// passwordProblem says what is wrong with a password, without showing it.
func passwordProblem(engineName, password string) string {
	bad := `/"@ `
	if family(engineName) == "oracle" {
		bad += "&'"
	}
	switch {
	case strings.HasSuffix(password, "\n"):
		return "it ends with a line break"
	case strings.ContainsAny(password, bad):
		return "it contains one of the characters that RDS does not take: " +
			strings.Join(strings.Split(bad, ""), " ") + "(space)"
	case strings.ContainsFunc(password, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }):
		return "it contains something other than printable ASCII characters"
	case len(password) < shortest || len(password) > longest(engineName):
		return fmt.Sprintf("it must have %d to %d characters", shortest, longest(engineName))
	}
	return ""
}
